"""What an operator does in the Sync Center: start, stop, pause, backfill, accept incomplete days, confirm or refuse a
disappearance, start over."""

from datetime import UTC, date, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import func, select

from app.clock import zones
from app.clock.connection import saved as connection
from app.clock.mirror import missing_rows, shortfalls
from app.clock.models import Area, ClockEmployee, Connection, Cursor, Department, Device, Location, Position
from app.clock.pages import setup
from app.clock.pages.sync import center
from app.clock.pages.sync.run_words import RESOURCE_LABELS
from app.clock.punches.day_counts import count_by_day
from app.clock.sync import backfill, run_rows
from app.errors import Conflict, Invalid, NotFound
from app.web.context import Context
from app.web.fields import DayField
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.pages import done, page

ACTS = Requires("clock.sync.run", module="clock")
SEES = center.SEES
URL = center.URL
MOST_NAMES = 500
MOST_CODES = 100
SURE = "start over"
OVER = Form(DayField("from", "From", required=True, help="A local date: every punch from this day on is read again."))
LISTED: dict[str, tuple[Any, Any, Any]] = {
    "departments": (Department, Department.code, Department.name),
    "positions": (Position, Position.code, Position.name),
    "areas": (Area, Area.code, Area.name),
    "locations": (Location, Location.code, Location.name),
    "devices": (Device, Device.sn, Device.alias),
    "employees": (ClockEmployee, ClockEmployee.emp_code, ClockEmployee.full_name),
}


@post(f"{URL}/start", guards=[ACTS], status_code=200)
async def start(ctx: NamedDependency[Context]) -> Response[Any]:
    """`first`: the set-up asks for its first run. Its page may not show yet that one has come by itself and ended."""
    posted = await ctx.form()
    form = center.START.read(posted)
    if not form.ok:
        return await center.show(ctx, start=form, status=422)
    if posted.get("first") and await setup.has_read(ctx.db):
        return await done(ctx, URL, "The first sync has run already.")
    _refuse_start(await connection.required(ctx.db))
    request = {"resources": form["resources"]} if form["resources"] else {}
    _, joined = await run_rows.queue_run(ctx.db, "manual", request, ctx.actor)
    return await done(ctx, URL, "A run is in progress already." if joined else "The run is queued.")


def _refuse_start(found: Connection) -> None:
    if found.status == "paused":
        raise Conflict("Syncing is paused. To start a run, resume syncing in the Sync Center first.")
    if found.status == "locked":
        raise Conflict("The connection is locked after refused sign-ins. Save the right password in Settings first.")


@post(f"{URL}/runs/{{run_id:int}}/stop", guards=[ACTS], status_code=200)
async def stop(ctx: NamedDependency[Context], run_id: FromPath[int]) -> Response[Any]:
    await run_rows.stop_run(ctx.db, ctx.actor, run_id)
    return await done(ctx, URL, "The run ends after the page that it is reading. What was read is kept.")


@post(f"{URL}/pause", guards=[ACTS], status_code=200)
async def pause(ctx: NamedDependency[Context]) -> Response[Any]:
    await connection.pause(ctx.db, ctx.actor)
    return await done(ctx, URL, "Syncing is paused. A run in progress finishes.")


@post(f"{URL}/resume", guards=[ACTS], status_code=200)
async def resume(ctx: NamedDependency[Context]) -> Response[Any]:
    await connection.resume(ctx.db, ctx.actor)
    return await done(ctx, URL, "Syncing is resumed and follows its schedule.")


@post(f"{URL}/backfill", guards=[ACTS], status_code=200)
async def ask_for_backfill(ctx: NamedDependency[Context]) -> Response[Any]:
    form = center.BACKFILL.read(await ctx.form())
    codes = _codes(form)
    if form.ok:
        try:
            today = await zones.local_today(ctx.db, datetime.now(UTC))
            await backfill.ask(ctx.db, ctx.actor, form["from"], form["to"], codes, today=today)
        except Invalid as refusal:
            form.absorb(refusal)
    if not form.ok:
        return await center.show(ctx, backfill=form, status=422)
    _, joined = await backfill.queue(ctx.db, ctx.actor)
    when = "The current run or the next one reads it." if joined else "A run is queued."
    return await done(ctx, f"{URL}#cursors", f"{form['from']} to {form['to']} is read again. {when}")


def _codes(form: Bound) -> list[str]:
    codes = list(
        dict.fromkeys(part.strip() for part in (form.values.get("emp_codes") or "").split(",") if part.strip())
    )
    if len(codes) > MOST_CODES:
        form.refuse("emp_codes", f"At most {MOST_CODES} codes at once; these are {len(codes)}.")
    return codes


@post(f"{URL}/windows/accept", guards=[ACTS], status_code=200)
async def accept(ctx: NamedDependency[Context]) -> Response[Any]:
    """Each `window` that is posted counts as read from now on."""
    windows = list(dict.fromkeys(str(one) for one in (await ctx.form()).getall("window", [])))
    if not windows:
        raise Invalid("Say which days are accepted.")
    await shortfalls.accept(ctx.db, ctx.actor, windows, datetime.now(UTC))
    await _queue_unless_paused(ctx)
    return await done(ctx, f"{URL}#cursors", "Accepted as read. The next run continues from there.")


