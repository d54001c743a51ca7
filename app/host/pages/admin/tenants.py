"""`/admin/tenants`, on the platform: the tenants, their names, ceilings and whether they are on.
Making one is a command; its
administrators: tenant_administrators."""

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Select, and_, case, exists, func, select

from app.accounts import administrators, tenants
from app.accounts.models import Session, Tenant, User
from app.accounts.roles import EVERYTHING
from app.counting import count
from app.db.among import among
from app.db.locks import hold
from app.db.searching import contains
from app.errors import Conflict, NotFound
from app.long_acts.over_lists import SliceOutcome
from app.web import edits, exports, lists
from app.web.bulk import act_on_many, action_of, ask_first, chosen_ids
from app.web.context import Context
from app.web.fields import Choice, Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query, where_any_of
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length
from app.web.pages import done, page, saved

MAY = Requires("admin.tenants", platform_only=True)
STATES = {
    "active": "Active",
    "no_administrator": "No administrator",
    "deactivated": "Deactivated",
    "half_removed": "Removal begun",
}
HAS_ADMINISTRATOR = exists(administrators.holders(Tenant.key).correlate(Tenant))
STATE: Any = case(
    (tenants.IS_HALF_REMOVED, "half_removed"),
    (~Tenant.active, "deactivated"),
    (~HAS_ADMINISTRATOR, "no_administrator"),
    else_="active",
)
USERS = select(func.count()).where(User.workspace == Tenant.key).correlate(Tenant).scalar_subquery()
BASE: Select[Any] = select(
    Tenant.key, Tenant.name, Tenant.ceiling, Tenant.created_at, USERS.label("users"), STATE.label("state")
)
# Finds the tenants of a page: users are counted, and administrators looked for, only for these.
KEYS: Select[Any] = select(Tenant.key)
# The same as STATE. It stands apart, so that administrators are looked for only when the state depends on them.
IN_STATE: dict[str, ColumnElement[bool]] = {
    "active": and_(Tenant.active, HAS_ADMINISTRATOR),
    "no_administrator": and_(Tenant.active, ~HAS_ADMINISTRATOR),
    "deactivated": and_(~Tenant.active, ~tenants.IS_HALF_REMOVED),
    "half_removed": tenants.IS_HALF_REMOVED,
}
# Which tenants each act is for, and what is said where no selected one is.
ACTS_ON = {"deactivate": Tenant.active, "activate": IN_STATE["deactivated"]}
WHY_NONE = {
    "deactivate": "all of them were deactivated before",
    "activate": "all of them are active, or their removal has begun",
}
SPEC = ListSpec(
    name="tenants",
    label="tenants",
    url="/admin/tenants",
    key=Tenant.key,
    sort="name",
    columns=(
        Column("name", "Name", lambda row: row.name, Tenant.name),
        Column("key", "Key", lambda row: row.key, Tenant.key),
        Column("ceiling", "Survey ceiling", lambda row: row.ceiling, Tenant.ceiling),
        Column("users", "Users", lambda row: row.users, USERS, numeric=True),
        Column("state", "State", lambda row: row.state, STATE),
        Column("created_at", "Made", lambda row: row.created_at, Tenant.created_at),
    ),
    filters=(
        Filter("q", "Search", contains(Tenant.name, Tenant.key), placeholder="Name or key"),
        Filter(
            "ceiling",
            "Ceiling",
            lambda value: Tenant.ceiling == value,
            kind="select",
            options={one: one.capitalize() for one in tenants.CEILINGS},
        ),
        Filter("state", "State", IN_STATE.__getitem__, kind="select", options=STATES),
    ),
    empty=Empty("building", "No tenants", "The command below makes the first one, with all its tables."),
    # Keys of tenants come next in an address, and may be any word. So the address of the list itself takes the acts.
    bulk_url="/admin/tenants",
    bulk=(
        BulkAction(
            "deactivate", "Deactivate", "ban", danger=True, fits=where_any_of("state", ("active", "no_administrator"))
        ),
        BulkAction("activate", "Activate", "circle-check", fits=where_any_of("state", ("deactivated",))),
    ),
)
VERBS = {"deactivate": tenants.deactivate, "activate": tenants.activate}
FORM = Form(
    Text("name", "Name", required=True, longest=tenants.LONGEST_NAME),
    Choice("ceiling", "What its survey authors may do", required=True, options=tenants.CEILINGS),
)


WHAT_ACTIVATING_DOES = {
    "consequence": "Their people can sign in again, their tokens work again, and their time clocks are read again.",
    "danger": False,
}


# How long surveys let a mail wait: app.surveys.reminding.turns.
WHAT_STAYS = (
    "Nothing is deleted: activating undoes it. Only invitations and reminders of surveys that have waited for 7 days by"
    " then are not sent."
)
WHAT_DEACTIVATING_DOES = (
    f"Their people are signed out at once and can no longer sign in, and API tokens stop working. {WHAT_STAYS}"
)


def _long(action: str, doing: str) -> LongBulk:
    async def rows(_: Context, __: Query, ___: str) -> BulkRows:
        return BulkRows(SPEC, BASE.where(ACTS_ON[action]))

    async def changes(ctx: Context, keys: Sequence[str], _: Mapping[str, Any]) -> SliceOutcome:
        return SliceOutcome(sum([await VERBS[action](ctx.db, ctx.actor, key) for key in keys]))

    what = ("tenant", "tenants")
    return LongBulk(
        f"tenants.{action}",
        doing,
        f"{action}d",
        what,
        "admin.tenants",
        rows,
        changes,
        on_platform=True,
        at_once=50,
        made_at=Tenant.created_at,
    )


