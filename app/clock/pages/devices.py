"""`/clock_devices`: the terminals, how each is doing, and what an operator sets on them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.charts import columns, small
from app.charts.columns import DayColumn, Series
from app.charts.compared import Noun, PeriodPair, compare
from app.clock.figures import earlier
from app.clock.figures.earlier import DayFigures
from app.clock.figures.terminal_backlog import backlog
from app.clock.mirror import cursors, devices
from app.clock.mirror.devices import DIRECTIONS, KINDS, LONGEST_REMARKS, DeviceChange
from app.clock.models import Device
from app.clock.pages import device_list
from app.clock.problems import terminal_facts
from app.clock.zone_words import zone_words
from app.counting import count
from app.dates import day_words
from app.errors import Conflict, NotFound
from app.host.pages.admin.history import history
from app.long_acts.over_lists import SliceOutcome
from app.web import edits, exports
from app.web.bulk import act_on_many, action_of, ask_first, chosen_ids
from app.web.context import Context
from app.web.fields import Choice, Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length
from app.web.pages import done, page
from app.web.templating import with_query

SEE = Requires("clock.devices", module="clock")
ACT = Requires("clock.devices.edit", module="clock")
HISTORY_DAYS = 21
SERIES = [Series("Imported", "ok"), Series("Not imported", "mute")]
Verb = Callable[[AsyncSession, Actor, str, str | None], Awaitable[DeviceChange]]
VERBS: dict[str, Verb] = {"direction": devices.set_direction, "kind": devices.set_kind}
MEANS = {
    "by_code": "Each punch says by its code whether it is in, out or a break.",
    "in": "Every punch is a clock-in; its code is ignored.",
    "out": "Every punch is a clock-out; its code is ignored.",
    "undirected": "Punches come in pairs: the first of a shift is the clock-in, the last is the clock-out.",
    "attendance": "Its punches become attendance.",
    "access": "It only opens a door: its punches never become attendance.",
}
JUDGED = "that belong to no record yet are judged again by the next import, and may become attendance. Existing records stay as they are."
JUDGING = f"punches {JUDGED}"
SETTINGS = {
    "direction": Form(Choice("direction", "Direction", options={"": "As the settings say", **DIRECTIONS})),
    "kind": Form(Choice("kind", "Kind", options={"": "As the server says", **KINDS})),
}
COLUMNS = {"direction": "direction", "kind": "kind_mark"}
REMARKS = Form(Text("remarks", "Remarks", longest=LONGEST_REMARKS, lines=3))


@get("/clock_devices", guards=[SEE])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    framed = await device_list.frame(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, device_list.spec_of(framed), device_list.base(framed), kind)
    view = await device_list.load(ctx, framed)
    return await page(ctx, "clock/devices.html", fragment="list", view=view, **_drawn(ctx, framed))


def _long(act: device_list.BulkAct) -> LongBulk:
    async def rows(ctx: Context, _: Query, __: str) -> BulkRows:
        return BulkRows(device_list.spec_of(await device_list.frame(ctx)), device_list.chosen(act))

    async def changes(ctx: Context, ids: Sequence[int], _: Mapping[str, Any]) -> SliceOutcome:
        serials = await devices.serials_of(ctx.db, ids)
        changed = [await VERBS[act.what](ctx.db, ctx.actor, serial, act.value) for serial in serials]
        return SliceOutcome(sum(one.changed for one in changed))

    doing, what = f"Setting the {act.what} of terminals", ("terminal", "terminals")
    may = "clock.devices.edit"
    return LongBulk(
        f"devices.{act.key}", doing, "set", what, may, rows, changes, module="clock", sees="clock.devices", at_once=50
    )


LONG = {key: _long(act) for key, act in device_list.ACTS.items()}


@post("/clock_devices/bulk", guards=[ACT], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    act = device_list.ACTS[await action_of(ctx, device_list.ACTS)]

    async def ask_of_many(which: str) -> dict[str, Any]:
        return _question_of_some(act, which)

    if answer := await at_length(ctx, LONG[act.key], "/clock_devices", ask_of_many):
        return answer
    ids = await chosen_ids(ctx, device_list.spec_of(await device_list.frame(ctx)), device_list.chosen(act))
    serials = await devices.serials_of(ctx.db, ids)
    punches = await devices.judged_again(ctx.db, serials, **{act.what: act.value})

    async def ask() -> dict[str, Any]:
        return _question_of_many(act, len(ids), punches)

    async def set_them() -> str:
        changed = [await VERBS[act.what](ctx.db, ctx.actor, serial, act.value) for serial in serials]
        are = count(sum(one.changed for one in changed), "terminal", "terminals")
        again = _again(sum(one.judged_again for one in changed))
        return f"The {act.what} of {are} is {_word(act.what, act.value)} now.{again}"

    none = Conflict(f"The {act.what} of these terminals is {_word(act.what, act.value)} already.")
    also = [("punches", str(punches))]
    return await act_on_many(ctx, len(ids), url="/clock_devices", none=none, ask=ask, do=set_them, also=also)


@get("/clock_devices/{device_id:int}", guards=[SEE])
async def show(ctx: NamedDependency[Context], device_id: FromPath[int]) -> Response[Any]:
    framed = await device_list.frame(ctx)
    row = (await ctx.db.execute(device_list.base(framed).where(Device.id == device_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such terminal.")
    return await page(
        ctx,
        "clock/device.html",
        fragment="drawer",
        row=row,
        chart=await _history_chart(ctx.db, row.alias or row.sn, row.sn, framed),
        days=HISTORY_DAYS,
        history=await history(ctx, "terminal", row.sn),
        form=edits.opened(ctx, REMARKS, {"remarks": row.remarks}),
        **_drawn(ctx, framed),
    )


@post("/clock_devices/{device_id:int}/direction", guards=[ACT], status_code=200)
async def direction(ctx: NamedDependency[Context], device_id: FromPath[int]) -> Response[Any]:
    return await _set(ctx, device_id, "direction")


@post("/clock_devices/{device_id:int}/kind", guards=[ACT], status_code=200)
async def kind(ctx: NamedDependency[Context], device_id: FromPath[int]) -> Response[Any]:
    return await _set(ctx, device_id, "kind")


@post("/clock_devices/{device_id:int}/remarks", guards=[ACT], status_code=200)
async def remarks(ctx: NamedDependency[Context], device_id: FromPath[int]) -> Response[Any]:
    device = await devices.held(ctx.db, device_id)
    form = await edits.sent(ctx, REMARKS, {"remarks": device.remarks}, about=("terminal", device.sn))
    if not form.ok:
        return await edits.ask_again(ctx, form, f"Remarks on {device.name}", cancel_url="/clock_devices")
    changed = await devices.set_remarks(ctx.db, ctx.actor, device.sn, form["remarks"])
    said = f"The remarks of {device.name} were saved." if changed.changed else "The remarks were not changed."
    return await _leave(ctx, said)


async def _set(ctx: Context, device_id: int, what: str) -> Response[Any]:
    """Asks first when punches would be judged again, with their number. If the number has changed, it asks again."""
    device = await devices.held(ctx.db, device_id)
    column = COLUMNS[what]
    form = await edits.sent(ctx, SETTINGS[what], {what: getattr(device, column)}, about=("terminal", device.sn, column))
    if not form.ok:
        return await edits.ask_again(ctx, form, f"{what.capitalize()} of {device.name}", cancel_url="/clock_devices")
    value, posted = form[what], await ctx.form()
    number = await devices.judged_again(ctx.db, [device.sn], **{what: value})
    if number and (posted.get("confirmed") != "1" or posted.get("number") != str(number)):
        return await _ask(ctx, device.name, form, what=what, number=number)
    changed = await VERBS[what](ctx.db, ctx.actor, device.sn, value)
    if not changed.changed:
        return await _leave(ctx, f"The {what} of {device.name} is that already.")
    return await _leave(ctx, f"The {what} of {device.name} is {_word(what, value)} now.{_again(changed.judged_again)}")


def _again(number: int) -> str:
    return f" To be judged again: {devices.punches(number)}." if number else ""


async def _ask(ctx: Context, name: str, form: Bound, *, what: str, number: int) -> Response[Any]:
    value = form[what]
    return await ask_first(
        ctx,
        question=f"Set the {what} of {name} to {_word(what, value)}?",
        consequence=f"{MEANS.get(value or '', '')} Its {JUDGING}".strip(),
        submit=f"Set it, and judge {devices.punches(number)} again",
        number=number,
        unit="punch" if number == 1 else "punches",
        danger=False,
        fields=[(what, value or ""), ("number", str(number)), (edits.BASE, form.base)],
        cancel_url="/clock_devices",
    )


def _question_of_some(act: device_list.BulkAct, which: str) -> dict[str, Any]:
    return {
        "question": f"Set the {act.what} of {which} to {_word(act.what, act.value)}?",
        "consequence": f"{MEANS.get(act.value or '', '')} Their {JUDGING}".strip(),
        "submit": f"Set {which}",
        "danger": False,
    }


def _question_of_many(act: device_list.BulkAct, number: int, punches: int) -> dict[str, Any]:
    asked = _question_of_some(act, count(number, "terminal", "terminals"))
    if not punches:
        asked["consequence"] = f"{MEANS.get(act.value or '', '')} Their punches are not judged again.".strip()
    return asked | {
        "number": punches or None,
        "unit": "punch is judged again" if punches == 1 else "punches are judged again",
    }


async def _leave(ctx: Context, said: str) -> Response[Any]:
    """Leads back to the page with the question. A request of htmx loads it as a page, because its answer would land in
    the dialog."""
    leave = await done(ctx, "/clock_devices", said)
    return Response("", headers={"HX-Redirect": leave.url}) if ctx.wants_fragment else leave


def _word(what: str, value: str | None) -> str:
    if value is not None:
        return f"“{device_list.WORDS[what].get(value, value)}”"
    return "what the settings say" if what == "direction" else "what the server says"


def _drawn(ctx: Context, framed: device_list.DeviceListFrame) -> dict[str, Any]:
    """What both templates draw a terminal with."""
    return {
        "framed": framed,
        "problem_kinds": terminal_facts.KINDS,
        "now": datetime.now(UTC),
        "states": device_list.STATES,
        "directions": DIRECTIONS,
        "kinds": KINDS,
        "means": MEANS,
        "backlog": backlog,
        "days_url": device_list.days_url,
        "days_words": device_list.days_words,
        "spark": small.spark,
        "zone_words": zone_words,
        "hints": {"skew": device_list.SKEW, "backlog": device_list.BACKLOG, "there": device_list.THERE},
        "may_act": ctx.may("clock.devices.edit"),
        "sealed": partial(edits.sealed, ctx),
    }


async def _history_chart(
    db: AsyncSession, name: str, serial: str, framed: device_list.DeviceListFrame
) -> columns.ColumnChart:
    """A column for each of the last days: imported punches, and the others."""
    pair = PeriodPair(framed.today - timedelta(days=HISTORY_DAYS - 1), framed.today, framed.today)
    found = await earlier.by_day(db, ((pair.earlier or (pair.first,))[0], pair.last), "terminal", serial)
    first = await earlier.first_day(db, "terminal", serial)
    unknown = earlier.why_unknown(pair, first, await cursors.read_all(db), framed.zone)
    days = [pair.first + timedelta(days=n) for n in range(pair.length)]
    return columns.day_columns(
        [_column(day, found, serial, framed.today, known=not unknown) for day in days],
        SERIES,
        title=f"Punches of {name} by day",
        unit="Punches a day",
        said=compare(pair, {day: one.total for day, one in found.items()}, Noun("punch", "punches"), unknown=unknown),
    )


def _column(day: date, found: Mapping[date, DayFigures], serial: str, today: date, *, known: bool) -> DayColumn:
    total, imported, _ = found.get(day, DayFigures())
    before = found.get(day - timedelta(days=HISTORY_DAYS), DayFigures()).total
    query = {"terminal": serial, "from": day, "to": day}
    return DayColumn(
        name=day_words(day, today),
        label=f"{day.day}" if day.weekday() == 0 else "",
        sub=f"{day:%b}" if day.weekday() == 0 else "",
        url=with_query("/clock_transactions", query),
        title=f"{day_words(day, today)}: {count(total, 'punch', 'punches')}, {imported:,} imported",
        values=(imported, total - imported),
        before=before if known else None,
    )


ROUTES = [index, bulk, show, direction, kind, remarks]
