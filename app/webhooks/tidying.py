"""Removes events that are over, with their attempts, events that wait for an endpoint which stays off, and all of a
removed endpoint. Daily and after a removal, in slices."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy import and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.db.direct import Compiled, driver
from app.db.rows import affected
from app.webhooks import gathering
from app.webhooks.models import STANDS, WebhookEndpoint, WebhookEvent

JOB = "webhooks_tidy"
KEPT = timedelta(days=30)
SLICE = 5_000


_DUE = Compiled(
    select((select(WebhookEvent.id).exists() | select(WebhookEndpoint.id).where(~STANDS).exists()).label("due"))
)


async def is_due(db: AsyncSession) -> bool:
    """False when the workspace never sent anything, and no endpoint was removed."""
    return bool((await _DUE.row(driver(db), {})).due)


async def tidy(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]]) -> None:
    taken = SLICE
    while taken == SLICE:
        async with open_transaction() as db:
            await gathering.hold(db)
            taken = await _take_away(db)
            if taken < SLICE:
                await db.execute(delete(WebhookEndpoint).where(~STANDS))


async def _take_away(db: AsyncSession) -> int:
    """One sort after the other: an index serves each, and none would serve all of them joined by OR."""
    removed = (await db.scalars(select(WebhookEndpoint.id).where(~STANDS))).all()
    off = (await db.scalars(select(WebhookEndpoint.id).where(~WebhookEndpoint.active))).all()
    is_old = WebhookEvent.at < func.now() - KEPT
    waits_in_vain = and_(among(WebhookEvent.endpoint_id, off), WebhookEvent.status == "waiting", is_old)
    taken = 0
    for over in (among(WebhookEvent.endpoint_id, removed), WebhookEvent.ended_at < func.now() - KEPT, waits_in_vain):
        some = select(WebhookEvent.id).where(over).limit(SLICE - taken)
        taken += affected(await db.execute(delete(WebhookEvent).where(WebhookEvent.id.in_(some))))
    return taken
