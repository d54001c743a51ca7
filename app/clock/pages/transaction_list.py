"""The punch list: its columns and acts, and what a request asks of it, turned into the fast path of punches/queries.py.
Its filters: transaction_filters.py."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, String, and_, exists, func, literal, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.codes import punch_label, verify_label
from app.clock.models import ClockEmployee, Connection, DailyTotal, Device, Punch, Setting
from app.clock.outcomes import SETTLEABLE, Outcome, outcome_label
from app.clock.pages.transaction_filters import (
    COUNTED_DAYS,
    FILTERS,
    IGNORED,
    IGNORED_CODES,
    NARROWING,
    OUTCOME_OPTIONS,
    SEARCH,
    UNJUDGED,
    means,
)
from app.clock.punches import rejudging
from app.clock.punches.day_counts import NOT_JUDGED
from app.clock.punches.punch_filter import PunchFilter
from app.clock.punches.queries import PUNCHES, by_time, counted_by_day, located_rows
from app.clock.review import decisions, settling
from app.errors import Invalid
from app.long_acts import progress as long_acts
from app.periods import today_in
from app.web import lists
from app.web.context import Context
from app.web.list_page import ListPage, ListQuery
from app.web.list_spec import BulkAction, Column, Empty, Filter, FilterValues, ListSpec, Query, where_any_of

# More terminals than this are not offered as a choice; the filter takes a serial number then.
MOST_CHOICES = 300
# Outcomes with a record: a punch with one of them waits for a person when it is gone from the server.
HOLDING = frozenset({Outcome.IMPORTED, Outcome.REPEAT_TAP, Outcome.DOUBLE_TAP, Outcome.ARRIVED_LATE})
SHOWN_IF = {"temperature": "show_temperature", "photo": "show_photos"}


def _imported(row: Any) -> str:
    word = outcome_label(row.import_outcome)
    return f"{word}, gone from the server" if row.gone_at_utc is not None else word


COLUMNS = (
    Column("time", "Local time", lambda row: row.punched_at_local, Punch.punched_at_utc),
    Column("utc", "UTC", lambda row: row.punched_at_utc, shown=False),
    Column("employee", "Employee", lambda row: row.employee_name, titles=True),
    Column("code", "Code", lambda row: row.emp_code),
    Column("terminal", "Terminal", lambda row: row.alias or row.terminal_sn),
    Column("serial", "Serial number", lambda row: row.terminal_sn, shown=False),
    Column("punch", "Punch", lambda row: punch_label(row.punch_code)),
    Column("verification", "Verification", lambda row: verify_label(row.verify_code)),
    Column("temperature", "Temperature", lambda row: row.temperature, numeric=True),
    Column(
        "photo", "Photo", lambda row: f"/clock_transactions/{row.id}/photo" if row.photo_ref else None, hint="On demand"
    ),
    Column("imported", "Imported", _imported),
    Column("settled", "Settled", lambda row: row.settled_at_utc, shown=False),
    Column("note", "Note", lambda row: row.settled_note, shown=False),
    Column("gone", "Gone since", lambda row: row.gone_at_utc, shown=False),
    Column("record", "Record", lambda row: row.host_attendance_id, numeric=True, shown=False),
    Column("uploaded", "Uploaded", lambda row: row.uploaded_at_utc, shown=False),
    Column("remote_id", "Number on the server", lambda row: row.remote_id, shown=False),
)
NOT_CONNECTED = Empty(
    "plug-connected-x",
    "No time clock is connected yet",
    "Punches appear here once a server is connected and the first sync has run.",
    "/clock_settings",
    "Connect a server",
)
NOTHING_YET = Empty(
    "inbox",
    "No punches yet",
    "A sync reads them from the time clock. Start one in the Sync Center, which also shows its progress.",
    "/clock_sync",
    "Open the Sync Center",
)
SPEC = ListSpec(
    name="transactions",
    label="punches",
    url="/clock_transactions",
    columns=COLUMNS,
    filters=FILTERS,
    key=Punch.id,
    sort="-time",
    empty=NOTHING_YET,
    bulk_url="/clock_transactions/bulk",
)


def _may_have_open(outcomes: Container[str]) -> Callable[[FilterValues], bool]:
    """Fits where the list may have punches of `outcomes` that are not settled, or any that are gone from the server."""
    of_these = where_any_of("outcome", outcomes)

    def fits(values: FilterValues) -> bool:
        if values.get("settled") == "yes" or values.get("late") == "kept":
            return False
        return values.get("gone") is not None or of_these(values)

    return fits


def _may_have_settled(values: FilterValues) -> bool:
    """A punch of any outcome may be: one that is gone from the server is settled with the outcome that it had."""
    return values.get("settled") != "no" and "open" not in (values.get("late"), values.get("gone"))


def _can_be_judged_again(values: FilterValues) -> bool:
    """A punch that has its record can't be judged again, nor one that the server no longer has."""
    return values.get("gone") is None and values.get("outcome") != [Outcome.IMPORTED]


