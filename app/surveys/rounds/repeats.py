"""How a survey repeats: the rule that an author gives, its limits, and its words. On which days: calendar. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from app.counting import count
from app.dates import day_words
from app.errors import FieldError

EVERY: Final = {"week": "Week", "month": "Month", "quarter": "Quarter", "days": "Number of days"}
# The shortest time between two rounds, in days, so that one ends before the next opens: 28 for a February, 89 for a
# quarter with a February.
_SHORTEST: Final = {"week": 7, "month": 28, "quarter": 89}
DAYS: Final = (1, 366)
TIMES: Final = (1, 500)
# Later days would lead to rounds beyond the last year of the calendar.
YEARS: Final = (1970, 2999)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Round 1 opens on `starts_on`, the others after each week, month or quarter, or after `days` days; each stays open
    for `open_days` days. `times`: the number of rounds, None for no end. Days are days of the workspace."""

    every: str
    open_days: int
    starts_on: date
    days: int | None = None
    times: int | None = None

    @property
    def sentence(self) -> str:
        """“Every month from Tue 1 Dec 2026 on, each time for 7 days, 6 times”."""
        pace = self.every if self.every != "days" else "day" if self.days == 1 else f"{self.days} days"
        times = "" if self.times is None else f", {count(self.times, 'time', 'times')}"
        return f"Every {pace} from {day_words(self.starts_on, None)} on, each time for {count(self.open_days, 'day', 'days')}{times}"


def problems(repeat: Repeat) -> Iterator[FieldError]:
    if repeat.every not in EVERY:
        yield FieldError("repeat.every", f"Choose one of {', '.join(EVERY)}.")
        return
    yield from _days(repeat)
    yield from between("repeat.times", repeat.times, TIMES, "times")
    longest = _SHORTEST.get(repeat.every, repeat.days or 1)
    if not 1 <= repeat.open_days <= longest:
        days = "1 day" if longest == 1 else f"1 to {longest} days"
        yield FieldError("repeat.open_days", f"Give {days}: a round ends before the next one opens.")
    first, last = YEARS
    if not first <= repeat.starts_on.year <= last:
        yield FieldError("repeat.starts_on", f"Give a day in the years {first} to {last}.")


def _days(repeat: Repeat) -> Iterator[FieldError]:
    if repeat.every != "days":
        if repeat.days is not None:
            yield FieldError("repeat.days", f"Leave this out: it repeats every {repeat.every}.")
    elif repeat.days is None:
        yield FieldError("repeat.days", "Give the number of days from one round to the next.")
    else:
        yield from between("repeat.days", repeat.days, DAYS, "days")


def between(field: str, value: int | None, bounds: tuple[int, int], unit: str) -> Iterator[FieldError]:
    """The error at the field, when a value is there and out of bounds."""
    least, most = bounds
    if value is not None and not least <= value <= most:
        yield FieldError(field, f"Give {least} to {most} {unit}.")


def written(repeat: Repeat | None) -> dict[str, Any] | None:
    """The form in files and rows, in one order, without unused values."""
    if repeat is None:
        return None
    bounds = {name: value for name in ("days", "times") if (value := getattr(repeat, name)) is not None}
    return {
        "every": repeat.every,
        **bounds,
        "open_days": repeat.open_days,
        "starts_on": repeat.starts_on.isoformat(),
    }


def read(stored: Mapping[str, Any] | None) -> Repeat | None:
    """Reads what `written` wrote."""
    if stored is None:
        return None
    starts_on = date.fromisoformat(stored["starts_on"])
    return Repeat(stored["every"], stored["open_days"], starts_on, stored.get("days"), stored.get("times"))
