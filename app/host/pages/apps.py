"""`/apps`, the App Library: the list, one app, and what can be done to apps. Forms and icons: apps_forms."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import BIGINT, ColumnElement, Numeric, Row, any_, cast, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.accounts.policies import enabled
from app.counting import count
from app.db.rounding import half_up
from app.db.searching import contains
from app.errors import Conflict, NotFound
from app.host.applications import applications
from app.host.applications.application_words import PLATFORMS, STATUSES
from app.host.applications.applications import KEPT, RATEABLE
from app.host.models import Application, AppRatingCount
from app.host.pages.admin.history import history
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, ask_to, chosen_ids
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length, each
from app.web.pages import done, page

MANAGES = Requires("apps.manage", platform_only=True)
_RATED = (
    select(
        AppRatingCount.application_id,
        cast(func.sum(AppRatingCount.number), BIGINT).label("number"),
        func.sum(AppRatingCount.number * AppRatingCount.rating).label("stars"),
    )
    .group_by(AppRatingCount.application_id)
    .subquery()
)
RATINGS = func.coalesce(_RATED.c.number, 0)
MEAN = half_up(cast(_RATED.c.stars, Numeric) / func.nullif(_RATED.c.number, 0), 2)
_COLUMNS: tuple[Any, ...] = (
    Application.id,
    Application.uid,
    Application.name,
    Application.description,
    Application.platforms,
    Application.icon_type,
    Application.status,
    Application.admin_restricted,
    Application.updated_at,
    RATEABLE.label("rateable"),
    RATINGS.label("ratings"),
    MEAN.label("mean"),
)
BASE = (
    select(*_COLUMNS).select_from(Application).outerjoin(_RATED, _RATED.c.application_id == Application.id).where(KEPT)
)
SPEC = ListSpec(
    name="apps",
    label="apps",
    url="/apps",
    key=Application.id,
    sort="name",
    columns=(
        Column("name", "App", lambda row: row.name, func.lower(Application.name)),
        Column("status", "Status", lambda row: row.status, Application.status),
        Column("platforms", "Platforms", lambda row: row.platforms),
        Column("admin_restricted", "Restricted", lambda row: row.admin_restricted, Application.admin_restricted),
        Column("ratings", "Ratings", lambda row: row.ratings, RATINGS, numeric=True),
        Column("mean", "Mean", lambda row: row.mean, MEAN, numeric=True, hint="Mean of all ratings, 1 to 5 stars"),
        Column("updated_at", "Changed", lambda row: row.updated_at, Application.updated_at, shown=False),
    ),
    filters=(
        Filter(
            "q",
            "Search",
            contains(Application.name, func.coalesce(Application.description, "")),
            placeholder="Name, description",
        ),
        Filter("status", "Status", lambda value: Application.status == value, kind="select", options=STATUSES),
        Filter(
            "platform",
            "Platform",
            lambda word: literal(word) == any_(Application.platforms),
            kind="select",
            options=PLATFORMS,
        ),
        Filter("rateable", "Accepts ratings", lambda _: RATEABLE, kind="check"),
    ),
    empty=Empty(
        "apps",
        "The library is empty",
        "Add the apps that people use. Once published, an app accepts a rating a day from each of them.",
        "/apps/add",
        "Add an app",
    ),
    bulk_url="/apps/bulk",
    bulk=(BulkAction("publish", "Publish", "check"), BulkAction("retire", "Retire", "archive")),
)


@dataclass(frozen=True, slots=True)
class ApplicationAct:
    """An act on apps. `open_to`: the apps that it can change; others of a selection stay as they are."""

    verb: Callable[[AsyncSession, Actor, Iterable[int]], Awaitable[list[int]]]
    open_to: ColumnElement[bool]
    consequence: str


ACTS = {
    "publish": ApplicationAct(
        applications.publish,
        Application.status != "published",
        "People can rate it from now on, once a day each, unless it is restricted to administrators.",
    ),
    "retire": ApplicationAct(
        applications.retire,
        Application.status == "published",
        "People can no longer rate it, and mobile apps no longer list it. Its ratings stay in the figures. Publishing"
        " undoes it.",
    ),
}


def _long(action: str, doing: str) -> LongBulk:
    chosen = ACTS[action]

    async def rows(_: Context, __: Query, ___: str) -> BulkRows:
        return BulkRows(SPEC, BASE.where(chosen.open_to))

    past, what = applications.MADE[action], ("app", "apps")
    return LongBulk(f"apps.{action}", doing, past, what, "apps.manage", rows, each(chosen.verb), on_platform=True)


LONG = {"publish": _long("publish", "Publishing apps"), "retire": _long("retire", "Retiring apps")}
DELETING = "It leaves the library for good. It has no ratings."


@get("/apps", guards=[MANAGES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, BASE, kind)
    view = await lists.load(ctx, SPEC, BASE)
    return await page(
        ctx,
        "host/apps.html",
        fragment="list",
        view=view,
        platforms=PLATFORMS,
        statuses=STATUSES,
        sees_ratings=sees_ratings(ctx),
    )


@post("/apps/bulk", guards=[MANAGES], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, ACTS)
    chosen, past = ACTS[action], applications.MADE[action]

    async def ask_of_many(which: str) -> dict[str, Any]:
        return _question(action, which, chosen.consequence)

    if answer := await at_length(ctx, LONG[action], "/apps", ask_of_many):
        return answer
    ids = await chosen_ids(ctx, SPEC, BASE.where(chosen.open_to))

    async def ask() -> dict[str, Any]:
        return _question(action, count(len(ids), "app", "apps"), chosen.consequence)

    async def act_on_them() -> str:
        changed = await chosen.verb(ctx.db, ctx.actor, ids)
        return f"{count(len(changed), 'app was', 'apps were')} {past}."

    none = Conflict(f"None of the selected apps can be {past}.")
    return await act_on_many(ctx, len(ids), url="/apps", none=none, ask=ask, do=act_on_them)


@get("/apps/{app_id:int}", guards=[MANAGES])
async def show(ctx: NamedDependency[Context], app_id: FromPath[int]) -> Response[Any]:
    app = await app_of(ctx, app_id)
    return await page(
        ctx,
        "host/apps_show.html",
        fragment="drawer",
        app=app,
        platforms=PLATFORMS,
        history=await history(ctx, "application", app_id),
        sees_ratings=sees_ratings(ctx),
    )


@get("/apps/{app_id:int}/{action:str}", guards=[MANAGES])
async def ask(ctx: NamedDependency[Context], app_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    app = await app_of(ctx, app_id)
    if action == "delete" and app.ratings:
        raise Conflict(applications.rated(app.name))
    consequence = DELETING if action == "delete" else _act(action).consequence
    url = f"/apps/{app_id}/{action}"
    return await ask_to(ctx, url=url, cancel_url="/apps", **_question(action, app.name, consequence))


@post("/apps/{app_id:int}/{action:str}", guards=[MANAGES], status_code=200)
async def act(ctx: NamedDependency[Context], app_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    if action == "delete":
        name = await applications.remove(ctx.db, ctx.actor, app_id)
        return await done(ctx, "/apps", f"{name} was deleted.", gone=f"/apps/{app_id}")
    app = await app_of(ctx, app_id)
    if not await _act(action).verb(ctx.db, ctx.actor, [app_id]):
        answer = f"{app.name} is {app.status} already." if action == "publish" else f"{app.name} is not published."
        return await done(ctx, f"/apps/{app_id}", answer, level="info")
    return await done(ctx, f"/apps/{app_id}", f"{app.name} was {applications.MADE[action]}.")


async def app_of(ctx: Context, app_id: int) -> Row[Any]:
    """One app of the library. Raises NotFound."""
    row: Row[Any] | None = (await ctx.db.execute(BASE.where(Application.id == app_id))).one_or_none()
    if row is None:
        raise NotFound
    return row


def sees_ratings(ctx: Context) -> bool:
    """True when Rating Details, which belongs to another module, is open to this person."""
    return ctx.may("surveys.view") and enabled(ctx.policies, "module_surveys")


def _question(action: str, what: str, consequence: str) -> dict[str, Any]:
    return {"verb": action.capitalize(), "what": what, "consequence": consequence, "danger": action == "delete"}


def _act(word: str) -> ApplicationAct:
    if word not in ACTS:
        raise NotFound
    return ACTS[word]


ROUTES = [index, bulk, show, ask, act]
