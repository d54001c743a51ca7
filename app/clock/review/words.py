"""Taps, shifts and records in words: their roles, and their local times as short as can be. Pure.

The sentences are in review/sentences.py.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.clock.pairing.inputs import Record, TapRole
from app.clock.pairing.shifts import Effect, Shift, Tap
from app.dates import local_exact

ROLE_LABELS = {
    TapRole.IN: "Check In",
    TapRole.OUT: "Check Out",
    TapRole.BREAK_OUT: "Break Out",
    TapRole.BREAK_IN: "Break In",
    TapRole.OT_IN: "Overtime In",
    TapRole.OT_OUT: "Overtime Out",
    TapRole.ANY: "Undirected tap",
}
EFFECT_LABELS = {
    Effect.CLOCK_IN: "clock-in",
    Effect.CLOCK_OUT: "clock-out",
    Effect.BREAK_START: "starts a break",
    Effect.BREAK_END: "ends the break",
    Effect.INNER: "inside, without effect",
    Effect.SLIP: "a slip, without effect",
    Effect.ORPHAN: "on its own",
    Effect.FOLD: "folded",
}


@dataclass(frozen=True, slots=True)
class LocalWords:
    """Times for a person who looks, on the local day `today`, at a punch of the instant `seen_from`."""

    zone: ZoneInfo
    seen_from: datetime
    today: date

    def time(self, at: datetime | None) -> str:
        """Local; the day only where it is another than the punch's."""
        if at is None:
            return "once"
        local = at.astimezone(self.zone)
        own_day = self.seen_from.astimezone(self.zone).date()
        return clock(local) if local.date() == own_day else local_exact(local, self.today)

    def between(self, start: datetime, end: datetime | None) -> str:
        """Both days where they are two: beside the end alone, a start of the day before would read
        as the same day's."""
        if end is None:
            return f"{self.time(start)}–(open)"
        first, last = start.astimezone(self.zone), end.astimezone(self.zone)
        if first.date() != last.date():
            return f"{local_exact(first, self.today)} – {local_exact(last, self.today)}"
        return f"{self.time(start)}–{clock(last)}"

    def hours(self, shift: Shift) -> str:
        out: Tap | None = shift.clock_out
        return self.between(shift.first.at, None if out is None else out.at)

    def record(self, record: Record) -> str:
        name = f"record {record.id}" if record.id > 0 else "a record of the same run"
        return f"{name} ({self.between(record.clock_in, record.clock_out)})"


def clock(local: datetime) -> str:
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"


def length(shift: Shift) -> timedelta:
    return timedelta(0) if shift.clock_out is None else shift.clock_out.at - shift.first.at


def span(length: timedelta) -> str:
    """'45 s', '4 min', '9 h 30 min'; seconds are shown below ten minutes only."""
    seconds = int(length.total_seconds())
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    parts = [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes else []
    parts += [f"{rest} s"] if rest and not hours and minutes < 10 else []  # noqa: PLR2004 -- says the docstring
    return " ".join(parts) or "0 s"
