"""Reading the Retry-After header: seconds and all three date forms of HTTP. Decides nothing but the number."""

import re
from datetime import UTC, datetime

CAP_S = 3600.0
DEFAULT_S = 60.0

_MONTHS = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "may": 5,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "oct": 10,
    "nov": 11,
    "dec": 12,
}
_TIME = r"(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
_FORMS = [
    re.compile(rf"[a-z]{{3}}, (?P<day>\d{{2}}) (?P<month>[a-z]{{3}}) (?P<year>\d{{4}}) {_TIME} gmt"),
    re.compile(rf"[a-z]{{6,9}}, (?P<day>\d{{2}})-(?P<month>[a-z]{{3}})-(?P<year>\d{{2}}) {_TIME} gmt"),
    re.compile(rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})"),
]


def retry_after_s(value: str | None, now: datetime) -> float:
    """Seconds to wait from `now` (aware), between 0 and one hour.

    A moment in the past is 0. What cannot be read, or is missing, is DEFAULT_S: a server that asks to be left alone
    is left alone.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text.lstrip("0")[:12] or 0), CAP_S)
    moment = _http_date(text, now)
    if moment is None:
        return DEFAULT_S
    return min(max((moment - now).total_seconds(), 0.0), CAP_S)


def _http_date(text: str, now: datetime) -> datetime | None:
    found = next((match for form in _FORMS if (match := form.fullmatch(text.lower()))), None)
    if found is None or found["month"] not in _MONTHS:
        return None
    try:
        return datetime(
            _full_year(found["year"], now),
            _MONTHS[found["month"]],
            int(found["day"]),
            int(found["hour"]),
            int(found["minute"]),
            min(int(found["second"]), 59),  # a leap second is written :60
            tzinfo=UTC,
        )
    except ValueError:
        return None


def _full_year(text: str, now: datetime) -> int:
    """Two digits mean the year that is at most 50 years ahead (RFC 9110, 5.6.7)."""
    if len(text) > len("99"):
        return int(text)
    year = now.year - now.year % 100 + int(text)
    return year - 100 if year > now.year + 50 else year
