"""On which days the rounds of a survey open, and which one is due now. Pure.

A round opens when its day begins in the zone of the workspace, and ends after its number of days there, whatever hours
these have. In a month that is too short for the day of the first round, the round opens on the last day; the next month
has the day itself again.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from app.surveys.rounds.repeats import Repeat

_MONTHS: Final = {"month": 1, "quarter": 3}
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Round:
    """`number` counts from 1 by the calendar, with rounds that never opened. The round is open from `starts_at` until
    before `ends_at`."""

    number: int
    day: date
    starts_at: datetime
    ends_at: datetime


def day_of(repeat: Repeat, number: int) -> date:
    """The day of a round, from 1 on."""
    if repeat.every in _MONTHS:
        return months_later(repeat.starts_on, (number - 1) * _MONTHS[repeat.every])
    return repeat.starts_on + timedelta(days=(number - 1) * _length(repeat))


def latest(repeat: Repeat, on: date) -> int:
    """The number of the last round whose day is not after `on`; 0 before the first."""
    if on < repeat.starts_on:
        return 0
    if repeat.every in _MONTHS:
        months = (on.year - repeat.starts_on.year) * 12 + on.month - repeat.starts_on.month
        number = months // _MONTHS[repeat.every] + 1
        number -= day_of(repeat, number) > on
    else:
        number = (on - repeat.starts_on).days // _length(repeat) + 1
    return min(number, repeat.times or number)


def opened(repeat: Repeat, number: int, zone: ZoneInfo) -> Round:
    day = day_of(repeat, number)
    return Round(number, day, _begins(day, zone), _begins(day + timedelta(days=repeat.open_days), zone))


def due(repeat: Repeat, after: date, now: datetime, zone: ZoneInfo) -> Round | None:
    """The round to open now: its day is later than `after`, the day of the last opened round, and it has not ended. If
    several were missed, only the last one."""
    number = latest(repeat, now.astimezone(zone).date())
    found = opened(repeat, number, zone) if number else None
    return found if found and found.day > after and found.starts_at <= now < found.ends_at else None


def following(repeat: Repeat, after: date, now: datetime, zone: ZoneInfo) -> Round | None:
    """The next round that opens: the one that is due now, or the first later one; None when none is left."""
    if found := due(repeat, after, now, zone):
        return found
    number = latest(repeat, max(after, now.astimezone(zone).date())) + 1
    return None if repeat.times is not None and number > repeat.times else opened(repeat, number, zone)


def joined(repeat: Repeat, now: datetime, zone: ZoneInfo) -> Round | None:
    """The round of a version that is published now: the open one, or the next one; None when all have ended."""
    return following(repeat, date.min, now, zone)


def is_over(repeat: Repeat, now: datetime) -> bool:
    """True once the last round has ended in every zone of the world."""
    if repeat.times is None:
        return False
    last = day_of(repeat, repeat.times) + timedelta(days=repeat.open_days)
    return last + timedelta(days=1) < now.astimezone(UTC).date()


def _length(repeat: Repeat) -> int:
    return _WEEK if repeat.every == "week" else repeat.days or 1


def months_later(day: date, months: int) -> date:
    """The same day of another month, or the last day of that month."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _begins(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a day. When clocks skip midnight, it is the hour to which they jump."""
    return datetime.combine(day, time(), zone).astimezone(UTC)
