"""`/account/passkeys`: add, rename and remove one's own passkeys, each with the password. They are listed on
`/account`.

Adding takes two forms. After name and password the page tells the browser what to make, and static/js/passkeys.js sends
the browser's answer with the second form.
"""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts import passkeys, second_factor
from app.accounts.passkey_site import PasskeySite, site_of, why_not
from app.errors import Conflict, Invalid
from app.host.pages.admin.account import CURRENT, confirmed, renew_session
from app.mail.account_letters import tell_of
from app.web.context import Context
from app.web.fields import Text
from app.web.forms import Bound, Form
from app.web.guards import signed_in
from app.web.pages import done, page
from app.wording.marked import marked, worded

NAME = Text(
    "name",
    marked("Name"),
    required=True,
    longest=passkeys.LONGEST_NAME,
    help=marked("So that you know it again: “Work laptop”, “Blue security key”."),
)
NAME_FORM = Form(NAME, CURRENT)
REMOVE_FORM = Form(CURRENT)
MADE_FORM = Form(NAME, Text("answer", "Passkey", required=True, longest=passkeys.LONGEST_ANSWER))


@get("/account/passkeys/new", guards=[signed_in])
async def new(ctx: NamedDependency[Context]) -> Response[Any]:
    _site(ctx)
    if not await second_factor.is_on(ctx.db, ctx.user.id):
        raise Conflict(passkeys.NO_APP)
    return await _new_page(ctx, NAME_FORM.fill())


@post("/account/passkeys/new", guards=[signed_in], status_code=200)
async def begin(ctx: NamedDependency[Context]) -> Response[Any]:
    site = _site(ctx)
    form = await confirmed(ctx, NAME_FORM.read(await ctx.form()))
    if not form.ok:
        return await _new_page(ctx, form, status=422)
    try:
        request = await passkeys.ask_to_add(ctx.db, site, ctx.user.id, form["name"])
    except Invalid as refused:
        form.absorb(refused)
        return await _new_page(ctx, form, status=422)
    return await page(ctx, "host/passkey_make.html", request=request, name=form["name"], site=site)


@post("/account/passkeys", guards=[signed_in], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    site = _site(ctx)
    form = MADE_FORM.read(await ctx.form())
    if not form.ok:
        raise passkeys.PasskeyNotMade
    async with ctx.apart():
        challenge = await passkeys.take_challenge(ctx.parts.database, ctx.user.id, "add", form["answer"])
    await passkeys.add(
        ctx.db, ctx.actor, ctx.user.id, site=site, challenge=challenge, name=form["name"], answer=form["answer"]
    )
    await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.add_passkey")
    return await done(
        ctx, "/account", worded("The passkey {name} was added. The next sign-in offers it.", name=form["name"])
    )


@get("/account/passkeys/{passkey_id:int}/rename", guards=[signed_in])
async def rename_form(ctx: NamedDependency[Context], passkey_id: FromPath[int]) -> Response[Any]:
    passkey = await passkeys.find(ctx.db, ctx.user.id, passkey_id)
    return await _rename_page(ctx, NAME_FORM.fill({"name": passkey.name}), passkey)


@post("/account/passkeys/{passkey_id:int}/rename", guards=[signed_in], status_code=200)
async def rename(ctx: NamedDependency[Context], passkey_id: FromPath[int]) -> Response[Any]:
    passkey = await passkeys.find(ctx.db, ctx.user.id, passkey_id)
    form = await confirmed(ctx, NAME_FORM.read(await ctx.form()))
    if form.ok:
        try:
            await passkeys.rename(ctx.db, ctx.actor, ctx.user.id, passkey_id, form["name"])
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _rename_page(ctx, form, passkey, status=422)
    return await done(ctx, "/account", worded("The passkey is called {name} now.", name=form["name"]))


@get("/account/passkeys/{passkey_id:int}/remove", guards=[signed_in])
async def remove_form(ctx: NamedDependency[Context], passkey_id: FromPath[int]) -> Response[Any]:
    passkey = await passkeys.find(ctx.db, ctx.user.id, passkey_id)
    return await _remove_page(ctx, REMOVE_FORM.fill(), passkey)


@post("/account/passkeys/{passkey_id:int}/remove", guards=[signed_in], status_code=200)
async def remove(ctx: NamedDependency[Context], passkey_id: FromPath[int]) -> Response[Any]:
    passkey = await passkeys.find(ctx.db, ctx.user.id, passkey_id)
    form = await confirmed(ctx, REMOVE_FORM.read(await ctx.form()))
    if not form.ok:
        return await _remove_page(ctx, form, passkey, status=422)
    name = await passkeys.remove(ctx.db, ctx.actor, ctx.user.id, passkey_id)
    await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.remove_passkey")
    await renew_session(ctx)
    return await done(
        ctx, "/account", worded("The passkey {name} was removed. Other browsers were signed out.", name=name)
    )


def _site(ctx: Context) -> PasskeySite:
    base_url = ctx.parts.settings.base_url
    site = site_of(base_url)
    if site is None:
        raise Conflict(why_not(base_url))
    return site


async def _new_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/passkey_new.html", fragment="drawer", status=status, form=form)


async def _rename_page(ctx: Context, form: Bound, passkey: Any, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/passkey_rename.html", fragment="drawer", status=status, form=form, passkey=passkey)


async def _remove_page(ctx: Context, form: Bound, passkey: Any, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/passkey_remove.html", fragment="drawer", status=status, form=form, passkey=passkey)


ROUTES = [new, begin, add, rename_form, rename, remove_form, remove]
