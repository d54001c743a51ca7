"""`/sign-in`, `/sign-out`, and `/welcome/SECRET`, where an invited person sets a password."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get, post
from litestar.datastructures import FormMultiDict
from litestar.di import NamedDependency
from litestar.enums import MediaType
from litestar.params import FromPath
from litestar.response import Redirect

from app.accounts import audit, one_time_links, passkeys, second_factor, signing_in, tokens
from app.accounts.ending_sessions import end_others
from app.accounts.passkey_site import PasskeySite, site_of
from app.errors import NotFound, NotSignedIn
from app.mail.account_letters import tell_of
from app.web import sessions
from app.web.context import Context
from app.web.drafts import carrying
from app.web.fields import Email, Field, Flag, Password, Text
from app.web.forms import Bound, Form
from app.web.guards import public, signed_in
from app.web.pages import frame, go, page
from app.web.returning import is_ours
from app.web.templating import render
from app.wording.marked import marked, worded
from app.wording.speech import speaking

EMAIL = Email("email", marked("E-mail"), required=True, autocomplete="username")
OTP = Text(
    "otp",
    marked("Authenticator code"),
    longest=30,
    autocomplete="one-time-code",
    help=marked("The six digits of the app, or a recovery code. Spaces do not matter."),
)
FORM = Form(EMAIL, Password("password", marked("Password"), required=True), OTP)
# These forms ask only for the second step: `passed` says that the password was right.
PASSED = Text("passed", "Password", longest=1000)
DIGITS = Form(EMAIL, replace(OTP, required=True), PASSED)
PASSKEY = Form(EMAIL, OTP, PASSED, Text("passkey", "Passkey", required=True, longest=passkeys.LONGEST_ANSWER))
TOO_LATE = marked("Your sign-in has expired, or the account is locked for some minutes. Sign in again.")
NOT_KEPT = marked(
    "What was written before this sign-in could not be kept: it is older than an hour, or another person wrote it."
)
NEW_PASSWORD = Password(
    "password",
    marked("New password"),
    required=True,
    shortest=signing_in.SHORTEST_PASSWORD,
    autocomplete="new-password",
    help=worded(
        "At least {count} characters; a sentence is easiest to remember.", count=str(signing_in.SHORTEST_PASSWORD)
    ),
)


def new_password_form(*before: Field, tokens: int) -> Form:
    """For a new password, with a question about the person's API tokens where there are any."""
    if not tokens:
        return Form(*before, NEW_PASSWORD)
    label = (
        marked("Revoke my API token too")
        if tokens == 1
        else worded("Revoke my {count} API tokens too", count=str(tokens))
    )
    return Form(*before, NEW_PASSWORD, replace(REVOKE, label=label))


async def revoke_if_asked(
    ctx: Context, actor: audit.Actor, user_id: int, form: Bound, *, workspace: str | None = None
) -> int:
    """How many tokens stopped working. `workspace` is the account's, where the request is not in it."""
    if not form.values.get(REVOKE.name):
        return 0
    return len(await tokens.revoke_all(ctx.db, actor, user_id, workspace=workspace))


REVOKE = Flag(
    "revoke_tokens",
    "Revoke my API tokens too",
    help=marked("Do this if another person may know the old password. Apps that use a token then need a new one."),
)


@get("/sign-in", guards=[public])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    if ctx.person is not None:
        return go(_next(ctx.request.query_params.get("next", "")))
    return await _form(ctx, FORM.fill(), signed_out=ctx.signed_out)


@post("/sign-in", guards=[public], status_code=200)
async def sign_in(ctx: NamedDependency[Context]) -> Response[Any]:
    posted = await ctx.form()
    form = _fitting(posted).read(posted)
    if not form.ok:
        return await _form(ctx, form, status=422)
    attempt = _attempt(ctx, form)
    try:
        async with ctx.apart():
            user_id = await signing_in.authenticate(ctx.parts.database, ctx.parts.keys, attempt)
    except (signing_in.SecondFactorNeeded, signing_in.SecondFactorWrong) as wanted:
        return await _second_step(ctx, form, wanted)
    except signing_in.SignInRefused as refused:
        again = FORM.fill({"email": form["email"]})
        again.refuse("", TOO_LATE if attempt.passed else refused.message)
        return await _form(ctx, again, status=422)
    return await _let_in(ctx, user_id, await ctx.form())


async def _let_in(ctx: Context, user_id: int, posted: FormMultiDict) -> Redirect:
    """Leads on to where the person wanted to go. What another person wrote here, or what is old, is dropped, and the
    next page says so."""
    sealed = str(posted.get(carrying.FIELD, ""))
    found = carrying.opened(ctx.parts.keys, sealed, user_id, datetime.now(UTC)) if sealed else None
    warning = NOT_KEPT if sealed and not found else ""
    await sessions.begin(ctx, user_id, carried=sealed if found else None, warning=warning)
    if sealed:
        return go(found.page if found else "/")
    return go(_next(str(posted.get("next", ""))))


