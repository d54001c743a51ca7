"""`/admin/roles`: named sets of permissions, each explained in plain words. The form: role_form. Giving them to people:
user_forms."""

from collections.abc import Sequence
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Select, func, select

from app.accounts import roles
from app.accounts.ending_sessions import end_all_of
from app.accounts.models import Role, UserRole
from app.accounts.permissions import EXPLAINED
from app.counting import count
from app.db.locks import hold
from app.db.searching import contains
from app.errors import Conflict, Invalid
from app.host.pages.admin.role_form import RoleForm, boxes
from app.texts import whole
from app.web import edits, exports, lists, sessions
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.forms import Bound
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import done, page

MAY = Requires("admin.roles")
PEOPLE = select(func.count()).where(UserRole.role_id == Role.id).correlate(Role).scalar_subquery()
BASE: Select[Any] = select(Role.id, Role.name, Role.builtin, Role.permissions, PEOPLE.label("people"))
SPEC = ListSpec(
    name="roles",
    label="roles",
    url="/admin/roles",
    key=Role.id,
    sort="name",
    columns=(
        Column("name", "Name", lambda row: row.name, Role.name),
        Column("permissions", "Permissions", lambda row: row.permissions, func.cardinality(Role.permissions)),
        Column("people", "People", lambda row: row.people, PEOPLE, numeric=True),
        Column("builtin", "Built in", lambda row: row.builtin, Role.builtin),
    ),
    filters=(
        Filter("q", "Search", contains(Role.name), placeholder="Name"),
        Filter(
            "permission",
            "Permission",
            lambda value: Role.permissions.contains([value]),
            kind="select",
            options={name: one.label for name, one in EXPLAINED.items()},
        ),
    ),
    empty=Empty("shield", "No roles", "Make the first one.", "/admin/roles/new", "Make a role"),
)


@get("/admin/roles", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    base = BASE.where(Role.workspace == ctx.workspace)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, base, kind)
    view = await lists.load(ctx, SPEC, base)
    return await page(ctx, "host/admin/roles.html", fragment="list", view=view, total=len(EXPLAINED))


@get("/admin/roles/new", guards=[MAY])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    """An empty form, or with `?copy=ID` a copy, which is stored only when the person saves it."""
    copied = whole(ctx.request.query_params.get("copy", ""), 15)
    if copied is None:
        return await _editor(ctx, _form(ctx).fill())
    role = await roles.find(ctx.db, copied)
    return await _editor(ctx, _form(ctx).fill({"name": f"Copy of {role.name}", "permissions": role.permissions}))


@post("/admin/roles/new", guards=[MAY], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    form = _form(ctx).read(await ctx.form())
    if form.ok:
        try:
            await roles.add(ctx.db, ctx.actor, form["name"], form["permissions"], reach=ctx.user.permissions)
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _editor(ctx, form, status=422)
    return await done(ctx, "/admin/roles", f"The role {form['name']} was made.")


@get("/admin/roles/{role_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], role_id: FromPath[int]) -> Response[Any]:
    role = await roles.find(ctx.db, role_id)
    return await _editor(ctx, edits.opened(ctx, _form(ctx), _stored(role)), role=role)


@post("/admin/roles/{role_id:int}", guards=[MAY], status_code=200)
async def save(ctx: NamedDependency[Context], role_id: FromPath[int]) -> Response[Any]:
    await hold(ctx.db, Role.id == role_id)
    role = await roles.find(ctx.db, role_id)
    form = await edits.sent(ctx, _form(ctx), _stored(role), about=("role", role_id))
    changed: Sequence[int] = ()
    if form.ok:
        try:
            changed = await roles.edit(
                ctx.db, ctx.actor, role_id, form["name"], form["permissions"], reach=ctx.user.permissions
            )
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _editor(ctx, form, role=role, status=form.status)
    await _end_sessions(ctx, changed)
    signed_out = (
        f" {count(len(changed), 'person has', 'people have')} new rights and must sign in again." if changed else ""
    )
    return await done(ctx, "/admin/roles", f"The role {form['name']} was saved.{signed_out}")


@get("/admin/roles/{role_id:int}/remove", guards=[MAY])
async def ask_to_remove(ctx: NamedDependency[Context], role_id: FromPath[int]) -> Response[Any]:
    return await _ask(ctx, await roles.find(ctx.db, role_id))


@post("/admin/roles/{role_id:int}/remove", guards=[MAY], status_code=200)
async def remove(ctx: NamedDependency[Context], role_id: FromPath[int]) -> Response[Any]:
    role = await roles.find(ctx.db, role_id)
    if (await ctx.form()).get("people", "") != str(role.people):
        return await _ask(ctx, role)  # the number of people changed since the question
    lost = await roles.remove(ctx.db, ctx.actor, role_id, reach=ctx.user.permissions)
    await _end_sessions(ctx, lost)
    who = f" {count(len(lost), 'person', 'people')} lost it." if lost else ""
    return await done(ctx, "/admin/roles", f"The role {role.name} was deleted.{who}", gone=f"/admin/roles/{role_id}")


def _form(ctx: Context) -> RoleForm:
    return RoleForm(ctx.user.permissions)


def _stored(role: Any) -> dict[str, Any]:
    return {"name": role.name, "permissions": role.permissions}


async def _ask(ctx: Context, role: Any) -> Response[str]:
    if role.builtin:
        raise Conflict(f"{role.name} is built in and stays.")
    loses = "loses" if role.people == 1 else "lose"
    return await ask_first(
        ctx,
        question=f"Delete the role {role.name}?",
        consequence=(
            "No person has this role, so nothing changes for anyone. Removing it can't be undone."
            if not role.people
            else "They lose what only this role allows, and must sign in again. This can't be undone."
        ),
        number=role.people,
        unit=f"{'person' if role.people == 1 else 'people'} {loses} it",
        submit="Delete the role",
        fields=[("people", str(role.people))],
        cancel_url=f"/admin/roles/{role.id}",
    )


async def _end_sessions(ctx: Context, user_ids: Sequence[int]) -> None:
    """Ends the sessions of all people whose rights changed; the acting person's own session gets a new id."""
    if user_ids:
        await end_all_of(ctx.db, user_ids, keep=ctx.user.session_key)
    if ctx.user.id in user_ids:
        await sessions.renew(ctx)


async def _editor(ctx: Context, form: Bound, *, role: Any = None, status: int = 200) -> Response[str]:
    groups = boxes(form, ctx.user.permissions, fixed=bool(role and role.builtin))
    return await page(ctx, "host/admin/role.html", status=status, form=form, role=role, groups=groups)


ROUTES = [index, new, add, show, save, ask_to_remove, remove]
