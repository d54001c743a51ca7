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
_BY_MONTH = text(
    """
    WITH open (month) AS (
        SELECT DISTINCT date_trunc('month', local_date)::date FROM clock_stale_days
        UNION SELECT unnest(CAST(:cut AS date[]))
    )
    SELECT month, sum(total)::bigint AS punches, (SELECT count(*) FROM clock_employees) AS people FROM (
        SELECT month, total FROM clock_person_counts
        WHERE emp_code = ANY(:codes) AND month BETWEEN :first_month AND :last AND month NOT IN (SELECT month FROM open)
        UNION ALL
        SELECT open.month, (
            SELECT count(*) FROM clock_transactions t
            WHERE t.emp_code = ANY(:codes) AND t.local_date BETWEEN greatest(open.month, :first)
                AND least(open.month + interval '1 month' - interval '1 day', :last)
                AND t.punched_at_utc >= open.month - interval '2 days' AND t.punched_at_utc < open.month + interval '33 days')
        FROM open WHERE open.month BETWEEN :first_month AND :last
    ) AS counted
    GROUP BY month HAVING sum(total) > 0 ORDER BY month DESC
    """
)
_BY_DAY = text(
    """
    SELECT local_date, count(*) AS punches FROM clock_transactions
    WHERE emp_code = ANY(CAST(:codes AS text[])) AND local_date BETWEEN :first AND :last
        AND punched_at_utc >= CAST(:first AS date) - interval '2 days'
        AND punched_at_utc < CAST(:last AS date) + interval '3 days'
    GROUP BY local_date ORDER BY local_date DESC
    """
)
# Of more than half of all people it is quicker to count the others, and take them from what each day holds.
_BY_DAY_BUT = text(
    """
    SELECT local_date, sum(punches)::bigint AS punches FROM (
        SELECT local_date, total AS punches FROM clock_transaction_counts
        WHERE local_date BETWEEN :first AND :last AND local_date NOT IN (SELECT local_date FROM clock_stale_days)
        UNION ALL
        SELECT d.local_date, (SELECT count(*) FROM clock_transactions t WHERE t.local_date = d.local_date)
        FROM clock_stale_days d WHERE d.local_date BETWEEN :first AND :last
        UNION ALL
        SELECT local_date, -count(*) FROM clock_transactions
        WHERE emp_code IN (SELECT emp_code FROM clock_employees WHERE emp_code <> ALL(CAST(:codes AS text[])))
            AND local_date BETWEEN :first AND :last
            AND punched_at_utc >= CAST(:first AS date) - interval '2 days'
            AND punched_at_utc < CAST(:last AS date) + interval '3 days'
        GROUP BY local_date
    ) AS counted
    GROUP BY local_date HAVING sum(punches) > 0 ORDER BY local_date DESC
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
    """`days` are months here, by their first day; `falling`: newest first. `most`: it is about more than half of all people."""

    codes: tuple[str, ...]
    within: tuple[date, date]
    most: bool
    falling: bool = True

    def reversed(self) -> Self:
        return replace(self, days=self.days[::-1], falling=not self.falling)


async def count_by_month(db: AsyncSession, codes: tuple[str, ...], days: tuple[date | None, date | None]) -> ByMonth:
    """The punches of `codes` in a range of local days, newest month first; one SELECT."""
    first, last = days[0] or EARLIEST, days[1] or LATEST
    cut = [month_of(first), month_of(last)] if days != (None, None) else []
    given = {"codes": list(codes), "first": first, "first_month": month_of(first), "last": last, "cut": cut}
    rows = (await db.execute(_BY_MONTH, given)).all()
    people = rows[0].people if rows else 0
    months = [(row.month, int(row.punches)) for row in rows]
    return ByMonth(months, codes, (first, last), most=2 * len(codes) > people)


async def narrowed(db: AsyncSession, counted: ByMonth, offset: int, rows: int) -> tuple[Counted, int]:
    """The same by day, of those months alone in which the rows lie, and where the first of them lies in it; one SELECT."""
    months, skip = counted.locate(offset, rows)
    if not months:
        return Counted([]), 0
    first, last = counted.within
    given = {
        "codes": list(counted.codes),
        "first": max(min(months), first),
        "last": min(_last_day(max(months)), last),
    }
    found = (await db.execute(_BY_DAY_BUT if counted.most else _BY_DAY, given)).all()
    by_day = Counted([(row.local_date, int(row.punches)) for row in found if month_of(row.local_date) in months])
    return by_day if counted.falling else by_day.reversed(), skip


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
