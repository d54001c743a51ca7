"""The clock's part of the integration API: GET endpoints of scope `clock:read`, attendance beside them,
and the document of the whole API.

What their rows have is in api/rows.py and api/people.py, how lists are paged in api/paging.py.
"""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Annotated, Any

import msgspec
from litestar import Response, Router, get
from litestar.di import NamedDependency
from sqlalchemy import Select, select

from app.api import integration, parameters
from app.api.envelope import Meta, answer
from app.api.openapi import Endpoint, document, paged
from app.api.paging import page_by_id
from app.api.parameters import VERBATIM, DayText, InstantText, Nothing, Paged, Range
from app.api.tokens import TokenGuard
from app.clock import zones
from app.clock.api import attendance, paging
from app.clock.api.paging import page_of_punches
from app.clock.api.people import BindingRow, EmployeeRow, States, binding_row, employee_row
from app.clock.api.rows import DeviceRow, PunchRow, RunRow, Status, Summary, device_row, punch_row, run_row
from app.clock.figures import status as status_figures
from app.clock.mirror.devices import KIND
from app.clock.models import Binding, ClockEmployee, Device, SyncRun
from app.clock.punches import queries
from app.clock.punches.punch_filter import PunchFilter
from app.clock.settings import ClockSettings, read_settings
from app.errors import FieldError, Invalid
from app.texts import day, instant
from app.web.context import Context
from app.web.guards import public
from app.web.site import ApiDocument

CLOCK_READ = TokenGuard("clock:read", permissions=("clock.employees", "clock.transactions"), module="clock")
PREFIX = "/api/v1/clock"
VERSION = "1"
DEFAULT_SPAN = timedelta(days=29)
MOST_DEVICES = 100_000  # far beyond any server; the document bounds every list
CodeText = Annotated[str, msgspec.Meta(min_length=1, max_length=100, extra=VERBATIM)]


class ChangedQuery(Paged, kw_only=True, frozen=True):
    updated_since: InstantText | None = None


class BindingQuery(ChangedQuery, kw_only=True, frozen=True):
    status: States | None = None


class PunchQuery(ChangedQuery, kw_only=True, frozen=True):
    from_: DayText | None = msgspec.field(default=None, name="from")
    to: DayText | None = None
    emp_code: CodeText | None = None
    terminal_sn: CodeText | None = None


