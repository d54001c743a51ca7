"""Removes events that are over, with their attempts, and events that wait for an endpoint which stays off. Daily, in slices."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import affected
from app.webhooks import gathering
from app.webhooks.models import WebhookEndpoint, WebhookEvent

KEPT = timedelta(days=30)
SLICE = 5_000


async def is_due(db: AsyncSession) -> bool:
    """False when the workspace never sent anything."""
    return await db.scalar(select(select(WebhookEvent.id).exists())) or False


async def tidy(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]]) -> None:
    taken = SLICE
    while taken == SLICE:
        async with open_transaction() as db:
            await gathering.hold(db)
            taken = await _take_away(db)


async def _take_away(db: AsyncSession) -> int:
    off = select(WebhookEndpoint.id).where(~WebhookEndpoint.active)
    waits_in_vain = WebhookEvent.endpoint_id.in_(off) & (WebhookEvent.at < func.now() - KEPT)
    over = or_(WebhookEvent.ended_at < func.now() - KEPT, waits_in_vain)
    some = select(WebhookEvent.id).where(over).limit(SLICE)
    return affected(await db.execute(delete(WebhookEvent).where(WebhookEvent.id.in_(some))))
