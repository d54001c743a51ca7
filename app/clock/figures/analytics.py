"""Figures of a range of local days beyond the daily totals: the hours of the week, lateness, terminals, departments. Read only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import Integer, Row, Select, cast, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

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
        count(*) AS punches
    FROM clock_transactions WHERE local_date BETWEEN :first AND :last
    GROUP BY GROUPING SETS ((1, 2), (3))
    """
)


@dataclass(frozen=True, slots=True)
class Shape:
    """`hours`: (ISO weekday, hour) → punches. `late`: (label, punches, percent of those whose upload time is known)."""

    hours: dict[tuple[int, int], int]
    late: list[tuple[str, int, Decimal | None]]


async def shape(db: AsyncSession, first: date, last: date) -> Shape:
    """Counted from the punches themselves; those that were purged are gone from here."""
    # The first bucket below the smallest bound is 0, and a tap that arrived after exactly a minute is within it.
    bounds = [bound + 1e-6 for bound, _ in LATE if bound is not None]
    rows = (await db.execute(_SHAPE, {"first": first, "last": last, "bounds": bounds})).all()
    hours = {(row.weekday, row.hour): row.punches for row in rows if row.weekday is not None}
    found = {row.late: row.punches for row in rows if row.weekday is None}
    known = sum(n for bucket, n in found.items() if bucket >= 0)
    late = [(label, n := found.get(bucket, 0), percent(n, known)) for bucket, (_, label) in enumerate(LATE)]
    return Shape(hours, [*late, ("The server does not say", found.get(-1, 0), None)] if -1 in found else late)


async def by_terminal(db: AsyncSession, first: date, last: date) -> Sequence[Row[Any]]:
    """key (serial, "" where the server named none), name, total and imported; the busiest first."""
    named = _counted("terminal", func.coalesce(Device.alias, DailyTotal.key), first, last)
    rows: Sequence[Row[Any]] = (await db.execute(named.outerjoin(Device, Device.sn == DailyTotal.key))).all()
    return rows


async def by_department(db: AsyncSession, first: date, last: date) -> Sequence[Row[Any]]:
    """key (code, "" for people without one), name, total and imported; the busiest first."""
    named = _counted("department", func.coalesce(Department.name, DailyTotal.key), first, last)
    rows: Sequence[Row[Any]] = (await db.execute(named.outerjoin(Department, Department.code == DailyTotal.key))).all()
    return rows


def _counted(dimension: str, name: Any, first: date, last: date) -> Select[Any]:
    total = cast(func.sum(DailyTotal.total), Integer).label("total")
    imported = cast(func.sum(DailyTotal.imported), Integer).label("imported")
    return (
        select(DailyTotal.key, name.label("name"), total, imported)
        .where(DailyTotal.dimension == dimension, DailyTotal.local_date.between(first, last))
        .group_by(DailyTotal.key, name)
        .order_by(total.desc(), DailyTotal.key)
    )
