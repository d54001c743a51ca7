"""`/account`: one's own password, sessions and tokens, for everybody who is signed in. Second factor:
second_factor_pages.py; passkeys: passkeys.py."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import func, or_, select

from app.accounts import audit, browsers, second_factor, signing_in, tokens
from app.accounts.ending_sessions import end_one as end_one_session
from app.accounts.ending_sessions import end_others as end_other_sessions
from app.accounts.ending_sessions import end_sessions as end_own_sessions
from app.accounts.models import ApiToken, Passkey, Session, User
from app.accounts.passkey_site import site_of, why_not
from app.errors import NotFound
from app.host.pages.admin import tokens as token_pages
from app.host.pages.admin.sign_in import new_password_form, revoke_if_asked
from app.languages import LANGUAGES
from app.mail.account_letters import tell_of
from app.web import sessions
from app.web.context import Context
from app.web.fields import Password
from app.web.forms import Bound, Form
from app.web.guards import signed_in
from app.web.pages import done, page
from app.wording.marked import joined, marked, worded

CURRENT = Password("current", marked("Your password now"), required=True)
WRONG = marked("That is not your password, or the account is locked for some minutes after too many tries.")


@get("/account", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    facts = select(
        User.password_changed_at,
        User.last_sign_in_at,
        User.totp_secret.is_not(None).label("second_factor"),
        func.cardinality(User.recovery_codes).label("codes_left"),
        Passkey,
    )
    now = datetime.now(UTC)
    own = facts.outerjoin(Passkey, Passkey.user_id == User.id).where(User.id == ctx.user.id).order_by(Passkey.id)
    rows = (await ctx.db.execute(own)).all()
    site = site_of(ctx.parts.settings.base_url)
    return await page(
        ctx,
        "host/account.html",
        facts=rows[0],
        passkeys=[row.Passkey for row in rows if row.Passkey],
        passkey_site=site,
        no_passkeys=why_not(ctx.parts.settings.base_url),
        most_codes=second_factor.RECOVERY_CODES,
        browsers=await _browsers(ctx, now),
        tokens=await _own_tokens(ctx),
        states=token_pages.STATES,
        maker=_maker,
        described=browsers.described,
        now=now,
        languages=LANGUAGES,
    )


@get("/account/password", guards=[signed_in])
async def password_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _password_page(ctx, (await _password_form(ctx)).fill())


@post("/account/password", guards=[signed_in], status_code=200)
async def change_password(ctx: NamedDependency[Context]) -> Response[Any]:
    form = await confirmed(ctx, (await _password_form(ctx)).read(await ctx.form()))
    if not form.ok:
        return await _password_page(ctx, form, status=422)
    await signing_in.set_password(ctx.db, ctx.user.id, await signing_in.hash_password(form["password"]))
    await audit.record(ctx.db, ctx.actor, "user.change_password", "user", ctx.user.id)
    await tell_of(ctx.parts, ctx.db, ctx.user.id, "user.change_password")
    revoked = await revoke_if_asked(ctx, ctx.actor, ctx.user.id, form)
    ended = await renew_session(ctx)
    others = [_ended(ended)] if ended else []
    gone = [_revoked(revoked)] if revoked else []
    return await done(ctx, "/account", joined(marked("The password was changed."), *others, *gone))


@post("/account/sessions/end-others", guards=[signed_in], status_code=200)
async def end_others(ctx: NamedDependency[Context]) -> Response[Any]:
    ended = await end_own_sessions(ctx.db, ctx.actor, ctx.user.id, keep=ctx.user.session_key)
    message = _ended(ended) if ended else marked("You are not signed in anywhere else.")
    return await done(ctx, "/account", message, level="info")


@post("/account/sessions/{session_id:int}/end", guards=[signed_in], status_code=200)
async def end_one(ctx: NamedDependency[Context], session_id: FromPath[int]) -> Response[Any]:
    if not await end_one_session(ctx.db, ctx.user.id, session_id, keep=ctx.user.session_key):
        raise NotFound(marked("That browser is already signed out."))
    await audit.record(ctx.db, ctx.actor, "user.sign_out", "user", ctx.user.id, after={"sessions_ended": 1})
    return await done(ctx, "/account", marked("That browser was signed out."))


@get("/account/tokens/new", guards=[signed_in])
async def new_token(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _token_page(ctx, token_pages.form_for(ctx).fill({"life": "90"}))


@post("/account/tokens/new", guards=[signed_in], status_code=200)
async def make_token(ctx: NamedDependency[Context]) -> Response[Any]:
    form = token_pages.form_for(ctx).read(await ctx.form())
    if not form.ok:
        return await _token_page(ctx, form, status=422)
    days = token_pages.days_of(form["life"])
    made = await tokens.create(ctx.db, ctx.actor, ctx.user.id, form["scopes"], name=form["name"], days=days)
    return await token_pages.made_next(ctx, "/account/tokens/made", made, form["name"])


@get("/account/tokens/made", guards=[signed_in])
async def show_token(ctx: NamedDependency[Context]) -> Response[Any]:
    return await token_pages.made_page(ctx, home="/account")


@get("/account/tokens/{token_id:int}/revoke", guards=[signed_in])
async def ask_to_revoke(ctx: NamedDependency[Context], token_id: FromPath[int]) -> Response[Any]:
    return await token_pages.ask_to_revoke(ctx, token_id, cancel_url="/account", owner_id=ctx.user.id)


@post("/account/tokens/{token_id:int}/revoke", guards=[signed_in], status_code=200)
async def revoke_token(ctx: NamedDependency[Context], token_id: FromPath[int]) -> Response[Any]:
    await tokens.revoke(ctx.db, ctx.actor, token_id, owner_id=ctx.user.id)
    return await done(ctx, "/account", token_pages.REVOKED)


async def confirmed(ctx: Context, form: Bound) -> Bound:
    """Adds an error when the password typed beside the change is wrong; wrong ones count towards the lock-out."""
    if not form.ok:
        return form
    async with ctx.apart():
        right = await signing_in.is_password_of(ctx.parts.database, ctx.user.email, form["current"])
    if not right:
        form.refuse("current", WRONG)
    return form


async def renew_session(ctx: Context) -> int:
    """A password or second factor changed: this browser gets a new session id, the other sessions end. Returns how many
    ended."""
    ended = await end_other_sessions(ctx.db, ctx.user.id, keep=ctx.user.session_key)
    await sessions.renew(ctx)
    return ended


async def _browsers(ctx: Context, now: datetime) -> Any:
    """Own sessions that still hold, this one first."""
    statement = select(
        Session.public_id, Session.ip, Session.user_agent, Session.created_at, Session.last_seen_at
    ).where(Session.user_id == ctx.user.id, Session.expires_at > now, Session.last_seen_at > now - sessions.IDLE)
    mine_first = Session.id_hash == ctx.user.session_key
    return (await ctx.db.execute(statement.order_by(mine_first.desc(), Session.last_seen_at.desc()).limit(100))).all()


async def _own_tokens(ctx: Context) -> Any:
    recent = or_(ApiToken.revoked_at.is_(None), ApiToken.revoked_at > datetime.now(UTC) - sessions.ABSOLUTE)
    own = token_pages.BASE.where(ApiToken.user_id == ctx.user.id, recent)
    return (await ctx.db.execute(own.order_by(ApiToken.id.desc()).limit(200))).all()


def _ended(number: int) -> str:
    """How many browsers were signed out."""
    if number == 1:
        return marked("1 other browser was signed out.")
    return worded("{count} other browsers were signed out.", count=str(number))


def _revoked(number: int) -> str:
    return (
        marked("1 API token was revoked.")
        if number == 1
        else worded("{count} API tokens were revoked.", count=str(number))
    )


def _maker(token: Any) -> str:
    """Who made it, for its owner; "" when that was not kept."""
    if token.made_by is None:
        return ""
    if token.made_by_id is None:
        return marked("a command on the server")
    return marked("you") if token.made_by_id == token.user_id else str(token.made_by)


async def _password_form(ctx: Context) -> Form:
    return new_password_form(CURRENT, tokens=await tokens.count_live(ctx.db, ctx.user.id))


async def _password_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/account_password.html", fragment="drawer", status=status, form=form)


async def _token_page(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/admin/token_new.html", fragment="drawer", status=status, form=form, home="/account")


ROUTES = [
    show, password_form, change_password, end_others, end_one, new_token, make_token, show_token, ask_to_revoke, revoke_token,
]  # fmt: skip
