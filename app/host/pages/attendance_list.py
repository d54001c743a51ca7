"""The list of attendance records that every view of `/attendance` shows: columns, filters, sums, bars of the day."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Row, Select, and_, func, select

from app.counting import near, people
from app.db.days import midnight
from app.errors import Invalid
from app.host.attendance import queries as attendance_queries
from app.host.attendance.hours import KINDS, SOURCES, Hours
from app.host.attendance.queries import LIVE, RECORDS, WORKED, breaks, worked_hours
from app.host.attendance.written_hours import FORMS, whole_minutes
from app.host.models import AttendanceRecord, DayLock, Employee
from app.long_acts import progress
from app.periods import today_in
from app.web import lists
from app.web.context import Context
from app.web.fields import options
from app.web.list_page import ListPage, ListQuery
from app.web.list_spec import (
    CSV,
    EXCEL,
    JSON_LINES,
    BulkAction,
    Column,
    Empty,
    ExportKind,
    Filter,
    ListSpec,
    between,
    where_any_of,
)

STATUSES = {"pending": "Pending", "approved": "Approved", "rejected": "Rejected", "auto_closed": "Auto-closed"}
DEPARTMENTS = (
    select(func.array_agg(Employee.department.distinct()))
    .where(Employee.department.is_not(None), Employee.deleted_at.is_(None))
    .correlate(None)
    .scalar_subquery()
)
FILTERS = (
    Filter(
        "q", "Search", attendance_queries.mention, placeholder="Name, ID number, note"
    ),
    Filter("", "Days", between(AttendanceRecord.workday), kind="range"),
    Filter("status", "Status", AttendanceRecord.status.in_, kind="multi", options=STATUSES),
    Filter("department", "Department", lambda value: Employee.department == value),
    Filter("kind", "Kind", lambda value: AttendanceRecord.kind == value, kind="select", options=options(KINDS), advanced=True),
    Filter("source", "Source", lambda value: AttendanceRecord.source == value, kind="select", options=options(SOURCES), advanced=True),
    Filter("open", "Still open", lambda _: AttendanceRecord.clock_out.is_(None), kind="check", advanced=True),
    Filter("edited", "Edited by hand", lambda _: AttendanceRecord.edited_at.is_not(None), kind="check", advanced=True),
    Filter("locked", "On a locked day", lambda _: DayLock.day.is_not(None), kind="check", advanced=True),
)  # fmt: skip


def _decision(status: str, label: str, icon: str) -> BulkAction:
    return BulkAction(status, label, icon, fits=where_any_of("status", STATUSES.keys() - {status}))


BULK = (
    _decision("approved", "Approve", "thumb-up"),
    _decision("rejected", "Reject", "thumb-down"),
    _decision("auto_closed", "Auto-close", "clock-off"),
    _decision("pending", "Set back to pending", "arrow-back-up"),
    BulkAction("delete", "Delete", "trash", danger=True),
)
EXPORTS = tuple(
    ExportKind(f"{kind.label}, hours as {example}", {**kind.query, "hours": word})
    for kind in (CSV, EXCEL, JSON_LINES)
    for word, example in (("decimal", "8.50"), ("h:mm", "8:30"))
)
# Drawn on the page only; an export has the times.
BAR = "bar"


def columns(where: ZoneInfo) -> tuple[Column, ...]:
    """Times are written with the zone's offset in exports, and as times of the zone in Excel."""
    return (
        Column("workday", "Workday", lambda row: row.workday, AttendanceRecord.workday),
        Column("name", "Person", lambda row: row.name, Employee.name, titles=True),
        Column("id_number", "ID number", lambda row: row.id_number, Employee.id_number_key, shown=False),
        Column("department", "Department", lambda row: row.department, Employee.department, shown=False),
        Column(
            BAR, "Hours", lambda row: row.id, hint="From midnight of the workday on; a line marks the next midnight"
        ),
        _time("clock_in", "Clock-in", where),
        _time("clock_out", "Clock-out", where),
        Column("breaks", "Breaks", lambda row: breaks(row, where)),
        Column(
            "worked_hours",
            "Worked",
            worked_hours,
            WORKED,
            numeric=True,
            hint="Clock-in to clock-out less the breaks; in files decimal, with four places",
        ),
        Column("kind", "Kind", lambda row: row.kind, AttendanceRecord.kind),
        Column("status", "Status", lambda row: row.status, AttendanceRecord.status),
        Column("source", "Source", lambda row: row.source, AttendanceRecord.source),
        Column("note", "Note", lambda row: row.note, shown=False),
        Column("id", "Record", lambda row: row.id, AttendanceRecord.id, shown=False, numeric=True),
    )


