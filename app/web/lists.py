"""The one way to make a list: filters in the address, sort, paging, columns remembered per person, selection.

What a list is: `ListSpec` (app.web.list_spec). `load` answers a request with a `ListPage`, which is the `view` of the
frame macro (templates/components/lists.html); the page writes the rows. `selected` turns a posted bulk selection, or
the whole filter, into a condition. Streaming the same rows: app.web.exports.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from sqlalchemy import Select, UnaryExpression, and_, false, func, select, true

from app.db.among import among
from app.errors import Invalid
from app.long_acts import progress
from app.texts import whole
from app.web.context import LARGEST_ID, Context
from app.web.list_page import PER_PAGE, ListPage, ListQuery
from app.web.list_spec import Condition, ListSpec, Query, day_of
from app.web.preferences import default_view
from app.web.templating import with_query

DEFAULT_PER_PAGE = 50
# More rows are not counted and have no page. To find one of them, the person narrows the filter.
MOST_LISTED = 10_000
FEW = 1_000
MANY = "or more: narrow the filter to reach the rest"
TOO_MANY_TO_SORT = "or more: too many to sort like this; narrow the filter first"


def asked(spec: ListSpec, query: Query) -> ListQuery:
    """Reads filters, sort and page from the address."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    kept: dict[str, Any] = {}
    for item in spec.filters:
        for name in item.parameters:
            raw = [str(text) for text in query.getall(name, []) if str(text).strip()]
            kept[name] = (raw if item.kind == "multi" else raw[-1]) if raw else None
        try:
            values[item.name] = item.read(query, spec.today)
        except Invalid as wrong:
            errors[item.name] = wrong.details[0].message
    sort = str(query.get("sort") or spec.sort)
    sort = sort if sort.removeprefix("-") in spec.orders() else spec.sort
    per_page = _number(query.get("per_page"), DEFAULT_PER_PAGE)
    per_page = per_page if per_page in PER_PAGE else DEFAULT_PER_PAGE
    page = max(1, _number(query.get("page"), 1))
    kept["sort"] = sort if sort != spec.sort else None
    kept["per_page"] = per_page if per_page != DEFAULT_PER_PAGE else None
    kept["page"] = page if page > 1 else None
    return ListQuery(values, errors, kept, sort, page, per_page)


def condition(spec: ListSpec, wanted: ListQuery) -> Condition:
    """The filters in force as one condition."""
    if wanted.errors:
        return false()
    in_force = [item.where(wanted.values[item.name]) for item in spec.filters if wanted.values[item.name] is not None]
    return and_(true(), *in_force)


def ordering(spec: ListSpec, sort: str) -> list[UnaryExpression[Any]]:
    """The order, made total by the key in the same direction."""
    column = spec.orders()[sort.removeprefix("-")]
    if sort.startswith("-"):
        # Reading an index backwards gives nulls first. "Nulls last" would sort the whole table even when there are no
        # nulls.
        falling = column.desc().nulls_last() if getattr(column, "nullable", True) else column.desc()
        return [falling, spec.key.desc()]
    return [column.asc().nulls_last(), spec.key.asc()]


async def load(context: Context, spec: ListSpec, base: Select[Any], keys: Select[Any] | None = None) -> ListPage:
    """One page of `base`, as the address asks for it: one SELECT for the total, one for the rows. The first MOST_LISTED
    can be reached.

    `keys` finds the keys of the same rows, and has all that filters and sort need. Then the other columns of `base` are
    looked up only for the rows of the page, not for those of all pages before it.
    """
    wanted = asked(spec, context.request.query_params)
    which = condition(spec, wanted)
    narrowed = (base if keys is None else keys).where(which)
    some = narrowed.with_only_columns(spec.key).order_by(None).limit(MOST_LISTED + 1).subquery()
    counted = select(func.count(), progress.newest(url=spec.url)).select_from(some)
    total, act_id = (await context.db.execute(counted)).one()
    note = bounded(spec, wanted, total, MOST_LISTED)
    cut = cut_of(spec, wanted, narrowed, total)
    if keys is not None:
        cut = base.where(spec.key.in_(cut)).order_by(*ordering(spec, wanted.sort))
    rows = await context.db.execute(cut)
    view = listing(context, spec, wanted, rows.all(), min(total, MOST_LISTED), acting=act_id)
    view.total_note, view.more = note, total > MOST_LISTED
    return view


