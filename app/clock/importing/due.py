"""Which punches the import has to judge: by day and by code. A large import is divided by days into
portions."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver

# An import of more due punches is divided. A portion has some weeks at least, because what lies around it is read as
# well.
PORTION, PORTION_DAYS = 100_000, timedelta(days=60)
_DUE = "SELECT emp_code, count(*) FROM clock_transactions WHERE judge_at <= $1 GROUP BY emp_code ORDER BY emp_code"
_DUE_BY_DAY = "SELECT local_date, count(*) FROM clock_transactions WHERE judge_at <= $1 GROUP BY local_date ORDER BY local_date DESC"
# coalesce keeps PostgreSQL from the index on `judge_at`: in a first import it has every punch.
WITHIN = "coalesce(judge_at, 'infinity') <= $1 AND local_date BETWEEN $2 AND $3"
_DUE_WITHIN = f"SELECT emp_code, count(*) FROM clock_transactions WHERE {WITHIN} GROUP BY emp_code ORDER BY emp_code"


class DateSpan(NamedTuple):
    """Local days, both included."""

    first: date
    last: date


def portions(due: Sequence[tuple[date, int]]) -> Iterator[DateSpan]:
    """Spans of days that hold at least PORTION due punches and PORTION_DAYS each; `due` are days, newest first, and
    their punches. The last one has what is left. Pure."""
    last, waiting = None, 0
    for day, number in due:
        last = last or day
        waiting += number
        if waiting >= PORTION and last - day >= PORTION_DAYS:
            yield DateSpan(day, last)
            last, waiting = None, 0
    if last is not None:
        yield DateSpan(due[-1][0], last)


async def due_days(db: AsyncSession, now: datetime) -> list[tuple[date, int]]:
    """Local days with punches to judge, newest first, and how many."""
    return [(day, count) for day, count in await driver(db).fetch(_DUE_BY_DAY, now)]


async def due_codes(db: AsyncSession, now: datetime, within: DateSpan | None = None) -> list[tuple[str, int]]:
    """Codes with punches to judge, and how many; `within` some local days, or of all."""
    rows = driver(db).fetch(_DUE, now) if within is None else driver(db).fetch(_DUE_WITHIN, now, *within)
    return [(code, count) for code, count in await rows]
