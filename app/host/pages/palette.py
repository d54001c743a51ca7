"""`/palette`, behind Ctrl-K: finds pages, acts, what is under way, problems, people, users and apps. Modules add what
they hold to PALETTE_SOURCES, and their acts to ACTS (app.wiring)."""

from typing import Any

from litestar import Response, get
from litestar.datastructures import MultiDict
from litestar.di import NamedDependency
from sqlalchemy import select

from app.accounts.models import User
from app.db.searching import contains
from app.host.applications.application_words import STATUSES
from app.host.applications.applications import KEPT
from app.host.models import Application, Employee
from app.host.pages.problems import problem_list, seen
from app.problems.models import Problem
from app.web import menu, prompting
from app.web.context import Context
from app.web.guards import signed_in
from app.web.long_acts import known
from app.web.pages import page
from app.web.preferences import WITHOUT_VIEW
from app.web.site import MOST_EACH, Found, PaletteAct, PaletteSource
from app.web.templating import with_query

LONGEST = 100


@get("/palette", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    asked = " ".join(ctx.request.query_params.get("q", "").replace("\x00", "").split())[:LONGEST]
    answers = [await find(ctx, asked) for find in (PALETTE_SOURCES if asked else UNASKED)]
    groups = [{"label": label, "items": found} for label, found in answers if found]
    return await page(ctx, "host/palette.html", fragment="results", groups=groups, asked=asked)


async def pages(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """What the menu offers this person, and what is always there. With an empty search, all of it."""
    offered = [
        Found(item.url, item.label, group.label, item.icon)
        for group in menu.visible(ctx.request.app.state.menu, ctx)
        for item in group.items
    ]
    if prompting.listed(ctx):
        offered.append(Found(prompting.LIST, "Questions for you", "What you may answer now", "message-question"))
    offered.append(Found("/account", "Account", "Password, sessions, tokens", "settings"))
    words = asked.casefold().split()
    fitting = [one for one in offered if all(word in f"{one.title} {one.hint}".casefold() for word in words)]
    return "Pages", sorted(fitting, key=lambda one: _rank(one.title, asked))


def _rank(title: str, asked: str) -> int:
    """The page that is called so comes first, then those whose names begin so; otherwise the order is the menu's."""
    title, asked = title.casefold(), asked.casefold()
    return 0 if title == asked else 1 if title.startswith(asked) else 2


async def acts(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    words = asked.casefold().split()
    return "Actions", [
        Found(act.item.url, act.item.label, act.page, act.item.icon, act.posts)
        for act in ACTS
        if menu.may_open(act.item, ctx) and all(word in f"{act.item.label} {act.page}".casefold() for word in words)
    ][:MOST_EACH]


async def problems(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Open ones by their words, and the way to all of them."""
    if not ctx.may(seen.SEE):
        return "Problems", []
    number = seen.open_problems(ctx)
    is_meant = number and all(word in "open problems" for word in asked.casefold().split())
    all_url = with_query(problem_list.URL, WITHOUT_VIEW)
    every = [Found(all_url, "Open problems", f"{number:,} open", "alert-triangle")] if is_meant else []
    statement = (
        problem_list.base(ctx, MultiDict())
        .with_only_columns(Problem.id, Problem.kind, Problem.title)
        .where(contains(Problem.title)(asked))
        .order_by(problem_list.RANK.desc(), Problem.held_punches.desc(), Problem.id)
        .limit(MOST_EACH - len(every))
    )
    return "Problems", [
        *every,
        *(
            Found(f"{problem_list.URL}/{row.id}", row.title, problem_list.label_of(row.kind), "alert-triangle")
            for row in (await ctx.db.execute(statement) if number else ())
        ),
    ]


async def people(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    if not ctx.may("host.people"):
        return "People", []
    statement = (
        select(Employee.id, Employee.name, Employee.id_number, Employee.department)
        .where(Employee.deleted_at.is_(None), contains(Employee.name, Employee.id_number)(asked))
        .order_by(Employee.active.desc(), Employee.name, Employee.id)
        .limit(MOST_EACH)
    )
    return "People", [
        Found(f"/people/{row.id}", row.name, " · ".join(filter(None, (row.id_number, row.department))), "user")
        for row in await ctx.db.execute(statement)
    ]


async def users(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    if not ctx.may("admin.users"):
        return "Users", []
    statement = (
        select(User.id, User.name, User.email)
        .where(User.workspace == ctx.workspace, contains(User.name, User.email)(asked))
        .order_by(User.active.desc(), User.name, User.id)
        .limit(MOST_EACH)
    )
    return "Users", [
        Found(f"/admin/users/{row.id}", row.name, row.email, "users") for row in await ctx.db.execute(statement)
    ]


async def apps(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Apps of the library, which is the platform's."""
    if not ctx.may("apps.manage") or not ctx.on_platform:
        return "Apps", []
    statement = (
        select(Application.id, Application.name, Application.status)
        .where(KEPT, contains(Application.name)(asked))
        .order_by(Application.name, Application.id)
        .limit(MOST_EACH)
    )
    return "Apps", [
        Found(f"/apps/{row.id}", row.name, STATUSES[row.status], "apps") for row in await ctx.db.execute(statement)
    ]


async def under_way(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Acts on many rows that a job carries out now."""
    words = asked.casefold().split()
    return "Under way", [
        Found(one.url, one.words.doing, one.far, "progress")
        for one in await known.under_way(ctx)
        if all(word in f"{one.words.doing} {one.words.several} act under way".casefold() for word in words)
    ][:MOST_EACH]


ACTS: list[PaletteAct] = []
PALETTE_SOURCES: list[PaletteSource] = [pages, under_way, acts, problems, people, users, apps]
# The sources that answer before anything is typed.
UNASKED: tuple[PaletteSource, ...] = (under_way, pages)


def offer(source: PaletteSource) -> None:
    """Adds a source once; a second time changes nothing."""
    if source not in PALETTE_SOURCES:
        PALETTE_SOURCES.append(source)


ROUTES = [show]
