"""`/admin/users`: the list of accounts, one account, and what an administrator does to it. Forms: user_forms."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Row, Select, and_, case, exists, func, literal, select, union_all

from app.accounts import accounts, administrators, user_types
from app.accounts.models import ApiToken, Passkey, Role, Session, User, UserRole, UserType
from app.accounts.signing_in import LOCK_AFTER, LOCKED_FOR
from app.db.searching import contains
from app.errors import NotFound
from app.host.models import Employee
from app.host.pages.admin.history import history
from app.mail.account_letters import tell_of
from app.web import exports, lists
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, where_any_of
from app.web.pages import done, page

MAY = Requires("admin.users")
STATES = {"active": "Active", "invited": "Invited", "locked": "Locked", "deactivated": "Deactivated"}
STATE: Any = case(
    (~User.active, "deactivated"),
    (User.locked_until > func.now(), "locked"),
    (User.password_hash.is_(None), "invited"),
    else_="active",
)
BASE: Select[Any] = select(
    User.id,
    User.name,
    User.email,
    User.type,
    User.last_sign_in_at,
    User.created_at,
    User.totp_secret.is_not(None).label("second_factor"),
    STATE.label("state"),
    accounts.role_names().label("roles"),
)


def _has_role(name: str) -> ColumnElement[bool]:
    # With the workspace it is one role: without, PostgreSQL expects the roles of this name of all tenants.
    this = and_(Role.workspace == User.workspace, Role.name == name)
    return exists().where(UserRole.user_id == User.id, UserRole.role_id == Role.id, this)


SPEC = ListSpec(
    name="users",
    label="users",
    url="/admin/users",
    key=User.id,
    sort="name",
    columns=(
        Column("name", "Name", lambda row: row.name, User.name),
        Column("email", "E-mail", lambda row: row.email, User.email),
        Column("type", "Type", lambda row: row.type, User.type),
        Column("roles", "Roles", lambda row: row.roles),
        Column("state", "State", lambda row: row.state, STATE),
        Column("second_factor", "Second factor", lambda row: row.second_factor),
        Column("last_sign_in_at", "Last sign-in", lambda row: row.last_sign_in_at, User.last_sign_in_at),
        Column("created_at", "Added", lambda row: row.created_at, User.created_at, shown=False),
    ),
    filters=(
        Filter("q", "Search", contains(User.name, User.email), placeholder="Name or e-mail"),
        Filter("role", "Role", _has_role, kind="select"),
        Filter("type", "Type", lambda value: User.type == value, kind="select"),
        Filter("state", "State", lambda value: value == STATE, kind="select", options=STATES),
    ),
    empty=Empty("users", "No accounts", "Invite the first person.", "/admin/users/new", "Invite a user"),
    bulk_url="/admin/users/bulk",
    bulk=(
        BulkAction(
            "deactivate",
            "Deactivate",
            "user-off",
            danger=True,
            fits=where_any_of("state", STATES.keys() - {"deactivated"}),
        ),
        BulkAction("activate", "Activate", "user-check", fits=where_any_of("state", ("deactivated",))),
    ),
)


@get("/admin/users", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    types, roles = await offers(ctx)
    spec, rows = spec_of(types, roles), base(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, rows, kind)
    view = await lists.load(ctx, spec, rows, select(User.id).where(User.workspace == ctx.workspace))
    return await page(
        ctx, "host/admin/users.html", fragment="list", view=view, types=types, states=STATES, now=datetime.now(UTC)
    )


@get("/admin/users/{user_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    user = (await ctx.db.execute(_one(ctx).where(User.id == user_id))).one_or_none()
    if user is None:
        raise NotFound("There is no such account.")
    return await page(
        ctx,
        "host/admin/user_show.html",
        fragment="drawer",
        account=user,
        states=STATES,
        types=await user_types.read(ctx.db),
        person=await _person_of(ctx, user_id) if ctx.may("host.people") else None,
        history=await history(ctx, "user", user_id),
    )


async def _person_of(ctx: Context, user_id: int) -> Row[int, str] | None:
    """The employee who signs in with the account, if there is one."""
    found = select(Employee.id, Employee.name).where(Employee.user_id == user_id).order_by(Employee.id).limit(1)
    return (await ctx.db.execute(found)).one_or_none()


@dataclass(frozen=True, slots=True)
class UserAct:
    """An act on one account. `verb` returns True when there was something to do."""

    verb: Callable[[Context, int], Awaitable[object]]
    question: str
    consequence: str
    submit: str
    past: str
    idle: str
    danger: bool = False
    takes_password: bool = False  # of oneself: in Account


async def _deactivate(ctx: Context, user_id: int) -> bool:
    return await accounts.deactivate(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions)


async def _activate(ctx: Context, user_id: int) -> bool:
    return await accounts.activate(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions)


async def _unlock(ctx: Context, user_id: int) -> bool:
    return await accounts.unlock(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions)


async def _drop_second_factor(ctx: Context, user_id: int) -> bool:
    keep = ctx.user.session_key
    dropped = await accounts.drop_second_factor(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions, keep=keep)
    if dropped:
        await tell_of(ctx.parts, ctx.db, user_id, "user.drop_second_factor")
    return dropped


async def _sign_out(ctx: Context, user_id: int) -> int:
    keep = ctx.user.session_key
    return await accounts.sign_out(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions, keep=keep)


ACTS = {
    "deactivate": UserAct(
        _deactivate,
        "Deactivate {name}?",
        "They are signed out everywhere and can't sign in, and their API tokens and links stop working. Nothing they did is"
        " deleted. Activating undoes it.",
        "Deactivate",
        "{name} was deactivated.",
        "{name} was deactivated already.",
        danger=True,
    ),
    "activate": UserAct(
        _activate,
        "Activate {name}?",
        "They can sign in again with the password they had, and tokens that were not revoked work again.",
        "Activate",
        "{name} was activated.",
        "{name} was active already.",
    ),
    "unlock": UserAct(
        _unlock,
        "Unlock {name}?",
        f"{LOCK_AFTER} wrong passwords locked the account for {LOCKED_FOR // timedelta(minutes=1)} minutes. Unlock it if they mistyped; if it may have been somebody"
        " else, let the lock run out.",
        "Unlock",
        "{name} was unlocked.",
        "{name} is not locked.",
    ),
    "second-factor": UserAct(
        _drop_second_factor,
        "Switch off the second factor of {name}?",
        "For a person who lost their phone. Until they set it up again, the password alone signs in. Their passkeys are removed."
        " Make sure that the request really comes from them. They are signed out everywhere.",
        "Switch off",
        "The second factor of {name} is off.",
        "{name} has no second factor.",
        danger=True,
        takes_password=True,
    ),
    "sign-out": UserAct(
        _sign_out,
        "Sign {name} out everywhere?",
        "They are signed out in every browser, and unsaved work there is lost. Password and tokens stay.",
        "Sign out everywhere",
        "{name} was signed out everywhere.",
        "{name} was not signed in anywhere else.",
    ),
}


@get("/admin/users/{user_id:int}/{action:str}", guards=[MAY])
async def ask(ctx: NamedDependency[Context], user_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    act = _act(action)
    if act.takes_password:
        administrators.refuse_oneself(ctx.actor, user_id)
    return await ask_first(
        ctx,
        question=act.question.format(name=user.name),
        consequence=act.consequence,
        submit=act.submit,
        danger=act.danger,
        cancel_url=f"/admin/users/{user_id}",
    )


@post("/admin/users/{user_id:int}/{action:str}", guards=[MAY], status_code=200)
async def act(ctx: NamedDependency[Context], user_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    chosen = _act(action)
    changed = await chosen.verb(ctx, user_id)
    message = (chosen.past if changed else chosen.idle).format(name=user.name)
    return await done(ctx, f"/admin/users/{user_id}", message, level="success" if changed else "info")


async def offers(ctx: Context) -> tuple[dict[str, str], list[str]]:
    """The workspace's user types and the names of its roles, by one SELECT."""
    types = select(literal("type").label("kind"), UserType.key, UserType.label).where(
        UserType.workspace == ctx.workspace
    )
    roles = select(literal("role"), Role.name, Role.name).where(Role.workspace == ctx.workspace)
    rows = (await ctx.db.execute(union_all(types, roles).order_by("label"))).all()
    named = {row.key: row.label for row in rows if row.kind == "type"}
    return named or dict(user_types.FROM_THE_START), [row.key for row in rows if row.kind == "role"]


def spec_of(types: dict[str, str], roles: list[str]) -> ListSpec:
    return SPEC.offering(role={one: one for one in roles}, type=types)


def base(ctx: Context) -> Select[Any]:
    return BASE.where(User.workspace == ctx.workspace)


def _one(ctx: Context) -> Select[Any]:
    live = (ApiToken.user_id == User.id, ApiToken.revoked_at.is_(None))
    return base(ctx).add_columns(
        User.locked_until,
        User.password_changed_at,
        select(func.count()).where(Session.user_id == User.id).scalar_subquery().label("sessions"),
        select(func.count()).where(*live).scalar_subquery().label("tokens"),
        select(func.count()).where(Passkey.user_id == User.id).scalar_subquery().label("passkeys"),
    )


def _act(word: str) -> UserAct:
    if word not in ACTS:
        raise NotFound
    return ACTS[word]


ROUTES = [index, show, ask, act]
