"""The instant from which a program that follows a list must ask next time, so that it misses nothing."""

import asyncio
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

# A transaction that has just begun has no `xact_start` there yet for some microseconds, but its `query_start`,
# which becomes it. Before that PostgreSQL has taken the time of a transaction while it still calls the session idle. If
# the processor is taken away at that moment, it stays so. Such a session does not wait for its client.
_NOTHING_MISSED = text(
    """
    SELECT least(now(), min(coalesce(xact_start, query_start)) FILTER (WHERE state <> 'idle')) AS instant,
        coalesce(bool_or(state = 'idle' AND wait_event IS DISTINCT FROM 'ClientRead'), false) AS may_begin
    FROM pg_stat_activity WHERE datname = current_database()
    """
)
_LOOK_AFRESH = text("SELECT pg_stat_clear_snapshot()")
# A session is there for some microseconds, unless the machine is busy or its client reads nothing.
_PAUSES_S = (0.001, 0.005, 0.02, 0.05, 0.1)
_LONGEST_BEGIN = timedelta(seconds=1)


async def nothing_missed_since(db: AsyncSession) -> datetime:
    """An instant such that all rows that are written or committed later bear it or a later one, if the database's
    `now()` stamps them. Ask before you read the rows: a transaction that ends between the two is then both among the
    rows and after the instant, and never missed."""
    found = (await db.execute(_NOTHING_MISSED)).one()
    for pause in _PAUSES_S:
        if not found.may_begin:
            break
        await asyncio.sleep(pause)
        await db.execute(_LOOK_AFRESH)
        found = (await db.execute(_NOTHING_MISSED)).one()
    instant: datetime = found.instant
    return instant - _LONGEST_BEGIN if found.may_begin else instant
