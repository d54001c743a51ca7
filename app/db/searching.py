"""The condition behind every search box."""

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, true


def contains(*columns: Any) -> Callable[[str], ColumnElement[bool]]:
    """A text filter: every word occurs in one of the columns, case apart. `%` and `_` mean themselves."""

    def where(text: str) -> ColumnElement[bool]:
        words = [re.sub(r"([\\%_])", r"\\\1", word) for word in text.split()]
        return and_(true(), *(or_(*(one.ilike(f"%{word}%", escape="\\") for one in columns)) for word in words))

    return where
