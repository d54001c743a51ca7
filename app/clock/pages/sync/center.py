"""`/clock_sync`: the run in progress, history, cursors and schedule. Acts on them: acts.py; one run: run.py."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect
from litestar.response.sse import ServerSentEventMessage
from sqlalchemy import Select, func, select

from app.clock import failure_words
from app.clock.connection import saved as connection
from app.clock.figures import completeness
from app.clock.mirror import missing_rows
from app.clock.models import Cursor, SyncRun
from app.clock.pages import health, setup
from app.clock.pages.sync import cursor_words
from app.clock.pages.sync.run_words import RESOURCE_LABELS, STATUS_LABELS, TRIGGER_LABELS, Described, described
from app.clock.profiles import RESOURCES
from app.clock.punches import changes
from app.clock.settings import read_settings
from app.clock.sync import run_rows, when_due
from app.counting import nearest
from app.web import csrf, exports, list_page, lists
from app.web.context import Context
from app.web.fields import Choices, DayField, Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.long_acts import known
from app.web.pages import page
from app.web.templating import render_fragment
from app.web.transport import streams

SEES = Requires("clock.sync.view", module="clock")
URL = "/clock_sync"
LOOK_S = 1.0
# Browsers connect again by themselves, and then the session and its rights are checked again.
LONGEST_STREAM_S = 600.0
BASE: Select[Any] = select(*SyncRun.__table__.c)

START = Form(
    Choices(
        "resources",
        "Only these",
        options={name: RESOURCE_LABELS[name] for name in RESOURCES},
        help="Tick nothing for all.",
    ),
)
BACKFILL = Form(
    DayField("from", "From", required=True),
    DayField("to", "To", required=True, help="Both days are included."),
    Text("emp_codes", "Only these codes", longest=1000, help="Separated by commas. Leave it empty to read all codes."),
)


def _sum(row: Any, name: str) -> int:
    return sum(int(one.get(name, 0)) for one in row.resources.values())


def _final_sum(row: Any, name: str) -> int | None:
    """None while the run is under way."""
    return None if row.status in run_rows.OPEN else _sum(row, name)


def _seconds(row: Any) -> int | None:
    return nearest((row.finished_at - row.started_at).total_seconds()) if row.finished_at and row.started_at else None


SPEC = ListSpec(
    name="sync_runs",
    label="runs",
    url=URL,
    key=SyncRun.id,
    sort="-id",
    columns=(
        Column("id", "Run", lambda row: row.id, SyncRun.id, numeric=True),
        Column("started_at", "Started", lambda row: row.started_at, SyncRun.started_at),
        Column("took", "Took", _seconds, func.age(SyncRun.finished_at, SyncRun.started_at), numeric=True),
        Column("trigger", "Begun", lambda row: row.trigger, SyncRun.trigger),
        Column("requested_by", "By", lambda row: row.requested_by, SyncRun.requested_by, shown=False),
        Column("status", "Status", lambda row: row.status, SyncRun.status),
        Column("error_code", "Code", lambda row: row.error_code, SyncRun.error_code),
        Column("rows", "Rows read", lambda row: _sum(row, "fetched"), numeric=True),
        Column("created", "New", lambda row: _sum(row, "created"), numeric=True),
        Column("updated", "Changed", lambda row: _sum(row, "updated"), numeric=True, shown=False),
        Column("set_aside", "Set aside", lambda row: _sum(row, "set_aside"), numeric=True),
        Column("calls", "Calls", lambda row: row.calls, SyncRun.calls, numeric=True),
    ),
    filters=(
        Filter("status", "Status", lambda value: SyncRun.status == value, kind="select", options=STATUS_LABELS),
        Filter("trigger", "Begun", lambda value: SyncRun.trigger == value, kind="select", options=TRIGGER_LABELS),
        Filter(
            "code",
            "Code",
            lambda value: SyncRun.error_code == value,
            kind="select",
            options={code: code for code in failure_words.ALL},
        ),
    ),
    empty=Empty("refresh", "No run yet", "Start the first one above, or wait for the schedule."),
)


@get(URL, guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if first := await setup.way_in(ctx, "Sync Center"):
        return first
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, BASE, kind)
    return await show(ctx)


async def show(
    ctx: Context, *, start: Bound | None = None, backfill: Bound | None = None, status: int = 200
) -> Response[Any]:
    """The whole page, as an act leaves it; htmx gets the history alone."""
    now = datetime.now(UTC)
    view = await lists.load(ctx, SPEC, BASE)
    if ctx.wants_fragment and status == 200 and not _wants_region(ctx):  # noqa: PLR2004 -- the status 200
        return await page(ctx, "clock/sync.html", fragment="list", view=view, **await _row_words(ctx, view, now))
    return await page(
        ctx, "clock/sync.html", status=status, view=view, **await _row_words(ctx, view, now),
        **await _standing(ctx, now), start=start or START.fill(), backfill=backfill or BACKFILL.fill(),
    )  # fmt: skip


def _wants_region(ctx: Context) -> bool:
    """The page itself asks for more than the history when a run is over."""
    return ctx.target == "sync-page"


async def _row_words(ctx: Context, view: list_page.ListPage, now: datetime) -> dict[str, Any]:
    settings = await read_settings(ctx.db, now)
    return {
        "rows": [(described(row, settings, now), row) for row in view.rows],
        "final_sum": _final_sum,
        "now": now,
        "codes": failure_words.ALL,
    }


async def _standing(ctx: Context, now: datetime) -> dict[str, Any]:
    """Everything above the history."""
    found = await connection.required(ctx.db)
    settings = await read_settings(ctx.db, now)
    current = await run_rows.current_run(ctx.db)
    rows = (await ctx.db.scalars(select(Cursor))).all()
    up_to, held_back_by = await completeness.complete_up_to(ctx.db, now)
    stretches = cursor_words.stretches(rows)
    return {
        "connection": found,
        "health": health.of(found, now),
        "connection_kinds": health.PROBLEM_KINDS,
        "settings": settings,
        "run": described(current, settings, now) if current else None,
        "next_due": await when_due.next_due(ctx.db),
        "listings": cursor_words.listings(rows),
        "stretches": stretches,
        "acceptable": [one.window for one in stretches if one.may_be_accepted],
        "pending": [_pending(row) for row in rows if row.state == "refused" and row.pending],
        "up_to": up_to,
        "held_back_by": held_back_by,
        "may_run": ctx.may("clock.sync.run"),
        "rejudged": await changes.under_way(ctx.db),
        "acting": await known.under_way(ctx),
    }


def _pending(row: Cursor) -> Mapping[str, Any]:
    pending = row.pending or {}
    return {
        **pending,
        "resource": row.resource,
        "label": RESOURCE_LABELS[row.resource],
        "sentence": row.note or missing_rows.sentence(row.resource, pending),
    }


@get(f"{URL}/now/{{run_id:int}}", guards=[SEES])
async def now_block(ctx: NamedDependency[Context], run_id: FromPath[int]) -> Response[Any]:
    """What the run does now, for browsers that can't receive the event stream."""
    run = await _described(ctx, run_id)
    return Response(_fragment(ctx, run, _back(ctx)), media_type="text/html")


