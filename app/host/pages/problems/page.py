"""`/problems`: the list by kind, and one problem with its facts and its history. What people do with them:
problem_acts.py."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import func, select

from app.dates import PageZone
from app.db.among import among
from app.host.pages.problems import groups, remedies
from app.host.pages.problems.problem_list import (
    CLOSED_BY,
    SEVERITIES,
    TONES,
    URL,
    base,
    keys,
    label_of,
    offered_acts,
    spec_of,
)
from app.host.pages.problems.seen import ACT, SEE, kinds_seen, open_problems, people_offered
from app.host.pages.problems.snoozes import SNOOZES
from app.host.problem_kinds.workers import look_without_worker
from app.problems import queries
from app.problems.kinds import kinds, place_of
from app.problems.models import Problem
from app.problems.transitions import UNTIL_IT_CHANGES
from app.web import exports, lists, menu
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import CHANGED, page

SEES = Requires(SEE)
OPEN = "Open its page"
WHAT = {
    "opened": "Opened",
    "changed": "Changed",
    "closed": "Closed by itself",
    "opened_again": "Opened again",
    "assigned": "Assigned",
    "snoozed": "Snoozed",
    "dismissed": "Dismissed",
    "remedy": "Remedy",
}


@get(URL, guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    query = ctx.request.query_params
    await look_without_worker(ctx.db)
    spec, rows = await spec_of(ctx, query), base(ctx, query)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, rows, kind)
    grouped = groups.is_wanted(query)
    view = await (groups.load(ctx, spec, rows) if grouped else lists.load(ctx, spec, rows, keys(rows)))
    if view.bulk:
        view.bulk["actions"] = offered_acts(view.bulk["actions"], view.rows, ctx.user.permissions)
    return await page(
        ctx,
        "host/problems/list.html",
        fragment="list",
        view=view,
        snoozed=0 if query.get("state") else await _snoozed(ctx),
        in_menu=menu.counted(URL, open_problems(ctx)),
        tools=tools(ctx),
    )


@get(f"{URL}/{{problem_id:int}}", guards=[SEES])
async def show(ctx: NamedDependency[Context], problem_id: FromPath[int]) -> Response[Any]:
    return await shown(ctx, problem_id)


async def shown(ctx: Context, problem_id: int, message: str = "", *, see: str = "") -> Response[Any]:
    """With the `message` of an act, which has the list behind the drawer fetch its rows again. `see`: the page that the
    message leads to, where the act left the problem as it was."""
    row = await queries.find(ctx.db, problem_id, kinds_seen(ctx))
    zone = await ctx.zone()
    return await page(
        ctx,
        "host/problems/show.html",
        fragment="drawer",
        headers=CHANGED if message else None,
        message=message,
        see=(see, OPEN if see else ""),
        row=row,
        kind=kinds()[row.kind],
        history=[(what, one, note_of(one, zone)) for what, one in told(await queries.history(ctx.db, problem_id))],
        people=await people_offered(ctx) if ctx.may(ACT) and row.closed_at is None else [],
        may_act=ctx.may(ACT),
        is_snoozed=row.snoozed_until is not None and row.snoozed_until > datetime.now(UTC),
        snoozes=SNOOZES,
        tools=tools(ctx),
    )


def told(history: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The lines of the history in words. A problem that closed after a person ran a remedy did not close by itself."""
    helped = False
    for line in history:
        yield "Fixed" if helped and line.what == "closed" else WHAT[line.what], line
        helped = line.what == "remedy" or (helped and line.what not in ("opened", "opened_again"))


def tools(ctx: Context) -> dict[str, Any]:
    """What templates draw a problem with."""
    return {
        "severities": SEVERITIES,
        "tones": TONES,
        "closed_by": CLOSED_BY,
        "label_of": label_of,
        "place_of": place_of,
        "remedy_of": partial(remedies.offered, ctx),
        "snoozed": snoozed_words,
    }


def snoozed_words(until: datetime, zone: PageZone) -> str:
    return "until it changes" if until == UNTIL_IT_CHANGES else f"until {zone.time(until)}"


def note_of(row: Any, zone: PageZone) -> str:
    """The note of a line of the history: for a snooze, until when, in the words of the page."""
    if row.what != "snoozed":
        return str(row.note)
    if not row.note:
        return "no longer"
    return str(row.note) if row.note.startswith("until") else snoozed_words(datetime.fromisoformat(row.note), zone)


async def _snoozed(ctx: Context) -> int:
    here = among(Problem.kind, kinds_seen(ctx)), queries.IS_SNOOZED
    return await ctx.db.scalar(select(func.count()).select_from(Problem).where(*here)) or 0


ROUTES = [index, show]
