"""Quiet hours and digests in a person's zone, across midnight and across the days on which clocks change. Pure.

A wall-clock time becomes an instant before anything is compared. A repeated hour is the first one. A missing hour is as
long after midnight as its clock says.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.alerts.rules import AlertRules, Digest, QuietHours

_DAY = timedelta(days=1)
_WEEK = 7


def after_quiet(quiet: QuietHours | None, zone: str, severity: str, at: datetime) -> datetime:
    """When a mail that could leave at `at` leaves: it waits for the end of the quiet hours,
    unless its severity breaks them."""
    if quiet and quiet.but_critical and severity == "critical":
        return at
    return quiet_until(quiet, zone, at) or at


def quiet_until(quiet: QuietHours | None, zone: str, now: datetime) -> datetime | None:
    """When the quiet hours around `now` end; None outside of them."""
    if quiet is None or quiet.starts == quiet.ends:
        return None
    info = ZoneInfo(zone)
    today = now.astimezone(info).date()
    spans = (_span(quiet, info, day) for day in (today - _DAY, today))
    return next((ends for starts, ends in spans if starts <= now < ends), None)


def _span(quiet: QuietHours, zone: ZoneInfo, day: date) -> tuple[datetime, datetime]:
    """The quiet hours that begin on the day."""
    last = day + _DAY if quiet.ends < quiet.starts else day
    return _instant(day, quiet.starts, zone), _instant(last, quiet.ends, zone)


def next_digest(rules: AlertRules, since: datetime) -> datetime:
    """The first digest at `since` or later."""
    zone = ZoneInfo(rules.zone)
    first = since.astimezone(zone).date()
    days = (first + _DAY * number for number in range(_WEEK + 2))
    times = (_instant(day, time(rules.digest.hour), zone) for day in days if _is_day(rules.digest, day))
    return next(at for at in times if at >= since)


def _is_day(digest: Digest, day: date) -> bool:
    return digest.rhythm == "daily" or day.weekday() == digest.weekday


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)
