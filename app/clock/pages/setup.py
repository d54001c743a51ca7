"""`/clock_settings/setup`: connect, test, first sync, people.
And what the clock's pages show while there is no connection."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect
from sqlalchemy import exists, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import setup_people
from app.clock.connection import saved as connection
from app.clock.models import Connection, SyncRun
from app.clock.pages import connecting, health
from app.clock.pages.binding_acts import ADDS
from app.clock.pages.sync.run_words import described
from app.clock.settings import read_settings
from app.clock.sync import when_due
from app.web.context import Context
from app.web.forms import Bound
from app.web.guards import Requires
from app.web.pages import done, page
from app.wording import zone_names

MAY = Requires("clock.settings", module="clock")
URL = "/clock_settings/setup"
STEPS = ("Connect", "Test", "First sync", "People")
FIRST_SYNC = 3
PEOPLE = 4

# A run that was stopped while it waited is truncated too.
_HAS_READ = select(
    exists().where(SyncRun.status.in_(("succeeded", "partial", "truncated")), SyncRun.started_at.is_not(None))
)


async def way_in(ctx: Context, title: str) -> Response[str] | None:
    """What a page called `title` shows in place of empty tables when no server is connected; None when one is.

    One SELECT. Use it first: `if first := await setup.way_in(ctx, "Employees & Bindings"): return first`.
    """
    if await ctx.db.scalar(select(Connection.id)):
        return None
    return await page(ctx, "clock/way_in.html", page_title=title)


async def has_read(db: AsyncSession) -> bool:
    """True after a sync has read from the server, even if it ended early. Then the set-up is past its first sync, even
    if later runs fail."""
    return bool(await db.scalar(_HAS_READ))


@get(URL, guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx)


@get(f"{URL}/first_run", guards=[MAY])
async def first_run(ctx: NamedDependency[Context]) -> Response[Any]:
    """What the step First sync asks every two seconds while no run is open there. `after`: the last run that it knows.
    While there is no newer one, 204, by which htmx leaves the page and its focus alone."""
    if not ctx.wants_fragment:
        return Redirect(URL, status_code=303)
    latest = await ctx.db.scalar(select(func.max(SyncRun.id)))
    if str(latest or 0) == ctx.request.query_params.get("after"):
        return Response(None, status_code=204)
    return await _show(ctx)


@post(f"{URL}/connect", guards=[MAY], status_code=200)
async def connect(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await connecting.sent(ctx)
    if not await connecting.save(ctx, form):
        return await _show(ctx, form=form, status=form.status)
    return await done(ctx, URL, "The connection was saved. Now test it.")


@post(f"{URL}/test", guards=[MAY], status_code=200)
async def test_connection(ctx: NamedDependency[Context]) -> Response[Any]:
    """For a browser without script; with script the test comes live from Settings."""
    await connection.required(ctx.db)
    steps = await connecting.run_test(ctx)
    return await _show(ctx, test=connecting.drawn(steps, running=False))


async def _show(
    ctx: Context, *, form: Bound | None = None, test: dict[str, Any] | None = None, status: int = 200
) -> Response[Any]:
    now = datetime.now(UTC)
    found = await connection.load(ctx.db)
    latest = await ctx.db.scalar(select(SyncRun).order_by(SyncRun.id.desc()).limit(1))
    is_read = await has_read(ctx.db)
    reached = _reached(found, has_read=is_read)
    step = _step(ctx, reached, wrong=form is not None, tested=test is not None)
    settings = await read_settings(ctx.db, now)
    people = await setup_people.read(ctx.db) if step == PEOPLE else None
    is_done = people is not None and people.is_done
    return await page(
        ctx,
        "clock/setup.html",
        status=status,
        step=step,
        is_done=is_done,
        steps=_steps(step + 1 if is_done else step),
        health=health.of(found, now),
        connection=found,
        connection_form=form or connecting.opened(ctx, found),
        zones=zone_names.by_region(found.timezone if found else ""),
        test=test,
        then="setup",
        now=now,
        run=described(latest, settings, now) if latest else None,
        is_read=is_read,
        starts_itself=step == FIRST_SYNC and await when_due.next_due(ctx.db) is not None,
        people=people,
        may_bind=ctx.may("clock.employees.edit"),
        may_add=ctx.may(ADDS) and ctx.may("clock.employees.edit"),
        history_start=settings.history_start,
    )


def _reached(found: Connection | None, *, has_read: bool) -> int:
    """1 connect, 2 test, 3 first sync, 4 people."""
    if found is None:
        return 1
    if has_read:
        return PEOPLE
    return 2 if found.tested_at is None else FIRST_SYNC


def _step(ctx: Context, reached: int, *, wrong: bool, tested: bool) -> int:
    """`?step=` goes back, never ahead."""
    if wrong:
        return 1
    if tested:
        return 2
    asked = ctx.request.query_params.get("step", "")
    return int(asked) if asked in ("1", "2", "3") and int(asked) <= reached else reached


def _steps(step: int) -> list[dict[str, str]]:
    texts = (
        "Where the server is and who signs in.",
        "Each step with its time.",
        "People, terminals, punches.",
        "Who of the clock is an employee here.",
    )
    states = [
        "done" if number < step else "current" if number == step else "waiting" for number in range(1, PEOPLE + 1)
    ]
    return [
        {"title": title, "text": text, "state": state} for title, text, state in zip(STEPS, texts, states, strict=True)
    ]


ROUTES = [index, first_run, connect, test_connection]
