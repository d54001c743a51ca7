"""Which events wait."""

from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.webhooks.models import STANDS, WebhookEndpoint, WebhookEvent

# Counting further would say little more.
MOST = 1000


async def counts(db: AsyncSession) -> dict[int, int]:
    """By endpoint; MOST at most in all."""
    stands = WebhookEvent.endpoint_id.in_(select(WebhookEndpoint.id).where(STANDS))
    some = select(WebhookEvent.endpoint_id).where(WebhookEvent.status == "waiting", stands).limit(MOST).subquery()
    rows = await db.execute(select(some.c.endpoint_id, func.count()).group_by(some.c.endpoint_id))
    return {row[0]: row[1] for row in rows}


async def is_asked(db: AsyncSession, endpoint_id: int) -> bool:
    """True while an event waits that a person asked for: it is sent also while the endpoint is off."""
    asked = exists().where(
        WebhookEvent.endpoint_id == endpoint_id, WebhookEvent.status == "waiting", WebhookEvent.asked
    )
    return bool(await db.scalar(select(asked)))
