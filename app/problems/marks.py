"""Marks of facts: a look that meets the mark of an earlier look compares none of these facts with the problems
that stand.

A mark is noted by a look that compared them and changed nothing, and forgotten when problems open, change or close. It
holds for an hour: then all is compared again, whatever a worker of another version did meanwhile.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Text, TextualSelect, column, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.problems.kinds import FactSelect

HOLDS: Final = timedelta(hours=1)
_AT = "at"
_FORGET = text("UPDATE problem_sweeps SET marks = NULL WHERE marks IS NOT NULL")


def columns(selects: Collection[FactSelect]) -> str:
    """The marks as columns of a SELECT, of the same moment as what stands beside them."""
    return ", ".join(f"CAST(({one.mark}) AS text) AS {_column(one)}" for one in selects)


def selected(selects: Collection[FactSelect]) -> TextualSelect:
    """The same as a SELECT."""
    return text(f"SELECT {columns(selects)}").columns(*(column(_column(one), Text) for one in selects))


def unchanged(
    selects: Collection[FactSelect], row: Any, kept: Mapping[str, str] | None, now: datetime
) -> set[FactSelect]:
    """Those whose facts are as they were when their mark was noted. `row` has the columns."""
    if not kept or now - datetime.fromisoformat(kept[_AT]) >= HOLDS:
        return set()
    return {one for one in selects if getattr(row, _column(one)) == kept.get(one.name)}


def to_note(selects: Collection[FactSelect], row: Any, now: datetime) -> dict[str, str]:
    """What `kept` is after a look that compared them all and changed nothing. `row` has the columns."""
    return {one.name: getattr(row, _column(one)) for one in selects} | {_AT: now.isoformat()}


async def forget(db: AsyncSession) -> None:
    await db.execute(_FORGET)


def _column(one: FactSelect) -> str:
    return f"mark_{one.name}"
