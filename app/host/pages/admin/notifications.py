"""`/account/notifications`: of which problems one is told by mail, and when. Everybody who is signed in has it."""

from datetime import time
from typing import Any, cast

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts.permissions import needed
from app.alerts import choosing
from app.alerts.rules import LONGEST_AFTER, SEVERITIES, AlertRules, Digest, QuietHours, SeverityRule
from app.errors import Invalid
from app.mail import outbox
from app.web.context import Context
from app.web.forms import Bound, Choice, Field, Flag, Form, Number, Text
from app.web.guards import signed_in
from app.web.pages import done, page
from app.wording import zone_names

SEES = "host.problems"
PACES = {"never": "No mail", "at_once": "A mail each", "digest": "In the digest"}
LABELS = {"critical": "Critical problems", "warning": "Warnings", "info": "Notes"}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = {str(hour): f"{hour:02}:00" for hour in range(24)}
HALF_HOURS = {f"{hour:02}:{minute}": f"{hour:02}:{minute}" for hour in range(24) for minute in ("00", "30")}


def _of_severity(name: str) -> tuple[Field, Field]:
    after = f"{LABELS[name]}: open for"
    return (
        Choice(name, LABELS[name], required=True, options=PACES),
        Number(f"{name}_after", after, required=True, least=0, most=LONGEST_AFTER, unit="minutes"),
    )


DIGEST = (
    Choice("digest", "Comes", required=True, options={"daily": "Every day", "weekly": "Once a week"}),
    Choice("digest_weekday", "On", required=True, options={str(day): name for day, name in enumerate(WEEKDAYS)}),
    Choice("digest_hour", "At", required=True, options=HOURS),
)
QUIET = (
    Choice("quiet_from", "From", options=HALF_HOURS),
    Choice("quiet_to", "To", options=HALF_HOURS),
    Flag("quiet_but_critical", "Critical problems are mailed all the same"),
)
ZONE = Text("zone", "Time zone", required=True, longest=64)
FORM = Form(*(field for name in SEVERITIES for field in _of_severity(name)), *DIGEST, *QUIET, ZONE)


@get("/account/notifications", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    chosen = await choosing.chosen_by(ctx.db, ctx.user.id)
    rules = chosen or await choosing.default_for(ctx.db, ctx.workspace, ctx.user.id)
    shown = _shown(rules) if chosen else _shown(rules) | {"zone": (await ctx.zone()).name}
    return await _page(ctx, FORM.fill(shown), chosen=chosen is not None, tells=rules.tells_something)


@post("/account/notifications", guards=[signed_in], status_code=200)
async def save(ctx: NamedDependency[Context]) -> Response[Any]:
    form = FORM.read(await ctx.form())
    if form.ok:
        try:
            await choosing.choose(ctx.db, ctx.user.id, _rules(form))
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _page(ctx, form, status=422, chosen=True, tells=True)
    return await done(ctx, "/account/notifications", "Your choice was saved. It holds from now on.")


def _shown(rules: AlertRules) -> dict[str, Any]:
    """What stands in the fields."""
    quiet, digest = rules.quiet, rules.digest
    severities = {name: getattr(rules, name) for name in SEVERITIES}
    return {
        **{name: rule.pace for name, rule in severities.items()},
        **{f"{name}_after": rule.after for name, rule in severities.items()},
        "digest": digest.rhythm,
        "digest_weekday": digest.weekday,
        "digest_hour": digest.hour,
        "quiet_from": f"{quiet.starts:%H:%M}" if quiet else None,
        "quiet_to": f"{quiet.ends:%H:%M}" if quiet else None,
        "quiet_but_critical": quiet.but_critical if quiet else True,
        "zone": rules.zone,
    }


def _rules(form: Bound) -> AlertRules:
    """Raises Invalid."""
    critical, warning, info = (SeverityRule(form[name], form[f"{name}_after"]) for name in SEVERITIES)
    return AlertRules(
        critical,
        warning,
        info,
        digest=Digest(form["digest"], int(form["digest_weekday"]), int(form["digest_hour"])),
        quiet=_quiet(form),
        zone=form["zone"],
    )


def _quiet(form: Bound) -> QuietHours | None:
    starts, ends = (cast("str | None", form[name]) for name in ("quiet_from", "quiet_to"))
    if starts is None and ends is None:
        return None
    if starts is None or ends is None:
        raise Invalid.at("quiet_to" if starts else "quiet_from", "Choose both times, or leave both empty.")
    return QuietHours(time.fromisoformat(starts), time.fromisoformat(ends), form["quiet_but_critical"])


async def _page(ctx: Context, form: Bound, *, status: int = 200, chosen: bool, tells: bool) -> Response[str]:
    return await page(
        ctx,
        "host/account_notifications.html",
        status=status,
        form=form,
        severities=SEVERITIES,
        chosen=chosen,
        tells=tells,
        zones=zone_names.by_region(form.shown["zone"]),
        mail_is_on=outbox.is_on(ctx.parts.settings),
        lacks="" if ctx.may(SEES) else needed(SEES),
    )


ROUTES = [show, save]
