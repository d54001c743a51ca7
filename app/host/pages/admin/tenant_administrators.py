"""`/admin/tenants/<key>/administrator`, on the platform: makes an administrator of a tenant
and shows the one-time link."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts import administrators, tenant_administrators, tenants
from app.accounts.one_time_links import LINK_LIFE
from app.accounts.roles import EVERYTHING
from app.errors import Forbidden, Invalid
from app.host.pages.admin.link_page import LinkOwner, link_next, link_page, way_of_link
from app.host.pages.admin.tenants import MAY
from app.host.pages.admin.user_forms import EMAIL, NAME
from app.texts import whole
from app.web.bulk import ask_first
from app.web.context import Context
from app.web.forms import Bound, Form
from app.web.pages import page

FORM = Form(NAME, EMAIL)


@get("/admin/tenants/{key:str}/administrator", guards=[MAY])
async def new(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    _refuse_less_than_all(ctx)
    await tenant_administrators.refuse_deactivated(ctx.db, key)
    return await _page(ctx, key, FORM.fill())


@post("/admin/tenants/{key:str}/administrator", guards=[MAY], status_code=200)
async def make(ctx: NamedDependency[Context], key: FromPath[str]) -> Response[Any]:
    _refuse_less_than_all(ctx)
    await tenants.find(ctx.db, key)
    posted = await ctx.form()
    form = FORM.read(posted)
    known = whole(str(posted.get("known", "")), 6) or 0
    if form.ok:
        try:
            async with ctx.inside(key) as db:
                made = await tenant_administrators.make(
                    db, ctx.actor, form["email"], form["name"], known=known, reach=ctx.user.permissions
                )
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _page(ctx, key, form, status=422)
    message = f"The account of {form['name']} was made."
    return await link_next(ctx, _shown_at(key, made.id), made.id, made.link_secret or "", message)


@get("/admin/tenants/{key:str}/administrator/{user_id:int}", guards=[MAY])
async def ask_for_link(ctx: NamedDependency[Context], key: FromPath[str], user_id: FromPath[int]) -> Response[Any]:
    _refuse_less_than_all(ctx)
    await tenant_administrators.refuse_deactivated(ctx.db, key)
    person = await tenant_administrators.one_of(ctx.db, key, user_id)
    return await ask_first(
        ctx,
        question=f"Make a new link for {person.name}?",
        consequence=(
            f"With it they choose their password, once, within {LINK_LIFE.days} days. {way_of_link(ctx)} The link from before"
            " stops working."
        ),
        submit="Make the link",
        danger=False,
        cancel_url=f"/admin/tenants/{key}",
    )


@post("/admin/tenants/{key:str}/administrator/{user_id:int}", guards=[MAY], status_code=200)
async def make_link(ctx: NamedDependency[Context], key: FromPath[str], user_id: FromPath[int]) -> Response[Any]:
    _refuse_less_than_all(ctx)
    person = await tenant_administrators.one_of(ctx.db, key, user_id)
    async with ctx.inside(key) as db:
        secret = await tenant_administrators.make_link(db, ctx.actor, user_id, reach=ctx.user.permissions)
    return await link_next(ctx, _shown_at(key, user_id), user_id, secret, f"A link for {person.name} was made.")


@get("/admin/tenants/{key:str}/administrator/{user_id:int}/made", guards=[MAY])
async def show_link(ctx: NamedDependency[Context], key: FromPath[str], user_id: FromPath[int]) -> Response[Any]:
    tenant = await tenants.find(ctx.db, key)
    person = await tenant_administrators.one_of(ctx.db, key, user_id)
    home = f"/admin/tenants/{key}"
    way = [("Tenants", "/admin/tenants"), (tenant.name, home)]
    return await link_page(ctx, LinkOwner(person.name, person.email, way, home))


def _refuse_less_than_all(ctx: Context) -> None:
    """The role Administrator can do everything, and people give only rights that they have."""
    if not ctx.user.permissions >= EVERYTHING:
        raise Forbidden("Only a person who has all permissions can make an administrator.")


def _shown_at(key: str, user_id: int) -> str:
    return f"/admin/tenants/{key}/administrator/{user_id}/made"


async def _page(ctx: Context, key: str, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(
        ctx,
        "host/admin/tenant_administrator.html",
        fragment="drawer",
        status=status,
        tenant=await tenants.find(ctx.db, key),
        form=form,
        way=way_of_link(ctx),
        there=await administrators.of(ctx.db, key),
    )


ROUTES = [new, make, ask_for_link, make_link, show_link]