@post(f"{URL}/windows/read_again", guards=[ACTS], status_code=200)
async def read_again(ctx: NamedDependency[Context]) -> Response[Any]:
    await shortfalls.read_again(ctx.db, ctx.actor, str((await ctx.form()).get("window", "")))
    await _queue_unless_paused(ctx)
    return await done(ctx, f"{URL}#cursors", "The next run reads these days again.")


@get(f"{URL}/disappearance/{{resource:str}}", guards=[SEES])
async def show_disappearance(ctx: NamedDependency[Context], resource: FromPath[str]) -> Response[Any]:
    waiting = await _waiting(ctx, resource)
    table, key, name = LISTED[resource]
    gone = (table.seen < waiting["generation"]) & table.absent_since.is_(None)
    rows = await ctx.db.execute(
        select(key.label("code"), func.coalesce(name, "").label("name"))
        .where(gone)
        .order_by(name, key)
        .limit(MOST_NAMES)
    )
    return await page(
        ctx,
        "clock/disappearance.html",
        resource=resource,
        label=RESOURCE_LABELS[resource].lower(),
        waiting=waiting,
        names=rows.all(),
        may_run=ctx.may("clock.sync.run"),
    )


@post(f"{URL}/disappearance/{{resource:str}}", guards=[ACTS], status_code=200)
async def decide_disappearance(ctx: NamedDependency[Context], resource: FromPath[str]) -> Response[Any]:
    """`verdict` confirm or refuse, about the number that was shown: another listing meanwhile is asked about again."""
    posted = await ctx.form()
    waiting = await _waiting(ctx, resource)
    if posted.get("number") != str(waiting["missing"]) or posted.get("run") != str(waiting["run_id"]):
        raise Conflict("A newer listing has arrived. Look at it first.")
    label = RESOURCE_LABELS[resource].lower()
    if posted.get("verdict") == "refuse":
        await missing_rows.refuse_disappearance(ctx.db, ctx.actor, resource)
        return await done(ctx, URL, f"All {label} are kept. The same listing does not ask again.")
    if posted.get("verdict") != "confirm":
        raise Invalid("Say whether the listing is right.")
    count = await missing_rows.confirm_disappearance(ctx.db, ctx.actor, resource, datetime.now(UTC))
    return await done(ctx, URL, f"{count:,} {label} were marked as missing on the server.")


async def _waiting(ctx: Context, resource: str) -> dict[str, Any]:
    """The disappearance that waits for a decision, also when it was refused before. Raises NotFound."""
    if resource not in LISTED:
        raise NotFound
    found = await ctx.db.scalar(select(Cursor).where(Cursor.resource == resource, Cursor.kind == "listing"))
    if found is None or found.state != "refused" or not found.pending:
        raise NotFound("No disappearance waits for a decision here.")
    return found.pending


@get(f"{URL}/start_over", guards=[ACTS])
async def ask_where_to_start_over(ctx: NamedDependency[Context]) -> Response[Any]:
    await connection.required(ctx.db)
    return await page(ctx, "clock/start_over.html", form=OVER.fill(), question=None, sure=SURE)


@post(f"{URL}/start_over", guards=[ACTS], status_code=200)
async def start_over(ctx: NamedDependency[Context]) -> Response[Any]:
    posted = await ctx.form()
    await connection.required(ctx.db)
    form, now = OVER.read(posted), datetime.now(UTC)
    if form.ok and form["from"] > await zones.local_today(ctx.db, now):
        form.refuse("from", "The date lies in the future.")
    if not form.ok:
        return await page(ctx, "clock/start_over.html", status=422, form=form, question=None, sure=SURE)
    if posted.get("confirmed") != "1" or str(posted.get("typed", "")).strip().lower() != SURE:
        held = await _held_since(ctx, form["from"])
        return await page(
            ctx, "clock/start_over.html", form=form, question={"from": form["from"], "held": held}, sure=SURE
        )
    try:
        await backfill.start_over(ctx.db, ctx.actor, form["from"], now)
    except Invalid as refusal:
        form.absorb(refusal)
        return await page(ctx, "clock/start_over.html", status=422, form=form, question=None, sure=SURE)
    await _queue_unless_paused(ctx)
    return await done(ctx, URL, f"Everything from {form['from']} on is read again under new ids.")


async def _held_since(ctx: Context, first: date) -> int:
    return (await count_by_day(ctx.db, days=(first, None), equal={})).total


async def _queue_unless_paused(ctx: Context) -> None:
    found = await connection.required(ctx.db)
    if found.status not in ("paused", "locked"):
        await run_rows.queue_run(ctx.db, "manual", {}, ctx.actor)


ROUTES = [
    start, stop, pause, resume, ask_for_backfill, accept, read_again, show_disappearance, decide_disappearance, ask_where_to_start_over, start_over
]  # fmt: skip
