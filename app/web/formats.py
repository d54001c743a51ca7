"""How values read on a page: instants, days, numbers, spans. As elements with a hover: app.web.marks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

# From how many seconds on a distance is told in which unit, and how many seconds that has.
UNITS = (172_800, 86_400, "d"), (7_200, 3_600, "h"), (60, 60, "min")


def instant(value: datetime | None, zone: str = "UTC") -> str:
    """`2026-11-21 08:00:05` in the given zone; an en dash for none."""
    if value is None or (zone == "UTC" and value.tzinfo is UTC):  # as the database gives them
        return local_instant(value)
    return local_instant(value.astimezone(ZoneInfo(zone)))


def local_instant(value: datetime | None) -> str:
    """A local time that has no zone of its own."""
    # Strftime takes twice as long, and a page of two hundred rows has a thousand of them.
    return value.isoformat(" ", "seconds")[:19] if value else "–"


def day(value: date | None) -> str:
    return value.strftime("%Y-%m-%d") if value else "–"


def clock(value: datetime | None, zone: str = "UTC") -> str:
    """Hours and minutes in the given zone."""
    return value.astimezone(ZoneInfo(zone)).strftime("%H:%M") if value else "–"


def number(value: float | None) -> str:
    """Thousands set apart by commas, as everywhere; an en dash for none."""
    return "–" if value is None else f"{value:,}"


def ago(value: datetime | None, now: datetime) -> str:
    """In one unit, the larger one from two of it on: `5 min ago`, `in 90 min`, `43 h ago`, `2 d ago`; an en dash for none."""
    if value is None:
        return "–"
    seconds = int(abs(now - value).total_seconds())
    size, unit = next(((size, unit) for least, size, unit in UNITS if seconds >= least), (1, "s"))
    gap = f"{seconds // size:,} {unit}"
    return f"in {gap}" if value > now else f"{gap} ago"


def duration(value: timedelta | float | None) -> str:
    """The two largest units of a span (seconds when a number): `2 d 3 h`, `8 h 05 min`, `12 s`."""
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
