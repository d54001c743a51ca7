"""Totals and places of the punches of many people at once: kept by month, counted by day within one month alone.

A name that fits half a thousand people would else count a hundred thousand punches for every page. Exact at any moment: months
with a stale day, and those that a range cuts, are counted from the punches in the same statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Self

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.web.located import Counted

EARLIEST, LATEST = date(1, 1, 1), date(9999, 12, 1)
# Fewer people than this are counted by day at once: one look into the index for each.
MANY = 20
# An instant lies within two days of its local date, wherever its clock hangs; so the index on people and instants serves.
_OF_PEOPLE = """FROM clock_transactions t WHERE t.emp_code = ANY(CAST({codes} AS text[])) AND {day} BETWEEN {first} AND {last}
        AND t.punched_at_utc >= {first} - interval '2 days' AND t.punched_at_utc < {last} + interval '3 days'"""
_OF_DAYS = """SELECT local_date, total FROM clock_transaction_counts
        WHERE local_date BETWEEN {first} AND {last} AND local_date NOT IN (SELECT local_date FROM clock_stale_days)
        UNION ALL
        SELECT d.local_date, (SELECT count(*) FROM clock_transactions t WHERE t.local_date = d.local_date)
        FROM clock_stale_days d WHERE d.local_date BETWEEN {first} AND {last}"""
_RANGE = {"day": "t.local_date", "first": "CAST(:first AS date)", "last": "CAST(:last AS date)"}
# Of a range that it does not know, the planner would take the index on days, and read everybody's punches: the `+ 0` forbids it.
_OPEN = {"day": "t.local_date + 0", "first": "open.first", "last": "open.last"}
_FRESH = f"(SELECT count(*) {_OF_PEOPLE.format(codes=':codes', **_OPEN)})"
# Of more than half of all people it is quicker to count the others, and take them from what each day holds: the mirror keeps a
# person for every code.
_FRESH_BUT = f"""((SELECT coalesce(sum(total), 0)::bigint FROM ({_OF_DAYS.format(**_OPEN)}) AS held)
            - (SELECT count(*) {_OF_PEOPLE.format(codes=":others", **_OPEN)}))"""
_BY_MONTH, _BY_MONTH_BUT = (
    text(
        f"""
    WITH touched (month) AS (
        SELECT DISTINCT date_trunc('month', local_date)::date FROM clock_stale_days
        UNION SELECT unnest(CAST(:cut AS date[]))
    ), open AS MATERIALIZED (
        SELECT month, greatest(month, CAST(:first AS date)) AS first,
            least(CAST(month + interval '1 month' - interval '1 day' AS date), CAST(:last AS date)) AS last
        FROM touched WHERE month BETWEEN :first_month AND :last
    )
    SELECT month, sum(total)::bigint AS punches FROM (
        SELECT month, total FROM clock_person_counts
        WHERE emp_code = ANY(CAST(:codes AS text[])) AND month BETWEEN :first_month AND :last AND month NOT IN (SELECT month FROM open)
        UNION ALL
        SELECT month, {fresh} FROM open
    ) AS counted
    GROUP BY month HAVING sum(total) > 0 ORDER BY month DESC
    """
    )
    for fresh in (_FRESH, _FRESH_BUT)
)
_BY_DAY = text(
    f"SELECT local_date, count(*) AS punches {_OF_PEOPLE.format(codes=':codes', **_RANGE)}"
    " GROUP BY local_date ORDER BY local_date DESC"
)
_BY_DAY_BUT = text(
    f"""
    SELECT local_date, sum(total)::bigint AS punches FROM (
        {_OF_DAYS.format(**_RANGE)}
        UNION ALL
        SELECT local_date, -count(*) {_OF_PEOPLE.format(codes=":others", **_RANGE)} GROUP BY local_date
    ) AS counted
    GROUP BY local_date HAVING sum(total) > 0 ORDER BY local_date DESC
    """
)
_FORGET = text("DELETE FROM clock_person_counts WHERE month = :month")
_COUNT = text(
    """
    INSERT INTO clock_person_counts (month, emp_code, total)
    SELECT CAST(:month AS date), emp_code, count(*) FROM clock_transactions
    WHERE local_date BETWEEN :month AND :last
    GROUP BY emp_code
    """
)


@dataclass(frozen=True, slots=True)
class ByMonth(Counted):
    """`days` are months here, by their first day; `falling`: newest first. `others`: see `count_by_month`."""

    codes: tuple[str, ...]
    others: tuple[str, ...] | None
    within: tuple[date, date]
    falling: bool = True

    def reversed(self) -> Self:
        return replace(self, days=self.days[::-1], falling=not self.falling)


async def count_by_month(
    db: AsyncSession,
    codes: tuple[str, ...],
    days: tuple[date | None, date | None],
    others: tuple[str, ...] | None = None,
) -> ByMonth:
    """The punches of `codes` in a range of local days, newest month first; one SELECT. `others`: everybody else, where that are
    fewer."""
    first, last = days[0] or EARLIEST, days[1] or LATEST
    given = {"codes": list(codes), "first": first, "first_month": month_of(first), "last": last, "cut": _cut(*days)}
    if others is None:
        rows = await db.execute(_BY_MONTH, given)
    else:
        rows = await db.execute(_BY_MONTH_BUT, {**given, "others": list(others)})
    return ByMonth([(row.month, int(row.punches)) for row in rows], codes, others, (first, last))


async def narrowed(db: AsyncSession, counted: ByMonth, offset: int, rows: int) -> tuple[Counted, int]:
    """The same by day, of those months alone in which the rows lie, and where the first of them lies in it; one SELECT."""
    months, skip = counted.locate(offset, rows)
    if not months:
        return Counted([]), 0
    first, last = counted.within
    given = {"first": max(min(months), first), "last": min(_last_day(max(months)), last)}
    if counted.others is None:
        found = await db.execute(_BY_DAY, {**given, "codes": list(counted.codes)})
    else:
        found = await db.execute(_BY_DAY_BUT, {**given, "others": list(counted.others)})
    by_day = Counted([(row.local_date, int(row.punches)) for row in found if month_of(row.local_date) in months])
    return by_day if counted.falling else by_day.reversed(), skip


def _cut(first: date | None, last: date | None) -> list[date]:
    """The months of which a range holds only a part."""
    begins = [month_of(first)] if first and first.day > 1 else []
    return begins + ([month_of(last)] if last and last < LATEST and last != _last_day(last) else [])


async def recount(db: AsyncSession, days: Sequence[date]) -> None:
    """Counts the months of the given local days anew; part of the rollup, in its transaction."""
    for month, last in sorted({month_around(day) for day in days}):
        await db.execute(_FORGET, {"month": month})
        await db.execute(_COUNT, {"month": month, "last": last})


def month_around(day: date) -> tuple[date, date]:
    """Its first day and its last."""
    month = month_of(day)
    return month, _last_day(month)


def month_of(day: date) -> date:
    return day.replace(day=1)


def _last_day(month: date) -> date:
    return month_of(month + timedelta(days=31)) - timedelta(days=1)
