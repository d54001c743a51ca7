"""Rows of a list as cards on a phone: the cells say what they are, since no heading stands above them there.

What the marks look like: static/css/lists.css.
"""

from collections.abc import Sequence

from markupsafe import Markup

from app.web.list_spec import Column


def marks(columns: Sequence[Column]) -> dict[str, Markup]:
    """The mark in the opening tag of each column's cells, by the column's key, in the order of `columns`.

    The title of the card is the column that says whom or what the row is about, else the first one with a label; a column
    with the label "" holds what can be done.
    """
    labelled = [column for column in columns if column.label]
    titled = next((column.key for column in labelled if column.titles), labelled[0].key if labelled else None)
    return {column.key: _mark(column, is_title=column.key == titled) for column in columns}


def _mark(column: Column, *, is_title: bool) -> Markup:
    if not column.label:
        return Markup(" data-acts")
    return Markup(" data-title") if is_title else Markup(' data-label="{}"').format(column.label)
