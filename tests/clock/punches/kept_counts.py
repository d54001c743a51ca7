"""Whether what is counted from kept counts equals a plain count over the punches, after whatever changed them: the
punch list, hours, people, the Dashboard, outcomes, and the punches that wait for an employee."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.figures import dashboard, status
from app.clock.outcomes import Outcome
from app.clock.punches import daily_totals, hour_counts, queries
from app.clock.punches.day_counts import UNKNOWN
from app.clock.punches.punch_filter import PunchFilter
from app.clock.punches.waiting_counts import WAITING, WAITS
from tests.clock.mirror_store import MONDAY

_KEPT = text(f"SELECT emp_code, punches FROM ({WAITING}) AS waiting ORDER BY emp_code")
_PLAIN = text(f"SELECT emp_code, count(*) FROM clock_transactions WHERE {WAITS} GROUP BY emp_code ORDER BY emp_code")
_HOURS = text(
    "SELECT extract(isodow FROM punched_at_local)::int, extract(hour FROM punched_at_local)::int, count(*)::int"
    " FROM clock_transactions WHERE local_date BETWEEN :first AND :last GROUP BY 1, 2"
)
_DAYS = text("SELECT min(local_date), max(local_date) FROM clock_transactions")
# The outcomes of purged days are kept as they were.
_OUTCOMES = text(
    """
    SELECT import_outcome, count(*)::int FROM clock_transactions
    WHERE gone_at_utc IS NULL AND import_outcome IS NOT NULL AND local_date >= :since GROUP BY 1
    """
)
_NOT_PURGED = text("SELECT max(local_date) + 1 FROM clock_analytics_daily WHERE frozen")
_BARS = text(
    """
    SELECT local_date, coalesce(import_outcome, ''), count(*)::int, count(settled_at_utc)::int FROM clock_transactions
    WHERE gone_at_utc IS NULL AND local_date >= :since GROUP BY 1, 2
    """
)
_TOTALS = text(
    """
    SELECT local_date, total::int, gone::int, imported::int FROM clock_analytics_daily
    WHERE dimension = 'all' AND NOT frozen AND total + gone > 0 ORDER BY 1
    """
)
_PLAIN_TOTALS = text(
    """
    SELECT local_date, count(*) FILTER (WHERE gone_at_utc IS NULL)::int, count(gone_at_utc)::int,
        count(*) FILTER (WHERE gone_at_utc IS NULL AND host_attendance_id IS NOT NULL AND import_outcome <> 'arrived_late')::int
    FROM clock_transactions t
    WHERE NOT EXISTS (SELECT FROM clock_analytics_daily d WHERE d.local_date = t.local_date AND d.frozen) GROUP BY 1 ORDER BY 1
    """
)
Act = Callable[[AsyncSession], Awaitable[None]]
LISTS = (
    PunchFilter(),
    PunchFilter(terminal_sn="T1"),
    PunchFilter(punch_codes=(0, UNKNOWN)),
    PunchFilter(terminal_sn="T1", punch_codes=(1,)),
    PunchFilter(outcomes=("imported",)),
    PunchFilter(outcomes=("", "not_bound", "only_one_punch")),
    PunchFilter(terminal_sn="T1", outcomes=("imported", "attendance_deleted")),
    PunchFilter(settled=False),
    PunchFilter(emp_codes=("1", "4")),
    PunchFilter(emp_codes=("2", "3", "4"), other_codes=("1",)),
    PunchFilter(days=(MONDAY, MONDAY + timedelta(days=1))),
    PunchFilter(emp_codes=("1", "4"), days=(MONDAY, MONDAY + timedelta(days=8))),
)


async def count_up(db: AsyncSession) -> None:
    """As the rollup does."""
    rows = await db.execute(text("DELETE FROM clock_stale_days RETURNING local_date, outcomes_only"))
    stale: dict[date, bool] = {day: outcomes_only for day, outcomes_only in rows}  # noqa: C416 - rows are no pairs to the type checker
    await daily_totals.count_days(db, list(stale), daily_totals.only_outcomes(stale))


async def refuse_totals(db: AsyncSession, done: Sequence[str]) -> None:
    """Fails where the totals of days that were counted up differ."""
    kept, plain = [[tuple(row) for row in await db.execute(one)] for one in (_TOTALS, _PLAIN_TOTALS)]
    assert kept == plain, "\n".join(done)


async def refuse(db: AsyncSession, done: Sequence[str]) -> None:
    """Fails where the counts differ; `done` says what led there."""
    kept, plain = [[tuple(row) for row in await db.execute(one)] for one in (_KEPT, _PLAIN)]
    assert kept == plain, _told(done, "waiting", kept, plain)
    for wanted in LISTS:
        counted, there = await queries.counted_by_day(db, wanted), await queries._counted_fresh(db, wanted)
        if wanted.emp_codes is None:
            assert list(counted.days) == list(there.days), _told(done, wanted, counted.days, there.days)
        assert counted.total == there.total, _told(done, wanted, counted, there)
    first, last = (await db.execute(_DAYS)).one()
    if first is not None:
        await _refuse_figures(db, done, first, last)


async def _refuse_figures(db: AsyncSession, done: Sequence[str], first: date, last: date) -> None:
    hours = (await hour_counts.read(db, first, last, first)).hours
    punched = {(weekday, hour): n for weekday, hour, n in await db.execute(_HOURS, {"first": first, "last": last})}
    assert hours == punched, _told(done, "hours", hours, punched)
    since = await db.scalar(_NOT_PURGED) or first
    outcomes = await status.outcome_counts(db, since)
    rows = await db.execute(_OUTCOMES, {"since": since})
    there = {one.value: 0 for one in Outcome} | {word: n for word, n in rows}  # noqa: C416 - as above
    assert outcomes == there, _told(done, "outcomes", outcomes, there)
    shown = await dashboard.punches(db, last)
    rows = await db.execute(_BARS, {"since": shown.since})
    bars = [dashboard.DayOutcome(*row) for row in rows]
    plain = dashboard.summed(bars, last, await dashboard._ignored(db, bars, shown.since))
    for name in ("days", "total", "settled", "by_day", "ignored"):
        assert getattr(shown, name) == getattr(plain, name), _told(done, name, shown, plain)
    assert dict(shown.needs_person) == dict(plain.needs_person), _told(done, "needs a person", shown, plain)


def _told(done: Sequence[str], what: Any, counted: Any, plain: Any) -> str:
    return "\n".join([*done, f"{what}: counted {counted}, there are {plain}"])
