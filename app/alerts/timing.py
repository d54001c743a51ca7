"""Decides when a person is told of a problem: at once, later, never, or together with others in one mail. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from app.alerts.hours import after_quiet, next_digest
from app.alerts.rules import AlertRules, Pace

STORM, STORM_WINDOW = 20, timedelta(minutes=10)
# An alert that waited longer, because no worker ran or mail was off, is dropped: the page Problems shows the problem.
TOO_OLD: Final = timedelta(days=8)
# A snooze may end before its time, when there is something new or a person ends it.
# So a waiting alert is looked at again.
LOOKS_AGAIN: Final = timedelta(hours=1)
Fate = Literal["tell", "wait", "drop"]
# How far a person has been told: see app.alerts.models.ProblemAlert.
State = Literal["waiting", "told", "closing", "over"]
STATES: Final[tuple[State, ...]] = get_args(State)


@dataclass(frozen=True, slots=True)
class AlertInTurn:
    """What one person must still be told of a problem. `opened_at` is when the problem opened, the last time if it
    opened again. Without `due_at` there is nothing to tell; without `closed_at` the problem is open; without
    `snoozed_until` it is not snoozed."""

    kind: str
    severity: str
    opened_at: datetime
    state: State = "waiting"
    due_at: datetime | None = None
    closed_at: datetime | None = None
    snoozed_until: datetime | None = None


def opened(rules: AlertRules, alert: AlertInTurn, at: datetime, now: datetime) -> AlertInTurn:
    """The alert after the news that the problem opened at `at`. If the person was not told yet that it had closed,
    there is nothing new to tell."""
    if alert.state == "closing":
        return replace(alert, state="told", due_at=None)
    return planned(rules, replace(alert, state="waiting", opened_at=at), now) if alert.state == "over" else alert


def closed(rules: AlertRules, alert: AlertInTurn, now: datetime) -> AlertInTurn:
    """The alert after the news that the problem closed: `closed_at` says when. Without `closed_at` the problem opened
    again since, and a person who was told of it knows that it is open."""
    match alert.state:
        case "told" if alert.closed_at is None:
            return alert
        case "told":
            return planned(rules, replace(alert, state="closing"), now)
        case "waiting":
            return alert if due_at(rules, alert, now) else replace(alert, state="over", due_at=None)
        case _:
            return alert


def planned(rules: AlertRules, alert: AlertInTurn, now: datetime) -> AlertInTurn:
    """The alert with the time at which it is told; it is over when there is nothing to tell."""
    at = due_at(rules, alert, now)
    over = at is None and alert.state != "told"
    return replace(alert, state="over" if over else alert.state, due_at=at)


def told(alert: AlertInTurn) -> AlertInTurn:
    """The alert after its mail was handed over."""
    knows_it_open = alert.state == "waiting" and alert.closed_at is None
    return replace(alert, state="told" if knows_it_open else "over", due_at=None)


def missed(alert: AlertInTurn, now: datetime) -> AlertInTurn:
    """The alert after the mail about its opening was dropped: the person knows nothing of the problem. If the mail
    about its closing left already, the alert is over."""
    return alert if alert.state == "over" else replace(alert, state="waiting", due_at=alert.due_at or now)


def pace_of(rules: AlertRules, alert: AlertInTurn) -> Pace:
    """A closing is told at the pace of its opening."""
    return rules.pace_of(alert.kind, alert.severity)


def due_at(rules: AlertRules, alert: AlertInTurn, now: datetime) -> datetime | None:
    """When to tell the next thing, at `now` or later. Returns None when there is nothing to tell."""
    if _is_settled(rules, alert):
        return None
    at = max(now, alert.opened_at + rules.after(alert.severity)) if alert.state == "waiting" else now
    if pace_of(rules, alert) == "digest":
        return next_digest(rules, at)
    return after_quiet(rules.quiet, rules.zone, alert.severity, at)


def sum_at(rules: AlertRules, kinds: Iterable[tuple[str, str]], now: datetime) -> datetime:
    """When a sum of problems of these kinds, each with its severity, is told: with the first of them."""
    return min(
        next_digest(rules, now)
        if rules.pace_of(kind, severity) == "digest"
        else after_quiet(rules.quiet, rules.zone, severity, now)
        for kind, severity in kinds
    )


def fate(rules: AlertRules, alert: AlertInTurn, now: datetime) -> tuple[Fate, datetime | None]:
    """What becomes of a due alert, and until when it waits if it must."""
    if alert.due_at is None or now - alert.due_at > TOO_OLD or _is_settled(rules, alert):
        return "drop", None
    if alert.snoozed_until and alert.snoozed_until > now and not alert.closed_at:
        return "wait", min(alert.snoozed_until, now + LOOKS_AGAIN)
    is_digest = pace_of(rules, alert) == "digest"
    at = now if is_digest else after_quiet(rules.quiet, rules.zone, alert.severity, now)
    return ("tell", None) if at <= now else ("wait", at)


def _is_settled(rules: AlertRules, alert: AlertInTurn) -> bool:
    """True when there is nothing to tell: the person does not want it, was told already, or the problem closed before
    its minutes were over."""
    if pace_of(rules, alert) == "never" or alert.state in ("told", "over"):
        return True
    if alert.state == "closing":
        return alert.closed_at is None
    return alert.closed_at is not None and alert.closed_at - alert.opened_at < rules.after(alert.severity)


@dataclass(frozen=True, slots=True)
class Lately:
    """What one person got within STORM_WINDOW: the number of single alerts,
    and when the last mail about many was made."""

    alerts: int = 0
    storm_at: datetime | None = None


def bundled(number: int, lately: Lately, now: datetime) -> tuple[Literal["each", "one", "hold"], datetime | None]:
    """How this many due alerts leave: each by itself, all in one mail, or later, when the storm's window is over."""
    if lately.storm_at and (over := lately.storm_at + STORM_WINDOW) > now:
        return "hold", over
    return ("one", None) if number + lately.alerts > STORM else ("each", None)
