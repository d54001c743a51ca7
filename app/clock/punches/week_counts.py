"""Totals and places of the punches of some people: kept by week, counted by day within the weeks of a page alone.

Otherwise a name that fits five hundred people would count a hundred thousand punches for every page, and the name of
one person the punches of all years. Exact at any moment: weeks with a stale day, and those that a range cuts, are
counted from the punches in the same statement. A day of which only outcomes changed is not meant:
it has the same punches of the same people.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from typing import Self

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import DAY, LONGEST_OFFSET
from app.clock.punches.day_counts import Days, count_by_day
from app.clock.punches.waiting_counts import WAITS
from app.db.located import Counted

_HOUR = timedelta(hours=1)
# An instant lies near its local date in every zone, so the index on people and instants serves. To read
# whole days around a day would be most of the work.
_OF_PEOPLE = f"""FROM clock_transactions t WHERE t.emp_code = ANY(CAST(:codes AS text[])) AND {{day}} BETWEEN {{first}} AND {{last}}
            AND t.punched_at_utc >= ({{first}} - interval '{LONGEST_OFFSET // _HOUR} hours') AT TIME ZONE 'UTC'
            AND t.punched_at_utc < ({{last}} + interval '{(DAY + LONGEST_OFFSET) // _HOUR} hours') AT TIME ZONE 'UTC'"""
# For an unknown range the planner would take the index on days, and read everybody's punches. The `+ 0` prevents this.
_FRESH = _OF_PEOPLE.format(day="t.local_date + 0", first="open.first", last="open.last")
_BY_WEEK = text(
    f"""
    WITH touched (week) AS (
        SELECT DISTINCT date_trunc('week', local_date)::date FROM clock_stale_days WHERE NOT outcomes_only
        UNION SELECT unnest(CAST(:cut AS date[]))
    ), open AS MATERIALIZED (
        SELECT week, greatest(week, CAST(:first AS date)) AS first, least(week + 6, CAST(:last AS date)) AS last
        FROM touched WHERE week BETWEEN :first_week AND :last
    )
    SELECT week, CAST(NULL AS date) AS local_date, sum(total)::bigint AS punches FROM clock_person_counts
    WHERE emp_code = ANY(CAST(:codes AS text[])) AND week BETWEEN :first_week AND :last AND week NOT IN (SELECT week FROM open)
    GROUP BY week
    UNION ALL
    SELECT week, fresh.local_date, fresh.punches
    FROM open CROSS JOIN LATERAL (SELECT local_date, count(*) AS punches {_FRESH} GROUP BY local_date) AS fresh
    ORDER BY week DESC, local_date DESC
    """
)
_IN_RANGE = _OF_PEOPLE.format(day="t.local_date", first="CAST(:first AS date)", last="CAST(:last AS date)")
_BY_DAY = text(f"SELECT local_date, count(*) AS punches {_IN_RANGE} GROUP BY local_date ORDER BY local_date DESC")
_FORGET = text("DELETE FROM clock_person_counts WHERE week = :week")
_COUNT = text(
    f"""
    INSERT INTO clock_person_counts (week, emp_code, total, waiting)
    SELECT CAST(:week AS date), emp_code, count(*), count(*) FILTER (WHERE {WAITS}) FROM clock_transactions
    WHERE local_date BETWEEN :week AND :last
    GROUP BY emp_code
    """
)


@dataclass(frozen=True, slots=True)
class ByWeek(Counted):
    """`days` are weeks here, by their Monday; `falling`: newest first. `fresh`: by day, those weeks that were counted
    from the punches. With `everybody`, by day, `codes` are those to take away."""

    codes: tuple[str, ...]
    within: tuple[date, date]
    fresh: Sequence[tuple[date, int]]
    everybody: Counted | None = None
    falling: bool = True

    def reversed(self) -> Self:
        return replace(self, days=self.days[::-1], falling=not self.falling)


async def count_by_week(db: AsyncSession, codes: tuple[str, ...], days: Days) -> ByWeek:
    """The punches of `codes` in a range of local days, newest week first; one SELECT."""
    first, last = days[0] or date.min, days[1] or date.max
    given = {"codes": list(codes), "first": first, "first_week": week_of(first), "last": last, "cut": _cut(*days)}
    rows = (await db.execute(_BY_WEEK, given)).all()
    fresh = [(row.local_date, int(row.punches)) for row in rows if row.local_date is not None]
    return ByWeek(_by_week((row.week, int(row.punches)) for row in rows), codes, (first, last), fresh)


async def count_by_week_but(db: AsyncSession, others: tuple[str, ...], days: Days) -> ByWeek:
    """The punches of everybody but `others`; two SELECTs. Of more than half of all people this is the quicker way, and
    it is exact because the mirror keeps a person for every code."""
    everybody = await count_by_day(db, days=days, equal={})
    found = await count_by_week(db, others, days)
    weeks = _by_week((week_of(day), number) for day, number in everybody.days)
    return replace(found, days=Counted(weeks).less(found).days, everybody=everybody)


def _by_week(counts: Iterable[tuple[date, int]]) -> list[tuple[date, int]]:
    """One sum for the counts of each week, which come one after the other."""
    return [(week, sum(number for _, number in those)) for week, those in groupby(counts, lambda one: one[0])]


async def narrowed(db: AsyncSession, counted: ByWeek, offset: int, rows: int) -> tuple[Counted, int]:
    """The same by day, of those weeks alone in which the rows lie, and where the first of them lies in it;
    one SELECT, or none where the weeks were counted from the punches."""
    weeks, skip = counted.locate(offset, rows)
    if not weeks:
        return Counted([]), 0
    by_day = Counted(await _days_of(db, counted, weeks))
    if counted.everybody is not None:
        by_day = counted.everybody.less(by_day)
    by_day = Counted([(day, count) for day, count in by_day.days if week_of(day) in weeks])
    return by_day if counted.falling else by_day.reversed(), skip


async def _days_of(db: AsyncSession, counted: ByWeek, weeks: Sequence[date]) -> list[tuple[date, int]]:
    """The punches of `codes` on the days of some weeks, newest day first."""
    known = {week_of(day) for day, _ in counted.fresh}
    kept = [week for week in weeks if week not in known]
    if not kept:
        return list(counted.fresh)
    first, last = counted.within
    given = {"first": max(min(kept), first), "last": min(_last_day(max(kept)), last)}
    found = await db.execute(_BY_DAY, {**given, "codes": list(counted.codes)})
    read = [(row.local_date, int(row.punches)) for row in found if week_of(row.local_date) not in known]
    return sorted([*read, *counted.fresh], reverse=True)


def _cut(first: date | None, last: date | None) -> list[date]:
    """The weeks of which a range holds only a part."""
    begins = [week_of(first)] if first and first != week_of(first) else []
    return begins + ([week_of(last)] if last and last != _last_day(week_of(last)) else [])


async def recount(db: AsyncSession, days: Sequence[date]) -> None:
    """Counts the weeks of the given local days again; part of the rollup, in its transaction."""
    for week, last in sorted({week_around(day) for day in days}):
        await db.execute(_FORGET, {"week": week})
        await db.execute(_COUNT, {"week": week, "last": last})


def week_around(day: date) -> tuple[date, date]:
    """Its Monday and its Sunday."""
    week = week_of(day)
    return week, _last_day(week)


def week_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _last_day(week: date) -> date:
    return week + min(timedelta(days=6), date.max - week)
