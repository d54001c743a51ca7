"""Conditions on any number of values: PostgreSQL's protocol takes no more than 32,767 parameters,
and `in_` makes one of each."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, any_, literal
from sqlalchemy.orm import InstrumentedAttribute


def among(column: ColumnElement[Any] | InstrumentedAttribute[Any], values: Iterable[Any]) -> ColumnElement[bool]:
    """True when `column` has one of the values, which are one array parameter."""
    return column == any_(literal(list(values), ARRAY(column.type)))
