"""`/clock_sync/disappearance/transactions`: a mass of punches that the server no longer has,
and what a person says to that."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.clock.mirror import gone
from app.clock.models import Cursor
from app.clock.pages.sync import center
from app.counting import count
from app.errors import Conflict, Invalid, NotFound
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import done, page

ACTS = Requires("clock.sync.run", module="clock")
URL = f"{center.URL}/disappearance/transactions"


@get(URL, guards=[center.SEES])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    waiting = (await _asked(ctx)).pending or {}
    return await page(
        ctx,
        "clock/disappeared_punches.html",
        waiting=waiting,
        days=gone.days(waiting),
        may_run=ctx.may("clock.sync.run"),
    )


@post(URL, guards=[ACTS], status_code=200)
async def decide(ctx: NamedDependency[Context]) -> Response[Any]:
    """`verdict` confirm or refuse, about the number that was shown: what a later run finds is asked about again."""
    posted = await ctx.form()
    asked = await _asked(ctx)
    waiting = asked.pending or {}
    if posted.get("number") != str(waiting["missing"]) or posted.get("run") != str(waiting["run_id"]):
        raise Conflict("Another run has read these days meanwhile. Look at it first.")
    match posted.get("verdict"):
        case "refuse":
            await gone.refuse(ctx.db, ctx.actor, asked)
            return await done(ctx, center.URL, "All punches are kept. The same ones are not asked about again.")
        case "confirm":
            number = await gone.confirm(ctx.db, ctx.actor, asked, datetime.now(UTC))
            marked = count(number, "punch is marked", "punches are marked")
            return await done(ctx, center.URL, f"{marked} as gone from the server.")
        case _:
            raise Invalid("Say whether the server is right.")


async def _asked(ctx: Context) -> Cursor:
    """What waits for a decision, also when it was refused before. Raises NotFound."""
    asked = await gone.question(ctx.db)
    if asked is None:
        raise NotFound("No disappearance waits for a decision here.")
    return asked


ROUTES = [show, decide]
