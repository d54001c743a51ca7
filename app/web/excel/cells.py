"""What a value becomes in an Excel cell: a text, a number, or a day, time or span as the number that Excel uses. Pure.

A text stays a text whatever it begins with, because the writer of the cells (app.web.excel.writing) writes no formulas.
"""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import msgspec

# A pair is a word of FORMATS and a number of days.
Cell = str | int | float | bool | tuple[str, float] | None
FORMATS = {"day": "yyyy-mm-dd", "time": "yyyy-mm-dd hh:mm:ss", "span": "[h]:mm"}
MOST_ROWS = 100_000
# In UTF-16 units; Excel rejects a file with a longer text in a cell.
LONGEST_TEXT = 32_767
# Excel keeps 15 digits of a number.
LARGEST_NUMBER = 10**15
# Before March 1900 Excel counts a day that never existed.
_FIRST = date(1900, 3, 1)
_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - Excel knows no zones
_DAY = timedelta(days=1)


class About(msgspec.Struct):
    """`name` of the sheet, `labels` of its columns, and the lines of the second sheet: (what, value)."""

    name: str
    labels: list[str]
    lines: list[tuple[str, str]]


def cell(value: object, zone: ZoneInfo) -> Cell:
    """Instants are shown in `zone`; a time without a zone stays as it is."""
    written = _written(value, zone)
    return fitting(written) if isinstance(written, str) else written


def _written(value: object, zone: ZoneInfo) -> Cell:  # noqa: PLR0911 - one for each type
    match value:
        case None | bool() | float():
            return value
        case int():
            return value if abs(value) < LARGEST_NUMBER else str(value)
        case Decimal():
            return float(value)
        case datetime():
            return _time(_there(value, zone) if value.tzinfo else value)
        case date():
            return _day(value)
        case timedelta():
            return ("span", value / _DAY)
        case list() | tuple():
            return ", ".join(str(one) for one in value)
        case _:
            return str(value)


def fitting(text: str) -> str:
    """The beginning of the text, as much as a cell holds."""
    if len(text) <= LONGEST_TEXT // 2 or len(text.encode("utf-16-le")) // 2 <= LONGEST_TEXT:
        return text
    return text.encode("utf-16-le")[: 2 * (LONGEST_TEXT - 1)].decode("utf-16-le", "ignore") + "…"


def _there(instant: datetime, zone: ZoneInfo) -> datetime:
    """The time in the zone. The first and last hours of the calendar may have none there, and keep their own."""
    try:
        return instant.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return instant.replace(tzinfo=None)


def _time(local: datetime) -> Cell:
    return ("time", (local - _ZERO) / _DAY) if local.date() >= _FIRST else local.isoformat(" ")


def _day(day: date) -> Cell:
    return ("day", (datetime.combine(day, time.min) - _ZERO) / _DAY) if day >= _FIRST else day.isoformat()
