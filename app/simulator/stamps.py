"""Times as the server writes and reads them: no zone in the text, in whatever zone the caller is told."""

import re
from datetime import date, datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

StampStyle = Literal["plain", "trailing_space", "us", "iso_offset"]

QUARTER = 900
CLOCK = tuple(f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(86400))
WRITTEN = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?: (\d{2}):(\d{2}):(\d{2}))?")
EPOCH_DAY = date(1970, 1, 1).toordinal()


class Layout(NamedTuple):
    """How one style writes a date, what joins it to the clock, and what follows. `%offset` follows as +HHMM."""

    day: str
    joiner: str
    tail: str


LAYOUTS: dict[StampStyle, Layout] = {
    "plain": Layout("{:%Y-%m-%d}", " ", ""),
    "trailing_space": Layout("{:%Y-%m-%d}", " ", " "),
    "us": Layout("{:%m/%d/%Y}", " ", ""),
    "iso_offset": Layout("{:%Y-%m-%d}", "T", "%offset"),
}


class Offsets(dict[int, int]):
    """Seconds east of UTC for each quarter of an hour since the epoch, as they are asked for."""

    def __init__(self, zone: ZoneInfo) -> None:
        super().__init__()
        self.zone = zone

    def __missing__(self, quarter: int) -> int:
        moment = datetime.fromtimestamp(quarter * QUARTER, self.zone)
        offset = moment.utcoffset()
        self[quarter] = seconds = 0 if offset is None else int(offset.total_seconds())
        return seconds


class Days(dict[int, str]):
    """The written form of each day since the epoch, as they are asked for."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout

    def __missing__(self, day: int) -> str:
        # strftime leaves years before 1000 unpadded, and terminals with flat batteries reach no further back than 1970
        self[day] = text = self.layout.day.format(date.fromordinal(day + EPOCH_DAY)) + self.layout.joiner
        return text


class Stamps:
    """Writes instants (epoch seconds) and dates for one zone, in one style."""

    def __init__(self, zone: ZoneInfo, style: StampStyle) -> None:
        self.zone = zone
        self.style = style
        self._layout = LAYOUTS[style]
        self._offsets = Offsets(zone)
        self._days = Days(self._layout)
        self._tail = self._layout.tail

    def time(self, instant: int) -> str:
        """An instant as local text."""
        offset = self._offsets[instant // QUARTER]
        day, second = divmod(instant + offset, 86400)
        text = self._days[day] + CLOCK[second]
        if not self._tail:
            return text
        return text + (_written_offset(offset) if self._tail == "%offset" else self._tail)

    def date(self, day: date) -> str:
        """A date; a trailing space trails here as well."""
        tail = " " if self.style == "trailing_space" else ""
        return self._layout.day.format(day) + tail


def _written_offset(seconds: int) -> str:
    sign = "-" if seconds < 0 else "+"
    hours, rest = divmod(abs(seconds), 3600)
    return f"{sign}{hours:02d}{rest // 60:02d}"


def read_stamp(text: str, zone: ZoneInfo) -> int | None:
    """`YYYY-MM-DD HH:MM:SS` or `YYYY-MM-DD` in this zone as epoch seconds; None when it is anything else."""
    found = WRITTEN.fullmatch(text)
    if found is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        return int(datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp())
    except (ValueError, OverflowError):
        return None