@get("/status", guards=[CLOCK_READ])
async def status(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    found = await status_figures.status(ctx.db, datetime.now(UTC))
    run = found.pop("last_sync")
    return answer({**found, "last_sync": run_row(run) if run is not None else None})


@get("/employees", guards=[CLOCK_READ])
async def employees(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(ChangedQuery, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    areas = await status_figures.area_names(ctx.db)
    wanted = _changed(queries.EMPLOYEES, queries.EMPLOYEE_CHANGED_AT, asked)
    rows, meta = await page_by_id(ctx.db, asked, paging.EMPLOYEES, wanted, ClockEmployee.id)
    photos = _photos_below(ctx, settings)
    return answer([employee_row(row, areas, photos) for row in rows], meta=meta)


@get("/bindings", guards=[CLOCK_READ])
async def bindings(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(BindingQuery, ctx.request.query_params)
    wanted = _changed(queries.BINDINGS, queries.BINDING_CHANGED_AT, asked)
    if asked.status:
        wanted = wanted.where(Binding.state == asked.status)
    rows, meta = await page_by_id(ctx.db, asked, paging.BINDINGS, wanted, Binding.id)
    return answer([binding_row(row) for row in rows], meta=meta)


@get("/transactions", guards=[CLOCK_READ])
async def transactions(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(PunchQuery, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    wanted = PunchFilter(
        days=(parameters.day_of(asked.from_), parameters.day_of(asked.to)),
        terminal_sn=asked.terminal_sn,
        emp_codes=(asked.emp_code,) if asked.emp_code else None,
        updated_since=parameters.instant_of(asked.updated_since),
    )
    rows, meta = await page_of_punches(ctx.db, asked, wanted)
    photos = _photos_below(ctx, settings)
    return answer([punch_row(row, photos, temperature=settings.show_temperature) for row in rows], meta=meta)


@get("/devices", guards=[CLOCK_READ])
async def devices(ctx: NamedDependency[Context]) -> Response[bytes]:
    parameters.read(Nothing, ctx.request.query_params)
    settings = await read_settings(ctx.db)
    areas = await status_figures.area_names(ctx.db)
    rows = await ctx.db.execute(select(*Device.__table__.c, KIND.label("kind")).order_by(Device.id))
    return answer([device_row(row, areas, settings.default_direction) for row in rows])


@get("/sync-runs", guards=[CLOCK_READ])
async def sync_runs(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(Paged, ctx.request.query_params)
    rows, meta = await page_by_id(ctx.db, asked, paging.RUNS, select(*SyncRun.__table__.c), SyncRun.id)
    return answer([run_row(row) for row in rows], meta=meta)


@get("/analytics/summary", guards=[CLOCK_READ])
async def analytics_summary(ctx: NamedDependency[Context]) -> Response[bytes]:
    asked = parameters.read(Range, ctx.request.query_params)
    first, last = _summed_days(asked, await zones.local_today(ctx.db, datetime.now(UTC)))
    recent = await ctx.read_recent(partial(status_figures.daily_totals, first=first, last=last))
    return answer({"from": day(first), "to": day(last), **recent.found, "as_of": instant(recent.as_of)})


def _summed_days(asked: Range, today: date) -> tuple[date, date]:
    """Thirty days up to `to`, unless other days are asked for. Raises Invalid."""
    since, to = parameters.day_of(asked.from_), parameters.day_of(asked.to)
    last = to or max(today, since or today)
    if since is not None:
        too_long = (last - since).days > parameters.MOST_DAYS
        return (last - timedelta(days=parameters.MOST_DAYS) if too_long else since), last
    if last - date.min < DEFAULT_SPAN:
        problem = FieldError("to", "Give `from` too: the thirty days before this date begin before the year 1.")
        raise Invalid("Some parameters can't be used.", details=[problem])
    return last - DEFAULT_SPAN, last


def _photos_below(ctx: Context, settings: ClockSettings) -> str | None:
    """The address under which pictures are; None while they are switched off."""
    return ctx.parts.settings.base_url if settings.show_photos else None


def _changed(base: Select[Any], changed_at: Any, asked: ChangedQuery) -> Select[Any]:
    since = parameters.instant_of(asked.updated_since)
    return base if since is None else base.where(changed_at >= since)


def _offered(
    path: str, summary: str, data: Any, asked: type[msgspec.Struct] | None = None, meta: type[Meta] | None = None
) -> Endpoint:
    return Endpoint("GET", f"{PREFIX}{path}", summary, data, asked, meta, scope=CLOCK_READ.scope)


ENDPOINTS = (
    _offered("/status", "Connection health, counts and last sync", Status),
    _offered("/employees", "Mirrored personnel", paged(EmployeeRow), ChangedQuery, Meta),
    _offered("/bindings", "Bindings", paged(BindingRow), BindingQuery, Meta),
    _offered("/transactions", "Mirrored punches", paged(PunchRow), PunchQuery, Meta),
    _offered("/devices", "Terminals", Annotated[list[DeviceRow], msgspec.Meta(max_length=MOST_DEVICES)]),
    _offered("/sync-runs", "Run history", paged(RunRow), Paged, Meta),
    _offered("/analytics/summary", "Daily totals", Summary, Range),
    attendance.ENDPOINT,
)


def openapi_document(base_url: str) -> dict[str, Any]:
    return document("Muster integration API", VERSION, base_url, integration.endpoints())


DOCUMENT = ApiDocument(
    "integration",
    "Integration API",
    "For programs that read what the time clock knows (people, bindings, punches, terminals, runs, figures), attendance, and what surveys came to.",
    f"{PREFIX}/openapi.json",
    openapi_document,
)


@get("/openapi.json", guards=[public])
async def openapi(ctx: NamedDependency[Context]) -> dict[str, Any]:
    return openapi_document(ctx.parts.settings.base_url)


ROUTER = Router(
    path=PREFIX,
    route_handlers=[
        status, employees, bindings, transactions, devices, sync_runs, analytics_summary, openapi,
    ],
)  # fmt: skip
APIS = (ROUTER, attendance.attendance)