LONG = {
    "deactivate": _long("deactivate", "Deactivating tenants"),
    "activate": _long("activate", "Activating tenants"),
}


@get("/admin/tenants", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, BASE, kind)
    view = await lists.load(ctx, SPEC, BASE, KEYS)
    may_make = ctx.user.permissions >= EVERYTHING
    return await page(ctx, "host/admin/tenants.html", fragment="list", view=view, states=STATES, may_make=may_make)


@post("/admin/tenants", guards=[MAY], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, VERBS)

    async def ask_of_many(which: str) -> dict[str, Any]:
        does = {"consequence": WHAT_DEACTIVATING_DOES} if action == "deactivate" else WHAT_ACTIVATING_DOES
        return {"verb": action.capitalize(), "what": which, **does}

    if answer := await at_length(ctx, LONG[action], "/admin/tenants", ask_of_many):
        return answer
    keys = await chosen_ids(ctx, SPEC, BASE.where(ACTS_ON[action]))

    async def ask() -> dict[str, Any]:
        does = await _what_deactivating_does(ctx, keys) if action == "deactivate" else WHAT_ACTIVATING_DOES
        return {"verb": action.capitalize(), "what": count(len(keys), "tenant", "tenants"), **does}

    async def act_on_them() -> str:
        changed = [key for key in keys if await VERBS[action](ctx.db, ctx.actor, key)]
        return f"{count(len(changed), 'tenant was', 'tenants were')} {action}d."

    none = Conflict(f"The selected tenants can't be {action}d: {WHY_NONE[action]}.")
    return await act_on_many(ctx, len(keys), url="/admin/tenants", none=none, ask=ask, do=act_on_them)


async def _what_deactivating_does(ctx: Context, keys: list[str]) -> dict[str, Any]:
    """Number, unit and consequence of the question."""
    theirs = select(User.id).where(among(User.workspace, keys), User.active)
    people = await ctx.db.scalar(select(func.count()).select_from(theirs.subquery())) or 0
    signed_in = await ctx.db.scalar(select(func.count()).where(Session.user_id.in_(theirs))) or 0
    browsers = f"{count(signed_in, 'browser is', 'browsers are')} signed out at once, and "
    return {
        "number": people or None,
        "unit": "person can no longer sign in" if people == 1 else "people can no longer sign in",
        "consequence": f"{browsers if signed_in else ''}API tokens stop working. {WHAT_STAYS}",
    }


@get("/admin/tenants/{key:str}", guards=[MAY])
async def show(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    tenant = await tenants.find(ctx.db, key)
    return await _tenant_page(ctx, tenant, edits.opened(ctx, FORM, _stored(tenant)))


@post("/admin/tenants/{key:str}", guards=[MAY], status_code=200)
async def save(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    await hold(ctx.db, Tenant.key == key)
    tenant = await tenants.find(ctx.db, key)
    form = await edits.sent(ctx, FORM, _stored(tenant), about=("tenant", key))
    if not form.ok:
        return await _tenant_page(ctx, tenant, form, status=form.status)
    changed = await tenants.edit(ctx.db, ctx.actor, key, form["name"], form["ceiling"])
    return await saved(ctx, "/admin/tenants", form["name"], changed=changed)


@get("/admin/tenants/{key:str}/{action:str}", guards=[MAY])
async def ask(ctx: NamedDependency[Context], key: FromPath[str], action: FromPath[str]) -> Response[Any]:
    tenant = await tenants.find(ctx.db, key)
    if action == "activate":
        await tenants.refuse_half_removed(ctx.db, key)
        return await ask_first(
            ctx,
            question=f"Activate {tenant.name}?",
            consequence="Its people can sign in again, its tokens work again, and its time clock is read again.",
            submit="Activate",
            danger=False,
            cancel_url="/admin/tenants",
        )
    if action != "deactivate":
        raise NotFound
    return await ask_first(
        ctx,
        question=f"Deactivate {tenant.name}?",
        submit="Deactivate",
        cancel_url="/admin/tenants",
        **await _what_deactivating_does(ctx, [key]),
    )


@post("/admin/tenants/{key:str}/{action:str}", guards=[MAY], status_code=200)
async def act(ctx: NamedDependency[Context], key: FromPath[str], action: FromPath[str]) -> Response[Any]:
    tenant = await tenants.find(ctx.db, key)
    if action not in VERBS:
        raise NotFound
    changed = await VERBS[action](ctx.db, ctx.actor, key)
    message = f"{tenant.name} was {action}d." if changed else f"{tenant.name} was {action}d already."
    return await done(ctx, "/admin/tenants", message, level="success" if changed else "info")


def _stored(tenant: Any) -> dict[str, Any]:
    return {"name": tenant.name, "ceiling": tenant.ceiling}


async def _tenant_page(ctx: Context, tenant: Any, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(
        ctx,
        "host/admin/tenant.html",
        fragment="drawer",
        status=status,
        tenant=tenant,
        form=form,
        there=await administrators.of(ctx.db, tenant.key),
        may_make=ctx.user.permissions >= EVERYTHING,
    )


ROUTES = [index, bulk, show, save, ask, act]
