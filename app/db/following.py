"""The instant from which a program that follows a list must ask next time, so that it misses nothing."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# A transaction that has just begun has no `xact_start` there yet for some microseconds, but its `query_start`,
# which becomes it.
_NOTHING_MISSED = text(
    "SELECT least(now(), min(coalesce(xact_start, query_start))) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
)


async def nothing_missed_since(db: AsyncSession) -> datetime:
    """An instant such that all rows that are written or committed later bear it or a later one, if the database's
    `now()` stamps them. Ask before you read the rows: a transaction that ends between the two is then both among the
    rows and after the instant, and never missed."""
    found: datetime = (await db.execute(_NOTHING_MISSED)).scalar_one()
    return found
