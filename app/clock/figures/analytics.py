"""Figures of a range of local days beyond the daily totals: the hours of the week, lateness, terminals, departments.
Read only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, Row, Select, SQLColumnExpression, cast, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.charts.compared import DayRange, PeriodPair
from app.clock.models import DailyTotal, Department, Device
from app.clock.punches import hour_counts
from app.counting import percent

# How long a punch took to reach the server: the label of each bound, and of what came later.
LATE = ("Within a minute", "Within 5 minutes", "Within an hour", "Within a day", "Later")


class Lateness(NamedTuple):
    """How many punches took as long to arrive as `label` says, and their percent of all punches with a known upload
    time. None for those without one."""

    label: str
    punches: int
    percent: Decimal | None


@dataclass(frozen=True, slots=True)
class Shape:
    """`hours`: (ISO weekday, hour) → punches. `late`: how late they arrived; `late_before`: how late those of the days
    before did, if they were asked for."""

    hours: dict[tuple[int, int], int]
    late: list[Lateness]
    late_before: list[Lateness]


async def shape(db: AsyncSession, first: date, last: date, since: date | None = None) -> Shape:
    """Counts the stored punches, without purged ones. With `since` also the days from then on."""
    found = await hour_counts.read(db, first, last, since or first)
    return Shape(found.hours, lateness(found.late), lateness(found.late_before))


def lateness(found: dict[int, int]) -> list[Lateness]:
    """The lateness of punches that are counted by bucket."""
    known = sum(n for bucket, n in found.items() if bucket != hour_counts.NOT_SAID)
    late = [Lateness(label, n := found.get(bucket, 0), percent(n, known)) for bucket, label in enumerate(LATE)]
    unsaid = found.get(hour_counts.NOT_SAID)
    return late if unsaid is None else [*late, Lateness("The server does not say", unsaid, None)]


async def by_terminal(db: AsyncSession, pair: PeriodPair) -> Sequence[Row[Any]]:
    """Rows of: key (the serial number, "" where the server named none), name, total and imported of the shown days,
    `now` and `before` (the total of the days that are over, and of the days that they are compared with). The busiest
    terminal first."""
    named = _counted("terminal", func.coalesce(Device.alias, DailyTotal.key), pair)
    rows: Sequence[Row[Any]] = (await db.execute(named.outerjoin(Device, Device.sn == DailyTotal.key))).all()
    return rows


async def by_department(db: AsyncSession, pair: PeriodPair) -> Sequence[Row[Any]]:
    """Rows as of `by_terminal`, by department: key is its code, "" for people without one."""
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
    """The sum over these days; 0 when there are none."""
    if days is None:
        return literal(0)
    return cast(func.coalesce(func.sum(figure).filter(DailyTotal.local_date.between(*days)), 0), Integer)
