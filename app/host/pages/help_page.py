"""`/help`: how to find things, the keys, whom to ask, and what is kept of an answer. Everybody who is signed in has it."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency

from app.accounts import administrators
from app.web.context import Context
from app.web.guards import signed_in
from app.web.pages import page


@get("/help", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    return await page(ctx, "host/help.html", to_ask=await administrators.to_ask(ctx.db))


ROUTES = [show]
