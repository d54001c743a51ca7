"""Times and dates as servers write them, read strictly: local text to a local time and an instant. Pure."""

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.clock.days import LONGEST_OFFSET
from app.outbound import shortened

EARLIEST_YEAR, LATEST_YEAR = 1900, 9990
_CACHED_HOURS = 20_000

_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,6}))?"
_YMD = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_MDY = r"(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/(?P<year>[0-9]{4})"
_OFFSET = r"(?: ?(?P<offset>Z|[+-][0-9]{2}:?[0-9]{2}))?"
_TIMES = (re.compile(f"{_YMD}[ T]{_CLOCK}{_OFFSET}"), re.compile(f"{_MDY} {_CLOCK}"))
_DATES = (re.compile(f"{_YMD}(?:[ T]{_CLOCK}{_OFFSET})?"), re.compile(f"{_MDY}(?: {_CLOCK})?"))


class TimeError(ValueError):
    """The text is no time that any of these servers writes."""


class LocalTimes:
    """Reads the times of one server. Offsets are remembered per hour, which makes most readings a lookup."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._hours: dict[str, timedelta | None] = {}

    def read(self, text: str) -> tuple[datetime, datetime]:
        """(naive local time in the connection's zone, aware UTC instant). Raises TimeError.

        A repeated hour is the first one; a missing hour takes the offset before the gap: fold=0 says both. A text that
        brings its own offset is an instant, and its local time is what clocks in our zone showed then.
        """
        if len(text) == 19 and text[4::3] == "-- ::":  # noqa: PLR2004 - YYYY-MM-DD HH:MM:SS, nearly all there is
            hour = text[:13]
            try:
                local = datetime.fromisoformat(text)
                offset = self._hours[hour]
            except KeyError:
                offset = self._remember(hour, local)
            except ValueError:
                raise TimeError(f"{text!r} is no time") from None
            if offset is not None:
                return local, local.replace(tzinfo=UTC) - offset
        return self._read_slowly(text)

    def _remember(self, hour: str, local: datetime) -> timedelta | None:
        """The offset of the whole hour; None when the hour has two, or lies outside the years we keep."""
        first = local.replace(minute=0, second=0)
        offset = self._offset(first)
        whole = offset == self._offset(local.replace(minute=59, second=59))
        if len(self._hours) >= _CACHED_HOURS:  # a server that invents times must not fill the memory
            self._hours.clear()
        self._hours[hour] = offset if whole and EARLIEST_YEAR <= local.year <= LATEST_YEAR else None
        return self._hours[hour]

    def _offset(self, local: datetime) -> timedelta:
        return local.replace(tzinfo=self._zone, fold=0).utcoffset() or timedelta()

    def _read_slowly(self, text: str) -> tuple[datetime, datetime]:
        found = _match(_TIMES, text, "time")
        local = _local(found, text)
        offset = _written_offset(found.groupdict().get("offset"), text)
        if offset is None:
            return local, local.replace(tzinfo=UTC) - self._offset(local)
        instant = local.replace(tzinfo=UTC) - offset
        return instant.astimezone(self._zone).replace(tzinfo=None), instant


def read_date(text: str) -> date:
    """A date; a time of day behind it is ignored. Raises TimeError."""
    found = _match(_DATES, text, "date")
    return _date(found, text)


def _match(forms: tuple[re.Pattern[str], ...], text: str, noun: str) -> re.Match[str]:
    trimmed = text.strip(" ")
    found = next((match for form in forms if (match := form.fullmatch(trimmed))), None)
    if found is None:
        raise TimeError(f"{shortened(text, 40)!r} is no {noun}")
    return found


def _date(found: re.Match[str], text: str) -> date:
    try:
        day = date(int(found["year"]), int(found["month"]), int(found["day"]))
    except ValueError:
        raise TimeError(f"{shortened(text, 40)!r} is not a day of the calendar") from None
    if not EARLIEST_YEAR <= day.year <= LATEST_YEAR:
        raise TimeError(f"{shortened(text, 40)!r} lies outside the years {EARLIEST_YEAR} to {LATEST_YEAR}")
    return day


def _local(found: re.Match[str], text: str) -> datetime:
    day = _date(found, text)
    fraction = int((found["fraction"] or "0").ljust(6, "0"))
    try:
        return datetime.combine(day, time(int(found["hour"]), int(found["minute"]), int(found["second"]), fraction))
    except ValueError:
        raise TimeError(f"{shortened(text, 40)!r} is not a time of day") from None


def _written_offset(written: str | None, text: str) -> timedelta | None:
    if written is None:
        return None
    if written == "Z":
        return timedelta()
    size = timedelta(hours=int(written[1:3]), minutes=int(written[-2:]))
    if size > LONGEST_OFFSET:
        raise TimeError(f"{shortened(text, 40)!r} is further from UTC than any time zone")
    return -size if written[0] == "-" else size
