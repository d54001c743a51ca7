"""The conditions behind every search box."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, literal, or_, true


def contains(*columns: SQLColumnExpression[Any]) -> Callable[[str], ColumnElement[bool]]:
    """A text filter: every word occurs in one of the columns, in upper or lower case.
    `%` and `_` have no special meaning."""

    def where(text: str) -> ColumnElement[bool]:
        return and_(true(), *(_occurs(word, columns) for word in text.split()))

    return where


def begins(column: SQLColumnExpression[Any], start: str) -> ColumnElement[bool]:
    """The text begins so, in the same letters. `%` and `_` have no special meaning."""
    return column.like(_literally(start) + "%", escape="\\")


def words_in(words: Iterable[str], *columns: SQLColumnExpression[Any]) -> ColumnElement[int]:
    """How many of the words occur in one of the columns, in upper or lower case."""
    counted: ColumnElement[int] = literal(0)
    for word in words:
        counted = counted + case((_occurs(word, columns), 1), else_=0)
    return counted


def _occurs(word: str, columns: Sequence[Any]) -> ColumnElement[bool]:
    pattern = f"%{_literally(word)}%"
    return or_(*(one.ilike(pattern, escape="\\") for one in columns))


def _literally(word: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", word)
