"""Removes events that are over, with their attempts, events that wait for an endpoint which stays off, and all of a removed endpoint.
Daily and after a removal, in slices."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import affected
from app.webhooks import gathering
from app.webhooks.models import STANDS, WebhookEndpoint, WebhookEvent

JOB = "webhooks_tidy"
KEPT = timedelta(days=30)
SLICE = 5_000


async def is_due(db: AsyncSession) -> bool:
    """False when the workspace never sent anything, and no endpoint was removed."""
    there = select(WebhookEvent.id).exists() | select(WebhookEndpoint.id).where(~STANDS).exists()
    return await db.scalar(select(there)) or False


async def tidy(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]]) -> None:
    taken = SLICE
    while taken == SLICE:
        async with open_transaction() as db:
            await gathering.hold(db)
            taken = await _take_away(db)
            if taken < SLICE:
                await db.execute(delete(WebhookEndpoint).where(~STANDS))


async def _take_away(db: AsyncSession) -> int:
    off = select(WebhookEndpoint.id).where(~WebhookEndpoint.active)
    waits_in_vain = WebhookEvent.endpoint_id.in_(off) & (WebhookEvent.at < func.now() - KEPT)
    removed = WebhookEvent.endpoint_id.in_(select(WebhookEndpoint.id).where(~STANDS))
    over = or_(WebhookEvent.ended_at < func.now() - KEPT, waits_in_vain, removed)
    some = select(WebhookEvent.id).where(over).limit(SLICE)
    return affected(await db.execute(delete(WebhookEvent).where(WebhookEvent.id.in_(some))))