def _time(name: str, label: str, where: ZoneInfo) -> Column:
    value = partial(_instant, name, where)
    return Column(name, label, value, getattr(AttendanceRecord, name), excel=attrgetter(name))


# Beyond this, counting records and adding up their hours takes too long for a page.
MOST_ADDED_UP = 50_000
NOT_ADDED_UP = f"hours are added up for {MOST_ADDED_UP:,} records at most"


def spec_of(url: str, where: ZoneInfo, ctx: Context, empty: Empty, sort: str, *without: str) -> ListSpec:
    """The list at `url`, leaving out the columns and filters that the view itself decides."""
    may = ctx.may("host.attendance.decide")
    shown = tuple(replace(one, shown=False) if one.key in without else one for one in columns(where))
    return ListSpec(
        name="attendance",
        label="attendance records",
        url=url,
        columns=shown,
        filters=tuple(one for one in FILTERS if (one.name or "days") not in without),
        key=AttendanceRecord.id,
        sort=sort,
        empty=empty,
        bulk_url=f"{url}/bulk" if may else "",
        bulk=BULK if may else (),
        today=today_in(where.key),
        exports=EXPORTS,
        sorts_many=("workday", "id"),
    )


def for_export(spec: ListSpec, hours: str) -> ListSpec:
    """Each row has the person's ID number and the hours, written as `hours`, a word of written_hours.FORMS, says."""
    kept = (replace(one, always=one.key == "id_number") for one in spec.columns if one.key != BAR)
    value = partial(_written, FORMS[hours])
    excel = value if hours == "decimal" else partial(_written, whole_minutes)
    written = Column("hours", "Hours", value, shown=False, always=True, excel=excel)
    return replace(spec, columns=(*kept, written))


def hours_asked_for(ctx: Context) -> str:
    """Raises Invalid for an unknown form."""
    word = str(ctx.request.query_params.get("hours") or next(iter(FORMS)))
    if word not in FORMS:
        raise Invalid("Exported hours are decimal or h:mm.")
    return word


async def load(ctx: Context, spec: ListSpec, scope: ColumnElement[bool], *more: Any) -> tuple[ListPage, Row[Any]]:
    """The page of the list, and the row of sums with `more` columns beside them: two SELECTs."""
    wanted = lists.asked(spec, ctx.request.query_params)
    which = and_(scope, lists.condition(spec, wanted))
    parts = [and_(scope, part) for part in _parts(spec, wanted)]
    statement = attendance_queries.sums_up_to(MOST_ADDED_UP, which, parts)
    beside = (DEPARTMENTS.label("departments"), progress.newest(url=spec.url).label("acting"))
    found = (await ctx.db.execute(statement.add_columns(*beside, *more))).one()
    said = lists.bounded(spec, wanted, found.records, MOST_ADDED_UP)
    cut = lists.cut_of(spec, wanted, attendance_queries.keys(which), found.records)
    ordered = RECORDS.where(AttendanceRecord.id.in_(cut)).order_by(*lists.ordering(spec, wanted.sort))
    rows = await ctx.db.execute(ordered)
    drawn = _with_departments(spec, found.departments or [])
    total = min(found.records, MOST_ADDED_UP)
    view = lists.listing(ctx, drawn, wanted, rows.all(), total, acting=found.acting)
    view.total_note, view.more = f"{said}; {NOT_ADDED_UP}" if said else note(found), bool(said)
    return view, found


