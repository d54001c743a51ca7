"""`/sign-in/forgot`: a person who forgot the password asks for a link by mail. The answer is the same for every e-mail
address."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts.one_time_links import RESET_LIFE
from app.mail import outbox
from app.mail.account_letters import send_reset
from app.web.context import Context
from app.web.fields import Email
from app.web.forms import Bound, Form
from app.web.guards import public
from app.web.pages import page

FORM = Form(Email("email", "E-mail", required=True, longest=200, autocomplete="username"))


@get("/sign-in/forgot", guards=[public])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _page(ctx, FORM.fill())


@post("/sign-in/forgot", guards=[public], status_code=200)
async def ask(ctx: NamedDependency[Context]) -> Response[Any]:
    if not outbox.is_on(ctx.parts.settings):
        return await _page(ctx, FORM.fill())
    form = FORM.read(await ctx.form())
    if not form.ok:
        return await _page(ctx, form, status=422)
    await send_reset(ctx.parts, ctx.db, form["email"], ctx.ip)
    return await _page(ctx, form, sent=True)


async def _page(ctx: Context, form: Bound, *, sent: bool = False, status: int = 200) -> Response[str]:
    return await page(
        ctx,
        "host/forgot.html",
        status=status,
        form=form,
        sent=sent,
        mail_is_on=outbox.is_on(ctx.parts.settings),
        minutes=RESET_LIFE.seconds // 60,
    )


ROUTES = [show, ask]
