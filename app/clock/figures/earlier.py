"""The figures of the days before a period, and what is missing of them: a period is compared only with days that were
read in full. Reads only."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.charts.compared import DayRange, PeriodPair
from app.clock.days import DAY, DaySpan, gaps
from app.clock.mirror import cursors
from app.clock.models import Cursor, DailyTotal
from app.dates import day_words, days_words


class DayFigures(NamedTuple):
    """The figures of a local day: all punches, those in attendance records, and whether some were purged after they
    were counted."""

    total: int = 0
    imported: int = 0
    frozen: bool = False


async def by_day(
    db: AsyncSession, days: DayRange | None, dimension: str = "all", key: str = ""
) -> dict[date, DayFigures]:
    """From the daily totals; days without punches are left out. One SELECT, or none."""
    if days is None:
        return {}
    wanted = select(DailyTotal.local_date, DailyTotal.total, DailyTotal.imported, DailyTotal.frozen).where(
        DailyTotal.dimension == dimension, DailyTotal.key == key, DailyTotal.local_date.between(*days)
    )
    return {row.local_date: DayFigures(row.total, row.imported, row.frozen) for row in await db.execute(wanted)}


async def first_day(db: AsyncSession, dimension: str = "all", key: str = "") -> date | None:
    """The first day with a punch, purged ones too; one look into the index."""
    known = select(DailyTotal.local_date).where(
        DailyTotal.dimension == dimension, DailyTotal.key == key, DailyTotal.total > 0
    )
    found: date | None = await db.scalar(known.order_by(DailyTotal.local_date).limit(1))
    return found


async def unknown(db: AsyncSession, pair: PeriodPair, zone: str) -> str:
    """As `why_unknown`; two SELECTs."""
    return why_unknown(pair, await first_day(db), await cursors.read_all(db), zone)


def why_unknown(pair: PeriodPair, first: date | None, rows: Sequence[Cursor], zone: str) -> str:
    """Says in a sentence what is missing of the compared days: they lie before the `first` day with a punch, or are not
    read yet. "" when nothing is. `rows` are the cursors of punches."""
    if pair.earlier is None:
        return ""
    since, until = pair.earlier[0], (pair.whole or pair.earlier)[1] + DAY
    if first is None or first > since:
        return f"the first punch is from {day_words(first, pair.today)}." if first else "there is no punch yet."
    unread = gaps(DaySpan(since, until), cursors.known_spans(rows, ZoneInfo(zone)))
    if not unread:
        return ""
    gap = unread[0]
    return f"not all of {days_words(gap.first, gap.until - DAY, pair.today)} is read yet."