def _parts(spec: ListSpec, wanted: ListQuery) -> Sequence[ColumnElement[bool]]:
    """The filters in force; with a search in two parts."""
    searched = wanted.values.get("q")
    if not searched or wanted.errors:
        return [lists.condition(spec, wanted)]
    others = lists.condition(spec, replace(wanted, values={**wanted.values, "q": None}))
    return [and_(others, part) for part in attendance_queries.mentions(searched)]


def base(scope: ColumnElement[bool]) -> Select[Any]:
    return RECORDS.where(LIVE, scope)


def note(found: Row[Any]) -> str:
    """`· 12 people, 96 h 00 min worked, 3 pending, 1 still open`, behind the number of records."""
    parts = [f"· {people(found.people)}", f"{worked(found.worked_s)} worked"]
    parts += [
        f"{number:,} {word}" for number, word in ((found.pending, "pending"), (found.open, "still open")) if number
    ]
    return ", ".join(parts)


def worked(seconds: float | None) -> str:
    """Hours and minutes, however many hours: `1,204 h 05 min`."""
    if seconds is None:
        return "–"
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min"


def bars(rows: list[Any], where: ZoneInfo) -> dict[int, dict[str, Any]]:
    """For every record the bar of its workday, in percent of an axis that all rows of the page share.

    `later` is by how many days the clock-out comes after the workday. The axis begins at midnight of the workday and
    ends with the longest record, after at least one day and at most two.
    """
    ends = [_hours_in(row, row.clock_out or row.clock_in, where) for row in rows]
    span = 24 if max(ends, default=0) <= 24 else min(48, -(-int(max(ends) + 1) // 6) * 6)  # noqa: PLR2004 - hours of a day
    return {row.id: _bar(row, span, where) for row in rows}


def _bar(row: Any, span: int, where: ZoneInfo) -> dict[str, Any]:
    def at(instant: datetime) -> float:
        return near(min(100.0, max(0.0, 100 * _hours_in(row, instant, where) / span)), 2)

    hours = Hours.of(row)
    start = at(hours.clock_in)
    end = at(hours.clock_out) if hours.clock_out else start
    return {
        "x": start,
        "width": max(3.0 if hours.clock_out is None else 0.8, near(end - start, 2)),
        "open": hours.clock_out is None,
        "later": (hours.clock_out.astimezone(where).date() - row.workday).days if hours.clock_out else 0,
        "breaks": [{"x": at(out), "width": max(0.4, near(at(back) - at(out), 2))} for out, back in hours.breaks],
        "ticks": [near(100 * hour / span, 2) for hour in range(6, span, 6)],
        "midnight": near(100 * 24 / span, 2) if span > 24 else None,  # noqa: PLR2004 -- hours of a day
    }


def _hours_in(row: Any, instant: datetime, where: ZoneInfo) -> float:
    return (instant - midnight(row.workday, where)) / timedelta(hours=1)


def _written(write: Callable[[timedelta], Decimal | str | timedelta], row: Any) -> Decimal | str | timedelta | None:
    hours = Hours.of(row).worked
    return None if hours is None else write(hours)


def _instant(name: str, where: ZoneInfo, row: Any) -> str | None:
    value: datetime | None = getattr(row, name)
    return value.astimezone(where).isoformat() if value else None


def _with_departments(spec: ListSpec, departments: list[str]) -> ListSpec:
    """Makes the department filter a choice. The departments come with the sums, after the filter was read."""
    choices = {name: name for name in sorted(departments)}
    filters = tuple(
        replace(one, kind="select", options=choices) if one.name == "department" else one for one in spec.filters
    )
    return replace(spec, filters=filters)
