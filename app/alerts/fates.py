"""When a person is told that a problem opened or closed, what becomes of an alert once its time has come, and when many become
one mail. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from app.alerts.hours import next_digest, quiet_until
from app.alerts.rules import AlertRules, Pace

STORM, STORM_WINDOW = 20, timedelta(minutes=10)
# What waited longer, since no worker ran or mail was off, is dropped: the page Problems shows it.
TOO_OLD: Final = timedelta(days=8)
Fate = Literal["tell", "wait", "drop"]


@dataclass(frozen=True, slots=True)
class AlertInTurn:
    """An alert about a problem for one person. `opened_at`: since when this time, where it opened again. `told`: the person knows that it
    is open. `due_at` is when it was to be told. `closed_at` is None while it is open; `snoozed_until` None where it is not snoozed."""

    kind: str
    severity: str
    opened_at: datetime
    due_at: datetime
    told: bool = False
    closed_at: datetime | None = None
    snoozed_until: datetime | None = None


def pace_of(rules: AlertRules, alert: AlertInTurn) -> Pace:
    """A closing is told as its opening would be."""
    return rules.pace_of(alert.kind, alert.severity)


def due_at(rules: AlertRules, alert: AlertInTurn, now: datetime) -> datetime | None:
    """When to tell the next thing that there is to tell, not before `now`; None for nothing."""
    if _is_settled(rules, alert):
        return None
    at = max(now, alert.opened_at + rules.after(alert.severity) if not alert.told else now)
    if pace_of(rules, alert) == "digest":
        return next_digest(rules, at)
    return _woken(rules, alert, at)


def fate(rules: AlertRules, alert: AlertInTurn, now: datetime) -> tuple[Fate, datetime | None]:
    """Of an alert that is due; with the time until which it waits."""
    if now - alert.due_at > TOO_OLD or _is_settled(rules, alert):
        return "drop", None
    if alert.snoozed_until and alert.snoozed_until > now and not alert.closed_at:
        return "wait", alert.snoozed_until
    at = now if pace_of(rules, alert) == "digest" else _woken(rules, alert, now)
    return ("tell", None) if at <= now else ("wait", at)


def _is_settled(rules: AlertRules, alert: AlertInTurn) -> bool:
    """True where there is nothing to tell: not wanted, told already, or closed before its minutes were over."""
    if pace_of(rules, alert) == "never":
        return True
    if alert.told or alert.closed_at is None:
        return alert.told and alert.closed_at is None
    return alert.closed_at - alert.opened_at < rules.after(alert.severity)


def _woken(rules: AlertRules, alert: AlertInTurn, at: datetime) -> datetime:
    """After the quiet hours, except for what breaks them."""
    if rules.quiet and rules.quiet.but_critical and alert.severity == "critical":
        return at
    return quiet_until(rules.quiet, rules.zone, at) or at


@dataclass(frozen=True, slots=True)
class Lately:
    """What one person got within STORM_WINDOW: single alerts, and when the last mail about many was made."""

    alerts: int = 0
    storm_at: datetime | None = None


def bundled(number: int, lately: Lately, now: datetime) -> tuple[Literal["each", "one", "hold"], datetime | None]:
    """How so many alerts that are due leave: each by itself, all in one mail, or held back until the storm's window is over."""
    if lately.storm_at and (over := lately.storm_at + STORM_WINDOW) > now:
        return "hold", over
    return ("one", None) if number + lately.alerts > STORM else ("each", None)