def cut_of(spec: ListSpec, wanted: ListQuery, narrowed: Select[Any], total: int) -> Select[Any]:
    """The rows of the page, or their keys, of `total` in all. When there are few, they are found before they are
    sorted. Otherwise the database might walk through all rows in order until a page is full."""
    if total <= FEW:
        # With an offset, the planner keeps it apart from the query around it.
        few = narrowed.with_only_columns(spec.key).order_by(None).offset(0)
        narrowed = narrowed.where(spec.key.in_(few))
    return wanted.cut(narrowed.order_by(*ordering(spec, wanted.sort)))


def bounded(spec: ListSpec, wanted: ListQuery, counted: int, most: int) -> str:
    """Limits page and order to what can be read at once. Returns the note for the list, "" when it holds at most `most`
    rows."""
    wanted.stay_within(min(counted, most))
    if counted <= most:
        return ""
    return MANY if wanted.stay_sorted(spec) else TOO_MANY_TO_SORT


def listing(
    context: Context,
    spec: ListSpec,
    wanted: ListQuery,
    rows: Sequence[Any],
    total: int,
    *,
    acting: int | None = None,
) -> ListPage:
    """A ListPage of rows that a page has read in its own way."""
    bulk = None
    if actions := [one for one in spec.bulk if one.fits(wanted.values)]:
        bulk = {"url": with_query(spec.bulk_url, {**wanted.query, "page": None}), "actions": actions}
    columns = visible_columns(context, spec)
    opens_so = default_view(context, spec.name) is not None
    return ListPage(spec, rows, total, wanted, spec.columns, columns, bulk, acting=acting, has_default_view=opens_so)


def visible_columns(context: Context, spec: ListSpec) -> list[str]:
    """The keys of the columns that this person chose for this list, otherwise those shown by default.

    Chosen columns that the list no longer has are left out. If none remains, the default applies, because a table needs
    a column.
    """
    chosen = context.user.preferences.get("columns", {}).get(spec.name, [])
    if not any(column.key in chosen for column in spec.columns):
        return [column.key for column in spec.columns if column.shown]
    return [column.key for column in spec.columns if column.key in chosen or not column.label]


async def selected(context: Context, spec: ListSpec) -> Condition:
    """The rows that a posted bulk act is meant for: the ticked `id`s, or with `all=1` everything under the address's
    filter.

    Raises Invalid when nothing is selected or a filter can't be read: an act must never reach further than the person
    asked.
    """
    form = await context.form()
    if form.get("all") == "1":
        wanted = asked(spec, context.request.query_params)
        if wanted.errors:
            raise Invalid("The filter can't be read; reload the list.")
        return condition(spec, wanted)
    given = [_key_of(spec, str(value)) for value in form.getall("id", [])]
    keys = [one for one in given if one is not None]
    if not keys:
        raise Invalid("Select at least one row first.")
    return among(spec.key, keys)


def _key_of(spec: ListSpec, text: str) -> int | date | str | None:
    """The value of a ticked box in the type of the list's key: a number, a day or a plain word; None for a value that
    no row has."""
    kind = spec.key.type.python_type
    if kind is int:
        number = whole(text, len(str(LARGEST_ID)))
        return number if number is not None and number <= LARGEST_ID else None
    if kind is date:
        return day_of(text)
    return text if re.fullmatch(r"\w{1,200}", text, re.ASCII) else None


def _number(raw: Any, default: int) -> int:
    text = str(raw or "")
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else default
