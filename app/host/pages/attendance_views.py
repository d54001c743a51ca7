"""The three views of attendance: all records, one day, one person; and what a bulk act does to the records of one.
Routes: attendance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, select, true

from app.dates import day_words
from app.host.attendance import queries as attendance_queries
from app.host.attendance import records as attendance
from app.host.models import AttendanceRecord, Employee
from app.host.pages import attendance_list as records
from app.long_acts.acts import ItemOutcome
from app.long_acts.over_lists import SliceOutcome
from app.periods import Days
from app.web.context import Context
from app.web.list_spec import Empty, ListSpec, Query
from app.web.long_acts.bulk import BulkRows, LongBulk


@dataclass(frozen=True, slots=True)
class RecordActWords:
    """The words of an act on records. `label` has a place for the records;
    `stands` says why the act leaves a record as it is."""

    label: str
    past: str
    stands: str
    consequence: str


# By the status that a record gets; *delete* is the exception.
ACTS = {
    "approved": RecordActWords(
        "Approve {}",
        "approved",
        "approved already or on a locked day",
        "No import rewrites an approved record: a punch that would change it says “Record already decided”.",
    ),
    "rejected": RecordActWords(
        "Reject {}",
        "rejected",
        "rejected already or on a locked day",
        "A rejected record counts for no hours but still covers its time: an import makes no other record over it.",
    ),
    "auto_closed": RecordActWords(
        "Auto-close {}",
        "auto-closed",
        "auto-closed already or on a locked day",
        "No import rewrites an auto-closed record: a punch that would change it says “Record already decided”.",
    ),
    "pending": RecordActWords(
        "Set {} back to pending",
        "set back to pending",
        "pending already or on a locked day",
        "They wait for a decision again, and an import may add punches that come late.",
    ),
    "delete": RecordActWords(
        "Delete {}",
        "deleted",
        "on a locked day",
        "Their hours no longer count. The punches behind them say “Attendance deleted” and are imported again only"
        " by Retry. A record that was made by hand is gone for good.",
    ),
}
EVERYTHING = Empty(
    "clock-check",
    "No attendance yet",
    "Records appear here when punches are imported or when you add one by hand.",
    "/attendance/add",
    "Add a record",
)


@dataclass(frozen=True, slots=True)
class View:
    """What one view of the records is about: its address, which records,
    and the columns and filters it decides itself."""

    url: str
    scope: ColumnElement[bool]
    empty: Empty
    sort: str
    without: tuple[str, ...] = ()
    days: Days | None = None

    def spec(self, ctx: Context, where: ZoneInfo) -> ListSpec:
        drawn = records.spec_of(self.url, where, ctx, self.empty, self.sort, *self.without)
        return replace(drawn, days=self.days)


def everything() -> View:
    return View("/attendance", true(), EVERYTHING, "-workday")


def one_day(day: date) -> View:
    empty = Empty(
        "calendar-off",
        f"No attendance on {day_words(day, None)}",
        "There is no record of this day. Look at another day, or add what is missing.",
        f"/attendance/add?day={day}",
        "Add a record",
    )
    scope = AttendanceRecord.workday == day
    return View(f"/attendance/days/{day}", scope, empty, "name", ("workday", "days"), (day, day))


def one_person(employee_id: int) -> View:
    empty = Empty(
        "calendar-off",
        "No attendance yet",
        "Nothing was imported for this person and nothing was added by hand.",
        f"/attendance/add?employee=%23{employee_id}",
        "Add a record",
    )
    return View(
        f"/attendance/people/{employee_id}",
        AttendanceRecord.employee_id == employee_id,
        empty,
        "-workday",
        ("name", "department"),
    )


def view_at(url: str) -> View:
    """The view of an address, as a long act kept it."""
    kind, _, which = url.removeprefix("/attendance").removeprefix("/").partition("/")
    if kind == "days":
        return one_day(date.fromisoformat(which))
    return one_person(int(which)) if kind == "people" else everything()


def _long(action: str, doing: str) -> LongBulk:
    words = ACTS[action]
    status = None if action == "delete" else action

    async def rows(ctx: Context, _: Query, url: str) -> BulkRows:
        view = view_at(url)
        differs = AttendanceRecord.status != status if status else true()
        return BulkRows(view.spec(ctx, (await ctx.zone()).info), records.base(view.scope).where(differs))

    async def changes(ctx: Context, ids: Sequence[int], _: Mapping[str, Any]) -> SliceOutcome:
        able = await attendance_queries.changeable(ctx.db, ids, status)
        done_to = await (
            attendance.remove(ctx.db, ctx.actor, able)
            if status is None
            else attendance.decide(ctx.db, ctx.actor, able, status)
        )
        left = sorted(set(ids) - set(able))
        return SliceOutcome(len(done_to), dict.fromkeys(left, ItemOutcome("locked")))

    names = select(AttendanceRecord.id, Employee.name).join(Employee, Employee.id == AttendanceRecord.employee_id)
    return LongBulk(
        f"attendance.{action}",
        doing,
        words.past,
        ("record", "records"),
        "host.attendance.decide",
        rows,
        changes,
        left={"locked": "on a locked day"},
        names=lambda _: names,
        page="/attendance",
        sees="host.attendance",
        changed_at=AttendanceRecord.updated_at,
    )


LONG = {
    "approved": _long("approved", "Approving records"),
    "rejected": _long("rejected", "Rejecting records"),
    "auto_closed": _long("auto_closed", "Auto-closing records"),
    "pending": _long("pending", "Setting records back to pending"),
    "delete": _long("delete", "Deleting records"),
}
