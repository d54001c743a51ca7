"""`/account/notifications`: which mails a person gets, and when they hear of which problems.
For everybody who is signed in."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.alerts import choosing, replanning
from app.alerts.people import SEES
from app.alerts.rules import SEVERITIES, AlertRules
from app.errors import Invalid
from app.host.pages.admin.notification_form import (
    AS_SEVERITY,
    FLAGS,
    OF_KIND,
    TOPICS_ALONE,
    form_for,
    rules_in,
    shown,
    topics_in,
)
from app.host.pages.problems.seen import kinds_seen
from app.mail import outbox, unsubscribing
from app.mail.unsubscribing import Wish
from app.web.context import Context
from app.web.forms import Bound, Form
from app.web.guards import signed_in
from app.web.pages import done, page
from app.wording import zone_names
from app.wording.marked import marked

HOME = "/account/notifications"


@get(HOME, guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    chosen = await choosing.chosen_by(ctx.db, ctx.user.id)
    rules = chosen or await choosing.default_for(ctx.db, ctx.workspace, ctx.user.id)
    values = shown(rules, await unsubscribing.refused_by(ctx.db, ctx.user.id))
    values |= {} if chosen else {"zone": (await ctx.zone()).name}
    return await _page(ctx, _form(ctx).fill(values), waits_for_choice=None if chosen else rules)


@post(HOME, guards=[signed_in], status_code=200)
async def save(ctx: NamedDependency[Context]) -> Response[Any]:
    form = _form(ctx).read(await ctx.form())
    if form.ok:
        try:
            await _save(ctx, form)
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _page(ctx, form, status=422)
    return await done(ctx, HOME, marked("Your choice was saved. It holds from now on."))


def _form(ctx: Context) -> Form:
    return form_for(kinds_seen(ctx)) if ctx.may(SEES) else TOPICS_ALONE


async def _save(ctx: Context, form: Bound) -> None:
    """Raises Invalid."""
    if ctx.may(SEES):
        before = await choosing.chosen_by(ctx.db, ctx.user.id)
        await choosing.choose(ctx.db, ctx.user.id, rules_in(form, before))
    for topic in topics_in(form):
        act = unsubscribing.allow if form[FLAGS[topic].name] else unsubscribing.refuse
        await act(ctx.db, Wish(ctx.user.id, topic))
    await replanning.plan_again(ctx.db, ctx.user.id)


async def _page(
    ctx: Context, form: Bound, *, status: int = 200, waits_for_choice: AlertRules | None = None
) -> Response[str]:
    of_kinds = [name for name in form.fields if name.startswith(OF_KIND)]
    return await page(
        ctx,
        "host/account_notifications.html",
        status=status,
        form=form,
        sees_problems=ctx.may(SEES),
        severities=SEVERITIES,
        topics=[FLAGS[topic].name for topic in topics_in(form)],
        single_kinds=of_kinds,
        differing=any(form.shown[name] not in (None, AS_SEVERITY) for name in of_kinds),
        waits_for_choice=waits_for_choice,
        zones=zone_names.by_region(form.shown.get("zone", "")),
        mail_is_on=outbox.is_on(ctx.parts.settings),
    )


ROUTES = [show, save]
