"""The forms of `/attendance`: add a record by hand, edit one. Times are typed in the workspace's zone."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row

from app.errors import Conflict, Invalid, NotFound
from app.host.attendance import records as attendance
from app.host.attendance.doubtful import TICK, doubts
from app.host.attendance.hours import KINDS, MOST_BREAKS, WRONG_YEAR, Hours
from app.host.attendance.records import LONGEST_NOTE
from app.host.pages import attendance_times as times
from app.host.pages.attendance_record import record_of
from app.host.pages.picking import name_picked, pick
from app.texts import whole
from app.web import edits
from app.web.context import Context
from app.web.fields import Choice, LocalTime, Text, options
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import done, page
from app.web.returning import named_way_back

SPARE = 1
NONE: times.Instants = MappingProxyType({})
AT_WORK = "Leave it empty while the person is still at work."


@get("/attendance/add", guards=[Requires("host.attendance.decide")])
async def add_form(ctx: NamedDependency[Context]) -> Response[Any]:
    query = ctx.request.query_params
    values: dict[str, Any] = {"kind": "regular", "employee": query.get("employee")}
    if day := _day(query.get("day", "")):
        values["clock_in"] = datetime(day.year, day.month, day.day, 8)  # noqa: DTZ001 - a wall-clock time
    where = (await ctx.zone()).info
    known = times.given(query, where)
    values |= times.shown(known, where)
    breaks = sum(name.endswith("_out") and name.startswith("break_") for name in values)
    rows = min(MOST_BREAKS, breaks + SPARE)
    form = _form(rows, chooses_person=True, both=_needs_both(query)).fill(values)
    return await _show(ctx, form, None, where, known)


@post("/attendance/add", guards=[Requires("host.attendance.decide")], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    posted = await ctx.form()
    where = (await ctx.zone()).info
    known = times.given(posted, where, times.HIDDEN)
    form = _form(_rows(posted), chooses_person=True, both=_needs_both(posted)).read(posted)
    if posted.get("more"):
        return await _one_more_break(ctx, form, None, where, known)
    hours = _hours(form, where, None, known, agreed=posted.get("long") == "1")
    if form.ok and hours is not None:
        try:
            person = await pick(ctx.db, form["employee"])
        except (NotFound, Conflict) as refused:
            form.refuse("employee", refused.message)
            return await _show(ctx, form, None, where, known, status=422)
        try:
            record_id = await attendance.add(ctx.db, ctx.actor, person.id, hours, form["note"])
        except (Invalid, Conflict) as refused:
            _absorb(form, refused)
        else:
            return await done(ctx, f"/attendance/{record_id}", f"Record {record_id} of {person.name} was added.")
    return await _show(ctx, form, None, where, known, status=422)


@get("/attendance/{record_id:int}/edit", guards=[Requires("host.attendance.decide")])
async def edit_form(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    record = await record_of(ctx, record_id)
    where = (await ctx.zone()).info
    form = edits.opened(ctx, _form(_rows_for(record)), _stored(record, where), _facts(record))
    return await _show(ctx, form, record, where)


@post("/attendance/{record_id:int}/edit", guards=[Requires("host.attendance.decide")], status_code=200)
async def edit(ctx: NamedDependency[Context], record_id: FromPath[int]) -> Response[Any]:
    posted = await ctx.form()
    where = (await ctx.zone()).info
    if posted.get("more"):
        form = await edits.unsaved(ctx, _form(_rows(posted)))
        return await _one_more_break(ctx, form, await record_of(ctx, record_id), where)
    await attendance.hold_record(ctx.db, record_id)
    record = await record_of(ctx, record_id)
    fields = _form(max(_rows(posted), _rows_for(record)))
    form = await edits.sent(
        ctx, fields, _stored(record, where), _facts(record), about=("attendance", record_id, "breaks")
    )
    hours = _hours(form, where, record, times.of_record(record), agreed=posted.get("long") == "1")
    if form.ok and hours is not None:
        try:
            done_to = await attendance.edit(ctx.db, ctx.actor, record_id, hours, form["note"])
        except (Invalid, Conflict) as refused:
            _absorb(form, refused)
        else:
            return await done(ctx, f"/attendance/{record_id}", _said(record_id, done_to))
    return await _show(ctx, form, record, where, status=form.status)


def _stored(record: Row[Any], where: ZoneInfo) -> dict[str, Any]:
    """What the form shows of a record, with nothing in the rows of breaks that it does not have."""
    ends = dict.fromkeys(("clock_out", *times.BREAK_ENDS))
    return {**ends, "kind": record.kind, "note": record.note, **times.shown(times.of_record(record), where)}


def _facts(record: Row[Any]) -> dict[str, str]:
    """A person who changes hours must see the decision on the old ones."""
    return {"Status": record.status.replace("_", "-")}


def _rows_for(record: Row[Any]) -> int:
    return min(MOST_BREAKS, len(Hours.of(record).breaks) + SPARE)


def _said(record_id: int, edited: attendance.Edited) -> str:
    if not edited.changed:
        return "Nothing was changed."
    if edited.reopened:
        word = edited.reopened.replace("_", "-")
        return f"Record {record_id} was saved. It was {word} and is pending again, because its hours changed."
    return f"Record {record_id} was saved."


def _needs_both(given: Mapping[str, Any]) -> bool:
    """True when the form was opened to add the end that is missing: a record without it would change nothing."""
    return given.get("both") == "1"


def _form(rows: int, *, chooses_person: bool = False, both: bool = False) -> Form:
    breaks = [
        LocalTime(f"break_{at}_{end}", f"Break {at}, {word}")
        for at in range(1, rows + 1)
        for end, word in (("out", "from"), ("back", "to"))
    ]
    person = [Text("employee", "Person", required=True)] if chooses_person else []
    return Form(
        *person,
        LocalTime("clock_in", "Clock-in", required=True),
        LocalTime("clock_out", "Clock-out", required=both, help="" if both else AT_WORK),
        Choice("kind", "Kind", required=True, options=options(KINDS)),
        *breaks,
        Text(
            "note",
            "Note",
            longest=LONGEST_NOTE,
            lines=2,
            help="Why this was written by hand. The person who decides reads it.",
        ),
    )


def _rows(posted: FormMultiDict) -> int:
    """How many rows of breaks the form had, limited to the most that a record may have."""
    number = whole(str(posted.get("rows", "")), 3)
    return SPARE if number is None else min(MOST_BREAKS, number)


def _hours(
    form: Bound, where: ZoneInfo, record: Row[Any] | None, known: times.Instants, *, agreed: bool
) -> Hours | None:
    """The typed hours; None when they are wrong, with the errors put into the form.
    An empty row of breaks is no break. `agreed`: the person says that more than a day is right."""

    def instant(name: str) -> datetime:
        return times.meant(name, form[name], known, where)

    breaks = []
    for at in range(1, MOST_BREAKS + 1):
        out, back = form.values.get(f"break_{at}_out"), form.values.get(f"break_{at}_back")
        if out and back:
            breaks.append((instant(f"break_{at}_out"), instant(f"break_{at}_back")))
        elif out or back:
            form.refuse(
                f"break_{at}_{'back' if out else 'out'}", "Give both ends of the break, or empty both to remove it."
            )
    if not form.ok:
        return None
    try:
        end = instant("clock_out") if form["clock_out"] else None
        hours = Hours(instant("clock_in"), end, tuple(breaks), form["kind"])
    except OverflowError:
        form.refuse("clock_in", WRONG_YEAR)
        return None
    if found := doubts(hours, datetime.now(UTC), Hours.of(record) if record else None, agreed=agreed):
        _absorb(form, Invalid("", details=found))
    return hours


def _absorb(form: Bound, refused: Invalid | Conflict) -> None:
    """Puts a refusal at its fields; a refusal of a break goes to the first field of its row."""
    filled = [at for at in range(1, MOST_BREAKS + 1) if form.values.get(f"break_{at}_out")]
    for detail in refused.details:
        name = detail.field
        if name.startswith("break_"):
            name = f"break_{filled[int(name.removeprefix('break_')) - 1]}_out"
        form.refuse(name, detail.message)
    if not refused.details:
        form.refuse("", refused.message)


async def _one_more_break(
    ctx: Context, form: Bound, record: Row[Any] | None, where: ZoneInfo, known: times.Instants = NONE
) -> Response[str]:
    rows = sum(name.endswith("_out") and name.startswith("break_") for name in form.fields)
    both = form.fields["clock_out"].required
    more = _form(min(MOST_BREAKS, rows + 1), chooses_person=record is None, both=both).fill()
    more.shown |= form.shown
    more.base = form.base
    return await _show(ctx, more, record, where, known)


async def _show(
    ctx: Context,
    form: Bound,
    record: Row[Any] | None,
    where: ZoneInfo,
    known: times.Instants = NONE,
    *,
    status: int = 200,
) -> Response[str]:
    """`known`: the instants that a record to be added was given."""
    chosen = await name_picked(ctx.db, form.shown["employee"]) if record is None else ""
    rows = sum(name.endswith("_out") and name.startswith("break_") for name in form.fields)
    stays = ctx.wants_fragment and await _stays(ctx)
    agrees = ctx.request.method == "POST" and (await ctx.form()).get("long") == "1"
    way: dict[str, Any] = {"back": named_way_back(ctx)} if stays and ctx.request.method == "GET" else {}
    return await page(
        ctx,
        "host/attendance_edit.html",
        fragment="drawer",
        status=status,
        form=form,
        record=record,
        chosen=chosen,
        stays=stays,
        rows=rows,
        hidden={f"{name}{times.HIDDEN}": at.isoformat() for name, at in known.items()},
        has_seconds=_has_seconds(form),
        agrees_to_long=agrees,
        asks_if_long=agrees or TICK in (form.at("clock_out") or ""),
        may_add=rows < MOST_BREAKS,
        **way,
    )


def _has_seconds(form: Bound) -> bool:
    """True where one of the times has seconds: then a browser takes seconds in all of them."""
    times = (str(form.shown[one.name]) for one in form if isinstance(one, LocalTime))
    return any(time[17:19] not in {"", "00"} for time in times)


async def _stays(ctx: Context) -> bool:
    """True when the form was opened in a drawer that it leads back to: then its answer is shown there too."""
    given = await ctx.form() if ctx.request.method == "POST" else ctx.request.query_params
    return given.get("stay") == "1"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


ROUTES = [add_form, add, edit_form, edit]
