"""How long the clock, or a terminal, may send no punch before that is a problem. Pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.clock.days import CHECK_DAYS, LIVE_DAYS
from app.clock.figures.thresholds import SWITCHED_OFF

SATURDAY = 5


def is_silent(last: datetime | None, now: datetime, zone: ZoneInfo, silence_hours: int) -> bool:
    """True when more than `silence_hours` of working days have passed without a punch. Saturdays and Sundays in `zone`
    do not count: a weekend is no silence."""
    if last is None:
        return True
    return _working_hours(last.astimezone(zone), now.astimezone(zone)) > silence_hours


def is_silent_terminal(last: datetime | None, state: str, now: datetime, silence_hours: int) -> bool:
    """True for a terminal that is not offline, and has sent no punch for LIVE_DAYS times `silence_hours`, but one
    within a month. Weekends are not left out here."""
    if last is None or state == "offline":
        return False
    return now - SWITCHED_OFF < last < now - LIVE_DAYS * timedelta(hours=silence_hours)


def _working_hours(since: datetime, until: datetime) -> float:
    """Hours between two local times, without Saturdays and Sundays. Only the last CHECK_DAYS count."""
    since = max(since, until - timedelta(days=CHECK_DAYS))
    hours, day = 0.0, since.date()
    while day <= until.date():
        if day.weekday() < SATURDAY:
            begins = datetime.combine(day, time(), since.tzinfo)
            start, end = max(since, begins), min(until, begins + timedelta(days=1))
            hours += max(0.0, (end - start).total_seconds() / 3600)
        day += timedelta(days=1)
    return hours
