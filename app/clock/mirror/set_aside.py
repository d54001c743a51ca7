"""Rows that could not be read: how many are missing from the mirror for that reason, and which run says why.

Each window of punches remembers how many of its rows were set aside, until it is read again. The rows themselves are
stored by sync/run_state.py and shown by the run's page.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.clock.models import Cursor

_KEY = "aside"


@dataclass(frozen=True, slots=True)
class SetAsideRows:
    """How many rows are set aside, and the run whose page lists them."""

    rows: int
    run_id: int


def pending_with(cursor: Cursor | None, rows: int, run_id: int) -> dict[str, Any]:
    """The cursor's `pending` after one more part of its window was read, of which `rows` rows were set aside."""
    old = (cursor.pending if cursor else None) or {}
    if not rows:
        return old
    return {**old, _KEY: {"rows": old.get(_KEY, {}).get("rows", 0) + rows, "run_id": run_id}}


def standing(last: Any, cursors: Iterable[Cursor]) -> SetAsideRows | None:
    """What to look at: the rows of the last run that is over, else those that its windows still lack. Pure.

    `last` is None, or has `id` and `resources`.
    """
    rows = sum(int(one.get("set_aside", 0)) for one in last.resources.values()) if last is not None else 0
    if rows:
        return SetAsideRows(rows, last.id)
    found = [(row.pending or {})[_KEY] for row in cursors if (row.pending or {}).get(_KEY)]
    if not found:
        return None
    return SetAsideRows(sum(one["rows"] for one in found), max(one["run_id"] for one in found))
