"""`/surveys`: the first page of the module, which is the overview."""

from litestar import get
from litestar.response import Redirect

from app.web.guards import Requires
from app.web.pages import go


@get("/surveys", guards=[Requires("surveys.view", module="surveys")])
async def home() -> Redirect:
    return go("/surveys/overview")


ROUTES = [home]
