"""`/account/second-factor`: sets up and switches off one's own second factor, and makes recovery codes, each with the
password. Passkeys: passkeys.py."""

from typing import Any

import segno
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.response import Redirect
from markupsafe import Markup

from app.accounts import passkeys, second_factor
from app.errors import Invalid
from app.host.pages.admin.account import CURRENT, confirmed, renew_session
from app.mail.account_letters import tell_of
from app.web import once
from app.web.context import Context
from app.web.fields import Text
from app.web.forms import Bound, Form
from app.web.guards import signed_in
from app.web.pages import done, go, page, shown_once
from app.wording.marked import marked
from app.wording.speech import spoken

CODE_FORM = Form(
    Text("code", marked("The six digits that the app shows"), required=True, longest=12, autocomplete="one-time-code"),
    CURRENT,
)
OFF_FORM = Form(CURRENT)
QR_TITLE = marked("QR code with the key")


@get("/account/second-factor", guards=[signed_in])
async def second_factor_form(ctx: NamedDependency[Context]) -> Response[Any]:
    if await second_factor.is_on(ctx.db, ctx.user.id):
        return await _off_page(ctx, OFF_FORM.fill())
    keys = ctx.parts.keys
    sealed = second_factor.seal_setup(keys, ctx.workspace, ctx.user.id, second_factor.new_secret())
    return await _setup_page(ctx, CODE_FORM.fill(), sealed)


@post("/account/second-factor", guards=[signed_in], status_code=200)
async def switch_on(ctx: NamedDependency[Context]) -> Response[Any]:
    sealed = str((await ctx.form()).get("setup", ""))
    secret = second_factor.open_setup(ctx.parts.keys, ctx.workspace, ctx.user.id, sealed)
    form = await confirmed(ctx, CODE_FORM.read(await ctx.form()))
    if form.ok:
        try:
            codes = await second_factor.enable(
                ctx.db, ctx.actor, ctx.user.id, keys=ctx.parts.keys, secret=secret, code=form["code"]
            )
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _setup_page(ctx, form, sealed, status=422)
    await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.enable_second_factor")
    await renew_session(ctx)
    return await _codes_next(
        ctx, codes, marked("The second factor is on. Signing in asks for the six digits from now on.")
    )


@get("/account/second-factor/recovery", guards=[signed_in])
async def recovery_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _recovery_page(ctx, OFF_FORM.fill())


@post("/account/second-factor/recovery", guards=[signed_in], status_code=200)
async def make_recovery_codes(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await confirmed(ctx, OFF_FORM.read(await ctx.form()))
    if not form.ok:
        return await _recovery_page(ctx, form, status=422)
    codes = await second_factor.make_recovery_codes(ctx.db, ctx.actor, ctx.user.id)
    await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.make_recovery_codes")
    return await _codes_next(ctx, codes, marked("The codes that you had before no longer work."))


@get("/account/second-factor/recovery/made", guards=[signed_in])
async def show_recovery_codes(ctx: NamedDependency[Context]) -> Response[Any]:
    if (made := once.taken(ctx)) is None:
        return go("/account")
    return shown_once(await page(ctx, "host/account_recovery_codes.html", **made))


@post("/account/second-factor/off", guards=[signed_in], status_code=200)
async def switch_off(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await confirmed(ctx, OFF_FORM.read(await ctx.form()))
    if not form.ok:
        return await _off_page(ctx, form, status=422)
    if await second_factor.forget(ctx.db, ctx.actor, ctx.user.id):
        await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.drop_second_factor")
    await renew_session(ctx)
    return await done(ctx, "/account", marked("The second factor is off: the password alone signs in."))


async def _off_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    kept = await passkeys.count_of(ctx.db, ctx.user.id)
    return await page(
        ctx, "host/account_second_factor_off.html", fragment="drawer", status=status, form=form, passkeys=kept
    )


async def _recovery_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/account_recovery.html", fragment="drawer", status=status, form=form)


async def _codes_next(ctx: Context, codes: list[str], told: str) -> Redirect:
    """On to the page that shows them for the only time: only their hashes are stored."""
    return await once.show_next(ctx, "/account/second-factor/recovery/made", told, codes=codes)


async def _setup_page(ctx: Context, form: Bound, sealed: str, *, status: int = 200) -> Response[str]:
    secret = second_factor.open_setup(ctx.parts.keys, ctx.workspace, ctx.user.id, sealed)
    address = second_factor.address(secret, ctx.user.email)
    shown = await page(
        ctx,
        "host/account_second_factor.html",
        fragment="drawer",
        status=status,
        form=form,
        setup=sealed,
        secret=" ".join(secret.reveal()[at : at + 4] for at in range(0, len(secret.reveal()), 4)),
        address=address,
        qr=_qr(address),
    )
    return shown_once(shown)


def _qr(address: str) -> Markup:
    """Dark on light in either theme, because many apps cannot read anything else."""
    code = segno.make(address, micro=False)
    drawn = code.svg_inline(
        title=spoken()(QR_TITLE), dark="#000", light="#fff", border=4, omitsize=True, svgclass=None, lineclass=None
    )
    return Markup(drawn)  # noqa: S704 - the library draws it; no text of ours but the title is in it


ROUTES = [second_factor_form, switch_on, recovery_form, make_recovery_codes, show_recovery_codes, switch_off]
