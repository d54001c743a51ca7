"""`/`: the first page that the signed-in person may see."""

from litestar import get
from litestar.di import NamedDependency
from litestar.response import Redirect

from app.web import menu
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import go


@get("/", guards=[signed_in])
async def home(ctx: NamedDependency[Context]) -> Redirect:
    return go(menu.first_url(menu.visible(ctx.request.app.state.menu, ctx), ctx))


ROUTES = [home]
