"""`GET /api/v1/attendance`: attendance records. `host_attendance_id` of a punch is the id of one. Scope
`attendance:read`.

With `updated_since` the answer also has records that were deleted (`deleted: true`), records of people whose name or
department changed, and records of days that were locked or opened since. So a program that follows the list misses
nothing. Filters by person, department and status are refused together with `updated_since`:
a record that leaves such a filter would be missed.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy.dialects.postgresql import Range

from app.api import parameters
from app.api.envelope import Count, Day, Id, Instant, Line, Local, Meta, answer
from app.api.openapi import Endpoint, paged
from app.api.parameters import VERBATIM, DayText, InstantText, Paged
from app.api.tokens import TokenGuard
from app.clock.api import paging
from app.clock.punches import queries
from app.counting import nearest
from app.errors import FieldError, Invalid
from app.host.attendance.feed import AttendanceFilter
from app.texts import day, instant, local
from app.web.context import Context

ATTENDANCE_READ = TokenGuard("attendance:read", permissions=("host.attendance",))
PATH = "/api/v1/attendance"
Status = Literal["pending", "approved", "rejected", "auto_closed"]
Department = Annotated[str, msgspec.Meta(min_length=1, max_length=200, extra=VERBATIM)]
FOLLOW_ALL = (
    "Follow all records with `updated_since`, and filter them yourself: one that leaves this filter would be missed."
)
NOT_FOLLOWED = msgspec.Meta(description="Not together with `updated_since`.")
_MINUTE = 60


class AttendanceQuery(Paged, kw_only=True, frozen=True):
    from_: DayText | None = msgspec.field(default=None, name="from")
    to: DayText | None = None
    employee: Annotated[Id, NOT_FOLLOWED] | None = None
    department: Annotated[Department, NOT_FOLLOWED] | None = None
    status: Annotated[Status, NOT_FOLLOWED] | None = None
    updated_since: InstantText | None = None


class AttendedPerson(msgspec.Struct):
    id: Id
    id_number: Line
    name: Line
    department: Line | None


class BreakTaken(msgspec.Struct):
    start_local: Local
    end_local: Local
    start_utc: Instant
    end_utc: Instant


class AttendanceRow(msgspec.Struct):
    id: Id
    employee: AttendedPerson
    workday: Day
    kind: Literal["regular", "overtime"]
    clock_in_local: Local
    clock_out_local: Local | None
    clock_in_utc: Instant
    clock_out_utc: Instant | None
    breaks: Annotated[list[BreakTaken], msgspec.Meta(max_length=1000)]
    worked_minutes: Annotated[Count | None, msgspec.Meta(description="Less the breaks; null while the record is open.")]
    break_minutes: Count
    status: Status
    source: Literal["clock", "manual"]
    edited_by_hand: bool
    locked: Annotated[bool, msgspec.Meta(description="Its day is closed for edits.")]
    deleted: bool
    punch_ids: Annotated[
        list[Id],
        msgspec.Meta(max_length=10_000, description="The punches behind it now; `id` of `/clock/transactions`."),
    ]
    updated_at: Instant


@get(PATH, guards=[ATTENDANCE_READ])
async def attendance(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(AttendanceQuery, ctx.request.query_params)
    _refuse_to_follow_a_part(asked)
    wanted = AttendanceFilter(
        days=(parameters.day_of(asked.from_), parameters.day_of(asked.to)),
        employee_id=asked.employee,
        department=asked.department,
        status=asked.status,
        updated_since=parameters.instant_of(asked.updated_since),
    )
    rows, meta = await paging.page_of_attendance(ctx.db, asked, wanted)
    punches = await queries.punches_of_records(ctx.db, [row.id for row in rows])
    zone = (await ctx.zone()).info
    return answer([attendance_row(row, punches, zone) for row in rows], meta=meta)


def _refuse_to_follow_a_part(asked: AttendanceQuery) -> None:
    """Raises Invalid for a filter by person, department or status together with `updated_since`. A range of days is
    allowed: a record never leaves it."""
    parts = {"employee": asked.employee, "department": asked.department, "status": asked.status}
    given = [name for name, value in parts.items() if value is not None]
    if asked.updated_since and given:
        raise Invalid(FOLLOW_ALL, details=[FieldError(name, FOLLOW_ALL) for name in given])


def attendance_row(row: Any, punches: Mapping[int, list[int]], zone: ZoneInfo) -> AttendanceRow:
    """`row` is one of `feed`; `punches` maps a record to the ids of its punches."""
    pauses = [BreakTaken(*_both(one.lower, one.upper, zone)) for one in row.breaks]
    return AttendanceRow(
        id=row.id,
        employee=AttendedPerson(row.employee_id, row.id_number, row.name, row.department),
        workday=day(row.workday) or "",
        kind=row.kind,
        clock_in_local=_local(row.clock_in, zone) or "",
        clock_out_local=_local(row.clock_out, zone),
        clock_in_utc=instant(row.clock_in) or "",
        clock_out_utc=instant(row.clock_out),
        breaks=pauses,
        worked_minutes=None if row.worked_s is None else _minutes(row.worked_s),
        break_minutes=_minutes(_paused_s(row.breaks)),
        status=row.status,
        source=row.source,
        edited_by_hand=row.edited_at is not None,
        locked=row.locked,
        deleted=row.deleted_at is not None,
        punch_ids=punches.get(row.id, []),
        updated_at=instant(row.updated_at) or "",
    )


def _both(start: datetime, end: datetime, zone: ZoneInfo) -> tuple[str, str, str, str]:
    return _local(start, zone) or "", _local(end, zone) or "", instant(start) or "", instant(end) or ""


def _local(at: datetime | None, zone: ZoneInfo) -> str | None:
    return local(at.astimezone(zone).replace(tzinfo=None)) if at else None


def _paused_s(breaks: Iterable[Range[datetime]]) -> float:
    return sum((one.upper - one.lower).total_seconds() for one in breaks if one.upper and one.lower)


def _minutes(seconds: float) -> int:
    return nearest(seconds / _MINUTE)


ENDPOINT = Endpoint(
    "GET",
    PATH,
    "Attendance records",
    paged(AttendanceRow),
    AttendanceQuery,
    Meta,
    scope=ATTENDANCE_READ.scope,
)
