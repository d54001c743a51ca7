"""`/webhooks/ID/secret`: the secret of a webhook, on the one page that follows its making."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.web import once
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import go, page, shown_once
from app.webhooks import addresses, endpoints


async def shown_next(ctx: Context, webhook_id: int, message: str, secret: str, *, rotated: bool) -> Redirect:
    """On to the page with the secret."""
    return await once.show_next(ctx, f"/webhooks/{webhook_id}/secret", message, secret=secret, rotated=rotated)


@get("/webhooks/{webhook_id:int}/secret", guards=[Requires("host.webhooks")])
async def show(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint, made = await endpoints.one(ctx.db, webhook_id), once.taken(ctx)
    if made is None:
        return go(f"/webhooks/{webhook_id}")
    url = addresses.shown(endpoint.url)
    return shown_once(await page(ctx, "host/webhooks/made.html", id=webhook_id, url=url, **made))


ROUTES = [show]
