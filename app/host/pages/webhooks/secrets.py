"""`/webhooks/ID/secret`: the secret of a webhook, on the one page that follows its making. Loading that page again makes nothing twice."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.web import sessions
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import go, page, shown_once
from app.webhooks import addresses, endpoints


async def shown_next(ctx: Context, webhook_id: int, message: str) -> Redirect:
    """On to the page with the secret."""
    await sessions.flash(ctx, message, once=_once(webhook_id))
    return go(f"/webhooks/{webhook_id}/secret")


@get("/webhooks/{webhook_id:int}/secret", guards=[Requires("host.webhooks")])
async def show(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint, now = await endpoints.one(ctx.db, webhook_id), datetime.now(UTC)
    found = endpoints.secrets_of(ctx.parts.keys, ctx.workspace, endpoint, now)
    if not found or not sessions.may_show(ctx, _once(webhook_id)):
        return go(f"/webhooks/{webhook_id}")
    values: dict[str, Any] = {
        "id": webhook_id,
        "url": addresses.shown(endpoint.url),
        "secret": found[0],
        "rotated": len(found) > 1,
    }
    return shown_once(await page(ctx, "host/webhooks/made.html", **values))


def _once(webhook_id: int) -> str:
    return f"webhook {webhook_id}"


ROUTES = [show]