def bulk(*, edited_and_gone: bool) -> tuple[BulkAction, ...]:
    """The acts on punches. With `edited_and_gone` a punch of any outcome may wait with the record that it left
    (EDITED_AND_GONE)."""
    waiting = frozenset(OUTCOME_OPTIONS) if edited_and_gone else HOLDING
    return (
        BulkAction("retry", "Retry", "rotate-clockwise", fits=_can_be_judged_again),
        BulkAction("use", "Use the punches", "check", fits=_may_have_open(waiting)),
        BulkAction("settle", "Mark as settled", "circle-check", fits=_may_have_open(SETTLEABLE | waiting)),
        BulkAction("unsettle", "Not settled", "arrow-back-up", fits=_may_have_settled),
    )


# A punch that left its record when it was edited on the server, and is gone since. There are few: the index of edited
# punches has them.
EDITED_AND_GONE = (
    exists()
    .where(Punch.edited_record_id.is_not(None), Punch.host_attendance_id.is_(None), settling.GONE_WAITS)
    .label("edited_and_gone")
)
_ABLE = {
    "retry": decisions.RETRIABLE,
    "settle": settling.SETTLEABLE,
    "unsettle": settling.UNSETTLEABLE,
    "keep": settling.KEEPABLE,
    "use": settling.KEEPABLE,
}


@dataclass(frozen=True, slots=True)
class PunchListFrame:
    """What a request for the list needs to know before it reads a punch; one SELECT. `codes`: those of a search or
    of ignored people, whose punches are counted by week; None for everybody. `others`: the other codes, where those are
    fewer. `acting`: the act on punches that is under way. `changes`: the changes of rules and terminals that are
    (rejudging.awaits)."""

    spec: ListSpec
    zone: str
    codes: tuple[str, ...] | None
    others: tuple[str, ...] | None
    acting: int | None
    changes: Mapping[str, Any] | None


# As the totals have them, which are counted again a moment after punches change.
_BY_OUTCOME = (
    select(DailyTotal.key.label("outcome"), func.sum(DailyTotal.total).label("n"))
    .where(DailyTotal.dimension == "outcome", DailyTotal.local_date > func.current_date() - COUNTED_DAYS)
    .group_by(DailyTotal.key)
    .subquery()
)
_COUNTED = select(func.jsonb_object_agg(_BY_OUTCOME.c.outcome, _BY_OUTCOME.c.n)).scalar_subquery()


async def frame(ctx: Context, query: Query | None = None) -> PunchListFrame:
    """Reads the zone, the display settings, the terminals to choose from and the codes that a search means. `query`:
    the filter, that of the request where none is given."""
    asked = ctx.request.query_params if query is None else query
    meant = _meant(_value_of(SEARCH, asked), only_ignored=_value_of(IGNORED, asked) == "only")
    names = (
        select(func.jsonb_object_agg(Setting.name, Setting.value))
        .where(Setting.name.in_(SHOWN_IF.values()))
        .scalar_subquery()
    )
    some = select(Device.sn, Device.alias).order_by(Device.sn).limit(MOST_CHOICES + 1).subquery()
    pairs = select(func.jsonb_object_agg(some.c.sn, func.coalesce(some.c.alias, ""))).scalar_subquery()
    codes, others = (literal(None, String), literal(None, String)) if meant is None else _parted(meant)
    zone = select(Connection.timezone).scalar_subquery()
    found = select(
        *(zone, names, pairs, codes, others, long_acts.newest("use", url=SPEC.url), _COUNTED, rejudging.CHANGES),
        EDITED_AND_GONE,
    )
    row = (await ctx.db.execute(found)).one()
    ctx.tell_times_in(row[0] or "UTC")
    acts = bulk(edited_and_gone=row.edited_and_gone) if ctx.may("clock.transactions.edit") else ()
    spec = _spec(acts, connected=row[0] is not None, settings=row[1] or {}, terminals=row[2] or {})
    counted = {UNJUDGED if outcome == NOT_JUDGED else outcome: int(n) for outcome, n in (row[6] or {}).items()}
    spec = replace(
        spec,
        today=today_in(row[0] or "UTC"),
        filters=tuple(replace(one, counts=counted) if one.name == "outcome" else one for one in spec.filters),
    )
    if row[3] is None:
        return PunchListFrame(spec, row[0] or "UTC", None, None, row[5], row[7])
    fewer = len(row[4]) < len(row[3])
    return PunchListFrame(spec, row[0] or "UTC", tuple(row[3]), tuple(row[4]) if fewer else None, row[5], row[7])


