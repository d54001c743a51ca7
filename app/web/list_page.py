"""What the address asks of a list, and one page of it as the frame macro draws it: rows, filters in force, links and
exports. How both are read: lists.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Select

from app.periods import PERIODS
from app.registry import list_rights
from app.web.excel.cells import MOST_ROWS
from app.web.list_spec import Column, ExportKind, Filter, ListSpec, card_marks, word_in_force
from app.web.preferences import WITHOUT_VIEW
from app.web.templating import with_query

PER_PAGE = (25, 50, 100, 200)
TOO_LONG = f"Excel takes up to {MOST_ROWS:,} rows: use CSV, or narrow the filter."
MAYBE_TOO_LONG = f"Excel takes up to {MOST_ROWS:,} rows. If there are more, use CSV, or narrow the filter."


@dataclass
class ListQuery:
    """What the address asks of a list. `errors` name filters that can't be read; then the list is empty, never
    wider."""

    values: dict[str, Any]
    errors: dict[str, str]
    query: dict[str, Any]
    sort: str
    page: int
    per_page: int

    @property
    def offset(self) -> int:
        """How many rows come before the page."""
        return (self.page - 1) * self.per_page

    def stay_sorted(self, spec: ListSpec) -> bool:
        """For very many rows only an order that an index has is possible, otherwise the default. False when another one
        was asked for."""
        if not spec.sorts_many or self.sort.removeprefix("-") in spec.sorts_many:
            return True
        self.sort, self.query["sort"] = spec.sort, None
        return False

    def stay_within(self, total: int) -> None:
        """A page beyond the end becomes the last page."""
        self.page = min(self.page, pages_of(total, self.per_page))

    def cut(self, ordered: Select[Any]) -> Select[Any]:
        """The rows of the page."""
        return ordered.limit(self.per_page).offset(self.offset)


@dataclass
class ListPage:
    """One page of a list: the `view` of the frame macro. `acting`: the act over this list that a job is carrying out.
    `more`: the list has more rows than `total`, which are not counted. `has_default_view`: its bare address opens a
    view that the person chose."""

    spec: ListSpec
    rows: Sequence[Any]
    total: int
    asked: ListQuery
    columns: tuple[Column, ...]
    visible: list[str]
    bulk: dict[str, Any] | None
    total_note: str = ""
    acting: int | None = None
    more: bool = False
    has_default_view: bool = False
    per_pages: ClassVar[tuple[int, ...]] = PER_PAGE

    def __post_init__(self) -> None:
        self.id, self.label, self.url = self.spec.name, self.spec.label, self.spec.url
        self.empty = self.spec.empty
        self.columns_url = f"/preferences/columns/{self.spec.name}"
        rights = list_rights().get(self.spec.name)
        self.views_url = f"/views/{self.spec.name}" if rights is not None and rights.url == self.spec.url else ""
        self.clear_url = self._bare
        self.sort, self.page, self.per_page = self.asked.sort, self.asked.page, self.asked.per_page
        self.shown = len(self.rows)
        self.cells = card_marks([column for column in self.columns if column.key in self.visible])
        self.errors = self.asked.errors
        # The address of the list as it stands. Rows name it, so it is made once.
        self.here = self.link()
        self.back_query = with_query("", {"back": self.here})

    @property
    def pages(self) -> int:
        return pages_of(self.total, self.per_page)

    def link(self, **changes: Any) -> str:
        """The address of this list with changes; every change except of the page leads to page 1."""
        query = dict(self.asked.query)
        if changes and set(changes) != {"page"}:
            query["page"] = None
        if changes.get("page") == 1:
            changes["page"] = None
        address = with_query(self.url, query, **changes)
        return self._bare if address == self.url else address

    @property
    def _bare(self) -> str:
        """The address of all rows in the usual order."""
        return with_query(self.url, WITHOUT_VIEW) if self.has_default_view and self.views_url else self.url

    @property
    def filters(self) -> list[dict[str, Any]]:
        return [self._drawn(item) for item in self.spec.filters]

    def _drawn(self, item: Filter) -> dict[str, Any]:
        value = self.asked.values.get(item.name)
        drawn = {"kind": item.kind, "name": item.name, "label": item.label, "value": value, "advanced": item.advanced}
        if item.kind == "range":
            del drawn["name"]
            first, last, period = item.parameters
            word = self._period(item)
            low, high = (None, None) if word else value or (None, None)
            periods = [{"value": key, "label": one.label} for key, one in PERIODS.items()] if self.spec.today else []
            return drawn | {
                "name_from": first, "name_to": last, "value_from": low, "value_to": high,
                "name_period": period, "period": word, "options": periods,
            }  # fmt: skip
        if item.kind == "multi":
            drawn["value"] = value or []
        drawn["note"] = item.note
        drawn["placeholder"] = item.placeholder or item.label
        drawn["options"] = [
            {"value": one, "label": label, "group": item.groups.get(one, ""), "count": item.counts.get(one)}
            for one, label in item.options.items()
        ]
        return drawn

    def _period(self, item: Filter) -> str:
        return word_in_force(item, self.asked.query)

    def _words(self, item: Filter) -> str:
        value = item.words(self.asked.values[item.name], self.spec.today)
        word = self._period(item) if item.kind == "range" else ""
        return f"{PERIODS[word].label}, {value}" if word else value

    @property
    def chips(self) -> list[dict[str, str]]:
        """The filters in force, each with the address without it."""
        active = [item for item in self.spec.filters if self.asked.values.get(item.name) is not None]
        chips = [
            {
                "label": item.label,
                "value": self._words(item),
                "url": self.link(**dict.fromkeys(item.parameters)),
            }
            for item in active
        ]
        labels = {item.name: item for item in self.spec.filters}
        return chips + [
            {"label": labels[name].label, "value": message, "url": self.link(**dict.fromkeys(labels[name].parameters))}
            for name, message in self.errors.items()
        ]

    @property
    def exports(self) -> list[dict[str, str]]:
        kinds = offered(self.spec.exports, self.total)
        return [{"label": one.label, "url": self.link(**one.query, per_page=None)} for one in kinds]

    @property
    def too_long(self) -> str:
        return MAYBE_TOO_LONG if self.more else too_long(self.total)


def offered(kinds: Sequence[ExportKind], rows: int) -> list[ExportKind]:
    """The kinds of export; without Excel when it can't hold so many rows."""
    return [one for one in kinds if not (too_long(rows) and one.query["export"] == "xlsx")]


def too_long(rows: int) -> str:
    """Why Excel is not offered, "" when it is."""
    return TOO_LONG if rows > MOST_ROWS else ""


def pages_of(total: int, per_page: int) -> int:
    """The number of pages; an empty list has one."""
    return max(1, -(-total // per_page))
