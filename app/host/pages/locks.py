"""`/attendance/locks`: which days are closed for attendance edits.
The form proposes last month, the one that payroll closes next."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.counting import count
from app.dates import PageZone
from app.errors import Conflict, Invalid
from app.host.attendance import day_locks
from app.host.models import AttendanceRecord, DayLock
from app.periods import PERIODS
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, ask_first, chosen_ids
from app.web.context import Context
from app.web.fields import DayField
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, between
from app.web.pages import DIALOG, done, leaving_dialog, page

FORM = Form(
    DayField("from", "From", required=True),
    DayField("to", "To", required=True, help="Both days are included."),
)
ON_IT = (
    select(func.count())
    .where(AttendanceRecord.workday == DayLock.day, AttendanceRecord.deleted_at.is_(None))
    .scalar_subquery()
)
PENDING = (
    select(func.count())
    .where(
        AttendanceRecord.workday == DayLock.day,
        AttendanceRecord.deleted_at.is_(None),
        AttendanceRecord.status == "pending",
    )
    .scalar_subquery()
)
BASE: Select[Any] = select(
    DayLock.day, DayLock.locked_by, DayLock.locked_at, ON_IT.label("records"), PENDING.label("pending")
)
SPEC = ListSpec(
    name="locks",
    label="locked days",
    url="/attendance/locks",
    key=DayLock.day,
    sort="-day",
    columns=(
        Column("day", "Day", lambda row: row.day, DayLock.day),
        Column("records", "Records", lambda row: row.records, numeric=True),
        Column("pending", "Still pending", lambda row: row.pending, numeric=True),
        Column("locked_by", "Locked by", lambda row: row.locked_by, DayLock.locked_by),
        Column("locked_at", "When", lambda row: row.locked_at, DayLock.locked_at),
    ),
    filters=(Filter("", "Days", between(DayLock.day), kind="range"),),
    empty=Empty(
        "lock-open", "No day is locked", "Lock a period when its hours are settled, for instance after payroll."
    ),
    bulk_url="/attendance/locks/bulk",
    bulk=(BulkAction("unlock", "Unlock", "lock-open"),),
)
WHAT_UNLOCKING_DOES = (
    "Attendance on these days can be changed again, and punches that said “Date locked” are judged again: records may come or"
    " change."
)


async def _spec(ctx: Context) -> ListSpec:
    return replace(SPEC, today=(await ctx.zone()).today)


ALREADY_OPEN = "These days are open already."
# Asks about the days from the first to the last, or changes them.
AskDays = Callable[[Context, date, date], Awaitable[Response[Any]]]
ChangeDays = Callable[[AsyncSession, Actor, date, date], Awaitable[list[date]]]


@get("/attendance/locks", guards=[Requires("host.locks")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, await _spec(ctx), BASE, kind)
    first, last = PERIODS["last-month"].days((await ctx.zone()).today)
    return await _page(ctx, FORM.fill({"from": first, "to": last}))


@post("/attendance/locks/lock", guards=[Requires("host.locks")], status_code=200)
async def lock(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _change(ctx, _ask_lock, day_locks.lock, "locked now", "locked")


@get("/attendance/locks/unlock", guards=[Requires("host.locks")])
async def ask_unlock(ctx: NamedDependency[Context]) -> Response[Any]:
    """The question alone, for a link that names the days. Raises Conflict where they are open already."""
    form = FORM.read(FormMultiDict(ctx.request.query_params))
    if not form.ok:
        return await _page(ctx, form, status=422)
    try:
        return await _ask_unlock(ctx, form["from"], form["to"])
    except Invalid as refused:
        raise Conflict(refused.message) from refused


@post("/attendance/locks/unlock", guards=[Requires("host.locks")], status_code=200)
async def unlock(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _change(ctx, _ask_unlock, day_locks.unlock, "open again", "open")


async def _change(ctx: Context, ask: AskDays, change: ChangeDays, is_now: str, was: str) -> Response[Any]:
    """Asks about the days of the form first, then changes them."""
    form = FORM.read(await ctx.form())
    if not form.ok:
        return await _page(ctx, form, status=422)
    try:
        if (await ctx.form()).get("confirmed") != "1":
            return await ask(ctx, form["from"], form["to"])
        days = await change(ctx.db, ctx.actor, form["from"], form["to"])
    except Invalid as refused:
        form.absorb(refused)
        return await _page(ctx, form, status=422)
    return await _said(ctx, days, is_now, was)


@post("/attendance/locks/bulk", guards=[Requires("host.locks")], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    await action_of(ctx, ("unlock",))
    days = await chosen_ids(ctx, await _spec(ctx), BASE)
    day_locks.check_number(len(days))

    async def ask() -> dict[str, Any]:
        consequence = f"{_between(days, await ctx.zone())} {WHAT_UNLOCKING_DOES}"
        return {
            "verb": "Unlock",
            "what": count(len(days), "day", "days"),
            "consequence": consequence,
            "danger": False,
        }

    async def unlock_them() -> str:
        opened = await day_locks.unlock_days(ctx.db, ctx.actor, days)
        return f"{count(len(opened), 'day is', 'days are')} open again." if opened else ALREADY_OPEN

    return await act_on_many(
        ctx, len(days), url="/attendance/locks", none=Conflict(ALREADY_OPEN), ask=ask, do=unlock_them
    )


async def _said(ctx: Context, days: Sequence[date], is_now: str, was: str) -> Response[Any]:
    """What became of the days. Another person may have changed them while this one was asked."""
    said = f"{count(len(days), 'day is', 'days are')} {is_now}." if days else f"These days are {was} already."
    answer = await done(ctx, "/attendance/locks", said, level="success" if days else "info")
    return leaving_dialog(ctx, answer) if ctx.target == DIALOG else answer


def _between(days: list[date], zone: PageZone) -> str:
    """The days in ascending order, as many as fit into a sentence."""
    stretches = len(day_locks.stretches(days))
    apart = f", in {stretches:,} stretches" if stretches > 1 else ""
    return f"{zone.days(days[0], days[-1])}{apart}."


async def _ask_lock(ctx: Context, first: date, last: date) -> Response[Any]:
    day_locks.check_lock(first, last)
    pending = await ctx.db.scalar(
        select(func.count()).where(
            AttendanceRecord.workday.between(first, last),
            AttendanceRecord.deleted_at.is_(None),
            AttendanceRecord.status == "pending",
        )
    )
    waiting = (
        f" {count(pending or 0, 'record on them is', 'records on them are')} still pending and can't be decided then."
        if pending
        else ""
    )
    days = count((last - first).days + 1, "day", "days")
    zone = await ctx.zone()
    consequence = (
        f"{zone.days(first, last)}. Attendance on these days can't be added, edited, decided or deleted, and punches that"
        f" would change it say “Date locked”.{waiting} Unlocking undoes it."
    )
    return await _ask(ctx, "lock", f"Lock {days}", consequence, (first, last))


async def _ask_unlock(ctx: Context, first: date, last: date) -> Response[Any]:
    day_locks.check_unlock(first, last)
    number = await ctx.db.scalar(select(func.count()).where(DayLock.day.between(first, last)))
    which = (await ctx.zone()).days(first, last)
    if not number:
        raise Invalid(f"Nothing is locked: {which}.")
    days = count(number, "day", "days")
    consequence = f"{which}. {WHAT_UNLOCKING_DOES}"
    return await _ask(ctx, "unlock", f"Unlock {days}", consequence, (first, last))


async def _ask(ctx: Context, act: str, submit: str, consequence: str, days: tuple[date, date]) -> Response[Any]:
    return await ask_first(
        ctx,
        question=f"{submit}?",
        submit=submit,
        consequence=consequence,
        danger=False,
        url=f"/attendance/locks/{act}",
        fields=[("from", days[0]), ("to", days[1])],
        cancel_url="/attendance/locks",
        hx_target=f"#{DIALOG}" if ctx.target == DIALOG else None,
    )


async def _page(ctx: Context, form: Bound, *, status: int = 200) -> Response[Any]:
    view = await lists.load(ctx, await _spec(ctx), BASE)
    return await page(ctx, "host/locks.html", fragment="list", status=status, view=view, form=form)


ROUTES = [index, lock, ask_unlock, unlock, bulk]
