"""`/surveys/view/<uid>/why`: why somebody is, or is not, asked a survey now. It uses the same rules that decide it
(asking/pacing.py)."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, exists, func, select, true

from app.accounts import policies
from app.accounts.models import User
from app.db.searching import contains
from app.db.session import PLATFORM
from app.errors import NotFound
from app.surveys.asking import pacing, situations
from app.surveys.asking.pacing import Caller, Gap, PacingVerdict
from app.surveys.asking.situations import Situation
from app.surveys.authoring import audience
from app.surveys.models import Survey
from app.surveys.pages.addresses import uid_of
from app.surveys.words import OUTCOMES, SHOWN, Names
from app.texts import whole
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import LONGEST_FILTER
from app.web.pages import page

SEE = Requires("surveys.view", module="surveys")
MOST_OFFERED = 20
LONGEST_ID = 15


@get("/surveys/view/{uid:str}/why", guards=[SEE])
async def show(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    survey, text = uid_of(uid), str(ctx.request.query_params.get("user") or "").strip()
    person, problem = await _meant(ctx, text)
    met = await situations.one(ctx.db, person.id if person else 0, survey)
    if met is None:
        raise NotFound("There is no such survey.")
    now = datetime.now(UTC)
    names = await audience.names(ctx.db)
    verdict, switches = await _judged(ctx, person, met.situation, names, now) if person else (None, [])
    return await page(
        ctx,
        "surveys/why.html",
        fragment="verdict",
        status=422 if problem else 200,
        title=met.item.title,
        uid=survey,
        person=person,
        text=text,
        problem=problem,
        verdict=verdict,
        switches=switches,
        state=met.situation.state,
        version=met.situation.offer.version,
        needs=met.situation.offer.needs,
        outcomes=OUTCOMES,
        shown=SHOWN[met.shown],
        names=names,
        now=now,
    )


@get("/surveys/view/{uid:str}/people", guards=[SEE])
async def people(ctx: NamedDependency[Context], uid: FromPath[str]) -> Response[Any]:
    """Whom the search field offers: people of this workspace; on the platform everybody, because its surveys reach
    all."""
    if not await ctx.db.scalar(select(exists().where(Survey.uid == uid_of(uid), Survey.deleted_at.is_(None)))):
        raise NotFound("There is no such survey.")
    searched = str(ctx.request.query_params.get("q") or "")[:LONGEST_FILTER].replace("\0", "")
    statement = select(User.id, User.name, User.email, User.workspace).where(
        _visible(ctx), User.active, contains(User.name, User.email)(searched)
    )
    rows = (await ctx.db.execute(statement.order_by(User.name, User.id).limit(MOST_OFFERED))).all()
    names = await audience.names(ctx.db)
    items = [{"value": row.id, "label": row.name, "hint": _hint(ctx, row, names)} for row in rows]
    return await page(ctx, "surveys/people_options.html", fragment="options", items=items)


async def _meant(ctx: Context, text: str) -> tuple[Any, str]:
    """The person or None, and what is wrong with the text."""
    try:
        return (await pick(ctx, text) if text else None), ""
    except NotFound as missing:
        return None, missing.message


async def pick(ctx: Context, text: str) -> Any:
    """The person whose number the search field posts, or whose e-mail was typed. Raises NotFound."""
    number = whole(text, LONGEST_ID)
    known = User.id == number if number is not None else User.email == func.lower(text.replace("\0", ""))
    columns = (User.id, User.name, User.email, User.type, User.workspace, User.active)
    found = (await ctx.db.execute(select(*columns).where(known, _visible(ctx)))).one_or_none()
    if found is None:
        raise NotFound(
            "There is no person with that name here. Choose a person from the list, or give an e-mail address."
        )
    return found


async def _judged(
    ctx: Context, person: Any, situation: Situation, names: Names, now: datetime
) -> tuple[PacingVerdict, list[str]]:
    """The rule that decides, and what else prevents asking them."""
    stored = await policies.read(ctx.db, person.workspace)
    gap = await _gap(ctx, person, int(stored["optional_gap_hours"]), now)
    caller = Caller(person.type, person.workspace)
    verdict = pacing.judge(situation.offer, situation.state, caller, now, gap, names)
    return verdict, closed(person, stored)


def closed(person: Any, stored: dict[str, Any]) -> list[str]:
    """What prevents asking them any survey."""
    doors = (
        (not person.active, "Their account is deactivated: they can't sign in."),
        (not stored["module_surveys"], "Surveys are switched off in their workspace."),
        (not stored["web_prompts"], "Web prompts are switched off in their workspace; only a mobile app asks."),
        (not stored["me_surveys"], "Mobile prompts are switched off in their workspace; only the browser asks."),
    )
    return [sentence for shut, sentence in doors if shut]


async def _gap(ctx: Context, person: Any, hours: int, now: datetime) -> Gap:
    """What spaces optional surveys for them, over both workspaces that may ask; one after the other."""
    if not hours:
        return Gap()
    read = []
    for workspace in dict.fromkeys((person.workspace, PLATFORM)):
        async with ctx.inside(workspace) as db:
            read.append(await situations.published(db, person.id, now, hours))
    return situations.gap(hours, *read)


def _visible(ctx: Context) -> ColumnElement[bool]:
    return true() if ctx.on_platform else User.workspace == ctx.workspace


def _hint(ctx: Context, row: Any, names: Names) -> str:
    return row.email if row.workspace == ctx.workspace else f"{row.email} · {names.of_workspaces([row.workspace])}"


ROUTES = [show, people]
