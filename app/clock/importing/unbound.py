"""Punches of unbound codes, judged inside the database: a first sync may bring a million of them, and to read each one
only to say "Not bound" costs more than to mirror it.

They get the outcome of line 3 of the order of decisions (docs/rules.md), if no line before it applies. A punch that has
or had a record, or to which another condition applies, is judged by the pairing core like all others.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import rows as import_rows
from app.clock.outcomes import Outcome
from app.clock.pairing.shifts import AHEAD, REACH
from app.clock.punches.daily_totals import noting_outcomes
from app.clock.punches.settled import ended_where
from app.db.direct import driver
from app.webhooks import noting
from app.webhooks.kinds import OUTCOME_CHANGED

# So many are found at a time, and so many settled in one transaction.
FOUND, SLICE = 100_000, 10_000
NOT_BOUND = Outcome.NOT_BOUND.value
Open = Callable[[], AbstractAsyncContextManager[AsyncSession]]

_ALONE = """
    t.punched_at_utc <= $2 AND t.host_attendance_id IS NULL AND t.imported_role IS NULL
    AND NOT t.retry AND coalesce(t.terminal_sn, '') <> ALL($3::text[])
    AND t.remote_attendance IS NOT FALSE
    AND NOT EXISTS (
        SELECT FROM clock_employee_bindings b WHERE b.emp_code = t.emp_code AND b.host_employee_id IS NOT NULL)
    AND NOT EXISTS (
        SELECT FROM unnest($4::timestamptz[], $5::timestamptz[]) AS u (first, until)
        WHERE t.punched_at_utc >= u.first AND t.punched_at_utc < u.until)
"""
_PAGE = f"{_ALONE} AND t.id > $6 ORDER BY t.id LIMIT $7"
FIND = f"SELECT t.id FROM clock_transactions t WHERE t.judge_at <= $1 AND {_PAGE}"
# After a full page many wait. By the index on `judge_at`, which old statistics suggest, each page would read all of
# them; by the ids, all pages together read the table once.
FIND_NEXT = f"SELECT t.id FROM clock_transactions t WHERE coalesce(t.judge_at, 'infinity') <= $1 AND {_PAGE}"
_OTHER_MARK = ended_where(f"t.import_outcome IS DISTINCT FROM '{NOT_BOUND}'", "t")
# coalesce keeps PostgreSQL from the index on `judge_at`: the ids find the rows, whatever the statistics of the table
# say. A row is news when this transaction set its `updated_at`.
_SETTLE = f"""
WITH stored AS (
    UPDATE clock_transactions t SET import_outcome = '{NOT_BOUND}', judge_at = NULL, {_OTHER_MARK},
        updated_at = CASE WHEN t.import_outcome IS DISTINCT FROM '{NOT_BOUND}' THEN now() ELSE t.updated_at END
    WHERE t.id = ANY($6::bigint[]) AND coalesce(t.judge_at, 'infinity') <= $1 AND {_ALONE}
    RETURNING t.id, t.local_date, t.updated_at = now() AS news
), noted AS (
    {noting_outcomes("SELECT local_date FROM stored WHERE news")}
)
SELECT count(*), count(*) FILTER (WHERE news), ARRAY(SELECT id FROM stored WHERE news LIMIT {noting.MOST_IDS}) FROM stored
"""


async def find(open_transaction: Open, now: datetime) -> AsyncGenerator[Sequence[int]]:
    """Ids of such punches, some thousands at a time, in the order in which they lie in the table: by person, every
    slice would touch every page of it. No transaction is open while the caller settles them: the server would end one
    that waits for minutes."""
    query, last, may_be_more = FIND, 0, True
    while may_be_more:
        async with open_transaction() as db:
            ids = [row[0] for row in await driver(db).fetch(query, *await _facts(db, now), last, FOUND)]
        for place in range(0, len(ids), SLICE):
            yield ids[place : place + SLICE]
        query, last, may_be_more = FIND_NEXT, ids[-1] if ids else last, len(ids) == FOUND


async def settle(db: AsyncSession, ids: Sequence[int], now: datetime) -> tuple[int, int]:
    """Returns (how many of them are still unbound, how many of those had another outcome or none).

    Locks the punches before it judges them. So a transaction that binds their code or marks them has either ended, and
    is seen; or it waits, and marks what was written here.
    """
    await import_rows.hold_punches(db, ids)
    ((judged, news, some),) = await driver(db).fetch(_SETTLE, *await _facts(db, now), ids)
    await noting.note_number(db, OUTCOME_CHANGED, some, news)
    return judged, news


async def _facts(db: AsyncSession, now: datetime) -> tuple[Any, ...]:
    world = await import_rows.read_world(db, now)
    readers = [serial for serial, terminal in world.terminals.items() if terminal.is_access]
    unread = [(span.start, span.end + REACH) for span in world.unread]
    return now, now + AHEAD, readers, [first for first, _ in unread], [until for _, until in unread]
