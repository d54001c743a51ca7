"""Hours that are probably a mistake: they are refused, or asked about. It reads no clock.

Hours that can't be kept: hours.py.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from app.errors import FieldError, Invalid
from app.host.attendance.hours import Hours, problems

# Longer hours are mostly a wrong date.
DAY = timedelta(days=1)
IN_THE_FUTURE = "This time is in the future. Check the date."
TICK = "If it is right, tick the box below."


def doubts(hours: Hours, now: datetime, old: Hours | None, *, agreed: bool) -> list[FieldError]:
    """New times in the future, and new hours of more than a day without a person's word. `old`: those that the record
    has already."""
    if found := _in_the_future(hours, now, _times(old).values() if old else ()):
        return found
    if problems(hours):
        return []
    is_new = old is None or (old.clock_in, old.clock_out) != (hours.clock_in, hours.clock_out)
    if agreed or not is_new or hours.clock_out is None or hours.clock_out - hours.clock_in <= DAY:
        return []
    minutes = (hours.clock_out - hours.clock_in) // timedelta(minutes=1)
    length = f"{minutes // 60} h {minutes % 60:02} min"
    return [FieldError("clock_out", f"From clock-in to clock-out it is {length}. Check the dates. {TICK}")]


def refuse_future(hours: Hours, now: datetime, old: Hours | None = None) -> None:
    """The part of `doubts` that needs no person to agree. Raises Invalid."""
    if found := _in_the_future(hours, now, _times(old).values() if old else ()):
        raise Invalid(IN_THE_FUTURE, details=found)


def _in_the_future(hours: Hours, now: datetime, known: Collection[datetime]) -> list[FieldError]:
    return [FieldError(name, IN_THE_FUTURE) for name, one in _times(hours).items() if one > now and one not in known]


def _times(hours: Hours) -> dict[str, datetime]:
    ends = {"clock_in": hours.clock_in, **({"clock_out": hours.clock_out} if hours.clock_out else {})}
    return ends | {f"break_{at}": back for at, (_, back) in enumerate(hours.breaks, 1)}
