"""How long a problem may be put off. Pure."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.problems.transitions import UNTIL_IT_CHANGES

SNOOZES: Mapping[str, str] = {
    "hour": "For an hour",
    "tomorrow": "Until tomorrow",
    "monday": "Until Monday",
    "change": "Until it changes",
}
DAYS_OF_A_WEEK = 7


def until(word: str, now: datetime, zone: ZoneInfo) -> datetime:
    """When the snooze ends; days begin at midnight in the workspace's zone,
    and on a Monday *Until Monday* is the next one."""
    today = now.astimezone(zone).date()
    match word:
        case "hour":
            return now + timedelta(hours=1)
        case "tomorrow":
            return _begin(today + timedelta(days=1), zone)
        case "monday":
            return _begin(today + timedelta(days=DAYS_OF_A_WEEK - today.weekday()), zone)
        case _:
            return UNTIL_IT_CHANGES


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)
