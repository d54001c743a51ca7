"""`/help`: how to find things, the keys, whom to ask, and what is kept of an answer; below it the pages of docs/. For
everybody who is signed in."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts import administrators
from app.errors import NotFound
from app.host.pages.api_reference import API_DOCUMENTS
from app.mail import outbox
from app.web import help as manual
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import page


@get("/help", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    pages = [(one, manual.SHOWN[name]) for name, one in manual.pages().items()]
    return await page(
        ctx,
        "host/help.html",
        to_ask=await administrators.to_ask(ctx.db),
        pages=pages,
        mail_is_on=outbox.is_on(ctx.parts.settings),
        documents=tuple(API_DOCUMENTS.values()),
    )


@get("/help/keys", guards=[signed_in])
async def show_keys(ctx: NamedDependency[Context]) -> Response[Any]:
    return await page(ctx, "host/help_keys.html", fragment="dialog")


@get("/help/{name:str}", guards=[signed_in])
async def show_page(ctx: NamedDependency[Context], name: FromPath[str]) -> Response[Any]:
    return await _page_of(ctx, name)


@get("/help/api", guards=[signed_in])
async def show_apis(ctx: NamedDependency[Context]) -> Response[Any]:
    """A page of docs/ like the others. It needs a route of its own: because of the references below it, the router does
    not take `api` for a name."""
    return await _page_of(ctx, "api")


async def _page_of(ctx: Context, name: str) -> Response[Any]:
    found = manual.pages().get(name)
    if found is None:
        raise NotFound("Help has no such page. Its pages are listed under Help.")
    return await page(ctx, "host/help_page.html", found=found)


ROUTES = [show, show_keys, show_page, show_apis]
