"""`/help/api/<name>`: the endpoints of one of the JSON APIs, drawn from its OpenAPI document. Everybody who is signed
in reads them, as everybody reads the document itself."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.api import reference
from app.errors import NotFound
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import page
from app.web.site import ApiDocument

# Each module's, by the name in the address (app.wiring).
API_DOCUMENTS: dict[str, ApiDocument] = {}


@get("/help/api/{name:str}", guards=[signed_in])
async def show(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    found = API_DOCUMENTS.get(name)
    if found is None:
        raise NotFound("There is no such API. Help lists both.")
    document = found.build(ctx.parts.settings.base_url)
    others = [(other, one.title) for other, one in API_DOCUMENTS.items() if other != name]
    return await page(
        ctx,
        "host/help_api.html",
        title=found.title,
        about=found.about,
        url=found.url,
        endpoints=reference.endpoints(document),
        others=others,
    )


ROUTES = [show]
