"""`/admin/users/new`, `…/edit`, `…/link` and `/admin/users/types`: the forms of accounts. The list: users."""

from dataclasses import replace
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.accounts import accounts, administrators, user_types
from app.accounts.models import User
from app.accounts.one_time_links import LINK_LIFE
from app.db.locks import hold, hold_name
from app.errors import Invalid
from app.host.pages.admin.link_page import LinkOwner, link_next, link_page, way_of_link
from app.host.pages.admin.users import MAY, offers
from app.web import edits, sessions
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.fields import Choice, Choices, Email, Text
from app.web.forms import Bound, Form
from app.web.pages import done, page, saved

NAME = Text("name", "Name", required=True, longest=accounts.LONGEST)
EMAIL = Email(
    "email", "E-mail", required=True, longest=accounts.LONGEST, help="They sign in with it; it can't be changed later."
)
TYPE = Choice("type", "Type", required=True, help="Surveys may address a type. It gives no rights.")
ROLES = Choices("roles", "Roles", help="What they may do: everything that any of their roles allows.")
LABEL = Text("label", "Name of the type", required=True, longest=60)
TYPE_FORM = Form(LABEL)


@get("/admin/users/new", guards=[MAY])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    types, form = await _form(ctx)
    return await _new_page(ctx, form.fill({"type": "staff" if "staff" in types else next(iter(types))}))


@post("/admin/users/new", guards=[MAY], status_code=200)
async def invite(ctx: NamedDependency[Context]) -> Response[Any]:
    _, form = await _form(ctx)
    bound = form.read(await ctx.form())
    if not bound.ok:
        return await _new_page(ctx, bound, status=422)
    person = accounts.NewUser(bound["email"], bound["name"], bound["type"], tuple(bound["roles"]))
    try:
        created = await accounts.create(ctx.db, ctx.actor, person, reach=ctx.user.permissions)
    except Invalid as refused:
        bound.absorb(refused)
        return await _new_page(ctx, bound, status=422)
    return await _link_next(ctx, created.id, created.link_secret or "", f"The account of {bound['name']} was made.")


