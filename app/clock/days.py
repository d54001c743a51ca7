"""Which days a sync reads, and which days are known to be read; dates are local. Pure.

A span is half-open: `until` is outside.

Servers differ in how they read a filter: in UTC instead of the zone, or without its bounds. So a run asks for one day
more at each end than it then counts as read. Slices of one stretch follow each other without a gap, so a shift between
them loses nothing: only the outer ends of a stretch need the extra day.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

DAY = timedelta(days=1)
PAD = DAY
# No clock is further from UTC.
LONGEST_OFFSET = timedelta(hours=18)
# Two clocks that show the same instant are no further apart, in whole days.
CLOCKS_APART = -(-2 * LONGEST_OFFSET // DAY) * DAY
LIVE_DAYS = 3
CHECK_DAYS = 31
CHECK_HOUR = 2
# Punches of older days are history, of which no problem tells.
TOLD_DAYS = 62


@dataclass(frozen=True, slots=True, order=True)
class DaySpan:
    """Days from `first` to before `until`."""

    first: date
    until: date

    @property
    def days(self) -> int:
        return max(0, (self.until - self.first).days)


def asked_bounds(first: date, until: date | None) -> tuple[datetime, datetime | None]:
    """The naive local times to ask with: a second before the first day, and midnight after the last one, because a
    server may leave out rows at exactly the bounds. Servers know whole seconds only."""
    start = datetime.combine(first, time()) - timedelta(seconds=1)
    return start, datetime.combine(until, time()) if until is not None else None


def live_first(today: date, horizon: date) -> date:
    """The first day of the live window, which has no last day."""
    return max(today - LIVE_DAYS * DAY, min(horizon, today))


def gaps(wanted: DaySpan, known: Iterable[DaySpan]) -> list[DaySpan]:
    """The parts of `wanted` that no span of `known` covers, oldest first."""
    found, first = [], wanted.first
    for span in sorted(known):
        if span.first > first:
            found.append(DaySpan(first, min(span.first, wanted.until)))
        first = max(first, span.until)
    found.append(DaySpan(first, wanted.until))
    return [span for span in found if span.days > 0]


def check_is_due(now_local: datetime, last: date | None) -> bool:
    """Once a night: the first run after two in the morning, local time."""
    return now_local.hour >= CHECK_HOUR and (last is None or last < now_local.date())


def days_to_check(today: date, known: Sequence[DaySpan]) -> list[date]:
    """Those of the last 31 days that have been read, latest first. The others will be read anyway."""
    days = (today - number * DAY for number in range(1, CHECK_DAYS + 1))
    return [day for day in days if any(span.first <= day < span.until for span in known)]


def halves(span: DaySpan) -> tuple[DaySpan, DaySpan]:
    middle = span.first + (span.days // 2) * DAY
    return DaySpan(span.first, middle), DaySpan(middle, span.until)
