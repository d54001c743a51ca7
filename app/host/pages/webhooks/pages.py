"""`/webhooks`: which programs are told, and how that goes. What they are told of: forms.py; what was sent: log.py."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.host.pages.admin.history import history
from app.host.pages.webhooks import secrets
from app.host.pages.webhooks.log import latest
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, page
from app.webhooks import addresses, endpoints, waiting
from app.webhooks.endpoints import BOTH_VALID
from app.webhooks.kinds import TYPES
from app.webhooks.models import WebhookEndpoint
from app.webhooks.retry_pauses import RESTS_AFTER

MAY = Requires("host.webhooks")
STATES = {"active": "On", "failing": "Failing", "off": "Off"}


def state_of(endpoint: WebhookEndpoint) -> str:
    """A word of STATES."""
    if not endpoint.active:
        return "off"
    return "failing" if endpoint.failures >= RESTS_AFTER else "active"


@get("/webhooks", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    found = await endpoints.all_of(ctx.db)
    rows = [(one, state_of(one), addresses.shown(one.url)) for one in found]
    values: dict[str, Any] = {
        "rows": rows,
        "states": STATES,
        "waits": await waiting.counts(ctx.db),
        "now": datetime.now(UTC),
    }
    return await page(ctx, "host/webhooks/index.html", **values)


@get("/webhooks/{webhook_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint = await endpoints.one(ctx.db, webhook_id)
    values: dict[str, Any] = {
        "endpoint": endpoint,
        "url": addresses.shown(endpoint.url),
        "state": state_of(endpoint),
        "states": STATES,
        "types": [TYPES[name] for name in endpoint.types if name in TYPES],
        "waits": (await waiting.counts(ctx.db)).get(webhook_id, 0),
        "is_asked": await waiting.is_asked(ctx.db, webhook_id),
        "attempts": await latest(ctx, webhook_id),
        "history": await history(ctx, "webhook", webhook_id),
        "now": datetime.now(UTC),
    }
    return await page(ctx, "host/webhooks/show.html", fragment="log", **values)


@post("/webhooks/{webhook_id:int}/test", guards=[MAY], status_code=200)
async def test(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    await endpoints.send_test(ctx.db, webhook_id)
    return await done(ctx, f"/webhooks/{webhook_id}", "A test is on its way. The log below shows what comes back.")


@post("/webhooks/{webhook_id:int}/on", guards=[MAY], status_code=200)
async def switch_on(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    await endpoints.switch_on(ctx.db, ctx.actor, webhook_id)
    return await done(ctx, f"/webhooks/{webhook_id}", "The webhook is on. What waited is sent.")


@post("/webhooks/{webhook_id:int}/off", guards=[MAY], status_code=200)
async def switch_off(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    await endpoints.switch_off(ctx.db, ctx.actor, webhook_id)
    return await done(
        ctx, f"/webhooks/{webhook_id}", "The webhook is off. Nothing is noted for it until it is on again."
    )


@post("/webhooks/{webhook_id:int}/try", guards=[MAY], status_code=200)
async def try_again(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    await endpoints.try_again(ctx.db, ctx.actor, webhook_id)
    return await done(ctx, f"/webhooks/{webhook_id}", "Muster tries it again now. The log below shows what comes back.")


@get("/webhooks/{webhook_id:int}/rotate", guards=[MAY])
async def ask_to_rotate(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint = await endpoints.one(ctx.db, webhook_id)
    hours = BOTH_VALID.total_seconds() / 3600
    return await ask_first(
        ctx,
        question=f"Make a new secret for {addresses.shown(endpoint.url)}?",
        consequence=f"It is shown once, on the next page. For {hours:.0f} hours events are signed with both secrets.",
        submit="Make a new secret",
        cancel_url=f"/webhooks/{webhook_id}",
        danger=False,
    )


@post("/webhooks/{webhook_id:int}/rotate", guards=[MAY], status_code=200)
async def rotate(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    secret = await endpoints.rotate(ctx.db, ctx.parts.keys, ctx.actor, webhook_id)
    return await secrets.shown_next(ctx, webhook_id, "The new secret was made.", secret, rotated=True)


@get("/webhooks/{webhook_id:int}/remove", guards=[MAY])
async def ask_to_remove(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    endpoint = await endpoints.one(ctx.db, webhook_id)
    return await ask_first(
        ctx,
        question=f"Remove the webhook to {addresses.shown(endpoint.url)}?",
        consequence="Its log and what waits for it go too. This can't be undone. Switch it off to keep them.",
        submit="Remove the webhook",
        cancel_url=f"/webhooks/{webhook_id}",
    )


@post("/webhooks/{webhook_id:int}/remove", guards=[MAY], status_code=200)
async def remove(ctx: NamedDependency[Context], webhook_id: FromPath[int]) -> Response[Any]:
    await endpoints.remove(ctx.db, ctx.actor, webhook_id)
    return await done(ctx, "/webhooks", "The webhook was removed.", gone=f"/webhooks/{webhook_id}")


ROUTES = [
    index,
    show,
    test,
    switch_on,
    switch_off,
    try_again,
    ask_to_rotate,
    rotate,
    ask_to_remove,
    remove,
]
