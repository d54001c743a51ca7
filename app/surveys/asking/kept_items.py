"""Surveys as this process read them last. Reading one takes longer than all else of a call, and what it says changes
only when somebody saves it: so an item is found again by what the survey's row says of its words."""

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final

from app.surveys.item import Item

# Bytes of all that is kept, about: the usual survey has a few thousand.
MOST_BYTES: Final = 16_000_000
# What a survey takes without its texts, and each question.
_BARE: Final = 650
# The words of a survey in one language: no two of them have the same.
_Words = tuple[Any, ...]


class KeptItems:
    """The items used last, within about `most` bytes. `row` is one of `items.read`."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._held = most, 0
        self._items: OrderedDict[_Words, tuple[Item, int]] = OrderedDict()

    def find(self, workspace: str, row: Any) -> Item | None:
        """With what else the row says of the survey now."""
        words = _words(workspace, row)
        if words not in self._items:
            return None
        self._items.move_to_end(words)
        item, _ = self._items[words]
        first = row.tag not in (None, item.own_language) and not row.was_shown
        return replace(item, enforcement=row.enforcement, category=row.category, ends_at=row.ends_at, is_first_in=first)

    def keep(self, row: Any, item: Item) -> None:
        """Of a survey that was published: of another one, no row stands for its words."""
        if row.wording_id is None:
            return
        self._drop(words := _words(item.workspace, row))
        self._items[words] = item, _size(item)
        self._held += self._items[words][1]
        while self._held > self._most:
            self._drop(next(iter(self._items)))

    def _drop(self, words: _Words) -> None:
        _, size = self._items.pop(words, (None, 0))
        self._held -= size


def _words(workspace: str, row: Any) -> _Words:
    """A save gives another revision at another time. The time is there for a database that was set back while this
    process ran: the next save gives a number a second time, and may ask the same again under new ids."""
    return workspace, row.uid, row.revision, row.updated_at, row.tag


def _size(item: Item) -> int:
    asked = (
        _BARE + len(one.label) + sum(map(len, (*one.options, *one.said_options, *one.details.rows, *one.said_rows)))
        for one in item.questions
    )
    return _BARE + len(item.title) + len(item.message_html) + len(item.closing_html) + sum(asked)
