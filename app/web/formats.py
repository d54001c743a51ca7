"""How pages show values: instants, days, numbers, spans. As elements with a hover: app.web.marks."""

from datetime import date, datetime, timedelta

from app import dates
from app.dates import PageZone
from app.wording.speech import spoken

# From how many seconds on a distance is shown in a unit, and how many seconds the unit has. Languages other than
# English: app/wording/speech.py.
UNITS = (172_800, 86_400, "d"), (7_200, 3_600, "h"), (60, 60, "min")


def instant(value: datetime | None, zone: PageZone) -> str:
    """`Sun 22 Nov, 23:46`; an en dash for none."""
    return zone.time(value) if value else "–"


def local_instant(value: datetime | None, zone: PageZone) -> str:
    """The same for a local time without a zone."""
    return dates.local_time(value, zone.today) if value else "–"


def local_exact(value: datetime, zone: PageZone) -> str:
    """A local time with its seconds, if they are not zero."""
    return dates.local_exact(value, zone.today)


def day(value: date | str | None, zone: PageZone) -> str:
    """`Sun 22 Nov`: the day of an instant in that zone; an en dash for none. A text is a day as programs write it."""
    return zone.day(date.fromisoformat(value) if isinstance(value, str) else value) if value else "–"


def clock(value: datetime | None, zone: PageZone) -> str:
    """Hours and minutes."""
    return zone.clock(value) if value else "–"


def number(value: float | None) -> str:
    """With commas between thousands; an en dash for none."""
    return "–" if value is None else f"{value:,}"


def ago(value: datetime | None, now: datetime) -> str:
    """In one unit; the larger one begins at two of it: `5 min ago`, `in 90 min`, `43 h ago`, `2 d ago`; an en dash for
    none."""
    if value is None:
        return "–"
    if not spoken().is_english:
        return spoken().ago(value, now)
    seconds = int(abs(now - value).total_seconds())
    size, unit = next(((size, unit) for least, size, unit in UNITS if seconds >= least), (1, "s"))
    gap = f"{seconds // size:,} {unit}"
    return f"in {gap}" if value > now else f"{gap} ago"


def duration(value: timedelta | float | None) -> str:
    """A span (or seconds, for a number) in its two largest units: `2 d 3 h`, `8 h 05 min`, `12 s`."""
    if value is None:
        return "–"
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min" if minutes else f"{seconds} s"
