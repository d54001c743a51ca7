"""`/clock_employees/acts/ID` and `/clock_transactions/acts/ID`:
how far an act on many records or punches is, and what it left.

What is asked before such an act: undo.py and punch_acts.py.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import select

from app.clock.bindings import undoing
from app.clock.codes import punch_label
from app.clock.models import ClockEmployee, Punch
from app.clock.review import using_many
from app.clock.review.long_act_words import KINDS, told
from app.dates import PageZone, local_exact
from app.db.among import among
from app.errors import NotFound
from app.host.models import AttendanceRecord, Employee
from app.long_acts import progress as long_acts
from app.long_acts.words import LeftItem
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page
from app.web.site import NamedActPage

_RECORDS = select(AttendanceRecord.id, AttendanceRecord.workday, AttendanceRecord.deleted_at, Employee.name).join(
    Employee, Employee.id == AttendanceRecord.employee_id
)
_PUNCHES = select(
    Punch.id, Punch.emp_code, Punch.punched_at_local, Punch.punch_code, ClockEmployee.full_name
).outerjoin(ClockEmployee, ClockEmployee.emp_code == Punch.emp_code)


@dataclass(frozen=True, slots=True)
class LongActPage:
    """What the pages of two lists differ in: the list `of` which they are, the heads of what was left, and its rows."""

    of: tuple[str, str]
    columns: tuple[str, str, str, str]
    rows: Callable[[Context, Sequence[Any]], Awaitable[list[LeftItem]]]


@get("/clock_employees/acts/{act_id:int}", guards=[Requires("clock.employees", module="clock")])
async def show_records(ctx: NamedDependency[Context], act_id: FromPath[int]) -> Response[Any]:
    return await _show(ctx, act_id, OF_RECORDS)


@get("/clock_transactions/acts/{act_id:int}", guards=[Requires("clock.transactions", module="clock")])
async def show_punches(ctx: NamedDependency[Context], act_id: FromPath[int]) -> Response[Any]:
    return await _show(ctx, act_id, OF_PUNCHES)


async def _show(ctx: Context, act_id: int, shown: LongActPage) -> Response[Any]:
    progress = await long_acts.read(ctx.db, act_id)
    if progress.kind not in KINDS or not KINDS[progress.kind].url.startswith(f"{shown.of[1]}/"):
        raise NotFound
    return await page(
        ctx,
        "host/act.html",
        fragment="now",
        act=told(progress),
        may_stop=PAGES[progress.kind].allows(ctx),
        left=await shown.rows(ctx, await long_acts.left(ctx.db, act_id)),
        of=shown.of,
        columns=shown.columns,
    )


async def _left_records(ctx: Context, left: Sequence[Any]) -> list[LeftItem]:
    rows = await ctx.db.execute(_RECORDS.where(among(AttendanceRecord.id, [one.item_id for one in left])))
    records = {row.id: row for row in rows}
    zone = await ctx.zone()
    return [_record(ctx, one, records.get(one.item_id), zone) for one in left]


def _record(ctx: Context, one: Any, record: Any, zone: PageZone) -> LeftItem:
    seen = record is not None and record.deleted_at is None and ctx.may("host.attendance")
    of, at = (record.name, zone.day(record.workday)) if record else ("–", "–")
    why = undoing.LEFT.get(one.became, one.became).capitalize()
    return LeftItem(str(one.item_id), f"/attendance/{one.item_id}" if seen else "", of, at, why)


async def _left_punches(ctx: Context, left: Sequence[Any]) -> list[LeftItem]:
    rows = await ctx.db.execute(_PUNCHES.where(among(Punch.id, [one.item_id for one in left])))
    punches = {row.id: row for row in rows}
    today = (await ctx.zone()).today
    return [_punch(one, punches.get(one.item_id), today) for one in left]


def _punch(one: Any, punch: Any, today: date) -> LeftItem:
    why = one.note or using_many.LEFT.get(one.became, one.became).capitalize()
    if punch is None:
        return LeftItem(str(one.item_id), "", "–", "–", why)
    name = f"{punch.full_name or '–'} · {punch.emp_code}"
    url = f"/clock_transactions/{punch.id}"
    return LeftItem(punch_label(punch.punch_code) or "–", url, name, local_exact(punch.punched_at_local, today), why)


OF_RECORDS = LongActPage(
    ("Employees & Bindings", "/clock_employees"), ("Record", "Person", "Workday", "Why"), _left_records
)
OF_PUNCHES = LongActPage(
    ("Attendance Transactions", "/clock_transactions"), ("Punch", "Employee", "Local time", "Why"), _left_punches
)
PAGES = {
    kind: NamedActPage(words, f"clock.{words.url.split('/')[1].removeprefix('clock_')}", "clock")
    for kind, words in KINDS.items()
}
ROUTES = [show_records, show_punches]
