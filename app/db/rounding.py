"""Rounding in SQL as app.counting does it: half up.
PostgreSQL's own is half up for `numeric` alone, half to even for doubles."""

from typing import Any

from sqlalchemy import ColumnElement, Numeric, cast, func


def half_up(value: ColumnElement[Any], places: int) -> ColumnElement[Any]:
    """As `numeric`."""
    return func.round(cast(value, Numeric), places)
