"""Figures of a range of local days beyond the daily totals: the hours of the week, lateness, terminals, departments. Read only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, Row, Select, SQLColumnExpression, cast, func, literal, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.charts.compared import DayRange, PeriodPair
from app.clock.models import DailyTotal, Department, Device
from app.counting import percent

# How long after the tap the server had it: upper bounds in seconds, and what a person reads.
LATE = (
    (60, "Within a minute"),
    (300, "Within 5 minutes"),
    (3600, "Within an hour"),
    (86_400, "Within a day"),
    (None, "Later"),
)
_SHAPE = text(
    """
    SELECT extract(isodow FROM punched_at_local)::int AS weekday, extract(hour FROM punched_at_local)::int AS hour,
        CASE WHEN uploaded_at_utc IS NULL THEN -1
            ELSE width_bucket(greatest(extract(epoch FROM uploaded_at_utc - punched_at_utc), 0)::float8,
                CAST(:bounds AS float8[])) END AS late,
        local_date >= :first AS shown, grouping(extract(hour FROM punched_at_local)::int) AS by_late, count(*) AS punches
    FROM clock_transactions WHERE local_date BETWEEN :since AND :last
    GROUP BY GROUPING SETS ((1, 2, 4), (3, 4))
    """
)


class Lateness(NamedTuple):
    """Punches that took so long to arrive; percent of those whose upload time is known."""

    label: str
    punches: int
    percent: Decimal | None


@dataclass(frozen=True, slots=True)
class Shape:
    """`hours`: (ISO weekday, hour) → punches. `late`: how late they were; `late_before` the same of the days before, where they were
    asked for."""

    hours: dict[tuple[int, int], int]
    late: list[Lateness]
    late_before: list[Lateness]


async def shape(db: AsyncSession, first: date, last: date, since: date | None = None) -> Shape:
    """Counted from the punches themselves; those that were purged are gone from here. With `since` also the days from then on."""
    # The first bucket below the smallest bound is 0, and a tap that arrived after exactly a minute is within it.
    bounds = [bound + 1e-6 for bound, _ in LATE if bound is not None]
    given = {"first": first, "last": last, "since": since or first, "bounds": bounds}
    rows = (await db.execute(_SHAPE, given)).all()
    hours = {(row.weekday, row.hour): row.punches for row in rows if row.shown and not row.by_late}
    late = [{row.late: row.punches for row in rows if row.by_late and row.shown is shown} for shown in (True, False)]
    return Shape(hours, *(lateness(one) for one in late))


def lateness(found: dict[int, int]) -> list[Lateness]:
    """From punches by bucket; -1 where the server does not say when."""
    known = sum(n for bucket, n in found.items() if bucket >= 0)
    late = [Lateness(label, n := found.get(bucket, 0), percent(n, known)) for bucket, (_, label) in enumerate(LATE)]
    return [*late, Lateness("The server does not say", found[-1], None)] if -1 in found else late


async def by_terminal(db: AsyncSession, pair: PeriodPair) -> Sequence[Row[Any]]:
    """key (serial, "" where the server named none), name, total and imported of the shown days, and total of the whole ones and of
    their counterparts (`now`, `before`); the busiest first."""
    named = _counted("terminal", func.coalesce(Device.alias, DailyTotal.key), pair)
    rows: Sequence[Row[Any]] = (await db.execute(named.outerjoin(Device, Device.sn == DailyTotal.key))).all()
    return rows


async def by_department(db: AsyncSession, pair: PeriodPair) -> Sequence[Row[Any]]:
    """The same by department; key is its code, "" for people without one."""
    named = _counted("department", func.coalesce(Department.name, DailyTotal.key), pair)
    rows: Sequence[Row[Any]] = (await db.execute(named.outerjoin(Department, Department.code == DailyTotal.key))).all()
    return rows


def _counted(dimension: str, name: SQLColumnExpression[Any], pair: PeriodPair) -> Select[*tuple[Any, ...]]:
    shown = (pair.first, pair.last)
    since = (pair.earlier or shown)[0]
    total = _sum(DailyTotal.total, shown).label("total")
    columns = (
        total,
        _sum(DailyTotal.imported, shown).label("imported"),
        _sum(DailyTotal.total, pair.whole).label("now"),
        _sum(DailyTotal.total, pair.counterparts).label("before"),
    )
    return (
        select(DailyTotal.key, name.label("name"), *columns)
        .where(DailyTotal.dimension == dimension, DailyTotal.local_date.between(since, pair.last))
        .group_by(DailyTotal.key, name)
        .having(total > 0)
        .order_by(total.desc(), DailyTotal.key)
    )


def _sum(figure: SQLColumnExpression[int], days: DayRange | None) -> ColumnElement[int]:
    """Of these days; 0 where there are none."""
    if days is None:
        return literal(0)
    return cast(func.coalesce(func.sum(figure).filter(DailyTotal.local_date.between(*days)), 0), Integer)
