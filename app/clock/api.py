"""The integration API of the clock: seven GET endpoints of scope `clock:read` and their OpenAPI document (contract)."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, Router, get
from litestar.di import NamedDependency
from sqlalchemy import Select, select

from app.api import parameters
from app.api.envelope import Code, Count, Day, Id, Instant, Line, Local, Meta, Prose, answer, day, instant, local
from app.api.openapi import Endpoint, document
from app.api.parameters import DayText, InstantText, Nothing, Paged, Range
from app.api.tokens import Scope
from app.clock import api_paging, queries, reports
from app.clock.api_paging import page_by_id, page_of_punches
from app.clock.codes import OUTCOMES, Outcome, punch_label, verify_label
from app.clock.models import Binding, ClockEmployee, Device, SyncRun
from app.clock.settings import ClockSettings, read_settings
from app.errors import FieldError, Invalid
from app.web.context import Context
from app.web.guards import public

CLOCK_READ = Scope("clock:read", permissions=("clock.employees", "clock.transactions"), module="clock")
PREFIX = "/api/v1/clock"
VERSION = "1"
DEFAULT_SPAN = timedelta(days=29)
Temperature = Annotated[float, msgspec.Meta(ge=-50, le=100)]
States = Literal[
    "bound", "auto_matched", "suggested", "unbound", "not_found", "conflict", "missing_remote", "ignored", "disabled"
]
Methods = Literal["manual", "kiosk", "id_number", "name"]
Resource = Literal["departments", "positions", "areas", "locations", "devices", "employees", "transactions"]
Outcomes = Literal[
    "future_timestamp", "access_terminal", "not_bound", "employee_inactive", "no_direction", "repeat_tap", "double_tap",
    "awaiting", "only_one_punch", "over_24h", "date_locked", "overlaps", "record_decided", "record_edited",
    "arrived_late", "attendance_deleted", "imported",
]  # fmt: skip
CodeText = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
PhotoUrl = Annotated[str, msgspec.Meta(max_length=2000, description="Where the picture is; opens with the same token.")]


class Named(msgspec.Struct):
    code: Code
    name: Line | None


class Enrolled(msgspec.Struct):
    fingerprint: bool
    face: bool
    palm: bool
    card: bool
    password: bool


class BindingSummary(msgspec.Struct):
    state: States
    method: Methods | None
    host_employee_id: Id | None
    host_employee_name: Line | None
    decided_by: Line | None
    decided_at: Instant | None


class EmployeeRow(msgspec.Struct):
    id: Id
    emp_code: Code
    first_name: Line | None
    last_name: Line | None
    full_name: Line
    department: Named | None
    position: Named | None
    areas: Annotated[list[Named], msgspec.Meta(max_length=1000)]
    email: Line | None
    hired_on: Day | None
    active: bool
    enrolled: Enrolled
    absent_since: Instant | None
    remarks: Prose | None
    binding: BindingSummary
    updated_at: Instant
    photo_url: PhotoUrl | msgspec.UnsetType | None = msgspec.UNSET


class Candidate(msgspec.Struct):
    host_employee_id: Id
    name: Line
    score: Annotated[float, msgspec.Meta(ge=0, le=100)]


class BindingRow(msgspec.Struct):
    id: Id
    emp_code: Code
    employee_name: Line
    state: States
    method: Methods | None
    host_employee_id: Id | None
    host_employee_name: Line | None
    candidates: Annotated[list[Candidate], msgspec.Meta(max_length=50)]
    decided_by: Line | None
    decided_at: Instant | None
    updated_at: Instant


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
    resources: dict[Resource, ResourceCounts]
    import_: dict[Outcomes, Count] = msgspec.field(name="import")


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
    days: Annotated[list[DayRow], msgspec.Meta(max_length=parameters.MOST_DAYS + 1)]
    totals: DayTotals


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
    counts: dict[Resource, Count]
    bindings: dict[States, Count]
    outcomes: dict[Outcomes, Count]
    complete_up_to: Instant | None
    last_sync: RunRow | None


class Changed(Paged, kw_only=True, frozen=True):
    updated_since: InstantText | None = None


class BindingQuery(Changed, kw_only=True, frozen=True):
    status: States | None = None


class PunchQuery(Changed, kw_only=True, frozen=True):
    from_: DayText | None = msgspec.field(default=None, name="from")
    to: DayText | None = None
    emp_code: CodeText | None = None
    terminal_sn: CodeText | None = None


@get("/status", guards=[CLOCK_READ])
async def status(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    found = await reports.status(ctx.db, datetime.now(UTC))
    run = found.pop("last_sync")
    return answer({**found, "last_sync": run_row(run) if run is not None else None})


@get("/employees", guards=[CLOCK_READ])
async def employees(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(Changed, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    areas = await reports.area_names(ctx.db)
    wanted = _changed(queries.EMPLOYEES, queries.EMPLOYEE_CHANGED_AT, asked)
    rows, meta = await page_by_id(ctx.db, asked, api_paging.EMPLOYEES, wanted, ClockEmployee.id)
    photos = _photos_below(ctx, settings)
    return answer([_employee(row, areas, photos) for row in rows], meta=meta)


@get("/bindings", guards=[CLOCK_READ])
async def bindings(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(BindingQuery, ctx.request.query_params)
    wanted = _changed(queries.BINDINGS, queries.BINDING_CHANGED_AT, asked)
    if asked.status:
        wanted = wanted.where(Binding.state == asked.status)
    rows, meta = await page_by_id(ctx.db, asked, api_paging.BINDINGS, wanted, Binding.id)
    return answer([_binding(row) for row in rows], meta=meta)


@get("/transactions", guards=[CLOCK_READ])
async def transactions(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(PunchQuery, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    wanted = queries.PunchFilter(
        days=(parameters.day_of(asked.from_), parameters.day_of(asked.to)),
        terminal_sn=asked.terminal_sn,
        emp_codes=(asked.emp_code,) if asked.emp_code else None,
        updated_since=parameters.instant_of(asked.updated_since),
    )
    rows, meta = await page_of_punches(ctx.db, asked, wanted)
    photos = _photos_below(ctx, settings)
    return answer([_punch(row, photos, temperature=settings.show_temperature) for row in rows], meta=meta)


@get("/devices", guards=[CLOCK_READ])
async def devices(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    areas = await reports.area_names(ctx.db)
    rows = await ctx.db.execute(select(*Device.__table__.c).order_by(Device.id))
    return answer([_device(row, areas, settings.default_direction) for row in rows])


@get("/sync-runs", guards=[CLOCK_READ])
async def sync_runs(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(Paged, ctx.request.query_params)
    rows, meta = await page_by_id(ctx.db, asked, api_paging.RUNS, select(*SyncRun.__table__.c), SyncRun.id)
    return answer([run_row(row) for row in rows], meta=meta)


@get("/analytics/summary", guards=[CLOCK_READ])
async def analytics_summary(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(Range, ctx.request.query_params)
    first, last = _summed_days(asked, await reports.local_today(ctx.db, datetime.now(UTC)))
    return answer({"from": day(first), "to": day(last), **await reports.daily_totals(ctx.db, first, last)})


def _summed_days(asked: Range, today: date) -> tuple[date, date]:
    """The last thirty days up to `to`, where nothing else is asked for. Raises Invalid."""
    since, to = parameters.day_of(asked.from_), parameters.day_of(asked.to)
    last = to or max(today, since or today)
    if since is not None:
        too_long = (last - since).days > parameters.MOST_DAYS
        return (last - timedelta(days=parameters.MOST_DAYS) if too_long else since), last
    if last - date.min < DEFAULT_SPAN:
        problem = FieldError("to", "Give `from` too: the thirty days up to it would begin before the year 1.")
        raise Invalid("Some parameters can't be used.", details=[problem])
    return last - DEFAULT_SPAN, last


def _photos_below(ctx: Context, settings: ClockSettings) -> str | None:
    """The address that pictures are below; None while they are switched off."""
    return ctx.parts.settings.base_url if settings.show_photos else None


def _changed(base: Select[Any], changed_at: Any, asked: Changed) -> Select[Any]:
    since = parameters.instant_of(asked.updated_since)
    return base if since is None else base.where(changed_at >= since)


def _employee(row: Any, areas: dict[str, str], photos: str | None) -> EmployeeRow:
    shown = EmployeeRow(
        id=row.id,
        emp_code=row.emp_code,
        first_name=row.first_name,
        last_name=row.last_name,
        full_name=row.full_name,
        department=_named(row.department_code, row.department_name),
        position=_named(row.position_code, row.position_name),
        areas=[Named(code, areas.get(code)) for code in row.area_codes],
        email=row.email,
        hired_on=day(row.hired_on),
        active=row.active,
        enrolled=Enrolled(row.has_fingerprint, row.has_face, row.has_palm, row.has_card, row.has_password),
        absent_since=instant(row.absent_since),
        remarks=row.remarks,
        binding=BindingSummary(
            row.state, row.method, row.host_employee_id, row.host_employee_name, row.decided_by, instant(row.decided_at)
        ),
        updated_at=instant(row.changed_at) or "",
    )
    if photos is not None:
        shown.photo_url = f"{photos}/clock_employees/{row.id}/photo" if row.photo_ref else None
    return shown


def _named(code: str | None, name: str | None) -> Named | None:
    return Named(code, name) if code else None


def _binding(row: Any) -> BindingRow:
    return BindingRow(
        id=row.id,
        emp_code=row.emp_code,
        employee_name=row.full_name,
        state=row.state,
        method=row.method,
        host_employee_id=row.host_employee_id,
        host_employee_name=row.host_employee_name,
        candidates=[Candidate(one["host_employee_id"], one["name"], one["score"]) for one in row.candidates],
        decided_by=row.decided_by,
        decided_at=instant(row.decided_at),
        updated_at=instant(row.changed_at) or "",
    )


def _punch(row: Any, photos: str | None, *, temperature: bool) -> PunchRow:
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
        updated_at=instant(row.updated_at) or "",
    )
    if temperature:
        shown.temperature = float(row.temperature) if row.temperature is not None else None
    if photos is not None:
        shown.photo_url = f"{photos}/clock_transactions/{row.id}/photo" if row.photo_ref else None
    return shown


def _device(row: Any, areas: dict[str, str], default_direction: Any) -> DeviceRow:
    return DeviceRow(
        id=row.id,
        sn=row.sn,
        alias=row.alias,
        ip_address=row.ip_address,
        firmware=row.firmware,
        state=row.state,
        last_activity_at=instant(row.last_activity_at),
        kind=row.kind_mark or ("access" if row.remote_attendance is False else "attendance"),
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


ENDPOINTS = (
    Endpoint("GET", f"{PREFIX}/status", "Connection health, counts and last sync", Status, None, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/employees", "Mirrored personnel", list[EmployeeRow], Changed, Meta, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/bindings", "Bindings", list[BindingRow], BindingQuery, Meta, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/transactions", "Mirrored punches", list[PunchRow], PunchQuery, Meta, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/devices", "Terminals", list[DeviceRow], None, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/sync-runs", "Run history", list[RunRow], Paged, Meta, scope="clock:read"),
    Endpoint("GET", f"{PREFIX}/analytics/summary", "Daily totals", Summary, Range, scope="clock:read"),
)


def openapi_document(base_url: str) -> dict[str, Any]:
    return document("Muster integration API", VERSION, base_url, ENDPOINTS)


@get("/openapi.json", guards=[public])
async def openapi(ctx: NamedDependency[Context]) -> dict[str, Any]:
    return openapi_document(ctx.parts.settings.base_url)


ROUTER = Router(
    path=PREFIX,
    route_handlers=[
        status, employees, bindings, transactions, devices, sync_runs, analytics_summary, openapi,
    ],
)  # fmt: skip
