"""Days and instants as people read them: `Sun 22 Nov, 23:46`, the year where it is another one. Pure.

The names are ours: strftime takes those of the machine's locale. Programs read ISO instead: app/texts.py.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class PageZone:
    """The zone that a page tells its times in, and what day it is there: `today` decides which years are said."""

    info: ZoneInfo
    today: date

    @staticmethod
    def at(info: ZoneInfo, now: datetime) -> "PageZone":
        return PageZone(info, now.astimezone(info).date())

    @property
    def name(self) -> str:
        """As IANA has it: `Europe/Zurich`."""
        return self.info.key

    def time(self, instant: datetime) -> str:
        """`Sun 22 Nov, 23:46`."""
        return local_time(there(instant, self.info), self.today)

    def time_with_seconds(self, instant: datetime) -> str:
        """`Sun 22 Nov, 23:46:05`, without seconds where there are none."""
        return local_exact(there(instant, self.info), self.today)

    def in_utc(self, instant: datetime) -> str:
        """`Sun 22 Nov, 22:46 UTC`: for survey windows, which are in UTC everywhere and say so where they stand."""
        return utc_time(instant, self.today)

    def clock(self, instant: datetime) -> str:
        """`23:46`."""
        return f"{there(instant, self.info):%H:%M}"

    def day(self, day: date) -> str:
        """`Sun 22 Nov`; of an instant the day here."""
        return day_words(there(day, self.info) if isinstance(day, datetime) else day, self.today)

    def days(self, first: date, last: date) -> str:
        """`16 – 22 Nov`, both included."""
        return days_words(first, last, self.today)

    def span(self, start: datetime, end: datetime | None) -> str:
        """`Sun 22 Nov, 08:00–17:00`; both days where they are two."""
        return span_words(start, end, self.info, self.today)

    def exact(self, instant: datetime) -> str:
        """To the second, here and in UTC."""
        in_utc = f"{_seconds(instant.astimezone(UTC))} UTC"
        return in_utc if self.name == "UTC" else f"{_seconds(there(instant, self.info))} {self.name} · {in_utc}"


def local_time(local: datetime, today: date | None) -> str:
    """A local time in words; of `None` as today the year is always said."""
    return f"{day_words(local, today)}, {local.hour:02}:{local.minute:02}"


def local_exact(local: datetime, today: date | None) -> str:
    """The same with the seconds, where there are some."""
    seconds = f":{local.second:02}" if local.second else ""
    return local_time(local, today) + seconds


def utc_time(instant: datetime, today: date | None) -> str:
    """`Sun 22 Nov, 22:46 UTC`."""
    return f"{local_time(instant.astimezone(UTC), today)} UTC"


def day_words(day: date, today: date | None) -> str:
    """`Sun 22 Nov`; of `None` as today the year is always said: for words that are kept."""
    return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month]}{_year(day, today)}"


def days_words(first: date, last: date, today: date | None) -> str:
    """`16 – 22 Nov`, `28 Nov – 4 Dec`, `28 Dec 2025 – 3 Jan 2026`; one day as `day_words` says it."""
    if first == last:
        return day_words(first, today)
    if first.year != last.year:
        return f"{_date(first)} {first.year} – {_date(last)} {last.year}"
    start = str(first.day) if first.month == last.month else _date(first)
    return f"{start} – {_date(last)}{_year(last, today)}"


def span_words(start: datetime, end: datetime | None, zone: ZoneInfo, today: date | None) -> str:
    """`Sun 22 Nov, 08:00–17:00`; both days where they are two."""
    first = there(start, zone)
    if end is None:
        return f"{local_time(first, today)}, still open"
    last = there(end, zone)
    same_day = first.date() == last.date()
    return f"{local_time(first, today)}" + (f"–{last:%H:%M}" if same_day else f" – {local_time(last, today)}")


def there(instant: datetime, zone: ZoneInfo) -> datetime:
    """In that zone. The calendar's first and last hours may have no time there: they keep their own."""
    try:
        return instant.astimezone(zone)
    except OverflowError:
        return instant


def _date(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month]}"


def _year(day: date, today: date | None) -> str:
    return "" if today is not None and day.year == today.year else f" {day.year}"


def _seconds(at: datetime) -> str:
    return at.isoformat(" ", "seconds")[:19]
