"""The daily totals: counted again for days whose punches changed, kept forever, and frozen after the purge removed
punches of a day.

figures/status.py reads them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date
from functools import partial

from sqlalchemy import delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import StaleDay
from app.clock.punches import day_counts, hour_counts, waiting_counts, week_counts
from app.db.session import Database, before_commit

WEEKS_CAUGHT_UP = 8
_LOCKS = 16
# True for a day of whose punches only outcomes changed.
StaleDays = dict[date, bool]
_NOTED = "stale_days"
_CLEAR = text("DELETE FROM clock_analytics_daily WHERE local_date = ANY(:days) AND NOT frozen")
_COUNT = text(
    """
    INSERT INTO clock_analytics_daily (local_date, dimension, key, total, check_in, check_out, break_out, break_in,
        overtime_in, overtime_out, unknown, employees, terminals, imported, gone)
    SELECT local_date,
        CASE WHEN grouping(terminal) = 0 THEN 'terminal' WHEN grouping(department) = 0 THEN 'department'
            WHEN grouping(outcome) = 0 THEN 'outcome' ELSE 'all' END,
        coalesce(terminal, department, outcome, ''),
        count(*) FILTER (WHERE there),
        count(*) FILTER (WHERE there AND punch_code = 0), count(*) FILTER (WHERE there AND punch_code = 1),
        count(*) FILTER (WHERE there AND punch_code = 2), count(*) FILTER (WHERE there AND punch_code = 3),
        count(*) FILTER (WHERE there AND punch_code = 4), count(*) FILTER (WHERE there AND punch_code = 5),
        count(*) FILTER (WHERE there AND (punch_code IS NULL OR punch_code NOT BETWEEN 0 AND 5)),
        count(DISTINCT emp_code) FILTER (WHERE there), count(DISTINCT terminal) FILTER (WHERE there AND terminal <> ''),
        count(*) FILTER (WHERE there AND is_imported),
        CASE WHEN grouping(terminal, department, outcome) = 7 THEN count(*) FILTER (WHERE NOT there) ELSE 0 END
    FROM (
        SELECT t.gone_at_utc IS NULL AS there, t.local_date, t.punch_code, t.emp_code, coalesce(t.terminal_sn, '') AS terminal,
            coalesce(e.department_code, '') AS department, coalesce(t.import_outcome, '') AS outcome,
            t.host_attendance_id IS NOT NULL AND t.import_outcome <> 'arrived_late' AS is_imported
        FROM clock_transactions t LEFT JOIN clock_employees e ON e.emp_code = t.emp_code
        WHERE t.local_date = ANY(:days) AND NOT EXISTS (
            SELECT 1 FROM clock_analytics_daily kept WHERE kept.local_date = t.local_date AND kept.frozen)
    ) AS punch
    GROUP BY local_date, GROUPING SETS ((), (terminal), (department), (outcome))
    ON CONFLICT (local_date, dimension, key) DO NOTHING
    """
)


def _locked(days: str, *, alone: bool) -> str:
    """Selects the local days of `days`, in order, and locks their weeks until the transaction ends. A transaction that
    notes a day shares the lock. One that takes days off the list has the lock `alone`: so it waits for transactions
    that change punches of these days, and counts their changes too. Weeks share a few locks."""
    how = "" if alone else "_shared"
    return f"""SELECT local_date, pg_advisory_xact_lock{how}(
            hashtextextended('stale days ' || current_schema(), (local_date - date '0001-01-01') / 7 % {_LOCKS})) AS locked
        FROM (SELECT DISTINCT local_date FROM ({days}) AS given ORDER BY local_date OFFSET 0) AS wanted"""


def noting_outcomes(days: str, outcomes_only: str = "true") -> str:
    """The statement that notes the local days that `days` selects, a query of one column `local_date`: only outcomes of
    their punches changed. Always in one order, so that two transactions never deadlock."""
    return f"""INSERT INTO clock_stale_days (local_date, outcomes_only)
        SELECT local_date, {outcomes_only} FROM ({_locked(days, alone=False)}) AS changed ORDER BY local_date ON CONFLICT DO NOTHING"""


_THESE = "SELECT unnest(CAST(:days AS date[])) AS local_date"
_NOTE = text(noting_outcomes(_THESE, "local_date = ANY(CAST(:outcomes_only AS date[]))"))
_HOLD = text(_locked(_THESE, alone=True))


async def mark_stale(db: AsyncSession, days: Iterable[date]) -> None:
    """Marks the totals of these local days as stale, in the transaction that adds, removes or moves punches of them.
    For one that changes their outcomes alone, `mark_outcomes` is enough.

    The days of all calls are noted together at its end, and in order. So of two transactions that change the same days,
    one waits for the other, once. If days were noted earlier, an act that then changed more punches or earlier days
    could deadlock.
    """
    _noted(db).update(dict.fromkeys(days, False))


async def mark_outcomes(db: AsyncSession, days: Iterable[date]) -> None:
    """As `mark_stale`, where only outcomes, records and the marks that settle punches changed. A count that
    does not depend on these still uses what is kept of the days."""
    noted = _noted(db)
    for day in days:
        noted.setdefault(day, True)


def _noted(db: AsyncSession) -> StaleDays:
    noted: StaleDays | None = db.info.get(_NOTED)
    if noted is None:
        noted = db.info[_NOTED] = {}
        before_commit(db, _note)
    return noted


def only_outcomes(days: StaleDays) -> list[date]:
    """Those of whose punches only outcomes changed."""
    return [day for day, outcomes_only in days.items() if outcomes_only]


async def _note(db: AsyncSession) -> None:
    noted: StaleDays = db.info.pop(_NOTED)
    if noted:
        await db.execute(_NOTE, {"days": sorted(noted), "outcomes_only": only_outcomes(noted)})


async def hold_weeks(db: AsyncSession, days: Sequence[date]) -> None:
    """Locks the weeks of these days until this transaction ends. Waits for transactions that noted or count days of
    these weeks, and makes later ones wait."""
    await db.execute(_HOLD, {"days": days})


async def roll_up(database: Database, workspace: str) -> int:
    """Counts every stale day again, a week per transaction: people are counted by week, so each week once.
    Returns how many days. Then, some weeks at a time, come days that a version before this one counted,
    which kept less."""
    open_transaction = partial(database.transaction, workspace)
    done = await roll_up_in(open_transaction)
    for _ in range(WEEKS_CAUGHT_UP):
        async with open_transaction() as db:
            await mark_stale(db, await hour_counts.never_counted(db))
            await mark_stale(db, await waiting_counts.never_counted(db))
        days = await roll_up_in(open_transaction)
        if not days:
            break
        done += days
    return done


async def roll_up_in(open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]]) -> int:
    """Counts every stale day again, for a caller with transactions of one workspace."""
    done = 0
    while True:
        async with open_transaction() as db:
            earliest = await db.scalar(select(func.min(StaleDay.local_date)))
            if earliest is None:
                return done
            taken = await _take(db, earliest)
            await count_days(db, list(taken), only_outcomes(taken))
        done += len(taken)


async def count_days(db: AsyncSession, days: Sequence[date], outcomes_only: Collection[date] = ()) -> None:
    """Writes the totals of these local days; frozen ones keep theirs, and those of which only outcomes changed their
    hours."""
    if not days:
        return
    await day_counts.recount(db, days)
    await week_counts.recount(db, days)
    await hour_counts.recount(db, [day for day in days if day not in outcomes_only])
    await db.execute(_CLEAR, {"days": list(days)})
    await db.execute(_COUNT, {"days": list(days)})


async def _take(db: AsyncSession, earliest: date) -> StaleDays:
    """Takes the stale days of the week of `earliest` off the list. A transaction that changes a punch of them meanwhile
    waits, and then notes the day again.

    Another rollup waits too, and then finds nothing left. Two rollups that count one week at the same time would not
    see each other's days.
    """
    await hold_weeks(db, [earliest])
    week = StaleDay.local_date.between(*week_counts.week_around(earliest))
    wanted = select(StaleDay.local_date).where(week).order_by(StaleDay.local_date).with_for_update()
    taken = delete(StaleDay).where(StaleDay.local_date.in_(wanted))
    rows = await db.execute(taken.returning(StaleDay.local_date, StaleDay.outcomes_only))
    return {row.local_date: row.outcomes_only for row in rows}
