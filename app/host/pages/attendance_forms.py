"""The forms of `/attendance`: add a record by hand, edit one. Times are typed in the workspace's zone."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row

from app.errors import Conflict, Invalid, NotFound
from app.host import zone
from app.host.attendance import records as attendance
from app.host.attendance.doubtful import TICK, doubts
from app.host.attendance.hours import KINDS, MOST_BREAKS, WRONG_YEAR, Hours
from app.host.attendance.records import LONGEST_NOTE
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
AT_WORK = "Leave it empty while the person is still at work."


@get("/attendance/add", guards=[Requires("host.attendance.decide")])
async def add_form(ctx: NamedDependency[Context]) -> Response[Any]:
    query = ctx.request.query_params
    values: dict[str, Any] = {"kind": "regular", "employee": query.get("employee")}
    if day := _day(query.get("day", "")):
        values["clock_in"] = datetime(day.year, day.month, day.day, 8)  # noqa: DTZ001 - a wall-clock time
    values |= _times(query)
    breaks = sum(name.endswith("_out") and name.startswith("break_") for name in values)
    form = _form(breaks + SPARE, chooses_person=True, both=_needs_both(query)).fill(values)
    return await _show(ctx, form, None, (await ctx.zone()).info)


@post("/attendance/add", guards=[Requires("host.attendance.decide")], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    posted = await ctx.form()
    where = (await ctx.zone()).info
    form = _form(_rows(posted), chooses_person=True, both=_needs_both(posted)).read(posted)
    if posted.get("more"):
        return await _one_more_break(ctx, form, None, where)
    hours = _hours(form, where, None, agreed=posted.get("long") == "1")
    if form.ok and hours is not None:
        try:
            person = await pick(ctx.db, form["employee"])
        except (NotFound, Conflict) as refused:
            form.refuse("employee", refused.message)
            return await _show(ctx, form, None, where, status=422)
        try:
            record_id = await attendance.add(ctx.db, ctx.actor, person.id, hours, form["note"])
        except (Invalid, Conflict) as refused:
            _absorb(form, refused)
        else:
            return await done(ctx, f"/attendance/{record_id}", f"Record {record_id} of {person.name} was added.")
    return await _show(ctx, form, None, where, status=422)


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
    hours = _hours(form, where, record, agreed=posted.get("long") == "1")
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
    hours = Hours.of(record)
    ends = dict.fromkeys(f"break_{at}_{end}" for at in range(1, MOST_BREAKS + 1) for end in ("out", "back"))
    values: dict[str, Any] = {
        **ends,
        "kind": hours.kind,
        "clock_in": zone.to_local(hours.clock_in, where),
        "clock_out": zone.to_local(hours.clock_out, where) if hours.clock_out else None,
        "note": record.note,
    }
    for at, (out, back) in enumerate(hours.breaks, 1):
        values |= {f"break_{at}_out": zone.to_local(out, where), f"break_{at}_back": zone.to_local(back, where)}
    return values


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


def _hours(form: Bound, where: ZoneInfo, record: Row[Any] | None, *, agreed: bool) -> Hours | None:
    """The typed hours; None when they are wrong, with the errors put into the form.
    An empty row of breaks is no break. `agreed`: the person says that more than a day is right."""
    # An unchanged time keeps its instant: it may be in the second of two equal hours in autumn,
    # or have a fraction of a second.
    kept = {_as_shown(one, where): one for one in _instants(record)}

    def instant(local: datetime) -> datetime:
        return kept.get(local) or zone.to_utc(local, where)

    breaks = []
    for at in range(1, MOST_BREAKS + 1):
        out, back = form.values.get(f"break_{at}_out"), form.values.get(f"break_{at}_back")
        if out and back:
            breaks.append((instant(out), instant(back)))
        elif out or back:
            form.refuse(
                f"break_{at}_{'back' if out else 'out'}", "Give both ends of the break, or empty both to remove it."
            )
    if not form.ok:
        return None
    end = form["clock_out"]
    try:
        hours = Hours(instant(form["clock_in"]), instant(end) if end else None, tuple(breaks), form["kind"])
    except OverflowError:
        form.refuse("clock_in", WRONG_YEAR)
        return None
    if found := doubts(hours, datetime.now(UTC), Hours.of(record) if record else None, agreed=agreed):
        _absorb(form, Invalid("", details=found))
    return hours


def _instants(record: Row[Any] | None) -> list[datetime]:
    if record is None:
        return []
    hours = Hours.of(record)
    ends = [hours.clock_in, *([hours.clock_out] if hours.clock_out else [])]
    return [*ends, *(one for pause in hours.breaks for one in pause)]


def _as_shown(instant: datetime, where: ZoneInfo) -> datetime:
    return zone.to_local(instant, where).replace(microsecond=0)


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


async def _one_more_break(ctx: Context, form: Bound, record: Row[Any] | None, where: ZoneInfo) -> Response[str]:
    rows = sum(name.endswith("_out") and name.startswith("break_") for name in form.fields)
    both = form.fields["clock_out"].required
    more = _form(min(MOST_BREAKS, rows + 1), chooses_person=record is None, both=both).fill()
    more.shown |= form.shown
    more.base = form.base
    return await _show(ctx, more, record, where)


async def _show(
    ctx: Context, form: Bound, record: Row[Any] | None, where: ZoneInfo, *, status: int = 200
) -> Response[str]:
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


def _times(query: Mapping[str, str]) -> dict[str, datetime]:
    """The hours in the address: wall-clock times of the workspace's zone."""
    ends = [f"break_{at}_{end}" for at in range(1, MOST_BREAKS) for end in ("out", "back")]
    given = {name: _time(query.get(name, "")) for name in ("clock_in", "clock_out", *ends)}
    return {name: at for name, at in given.items() if at is not None}


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is None else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


ROUTES = [add_form, add, edit_form, edit]
