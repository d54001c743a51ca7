"""Rows of a list as cards on a phone: the cells say what they are, since no heading stands above them there.

What the marks look like: static/css/lists.css.
"""

from collections.abc import Sequence
from itertools import zip_longest

from markupsafe import Markup, escape


def labelled(rows: str, labels: Sequence[str | None]) -> Markup:
    """`rows` with a mark on each cell: the first labelled one is the title of its card, one with "" holds what can be done.

    `labels` are those of the cells of a row in their order; None leaves a cell alone (the box that selects the row).
    """
    marks = _marks(labels)
    head, *bodies = str(rows).split("<tr")  # as plain text: each piece of a Markup would be one again
    return Markup("<tr".join([head, *(_marked(row, marks) for row in bodies)]))  # noqa: S704 - rendered by a template


def _marks(labels: Sequence[str | None]) -> list[str]:
    title = next((label for label in labels if label), None)
    return [_mark(label, is_title=label is title) for label in labels]


def _mark(label: str | None, *, is_title: bool) -> str:
    if label is None:
        return ""
    if not label:
        return " data-acts"
    return " data-title" if is_title else f' data-label="{escape(label)}"'


def _marked(row: str, marks: Sequence[str]) -> str:
    start, *cells = row.split("<td")
    marked = [f"{mark}{cell}" for mark, cell in zip_longest(marks[: len(cells)], cells, fillvalue="")]
    return "<td".join([start, *marked])