def with_what_was_written(ctx: Context, page_url: str, sealed: str) -> Response[str]:
    """The form for a person whose session ended while they wrote."""
    with speaking(ctx.speech):
        html = render(
            "host/sign_in.html", **frame(ctx), flashes=[], form=FORM.fill(), next=_next(page_url), carried=sealed
        )
    return Response(html, status_code=NotSignedIn.status, media_type=MediaType.HTML)


@post("/sign-out", guards=[signed_in], status_code=200)
async def sign_out(ctx: NamedDependency[Context]) -> Redirect:
    await sessions.end(ctx)
    return go("/sign-in")


@get("/welcome/{secret:str}", guards=[public])
async def welcome(ctx: NamedDependency[Context], secret: FromPath[str]) -> Response[Any]:
    user_id = await _owner(ctx, secret)
    form = new_password_form(tokens=await tokens.count_live(ctx.db, user_id))
    return await page(ctx, "host/welcome.html", form=form.fill())


@post("/welcome/{secret:str}", guards=[public], status_code=200)
async def set_password(ctx: NamedDependency[Context], secret: FromPath[str]) -> Response[Any]:
    owner_id = await _owner(ctx, secret)
    form = new_password_form(tokens=await tokens.count_live(ctx.db, owner_id)).read(await ctx.form())
    if not form.ok:
        return await page(ctx, "host/welcome.html", status=422, form=form)
    user_id = await signing_in.use_link(ctx.db, secret, form["password"])
    if user_id is None:
        raise _dead()
    await end_others(ctx.db, user_id)
    await _note_new_password(ctx, user_id, form)
    await tell_of(ctx.parts, ctx.db, user_id, "user.set_password")
    if await second_factor.is_on(ctx.db, user_id):
        return go("/sign-in")  # the link stands for the password alone
    await sessions.begin(ctx, user_id)
    return go("/")


async def _note_new_password(ctx: Context, user_id: int, form: Bound) -> None:
    """The owner of the link acts, in the workspace of the account: before the sign-in, the request is in none."""
    name, workspace = await one_time_links.owner_and_workspace(ctx.db, user_id)
    owner = audit.Actor(user_id, name, ctx.ip, ctx.request_id)
    await revoke_if_asked(ctx, owner, user_id, form, workspace=workspace)
    await audit.record(ctx.db, owner, "user.set_password", "user", user_id, workspace=workspace)


async def _owner(ctx: Context, secret: str) -> int:
    user_id = await one_time_links.link_owner(ctx.db, secret)
    if user_id is None:
        raise _dead()
    return user_id


def _dead() -> NotFound:
    return NotFound(
        marked(
            "This link was used already or is too old. Ask for a new one on the sign-in page, or ask an administrator."
        )
    )


def _fitting(posted: FormMultiDict) -> Form:
    if posted.get("passkey"):
        return PASSKEY
    return DIGITS if posted.get("passed") else FORM


def _attempt(ctx: Context, form: Bound) -> signing_in.Attempt:
    values = form.values
    answer = values.get("passkey")
    signed = passkeys.SignedChallenge(_site(ctx), answer) if answer else None
    return signing_in.Attempt(
        form["email"], values.get("password") or "", form["otp"], values.get("passed") or "", signed
    )


async def _second_step(
    ctx: Context, typed: Bound, wanted: signing_in.SecondFactorNeeded | signing_in.SecondFactorWrong
) -> Response[str]:
    form = DIGITS.fill({"email": typed["email"], "otp": typed["otp"], "passed": wanted.passed})
    if isinstance(wanted, signing_in.SecondFactorWrong):
        form.refuse("otp" if wanted.field == "otp" else "", wanted.message)
    site = _site(ctx)
    request = None
    if site:
        async with ctx.apart():
            request = await passkeys.ask_to_sign_in(ctx.parts.database, site, wanted.user_id)
    return await _form(ctx, form, status=422, passkey_request=request, passkey_site=site)


def _site(ctx: Context) -> PasskeySite | None:
    return site_of(ctx.parts.settings.base_url)


async def _form(ctx: Context, form: Bound, *, status: int = 200, **more: Any) -> Response[str]:
    """The form for e-mail and password, or those for the second step."""
    target = (
        (await ctx.form()).get("next", "") if ctx.request.method == "POST" else ctx.request.query_params.get("next")
    )
    carried = str((await ctx.form()).get(carrying.FIELD, "")) if ctx.request.method == "POST" else ""
    return await page(
        ctx, "host/sign_in.html", status=status, form=form, next=_next(target or ""), carried=carried, **more
    )


def _next(target: str) -> str:
    """Only an address of this portal: a link in a mail must not lead people elsewhere after they signed in."""
    return target if is_ours(target) else "/"


ROUTES = [show, sign_in, sign_out, welcome, set_password]
