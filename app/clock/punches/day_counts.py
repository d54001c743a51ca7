"""Totals of the punch list, and where a deep page begins, without counting a million rows for every page.

Days that changed since the last rollup (`clock_stale_days`) are counted from the punches, all others from the totals
and counts that the rollup keeps; all in one statement, so the answer is exact at any moment. Without a filter by
outcome, a day of which only outcomes changed is among the others:
an import changes those of all days, and adds no punch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import DailyTotal, Punch, PunchCount, StaleDay
from app.db.located import Counted

NO_TERMINAL, NOT_JUDGED, NO_CODE = "", "", -1
UNKNOWN = -2
# A literal, not a parameter: otherwise PostgreSQL does not use the index on unknown codes.
_LEAST: ColumnElement[int] = literal_column("0")
_MOST: ColumnElement[int] = literal_column("5")
_TERMINAL = func.coalesce(Punch.terminal_sn, NO_TERMINAL)
_OUTCOME = func.coalesce(Punch.import_outcome, NOT_JUDGED)
_CODE = func.coalesce(Punch.punch_code, NO_CODE)
_ALL = and_(DailyTotal.dimension == "all", DailyTotal.key == "")
# Days whose daily totals differ from the list: purged ones.
_APART = select(DailyTotal.local_date).where(_ALL, DailyTotal.frozen)
# A literal, not a parameter: otherwise PostgreSQL does not use the index on counts with punches that are gone.
_SOME_GONE = PunchCount.gone > literal_column("0")
_FIGURES: Mapping[int, SQLColumnExpression[int]] = {
    0: DailyTotal.check_in,
    1: DailyTotal.check_out,
    2: DailyTotal.break_out,
    3: DailyTotal.break_in,
    4: DailyTotal.overtime_in,
    5: DailyTotal.overtime_out,
    UNKNOWN: DailyTotal.unknown,
}
Days = tuple[date | None, date | None]
_OF_STALE_DAY = (
    select(_OUTCOME.label("outcome"), func.count().label("n"), func.count(Punch.settled_at_utc).label("settled"))
    .where(Punch.local_date == StaleDay.local_date, Punch.gone_at_utc.is_(None))
    .group_by(Punch.import_outcome)
    .lateral()
)
# How many punches of each stale day have which outcome, and how many of them are settled; without those that are gone.
# A look-up for each day: the planner can't know how few there are, and would read all punches.
STALE_OUTCOMES = (
    select(StaleDay.local_date, _OF_STALE_DAY.c.outcome, _OF_STALE_DAY.c.n, _OF_STALE_DAY.c.settled)
    .select_from(StaleDay)
    .join(_OF_STALE_DAY, true())
)


def unknown(code: SQLColumnExpression[Any]) -> ColumnElement[bool]:
    """True for a missing code and for one outside 0-5."""
    return or_(code.is_(None), code < _LEAST, code > _MOST)


async def count_by_day(db: AsyncSession, *, days: Days, equal: Mapping[str, Any]) -> Counted:
    """Counts under a range of local days and equalities on `terminal_sn`, `import_outcome` and `punch_code` (both
    lists; UNKNOWN among the codes stands for those outside 0-5)."""
    parts: list[Mapping[str, Any]] = [equal]
    if "import_outcome" in equal:
        parts = [{**equal, "import_outcome": part} for part in judged_and_not(equal["import_outcome"])]
    n = sum((_of_stale_day(part) for part in parts), literal_column("0"))
    fresh = select(StaleDay.local_date, n.label("n")).where(_within(StaleDay.local_date, days), _differs(equal))
    every = union_all(*_kept(days, equal), fresh).subquery()
    by_day = select(every.c.local_date, func.sum(every.c.n)).group_by(every.c.local_date)
    rows = await db.execute(by_day.order_by(every.c.local_date.desc()))
    return Counted([(day, int(count)) for day, count in rows if count])


def _of_stale_day(equal: Mapping[str, Any]) -> ColumnElement[int]:
    """A look-up for each stale day: joined, the planner would read every punch, since it cannot know how few days there
    are."""
    there = select(func.count()).where(Punch.local_date == StaleDay.local_date, *_equalities(Punch, equal))
    return there.correlate(StaleDay).scalar_subquery()


def _differs(equal: Mapping[str, Any]) -> ColumnElement[bool]:
    """True for a stale day on which what is kept may not be the answer."""
    return true() if "import_outcome" in equal else StaleDay.outcomes_only.is_(False)


def _kept(days: Days, equal: Mapping[str, Any]) -> list[Select[date, int]]:
    """The days on which what is kept is the answer: from the daily totals where these know the answer, which is a
    row a day instead of sixty.

    Those of a frozen day count punches that the purge has taken, and none of them counts those that are gone from the
    server: these are few, and added.
    """
    equalities = _equalities(PunchCount, equal)
    differ = select(StaleDay.local_date).where(_differs(equal))
    counted = _sum_by_day(PunchCount, PunchCount.total, days, differ).where(*equalities)
    known = _in_daily_totals(equal)
    if known is None:
        return [counted]
    daily = _sum_by_day(DailyTotal, known.figure, days, differ).where(known.rows, DailyTotal.local_date.not_in(_APART))
    gone = _sum_by_day(PunchCount, PunchCount.gone, days, differ).where(_SOME_GONE, *equalities)
    return [daily, gone.where(PunchCount.local_date.not_in(_APART)), counted.where(PunchCount.local_date.in_(_APART))]


@dataclass(frozen=True, slots=True)
class _KeptTotals:
    rows: ColumnElement[bool]
    figure: SQLColumnExpression[Any]


def _in_daily_totals(equal: Mapping[str, Any]) -> _KeptTotals | None:
    """Which rows and figure of the daily totals answer a filter that is empty, or has only a terminal, only outcomes or
    only codes. None for any other filter."""
    match list(equal.items()):
        case []:
            return _KeptTotals(_ALL, DailyTotal.total)
        case [("terminal_sn", serial)]:
            return _KeptTotals(and_(DailyTotal.dimension == "terminal", DailyTotal.key == serial), DailyTotal.total)
        case [("import_outcome", outcomes)]:
            return _KeptTotals(and_(DailyTotal.dimension == "outcome", DailyTotal.key.in_(outcomes)), DailyTotal.total)
        case [("punch_code", codes)]:
            return _KeptTotals(_ALL, sum((_FIGURES[code] for code in set(codes)), literal_column("0")))
        case _:
            return None


def _sum_by_day(
    table: type[PunchCount | DailyTotal], figure: SQLColumnExpression[Any], days: Days, but: Select[date]
) -> Select[date, int]:
    day = table.local_date
    return select(day, func.sum(figure).label("n")).where(_within(day, days), day.not_in(but)).group_by(day)


async def recount(db: AsyncSession, days: Sequence[date]) -> None:
    """Counts the given local days again; part of the rollup, in its transaction."""
    await db.execute(delete(PunchCount).where(PunchCount.local_date.in_(days)))
    settled = func.count(Punch.settled_at_utc).filter(Punch.gone_at_utc.is_(None))
    counted = (
        select(Punch.local_date, _TERMINAL, _OUTCOME, _CODE, func.count(), func.count(Punch.gone_at_utc), settled)
        .where(Punch.local_date.in_(days))
        .group_by(Punch.local_date, _TERMINAL, _OUTCOME, _CODE)
    )
    columns = ["local_date", "terminal_sn", "import_outcome", "punch_code", "total", "gone", "settled"]
    await db.execute(insert(PunchCount).from_select(columns, counted))


def _within(column: SQLColumnExpression[Any], days: Days) -> ColumnElement[bool]:
    first, last = days
    return and_(true(), column >= first if first else true(), column <= last if last else true())


def _equalities(table: type[Punch | PunchCount], equal: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    conditions = []
    for name, value in equal.items():
        column = getattr(table, name)
        if name == "punch_code":
            conditions.append(has_code(column, value))
        elif name == "import_outcome" and table is Punch:
            conditions.append(has_outcome(column, value))
        elif name == "import_outcome":
            conditions.append(column.in_(value))
        else:
            conditions.append(column == value)
    return conditions


def has_code(column: SQLColumnExpression[Any], codes: Sequence[int]) -> ColumnElement[bool]:
    named = column.in_([code for code in codes if code != UNKNOWN])
    return or_(named, unknown(column)) if UNKNOWN in codes else named


def judged_and_not(outcomes: Sequence[str]) -> list[list[str]]:
    """The same outcomes in parts of which each has an index: for both at once PostgreSQL would read the table."""
    judged = [one for one in outcomes if one != NOT_JUDGED]
    return [judged, [NOT_JUDGED]] if judged and NOT_JUDGED in outcomes else [list(outcomes)]


def has_outcome(column: SQLColumnExpression[Any], outcomes: Sequence[str]) -> ColumnElement[bool]:
    """Of punches; in the kept counts NOT_JUDGED is an outcome like any other. PostgreSQL has an index for each of the
    two forms."""
    judged = [one for one in outcomes if one != NOT_JUDGED]
    if NOT_JUDGED not in outcomes:
        return column.in_(judged)
    return or_(column.in_(judged), column.is_(None)) if judged else column.is_(None)
