"""Punches, terminals, runs and figures as the integration API shows them: what a row has, and how it is made of a
stored one. People and bindings are in api/people.py."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec

from app.api.envelope import Code, Count, Day, Id, Instant, Line, Local, Prose
from app.api.parameters import MOST_DAYS
from app.clock.api.people import PhotoUrl, States
from app.clock.codes import punch_label, verify_label
from app.clock.outcomes import OUTCOMES, Outcome
from app.texts import day, instant, local

Temperature = Annotated[float, msgspec.Meta(ge=-50, le=100)]
Resource = Literal["departments", "positions", "areas", "locations", "devices", "employees", "transactions"]
if TYPE_CHECKING:
    Outcomes = str
else:
    Outcomes = Literal[tuple(one.value for one in Outcome)]


def _under(names: Any, *, all_of_them: bool) -> msgspec.Meta:
    """The schema of a mapping whose keys are words of `names`. With `all_of_them` it has every word."""
    words = list(get_args(names))
    return msgspec.Meta(
        min_length=len(words) if all_of_them else None,
        max_length=len(words),
        extra_json_schema={"propertyNames": {"enum": words}},
    )


class PunchRow(msgspec.Struct):
    id: Id
    remote_id: Code
    emp_code: Code
    employee_name: Line | None
    terminal_sn: Code | None
    terminal_alias: Line | None
    punch_code: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31)] | None
    punch_label: Line
    verify_code: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31)] | None
    verify_label: Line
    punched_at_raw: Line
    punched_at_local: Local
    punched_at_utc: Instant
    uploaded_at_utc: Instant | None
    local_date: Day
    host_attendance_id: Id | None
    imported_at_utc: Instant | None
    import_outcome: Outcomes | None
    import_note: Line | None
    gone_at_utc: Instant | None
    settled_at_utc: Instant | None
    settled_note: Line | None
    updated_at: Instant
    temperature: Temperature | msgspec.UnsetType | None = msgspec.UNSET
    photo_url: PhotoUrl | msgspec.UnsetType | None = msgspec.UNSET


class DeviceCounts(msgspec.Struct):
    users: Count | None
    fingerprints: Count | None
    faces: Count | None
    palms: Count | None
    transactions: Count | None


class DeviceRow(msgspec.Struct):
    id: Id
    sn: Code
    alias: Line | None
    ip_address: Line | None
    firmware: Line | None
    state: Literal["online", "offline", "unknown"]
    last_activity_at: Instant | None
    kind: Literal["attendance", "access"]
    direction: Literal["by_code", "in", "out", "undirected"]
    area: Line | None
    counts: DeviceCounts
    clock_skew_seconds: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] | None
    last_punch_at_utc: Instant | None
    remarks: Prose | None
    updated_at: Instant


class ResourceCounts(msgspec.Struct):
    fetched: Count = 0
    created: Count = 0
    updated: Count = 0
    unchanged: Count = 0
    missing: Count = 0
    set_aside: Count = 0


class RunRow(msgspec.Struct):
    id: Id
    trigger: Literal["schedule", "manual", "resume", "command"]
    status: Literal["queued", "running", "succeeded", "partial", "truncated", "failed"]
    started_at: Instant | None
    finished_at: Instant | None
    error_code: Code | None
    error_message: Prose | None
    calls: Count
    resources: Annotated[dict[Resource, ResourceCounts], _under(Resource, all_of_them=False)]
    import_: Annotated[dict[Outcomes, Count], _under(Outcomes, all_of_them=False)] = msgspec.field(name="import")


class DayTotals(msgspec.Struct):
    total: Count
    check_in: Count
    check_out: Count
    break_out: Count
    break_in: Count
    overtime_in: Count
    overtime_out: Count
    unknown: Count
    employees: Count
    terminals: Count
    imported: Count


class DayRow(DayTotals, kw_only=True):
    date: Day


class Summary(msgspec.Struct):
    from_: Day = msgspec.field(name="from")
    to: Day
    days: Annotated[list[DayRow], msgspec.Meta(max_length=MOST_DAYS + 1)]
    totals: DayTotals
    # When a replica gave the figures: the instant that they show. None when they show now.
    as_of: Instant | None


class ConnectionState(msgspec.Struct):
    configured: bool
    status: Literal["not_configured", "unverified", "healthy", "failing", "locked", "paused"]
    profile: Code | None
    timezone: Code | None
    host: Line | None
    last_success_at: Instant | None
    last_error_code: Code | None
    last_error_at: Instant | None
    locked_until: Instant | None


class Status(msgspec.Struct):
    connection: ConnectionState
    counts: Annotated[dict[Resource, Count], _under(Resource, all_of_them=True)]
    bindings: Annotated[dict[States, Count], _under(States, all_of_them=True)]
    outcomes: Annotated[dict[Outcomes, Count], _under(Outcomes, all_of_them=True)]
    complete_up_to: Instant | None
    last_sync: RunRow | None


def punch_row(row: Any, photos: str | None, *, temperature: bool) -> PunchRow:
    """`photos` is the address under which pictures are, None while they are switched off."""
    shown = PunchRow(
        id=row.id,
        remote_id=row.remote_id,
        emp_code=row.emp_code,
        employee_name=row.employee_name or None,
        terminal_sn=row.terminal_sn,
        terminal_alias=row.alias,
        punch_code=row.punch_code,
        punch_label=punch_label(row.punch_code),
        verify_code=row.verify_code,
        verify_label=verify_label(row.verify_code),
        punched_at_raw=row.punched_at_raw,
        punched_at_local=local(row.punched_at_local) or "",
        punched_at_utc=instant(row.punched_at_utc) or "",
        uploaded_at_utc=instant(row.uploaded_at_utc),
        local_date=day(row.local_date) or "",
        host_attendance_id=row.host_attendance_id,
        imported_at_utc=instant(row.imported_at_utc),
        import_outcome=row.import_outcome,
        import_note=OUTCOMES[Outcome(row.import_outcome)].label if row.import_outcome else None,
        gone_at_utc=instant(row.gone_at_utc),
        settled_at_utc=instant(row.settled_at_utc),
        settled_note=row.settled_note,
        updated_at=instant(row.changed_at) or "",
    )
    if temperature:
        shown.temperature = float(row.temperature) if row.temperature is not None else None
    if photos is not None:
        shown.photo_url = f"{photos}/clock_transactions/{row.id}/photo" if row.photo_ref else None
    return shown


def device_row(row: Any, areas: dict[str, str], default_direction: Any) -> DeviceRow:
    return DeviceRow(
        id=row.id,
        sn=row.sn,
        alias=row.alias,
        ip_address=row.ip_address,
        firmware=row.firmware,
        state=row.state,
        last_activity_at=instant(row.last_activity_at),
        kind=row.kind,
        direction=row.direction or default_direction,
        area=areas.get(row.area_code, row.area_code),
        counts=DeviceCounts(
            row.user_count, row.fingerprint_count, row.face_count, row.palm_count, row.transaction_count
        ),
        clock_skew_seconds=row.clock_skew_seconds,
        last_punch_at_utc=instant(row.last_punch_at_utc),
        remarks=row.remarks,
        updated_at=instant(row.updated_at) or "",
    )


def run_row(row: Any) -> RunRow:
    return RunRow(
        id=row.id,
        trigger=row.trigger,
        status=row.status,
        started_at=instant(row.started_at),
        finished_at=instant(row.finished_at),
        error_code=row.error_code,
        error_message=row.error_message,
        calls=row.calls,
        resources={name: msgspec.convert(counts, ResourceCounts) for name, counts in row.resources.items()},
        import_=row.outcomes,
    )
