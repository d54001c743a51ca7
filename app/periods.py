"""Days that a list is narrowed to by a word, so that an address (and a saved view) stays right tomorrow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

Days = tuple[date, date]
DAY, WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Period:
    """`days` takes today, in the zone that the list's days are meant in; both ends are included.
    Weeks begin on Monday."""

    label: str
    days: Callable[[date], Days]


def today_in(zone: str) -> date:
    """`zone` is an IANA name."""
    return datetime.now(ZoneInfo(zone)).date()


def _week(of: date) -> Days:
    monday = of - of.weekday() * DAY
    return monday, monday + 6 * DAY


def _month(of: date) -> Days:
    first = of.replace(day=1)
    return first, (first + 31 * DAY).replace(day=1) - DAY


PERIODS: Mapping[str, Period] = {
    "today": Period("Today", lambda today: (today, today)),
    "yesterday": Period("Yesterday", lambda today: (today - DAY, today - DAY)),
    "this-week": Period("This week", _week),
    "last-week": Period("Last week", lambda today: _week(today - WEEK)),
    "this-month": Period("This month", _month),
    "last-month": Period("Last month", lambda today: _month(today.replace(day=1) - DAY)),
}
# For a form that offers them.
PERIOD_OPTIONS = [{"value": word, "label": one.label} for word, one in PERIODS.items()]