@get(f"{URL}/live/{{run_id:int}}", guards=[SEES])
async def live(ctx: NamedDependency[Context], run_id: FromPath[int]) -> Response[Any]:
    """Events `begun`, `run` while the run works, then `end`. Holds no transaction between two looks."""
    await _described(ctx, run_id)
    return streams.live(ctx, _events(ctx, run_id, _back(ctx)))


async def _events(ctx: Context, run_id: int, back: str) -> AsyncIterator[ServerSentEventMessage]:
    ends, before, has_begun = time.monotonic() + LONGEST_STREAM_S, "", False
    while time.monotonic() < ends and not ctx.parts.leaving.has_begun:
        async with ctx.parts.database.transaction(ctx.workspace) as db:
            found = await run_rows.get_run(db, run_id)
            run = described(found, await read_settings(db), datetime.now(UTC))
        html = _fragment(ctx, run, back)
        if html != before:
            yield ServerSentEventMessage(html, event="run")
            before = html
        if run.status == "running" and not has_begun:
            has_begun = True
            yield ServerSentEventMessage("running", event="begun")
        if not run.is_open:
            yield ServerSentEventMessage("over", event="end")
            return
        await asyncio.sleep(LOOK_S)


async def _described(ctx: Context, run_id: FromPath[int]) -> Described:
    now = datetime.now(UTC)
    return described(await run_rows.get_run(ctx.db, run_id), await read_settings(ctx.db, now), now)


def _fragment(ctx: Context, run: Described, back: str) -> str:
    token = csrf.token_of(ctx)
    return render_fragment("clock/sync.html", "now", ctx=ctx, csrf_token=token, run=run, back=back)


def _back(ctx: Context) -> str:
    """Which page to show again when the run is over."""
    return setup.URL if ctx.request.query_params.get("back") == "setup" else URL


@get(f"{URL}/rejudging", guards=[SEES])
async def rejudged(ctx: NamedDependency[Context]) -> Response[Any]:
    """How far the import is with changes of rules and terminals; asked again every two seconds while there is one."""
    if not ctx.wants_fragment:
        return Redirect(URL, status_code=303)
    return await page(ctx, "clock/sync.html", fragment="rejudging", rejudged=await changes.under_way(ctx.db))


ROUTES = [index, now_block, live, rejudged]
