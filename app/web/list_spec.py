"""What a list is: its columns, filters, bulk acts and texts for an empty list; and the conditions of text and range
filters.

A `ListSpec` is beside its page. How one request's list is made from it: app.web.lists.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from litestar.datastructures import FormMultiDict, MultiDict
from markupsafe import Markup
from sqlalchemy import ColumnElement, SQLColumnExpression, and_, true
from sqlalchemy.orm import InstrumentedAttribute

from app.dates import day_words, days_words
from app.errors import FieldError, Invalid
from app.periods import PERIODS, Days

LONGEST_FILTER = 200
Condition = ColumnElement[bool]
Query = MultiDict[Any] | FormMultiDict
FilterValues = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """`value` takes a row for the exports, and `excel` for Excel alone, when it has a better type there, such as a
    time; `order` makes the heading sort. With `shown` False the column is only in the column chooser. `titles` makes it
    the title of a row's card on a small screen, if it is not the first column. With `always` it is in each export,
    after the columns that the person chose. Its cell is in the page's template. A person who chose columns sees a new
    one only after ticking it."""

    key: str
    label: str
    value: Callable[[Any], Any]
    order: SQLColumnExpression[Any] | None = None
    shown: bool = True
    numeric: bool = False
    hint: str = ""
    titles: bool = False
    always: bool = False
    excel: Callable[[Any], Any] | None = None

    @property
    def sort(self) -> str | None:
        return self.key if self.order is not None else None


@dataclass(frozen=True)
class Filter:
    """A condition from query parameters. `kind`: text, select, multi, check, hidden, or range.

    A range reads the dates `<name>_from` and `<name>_to` (plain `from` and `to` when the name is empty), or the word of
    app.periods in `<name>_period`, and gives `where` a pair of dates or None. The others give it the text, a list of
    texts (multi) or True (check). Spaces at the ends of a text are removed, unless the filter is `verbatim`, because a
    code of the time clock may have some. `groups` puts the options of a multi filter under headings (they must be
    neighbours), `counts` shows a number beside each, and `note` says what the numbers count.
    """

    name: str
    label: str
    where: Callable[[Any], Condition]
    kind: str = "text"
    options: Mapping[str, str] = field(default_factory=dict)
    placeholder: str = ""
    advanced: bool = False
    verbatim: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        if self.kind != "range":
            return (self.name,)
        prefix = f"{self.name}_" if self.name else ""
        return (f"{prefix}from", f"{prefix}to", f"{prefix}period")

    def read(self, query: Query, today: date | None = None) -> Any:
        """The value in force, None when the address has none. Words such as "yesterday" count from `today`; without it
        they are refused. Raises Invalid, which says what to give."""
        texts = [
            [self._meant(str(text)) for text in query.getall(name, []) if str(text).strip()] for name in self.parameters
        ]
        if not any(texts):
            return None
        if any("\x00" in text or len(text) > LONGEST_FILTER for one in texts for text in one):
            raise self._wrong("Use at most 200 plain characters.")
        if self.kind == "range":
            first, last, period = (one[-1] if one else "" for one in texts)
            # Dates beside a word were given later, so they win.
            return self._range(first, last) if first or last else self._period(period, today)
        return self._value(texts[0])

    def _meant(self, text: str) -> str:
        return text if self.verbatim or text in self.options else text.strip()

    def _value(self, texts: list[str]) -> Any:
        if self.kind in ("select", "multi") and set(texts) - set(self.options):
            raise self._wrong("Choose from the list.")
        if self.kind == "multi":
            return texts
        if self.kind == "check":
            return texts[-1] not in ("0", "false", "off") or None
        return texts[-1]

    def _period(self, word: str, today: date | None) -> Days:
        if today is None or word not in PERIODS:
            raise self._wrong("Choose days, or one of the periods of the list.")
        return PERIODS[word].days(today)

    def _range(self, first: str, last: str) -> tuple[date | None, date | None]:
        low, high = self._date(first), self._date(last)
        if low and high and low > high:
            raise self._wrong("The first day is after the last day.")
        return low, high

    def _date(self, text: str) -> date | None:
        if not text:
            return None
        day = day_of(text)
        if day is None:
            raise self._wrong("Give a date such as 2026-11-21.")
        return day

    def _wrong(self, message: str) -> Invalid:
        return Invalid(f"{self.label}: {message}", details=[FieldError(self.name, message)])

    def words(self, value: Any, today: date | None) -> str:
        """The value in words; `today` decides when a year is named."""
        if self.kind == "range":
            return _range_words(value, today)
        if self.kind == "check":
            return "yes"
        values = value if isinstance(value, list) else [value]
        return ", ".join(self.options.get(one, one) for one in values)


def in_every_filter(_: FilterValues) -> bool:
    return True


@dataclass(frozen=True)
class BulkAction:
    """Actions with the same `menu` are behind one button of that name, which has the icon of the first; others are
    buttons. `fits` gets the filters in force: an action that could change none of their rows is not offered."""

    value: str
    label: str
    icon: str
    danger: bool = False
    menu: str = ""
    fits: Callable[[FilterValues], bool] = in_every_filter


def where_any_of(name: str, changeable: Container[str]) -> Callable[[FilterValues], bool]:
    """Fits when the filter `name` is not in force, or allows one of the values `changeable`."""

    def fits(values: FilterValues) -> bool:
        value = values.get(name)
        chosen = value if isinstance(value, list) else [value]
        return value is None or any(one in changeable for one in chosen)

    return fits


@dataclass(frozen=True)
class ExportKind:
    """One entry of a list's export menu. `query` is added to the filters in the address."""

    label: str
    query: Mapping[str, str]


