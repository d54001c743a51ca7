"""Rows of a SELECT as plain named tuples. For lists, which show hundreds of rows: the session would do more work for
each.

And how the SELECTs of a transaction are planned.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import CursorResult, Result, Select, text
from sqlalchemy.ext.asyncio import AsyncSession

_PLAN_EACH = text("SET LOCAL plan_cache_mode = force_custom_plan")


async def plain(db: AsyncSession, statement: Select[Any]) -> Sequence[Any]:
    """Every row, by the names of its columns. Only for SELECTs of columns: entities would come as their columns too."""
    connection = await db.connection()
    result = await connection.execute(statement)
    make = maker(tuple(result.keys()))
    return [make(row) for row in result.fetchall()]


def affected(result: Result[Any]) -> int:
    """How many rows an INSERT, UPDATE or DELETE touched."""
    return cast("CursorResult[Any]", result).rowcount


@lru_cache(maxsize=100)
def maker(names: tuple[str, ...]) -> Callable[[Iterable[Any]], Any]:
    """Makes a row of its values. An attribute of a named tuple is read four times as fast as one of SQLAlchemy's
    rows."""
    row = namedtuple("Row", names)  # type: ignore[misc]  # noqa: PYI024 - a statement's own columns
    return row._make


async def plan_each(db: AsyncSession) -> None:
    """The rest of the transaction plans each statement for its values.

    Otherwise PostgreSQL may plan a statement once for all values after it ran five times. That plan can't suit both a
    rare value and the usual one, nor the few rows behind a mark and a table of millions.
    """
    await db.execute(_PLAN_EACH)
