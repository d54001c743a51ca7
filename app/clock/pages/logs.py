"""`/clock_logs`: every call that went to the server, with its excerpt, and how long the filtered ones took."""

from typing import Any
from zoneinfo import ZoneInfo

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, and_, func, select

from app.clock.models import ApiLog
from app.db.days import on_days
from app.db.searching import contains
from app.errors import NotFound
from app.periods import today_in
from app.texts import whole
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_page import ListPage
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import page

SEES = Requires("clock.logs", module="clock")
BASE = select(*ApiLog.__table__.c)
RESULTS = {"ok": "Worked", "failed": "Failed"}
WORKED = and_(ApiLog.tc_code.is_(None), ApiLog.http_status.between(200, 399))
# Totals of a filter are counted to here: 30 days of calls may be millions, too many to page through.
COUNTED = 10_000


@get("/clock_logs", guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    spec = spec_of((await ctx.zone()).name)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, BASE, kind)
    view, took = await load(ctx, spec)
    return await page(ctx, "clock/logs.html", fragment="list", view=view, took=took)


@get("/clock_logs/{log_id:int}", guards=[SEES])
async def show(ctx: NamedDependency[Context], log_id: FromPath[int]) -> Response[Any]:
    row = (await ctx.db.execute(BASE.where(ApiLog.id == log_id))).one_or_none()
    if row is None:
        raise NotFound
    return await page(ctx, "clock/log.html", fragment="drawer", row=row)


async def load(ctx: Context, spec: ListSpec) -> tuple[ListPage, Any]:
    """One page, and count, median, 95th and 99th percentile and maximum of the filtered calls' durations
    in milliseconds."""
    wanted = lists.asked(spec, ctx.request.query_params)
    narrowed = lists.condition(spec, wanted)
    # One more than is measured tells that there are more.
    seen = select(ApiLog.at, ApiLog.duration_ms).where(narrowed).order_by(ApiLog.at.desc()).limit(COUNTED + 1).cte()
    found = select(func.count()).select_from(seen).scalar_subquery().label("found")
    newest = select(seen.c.duration_ms).order_by(seen.c.at.desc()).limit(COUNTED).subquery()
    percentiles = [
        func.percentile_disc(share).within_group(newest.c.duration_ms).label(name)
        for share, name in ((0.5, "median"), (0.95, "p95"), (0.99, "p99"))
    ]
    longest = func.max(newest.c.duration_ms).label("longest")
    measured = (found, func.count().label("calls"), *percentiles, longest)
    took = (await ctx.db.execute(select(*measured).select_from(newest))).one()
    note = lists.bounded(spec, wanted, took.found, COUNTED)
    ordered = BASE.where(narrowed).order_by(*lists.ordering(spec, wanted.sort))
    rows = await ctx.db.execute(wanted.cut(ordered))
    view = lists.listing(ctx, spec, wanted, rows.all(), took.calls)
    view.total_note, view.more = note, bool(note)
    return view, took


def spec_of(zone: str) -> ListSpec:
    """`zone` is the connection's: the filter means its days."""
    return ListSpec(
        name="clock_logs",
        label="API calls",
        url="/clock_logs",
        key=ApiLog.id,
        sort="-at",
        today=today_in(zone),
        columns=COLUMNS,
        filters=(
            Filter("q", "Path", contains(ApiLog.path, ApiLog.query), placeholder="Path or query"),
            Filter("", "Days", lambda days: on_days(ApiLog.at, days, ZoneInfo(zone)), kind="range"),
            Filter("result", "Result", lambda value: WORKED if value == "ok" else ~WORKED, kind="select", options=RESULTS),
            Filter("code", "TC code", lambda value: ApiLog.tc_code == value.upper(), placeholder="TC-AUTH", advanced=True),
            Filter("status", "HTTP status", _has_status, placeholder="200", advanced=True),
            Filter("slower", "Slower than", _slower, placeholder="1000 ms", advanced=True),
            Filter("run", "Run", _of_run, placeholder="Number of the run", advanced=True),
        ),
        empty=Empty(
            "api",
            "No calls yet",
            "Every call to the time-clock server is listed here, kept for as long as the settings say.",
            "/clock_sync",
            "Open the Sync Center",
        ),
    )  # fmt: skip


COLUMNS = (
    Column("at", "Time", lambda row: row.at, ApiLog.at),
    Column("method", "Method", lambda row: row.method),
    Column("host", "Host", lambda row: row.host, shown=False),
    Column("path", "Path", lambda row: row.path),
    Column("query", "Query", lambda row: row.query, shown=False),
    Column("status", "HTTP status", lambda row: row.http_status, numeric=True),
    Column("body_code", "Body code", lambda row: row.body_code, hint="The code that the server put into the answer"),
    Column("duration", "Duration", lambda row: row.duration_ms, ApiLog.duration_ms, numeric=True),
    Column("bytes", "Bytes", lambda row: row.bytes, ApiLog.bytes, numeric=True),
    Column("code", "TC code", lambda row: row.tc_code),
    Column("run", "Run", lambda row: row.run_id, numeric=True),
)


def _has_status(text: str) -> ColumnElement[bool]:
    return ApiLog.http_status == _number(text)


def _slower(text: str) -> ColumnElement[bool]:
    return ApiLog.duration_ms > _number(text.removesuffix("ms").strip())


def _of_run(text: str) -> ColumnElement[bool]:
    return ApiLog.run_id == _number(text)


def _number(text: str) -> int:
    """What is not a number fits no call."""
    number = whole(text, 9)
    return -1 if number is None else number


ROUTES = [index, show]
