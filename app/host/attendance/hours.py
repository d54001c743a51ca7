"""What one attendance record says: the hours somebody worked. It opens no session and reads no clock.

Intervals are half-open; a record without clock-out covers its clock-in instant alone (docs/rules.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Self
from zoneinfo import ZoneInfo

from sqlalchemy.dialects.postgresql import Range

from app.errors import FieldError

KINDS = ("regular", "overtime")
STATUSES = ("pending", "approved", "rejected", "auto_closed")
SOURCES = ("clock", "manual")
LONGEST = timedelta(days=7)
# What a record without a clock-out covers; instants are exact to the microsecond.
INSTANT = timedelta(microseconds=1)
MOST_BREAKS = 20
YEARS = range(2000, 2101)
WRONG_YEAR = f"Give a year from {YEARS[0]} to {YEARS[-1]}."

Break = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Hours:
    """All instants are aware. Breaks are (out, back), in time order."""

    clock_in: datetime
    clock_out: datetime | None = None
    breaks: tuple[Break, ...] = ()
    kind: str = "regular"

    @classmethod
    def of(cls, record: Any) -> Self:
        """The hours of an attendance record, or of a row that has its columns."""
        breaks = tuple((pause.lower, pause.upper) for pause in record.breaks)
        return cls(record.clock_in, record.clock_out, breaks, record.kind)

    @property
    def ranges(self) -> list[Range[datetime]]:
        """The breaks as the column holds them."""
        return [Range(out, back, bounds="[)") for out, back in self.breaks]

    @property
    def paused(self) -> timedelta:
        return sum((back - out for out, back in self.breaks), timedelta())

    @property
    def worked(self) -> timedelta | None:
        """From clock-in to clock-out, less the breaks; None while the record is open."""
        return None if self.clock_out is None else self.clock_out - self.clock_in - self.paused

    @property
    def covered_until(self) -> datetime:
        """The end of what the record covers: an open one ends right after its clock-in."""
        return self.clock_out or self.clock_in + INSTANT

    def workday(self, zone: ZoneInfo) -> date:
        """The local date of the clock-in."""
        return self.clock_in.astimezone(zone).date()

    def told(self) -> dict[str, Any]:
        """The hours as the audit and `edited_from` keep them, instants in UTC."""
        return {
            "kind": self.kind,
            "clock_in": _z(self.clock_in),
            "clock_out": _z(self.clock_out) if self.clock_out else None,
            "breaks": [[_z(out), _z(back)] for out, back in self.breaks],
        }

    @classmethod
    def heard(cls, told: dict[str, Any]) -> Self:
        """The reverse of `told`."""
        end = told["clock_out"]
        breaks = tuple((datetime.fromisoformat(out), datetime.fromisoformat(back)) for out, back in told["breaks"])
        return cls(
            datetime.fromisoformat(told["clock_in"]), datetime.fromisoformat(end) if end else None, breaks, told["kind"]
        )


def problems(hours: Hours) -> list[FieldError]:
    """What is wrong with hours that a person gave; empty when they may be kept."""
    if hours.kind not in KINDS:
        return [FieldError("kind", "Choose regular or overtime.")]
    instants = [hours.clock_in, hours.clock_out, *(one for pause in hours.breaks for one in pause)]
    if any(one.year not in YEARS for one in instants if one is not None):
        return [FieldError("clock_in", WRONG_YEAR)]
    return [*_span_problems(hours), *_break_problems(hours)]


def _span_problems(hours: Hours) -> list[FieldError]:
    if hours.clock_out is None:
        return []
    if hours.clock_out <= hours.clock_in:
        return [FieldError("clock_out", "The clock-out must be after the clock-in.")]
    if hours.clock_out - hours.clock_in > LONGEST:
        return [FieldError("clock_out", f"A record covers at most {LONGEST.days} days. Check the dates.")]
    return []


def _break_problems(hours: Hours) -> list[FieldError]:
    if len(hours.breaks) > MOST_BREAKS:
        return [FieldError("breaks", f"At most {MOST_BREAKS} breaks.")]
    found = [
        FieldError(f"break_{at}", sentence)
        for at, pause in enumerate(hours.breaks, 1)
        if (sentence := _break_problem(hours, pause))
    ]
    return found or _collisions(hours.breaks)


def _break_problem(hours: Hours, pause: Break) -> str | None:
    out, back = pause
    if back <= out:
        return "The end of the break must be after its start."
    if out < hours.clock_in or (hours.clock_out is not None and back > hours.clock_out):
        return "The break must lie between clock-in and clock-out."
    return None


def _collisions(breaks: Sequence[Break]) -> list[FieldError]:
    last_end = datetime.min.replace(tzinfo=UTC)
    for at, (out, back) in sorted(enumerate(breaks, 1), key=lambda item: item[1]):
        if out < last_end:
            return [FieldError(f"break_{at}", "This break overlaps another one.")]
        last_end = back
    return []


def in_order(hours: Hours) -> Hours:
    """The same hours with the breaks in time order."""
    return Hours(hours.clock_in, hours.clock_out, tuple(sorted(hours.breaks)), hours.kind)


def _z(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