def _meant(text: str | None, *, only_ignored: bool) -> ColumnElement[bool] | None:
    """The people whom the filter means, None for everybody."""
    conditions = [means(text)] if text else []
    conditions += [ClockEmployee.emp_code.in_(IGNORED_CODES)] if only_ignored else []
    return and_(*conditions) if conditions else None


def _parted(meant: ColumnElement[bool]) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """All codes as two arrays: those that are meant, and the others."""
    codes = select(ClockEmployee.emp_code)
    others = codes.where(meant.is_not(true()))
    return func.array(codes.where(meant).scalar_subquery()), func.array(others.scalar_subquery())


def _value_of(one: Filter, query: Query) -> str | None:
    """What the address asks of a filter. None when that is nothing, or can't be read (the list says so)."""
    try:
        value: str | None = one.read(query)
    except Invalid:
        return None
    return value


def _spec(
    acts: tuple[BulkAction, ...], *, connected: bool, settings: dict[str, Any], terminals: dict[str, str]
) -> ListSpec:
    hidden = {key for key, name in SHOWN_IF.items() if not settings.get(name)}
    spec = replace(
        SPEC,
        columns=tuple(one for one in COLUMNS if one.key not in hidden),
        bulk=acts,
        empty=NOTHING_YET if connected else NOT_CONNECTED,
    )
    if len(terminals) > MOST_CHOICES:
        by_text = tuple(replace(one, kind="text") if one.name == "terminal" else one for one in spec.filters)
        return replace(spec, filters=by_text)
    labels = {sn: f"{alias} ({sn})" if alias else sn for sn, alias in terminals.items()}
    return spec.offering(terminal=dict(sorted(labels.items(), key=lambda pair: pair[1].casefold())))


async def load(ctx: Context, framed: PunchListFrame) -> ListPage:
    """One page of the list: one SELECT for the total, one for the rows, however deep it is."""
    spec = framed.spec
    wanted = lists.asked(spec, ctx.request.query_params)
    punches = replace(punch_filter(wanted, framed.codes), other_codes=framed.others)
    counted = await counted_by_day(ctx.db, punches)
    total = counted.total
    wanted.stay_within(total)
    down = wanted.sort.startswith("-")
    rows = await located_rows(
        ctx.db,
        punches,
        counted if down else counted.reversed(),
        newest_first=down,
        offset=wanted.offset,
        per_page=wanted.per_page,
    )
    return lists.listing(ctx, spec, wanted, rows, total, acting=framed.acting)


def punch_filter(wanted: ListQuery, codes: tuple[str, ...] | None) -> PunchFilter:
    """What the address asks, as the queries take it; an unreadable filter finds nothing, never more. `codes` are those
    of the frame."""
    if wanted.errors:
        return PunchFilter(outcomes=())
    narrowed = PunchFilter(emp_codes=codes)
    for name, value in wanted.values.items():
        is_in_codes = name == SEARCH.name or (name, value) == (IGNORED.name, "only")
        if value is not None and not is_in_codes:
            narrowed = narrowed.narrowed(NARROWING[name](value))
    return narrowed


def in_order(ctx: Context, spec: ListSpec) -> Select[Any]:
    """Every row for an export, in an order that an index has."""
    down = lists.asked(spec, ctx.request.query_params).sort.startswith("-")
    return PUNCHES.order_by(*by_time(Punch, newest_first=down))


def able(action: str) -> ColumnElement[bool]:
    """The punches that a bulk act can change."""
    return _ABLE[action]


async def number_of(db: AsyncSession, which: ColumnElement[bool]) -> int:
    return await db.scalar(select(func.count()).select_from(Punch).where(which)) or 0
