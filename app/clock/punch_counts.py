"""Totals of the punch list, and where a deep page begins, without counting a million rows for every page.

Days that changed since the last rollup (`clock_stale_days`) are counted from the punches, all others from the counts that
the rollup keeps; both in one statement, so the answer is exact at any moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, literal, select, true, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Punch, PunchCount, StaleDay

NO_TERMINAL, NOT_JUDGED, NO_CODE = "", "", -1
_TERMINAL = func.coalesce(Punch.terminal_sn, NO_TERMINAL)
_OUTCOME = func.coalesce(Punch.import_outcome, NOT_JUDGED)
_CODE = func.coalesce(Punch.punch_code, NO_CODE)
_STALE = select(StaleDay.local_date)


@dataclass(frozen=True, slots=True)
class Counted:
    """Punches per local day under a filter, newest day first."""

    days: Sequence[tuple[date, int]]

    @property
    def total(self) -> int:
        return sum(count for _, count in self.days)

    def locate(self, offset: int) -> tuple[date, int] | None:
        """The day in which the row at `offset` lies, newest first, and how many rows of that day come before it."""
        for day, count in self.days:
            if offset < count:
                return day, offset
            offset -= count
        return None


async def count_by_day(db: AsyncSession, *, days: tuple[date | None, date | None], equal: Mapping[str, Any]) -> Counted:
    """Counts under a range of local days and equalities on `terminal_sn`, `import_outcome` (a list) and `punch_code`."""
    kept = select(PunchCount.local_date, PunchCount.total.label("n")).where(
        _within(PunchCount.local_date, days), *_equalities(PunchCount, equal), PunchCount.local_date.not_in(_STALE)
    )
    fresh = select(Punch.local_date, literal(1).label("n")).where(
        _within(Punch.local_date, days), *_equalities(Punch, equal), Punch.local_date.in_(_STALE)
    )
    both = union_all(kept, fresh).subquery()
    statement = select(both.c.local_date, func.sum(both.c.n)).group_by(both.c.local_date)
    rows = await db.execute(statement.order_by(both.c.local_date.desc()))
    return Counted([(day, int(count)) for day, count in rows])


async def recount(db: AsyncSession, days: Sequence[date]) -> None:
    """Counts the given local days anew; part of the rollup, in its transaction."""
    await db.execute(delete(PunchCount).where(PunchCount.local_date.in_(days)))
    counted = (
        select(Punch.local_date, _TERMINAL, _OUTCOME, _CODE, func.count())
        .where(Punch.local_date.in_(days))
        .group_by(Punch.local_date, _TERMINAL, _OUTCOME, _CODE)
    )
    columns = ["local_date", "terminal_sn", "import_outcome", "punch_code", "total"]
    await db.execute(insert(PunchCount).from_select(columns, counted))


def _within(column: Any, days: tuple[date | None, date | None]) -> ColumnElement[bool]:
    first, last = days
    return and_(true(), column >= first if first else true(), column <= last if last else true())


def _equalities(table: Any, equal: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    conditions = []
    for name, value in equal.items():
        column = getattr(table, name)
        conditions.append(column.in_(value) if isinstance(value, (list, tuple)) else column == value)
    return conditions
