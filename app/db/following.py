"""Where somebody who follows a list by the time of changes must ask from next time, so that nothing is missed."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# A transaction that has just begun has no `xact_start` there yet for some microseconds, but its `query_start`, which becomes it.
_NOTHING_MISSED = text(
    "SELECT least(now(), min(coalesce(xact_start, query_start))) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
)


async def nothing_missed_since(db: AsyncSession) -> datetime:
    """An instant that whatever is written later, or committed later, is stamped with or after, where `now()` of the database stamps it. Ask
    before the rows are read: what ends between the two is then both among the rows and after the instant, never neither."""
    found: datetime = (await db.execute(_NOTHING_MISSED)).scalar_one()
    return found
