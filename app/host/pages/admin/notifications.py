"""`/account/notifications`: of which problems one is told by mail, and when. Everybody who is signed in has it."""

from collections.abc import Sequence
from datetime import time
from typing import Any, cast

from litestar import Response, get, post
from litestar.di import NamedDependency

from app.accounts.permissions import needed
from app.alerts import choosing, replanning
from app.alerts.rules import LONGEST_AFTER, SEVERITIES, AlertRules, Digest, Pace, QuietHours, SeverityRule
from app.errors import Invalid
from app.mail import outbox, unsubscribing
from app.mail.unsubscribing import TOPICS, Wish
from app.problems.kinds import kinds, visible
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
    Choice(
        "digest_weekday",
        "On",
        required=True,
        options={str(day): name for day, name in enumerate(WEEKDAYS)},
        help="For a digest once a week.",
    ),
    Choice("digest_hour", "At", required=True, options=HOURS),
)
QUIET = (
    Choice("quiet_from", "From", options=HALF_HOURS),
    Choice("quiet_to", "To", options=HALF_HOURS),
    Flag("quiet_but_critical", "Critical problems are mailed all the same"),
)
ZONE = Text("zone", "Time zone", required=True, longest=64)
OF_KIND, OF_TOPIC = "kind-", "topic-"
TOPIC_FLAGS = tuple(Flag(f"{OF_TOPIC}{topic}", label) for topic, label in TOPICS.items())
AS_SEVERITY = ""


def _form(kinds_seen: Sequence[str]) -> Form:
    """With a field for each kind of problem that the person may see."""
    options = {AS_SEVERITY: "As its severity", **PACES}
    of_kinds = (Choice(f"{OF_KIND}{name}", kinds()[name].label, options=options) for name in kinds_seen)
    of_severities = (field for name in SEVERITIES for field in _of_severity(name))
    return Form(*of_severities, *of_kinds, *DIGEST, *QUIET, ZONE, *TOPIC_FLAGS)


@get("/account/notifications", guards=[signed_in])
async def show(ctx: NamedDependency[Context]) -> Response[Any]:
    chosen = await choosing.chosen_by(ctx.db, ctx.user.id)
    rules = chosen or await choosing.default_for(ctx.db, ctx.workspace, ctx.user.id)
    ended = await unsubscribing.refused_by(ctx.db, ctx.user.id)
    shown = _shown(rules) | {flag.name: flag.name.removeprefix(OF_TOPIC) not in ended for flag in TOPIC_FLAGS}
    shown |= {} if chosen else {"zone": (await ctx.zone()).name}
    return await _page(ctx, _form(_seen(ctx)).fill(shown), chosen=chosen is not None, tells=rules.tells_something)


@post("/account/notifications", guards=[signed_in], status_code=200)
async def save(ctx: NamedDependency[Context]) -> Response[Any]:
    form = _form(_seen(ctx)).read(await ctx.form())
    if form.ok:
        try:
            before = await choosing.chosen_by(ctx.db, ctx.user.id)
            await choosing.choose(ctx.db, ctx.user.id, _rules(form, before))
            await _end_or_allow(ctx, form)
            await replanning.plan_again(ctx.db, ctx.user.id)
        except Invalid as refused:
            form.absorb(refused)
    if not form.ok:
        return await _page(ctx, form, status=422, chosen=True, tells=True)
    return await done(ctx, "/account/notifications", "Your choice was saved. It holds from now on.")


async def _end_or_allow(ctx: Context, form: Bound) -> None:
    """As the links in mails do."""
    for topic in TOPICS:
        act = unsubscribing.allow if form[f"{OF_TOPIC}{topic}"] else unsubscribing.refuse
        await act(ctx.db, Wish(ctx.user.id, topic))


def _seen(ctx: Context) -> Sequence[str]:
    """The kinds of problems that the person may be told of, the critical ones first."""
    if not ctx.may(SEES):
        return ()
    seen = visible(ctx.user.permissions, ctx.workspace)
    return sorted(seen, key=lambda name: (SEVERITIES.index(kinds()[name].severity), kinds()[name].label))


def _shown(rules: AlertRules) -> dict[str, Any]:
    """What stands in the fields."""
    quiet, digest = rules.quiet, rules.digest
    severities = {name: getattr(rules, name) for name in SEVERITIES}
    return {
        **{name: rule.pace for name, rule in severities.items()},
        **{f"{name}_after": rule.after for name, rule in severities.items()},
        **{f"{OF_KIND}{name}": rules.kinds.get(name, AS_SEVERITY) for name in kinds()},
        "digest": digest.rhythm,
        "digest_weekday": digest.weekday,
        "digest_hour": digest.hour,
        "quiet_from": f"{quiet.starts:%H:%M}" if quiet else None,
        "quiet_to": f"{quiet.ends:%H:%M}" if quiet else None,
        "quiet_but_critical": quiet.but_critical if quiet else True,
        "zone": rules.zone,
    }


def _rules(form: Bound, before: AlertRules | None) -> AlertRules:
    """What was chosen earlier for kinds that the person does not see now stays. Raises Invalid."""
    critical, warning, info = (SeverityRule(form[name], form[f"{name}_after"]) for name in SEVERITIES)
    return AlertRules(
        critical,
        warning,
        info,
        kinds=_kinds_of(form, before),
        digest=Digest(form["digest"], int(form["digest_weekday"]), int(form["digest_hour"])),
        quiet=_quiet(form),
        zone=form["zone"],
    )


def _kinds_of(form: Bound, before: AlertRules | None) -> dict[str, Pace]:
    """Those that do not follow their severity."""
    posted = {name.removeprefix(OF_KIND): form[name] for name in form.fields if name.startswith(OF_KIND)}
    unseen = {name: pace for name, pace in (before.kinds if before else {}).items() if name not in posted}
    return unseen | {name: pace for name, pace in posted.items() if pace in PACES}


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
        topics=[flag.name for flag in TOPIC_FLAGS],
        single_kinds=[name for name in form.fields if name.startswith(OF_KIND)],
        differing=any(form.shown[name] not in (None, AS_SEVERITY) for name in form.fields if name.startswith(OF_KIND)),
        chosen=chosen,
        tells=tells,
        zones=zone_names.by_region(form.shown["zone"]),
        mail_is_on=outbox.is_on(ctx.parts.settings),
        lacks="" if ctx.may(SEES) else needed(SEES),
    )


ROUTES = [show, save]