@get("/admin/users/{user_id:int}/edit", guards=[MAY])
async def edit(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    _, form = await _form(ctx, editing=True)
    return await _edit_page(ctx, user, edits.opened(ctx, form, _stored(user)))


@post("/admin/users/{user_id:int}/edit", guards=[MAY], status_code=200)
async def save(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    await hold(ctx.db, User.id == user_id)
    user = await accounts.find(ctx.db, user_id)
    _, form = await _form(ctx, editing=True)
    bound = await edits.sent(ctx, form, _stored(user), about=("user", user_id))
    if not bound.ok:
        return await _edit_page(ctx, user, bound, status=bound.status)
    changed = await accounts.edit(
        ctx.db,
        ctx.actor,
        user_id,
        name=bound["name"],
        kind=bound["type"],
        roles=bound["roles"],
        reach=ctx.user.permissions,
        keep=ctx.user.session_key,
    )
    if changed and user_id == ctx.user.id:
        await sessions.renew(ctx)
    return await saved(ctx, f"/admin/users/{user_id}", bound["name"], changed=changed)


@get("/admin/users/{user_id:int}/link", guards=[MAY])
async def ask_for_link(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    administrators.refuse_oneself(ctx.actor, user_id)
    return await ask_first(
        ctx,
        question=f"Make a link for {user.name}?",
        consequence=(
            f"With the link they choose a new password, once, within {LINK_LIFE.days} days. {way_of_link(ctx)} Links that were made"
            " before stop working; the password they have now works until they choose the new one."
        ),
        submit="Make the link",
        danger=False,
        cancel_url=f"/admin/users/{user_id}",
    )


@post("/admin/users/{user_id:int}/link", guards=[MAY], status_code=200)
async def make_link(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    secret = await accounts.invite(ctx.db, ctx.actor, user_id, reach=ctx.user.permissions)
    return await _link_next(ctx, user_id, secret, f"A link for {user.name} was made.")


@get("/admin/users/{user_id:int}/link/made", guards=[MAY])
async def show_link(ctx: NamedDependency[Context], user_id: FromPath[int]) -> Response[Any]:
    user = await accounts.find(ctx.db, user_id)
    home = f"/admin/users/{user_id}"
    way = [("Users", "/admin/users"), (user.name, home)]
    return await link_page(ctx, LinkOwner(user.name, user.email, way, home))


@get("/admin/users/types", guards=[MAY])
async def types(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _types_page(ctx, TYPE_FORM.fill())


@post("/admin/users/types", guards=[MAY], status_code=200)
async def add_type(ctx: NamedDependency[Context]) -> Response[Any]:
    bound = TYPE_FORM.read(await ctx.form())
    if bound.ok:
        try:
            await user_types.add(ctx.db, ctx.actor, bound["label"])
        except Invalid as refused:
            bound.absorb(refused)
    if not bound.ok:
        return await _types_page(ctx, bound, status=422)
    return await done(ctx, "/admin/users/types", f"The type {bound['label']} was added.")


@get("/admin/users/types/{key:str}", guards=[MAY])
async def show_type(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    return await _type_page(ctx, key, edits.opened(ctx, TYPE_FORM, {"label": await user_types.label_of(ctx.db, key)}))


@post("/admin/users/types/{key:str}", guards=[MAY], status_code=200)
async def rename_type(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    await hold_name(ctx.db, "user types")
    stored = {"label": await user_types.label_of(ctx.db, key)}
    bound = await edits.sent(ctx, TYPE_FORM, stored, about=("user_type", key))
    if bound.ok:
        try:
            await user_types.rename(ctx.db, ctx.actor, key, bound["label"])
        except Invalid as refused:
            bound.absorb(refused)
    if not bound.ok:
        return await _type_page(ctx, key, bound, status=bound.status)
    return await done(ctx, "/admin/users/types", f"The type is called {bound['label']} now.")


@get("/admin/users/types/{key:str}/remove", guards=[MAY])
async def ask_to_remove_type(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    return await ask_first(
        ctx,
        question=f"Remove the type {await user_types.label_of(ctx.db, key)}?",
        consequence="It can no longer be given to accounts. Surveys keep it in their audience, but reach no one through it.",
        submit="Remove the type",
        cancel_url="/admin/users/types",
    )


@post("/admin/users/types/{key:str}/remove", guards=[MAY], status_code=200)
async def remove_type(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    label = await user_types.label_of(ctx.db, key)
    await user_types.remove(ctx.db, ctx.actor, key)
    return await done(ctx, "/admin/users/types", f"The type {label} was removed.")


async def _form(ctx: Context, *, editing: bool = False) -> tuple[dict[str, str], Form]:
    types, roles = await offers(ctx)
    choices = (replace(TYPE, options=types), replace(ROLES, options={one: one for one in roles}))
    return types, Form(NAME, *choices) if editing else Form(NAME, EMAIL, *choices)


def _stored(user: Any) -> dict[str, Any]:
    return {"name": user.name, "type": user.type, "roles": user.roles}


async def _new_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(
        ctx, "host/admin/user_new.html", fragment="drawer", status=status, form=form, way=way_of_link(ctx)
    )


async def _edit_page(ctx: Context, user: Any, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/admin/user_edit.html", fragment="drawer", status=status, form=form, account=user)


async def _link_next(ctx: Context, user_id: int, secret: str, message: str) -> Redirect:
    return await link_next(ctx, f"/admin/users/{user_id}/link/made", user_id, secret, message)


async def _types_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    listed, used = await user_types.read(ctx.db), await user_types.in_use(ctx.db)
    return await page(ctx, "host/admin/user_types.html", status=status, form=form, types=listed, used=used)


async def _type_page(ctx: Context, key: str, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/admin/user_type.html", fragment="drawer", status=status, form=form, key=key)


ROUTES = [
    new, invite, edit, save, ask_for_link, make_link, show_link,
    types, add_type, show_type, rename_type, ask_to_remove_type, remove_type,
]  # fmt: skip
