"""The form of `/account/notifications`: its fields, and what they mean. A person who may not see problems has only the
topics of mails."""

from collections.abc import Collection, Sequence
from datetime import time
from typing import Any, cast

from app.alerts.rules import LONGEST_AFTER, SEVERITIES, AlertRules, Digest, Pace, QuietHours, SeverityRule
from app.dates import WEEKDAYS
from app.errors import Invalid
from app.mail.unsubscribing import SURVEYS, TOPICS
from app.problems.kinds import kinds
from app.web.fields import Choice, Field, Flag, Number, Text
from app.web.forms import Bound, Form

PACES = {"never": "No mail", "at_once": "A mail each", "digest": "In the digest"}
LABELS = {"critical": "Critical problems", "warning": "Warnings", "info": "Info"}
HOURS = {str(hour): f"{hour:02}:00" for hour in range(24)}
HALF_HOURS = {f"{hour:02}:{minute}": f"{hour:02}:{minute}" for hour in range(24) for minute in ("00", "30")}
OF_KIND, OF_TOPIC, AS_SEVERITY = "kind-", "topic-", ""


def _of_severity(name: str) -> tuple[Field, Field]:
    after = f"{LABELS[name]}: open for"
    return (
        Choice(name, LABELS[name], required=True, options=PACES),
        Number(f"{name}_after", after, required=True, least=0, most=LONGEST_AFTER, unit="minutes"),
    )


WHEN = (
    Choice("digest", "Comes", required=True, options={"daily": "Every day", "weekly": "Once a week"}),
    Choice(
        "digest_weekday",
        "On",
        required=True,
        options={str(day): name for day, name in enumerate(WEEKDAYS)},
        help="For a digest once a week.",
    ),
    Choice("digest_hour", "At", required=True, options=HOURS),
    Choice("quiet_from", "From", options=HALF_HOURS),
    Choice("quiet_to", "To", options=HALF_HOURS),
    Flag("quiet_but_critical", "Critical problems are mailed all the same"),
    Text("zone", "Time zone", required=True, longest=64),
)
FLAGS = {topic: Flag(f"{OF_TOPIC}{topic}", label) for topic, label in TOPICS.items()}
TOPICS_ALONE = Form(FLAGS[SURVEYS])


def form_for(kinds_seen: Collection[str]) -> Form:
    """With a field for each kind of problem that the person may see, the critical ones first."""
    in_order = sorted(kinds_seen, key=lambda name: (SEVERITIES.index(kinds()[name].severity), kinds()[name].label))
    options = {AS_SEVERITY: "As its severity", **PACES}
    of_kinds = (Choice(f"{OF_KIND}{name}", kinds()[name].label, options=options) for name in in_order)
    of_severities = (field for name in SEVERITIES for field in _of_severity(name))
    return Form(*of_severities, *of_kinds, *WHEN, *FLAGS.values())


def topics_in(form: Bound) -> Sequence[str]:
    """The topics of mails that the form asks about."""
    return [topic for topic, flag in FLAGS.items() if flag.name in form.fields]


def shown(rules: AlertRules, ended: Collection[str]) -> dict[str, Any]:
    """The values of the fields. `ended` are topics that the person has ended."""
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
        **{flag.name: topic not in ended for topic, flag in FLAGS.items()},
    }


def rules_in(form: Bound, before: AlertRules | None) -> AlertRules:
    """Choices for kinds that the person does not see now stay as they are. Raises Invalid."""
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
    """The kinds that do not follow their severity."""
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