CSV, JSON_LINES = ExportKind("CSV", {"export": "csv"}), ExportKind("JSON Lines", {"export": "jsonl"})
EXCEL = ExportKind("Excel", {"export": "xlsx"})
EXPORTS = (CSV, EXCEL, JSON_LINES)


@dataclass(frozen=True)
class Empty:
    """What an empty list says, and what to do next."""

    icon: str
    title: str
    text: str
    url: str | None = None
    action: str = ""


@dataclass(frozen=True)
class ListSpec:
    """`key` is the column that a selection holds, and that makes every order total; `sort` is the default, `-`
    descends. `today` is the day in the zone of the list's days; a list with a filter of days needs it to offer periods.
    `days` are the days that the whole list is about, for any filters. `sorts_many` are the columns by which the list
    can still be sorted when it has more rows than are counted, because an index has that order; empty means all
    columns. `cells`, where the columns share much reading, turns a row into what their `value` takes in an export."""

    name: str
    label: str
    url: str
    columns: tuple[Column, ...]
    filters: tuple[Filter, ...]
    key: ColumnElement[Any] | InstrumentedAttribute[Any]
    sort: str
    empty: Empty
    bulk_url: str = ""
    bulk: tuple[BulkAction, ...] = ()
    today: date | None = None
    days: Days | None = None
    exports: tuple[ExportKind, ...] = EXPORTS
    sorts_many: tuple[str, ...] = ()
    cells: Callable[[Any], Any] | None = None

    def orders(self) -> dict[str, SQLColumnExpression[Any]]:
        return {column.key: column.order for column in self.columns if column.order is not None}

    def offering(self, **options: Mapping[str, str]) -> "ListSpec":
        """The same list with other options of some filters, which only the request knows."""
        filters = tuple(replace(item, options=options.get(item.name, item.options)) for item in self.filters)
        return replace(self, filters=filters)


def _range_words(days: tuple[date | None, date | None], today: date | None) -> str:
    first, last = days
    if first and last:
        return days_words(first, last, today)
    return f"from {day_words(first, today)} on" if first else f"until {day_words(last, today)}" if last else ""


def day_of(text: str) -> date | None:
    """The day of a text such as `2026-11-21`, None for any other text."""
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) else None
    except ValueError:
        return None


def word_in_force(item: Filter, query: Mapping[str, Any]) -> str:
    """The word of app.periods that narrows a range, or "": dates in the address win over it."""
    first, last, period = (str(query.get(name) or "").strip() for name in item.parameters)
    return "" if first or last else period


def between(column: SQLColumnExpression[Any]) -> Callable[[tuple[date | None, date | None]], Condition]:
    """A range filter over a date column: both ends are included, each may be open."""

    def where(days: tuple[date | None, date | None]) -> Condition:
        first, last = days
        low = column >= first if first else true()
        return and_(low, column <= last if last else true())

    return where


# A screen reader reads this cell before a link or a button of the row, such as the tenth *Why?*.
TITLE = Markup(' data-title role="rowheader"')


def card_marks(columns: Sequence[Column]) -> dict[str, Markup]:
    """The mark in the opening tag of each column's cells, by the column's key, in the order of `columns`. On a phone a
    row is a card without headings above it, so each cell says what it is; static/css/lists.css draws the marks.

    The title of the card is the column that says whom or what the row is about, otherwise the first column with a
    label. A column with the label "" holds what can be done with the row.
    """
    labelled = [column for column in columns if column.label]
    titled = next((column.key for column in labelled if column.titles), labelled[0].key if labelled else None)
    return {column.key: _mark(column, is_title=column.key == titled) for column in columns}


def _mark(column: Column, *, is_title: bool) -> Markup:
    if not column.label:
        return Markup(" data-acts")
    return TITLE if is_title else Markup(' data-label="{}"').format(column.label)
