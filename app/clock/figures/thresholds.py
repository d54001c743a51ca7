"""The limits from which a terminal, or the whole clock, is worth a warning, for Dashboard, Devices and problems. Pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from app.clock.days import CHECK_DAYS, LIVE_DAYS
from app.clock.zone_words import zone_words

# Fewer punches are a first day, or a mistake of one person.
FEWEST = 10
SATURDAY = 5
# A terminal that was last seen longer ago was switched off, and holds nothing back.
SWITCHED_OFF = timedelta(days=CHECK_DAYS)


def is_silent(last: datetime | None, now: datetime, zone: ZoneInfo, silence_hours: int) -> bool:
    """True when more than so many hours of working days have passed without a punch: a weekend is not a silence."""
    if last is None:
        return True
    return _working_hours(last.astimezone(zone), now.astimezone(zone)) > silence_hours


def is_silent_terminal(last: datetime | None, state: str, now: datetime, silence_hours: int) -> bool:
    """True for a terminal that is not offline, and has sent nothing for some days, but did within a month."""
    if last is None or state == "offline":
        return False
    return now - SWITCHED_OFF < last < now - LIVE_DAYS * timedelta(hours=silence_hours)


def is_offline(state: str, last_activity: datetime | None, kind: str, now: datetime) -> bool:
    """True for an attendance clock that the server calls offline, unless it was switched off long ago."""
    return (
        state == "offline" and kind == "attendance" and last_activity is not None and last_activity > now - SWITCHED_OFF
    )


def is_skewed(skew_seconds: int | None, warn_seconds: int) -> bool:
    """Punches arrive some seconds late anyway; only a clock that is ahead shows an arrival before the punch."""
    return skew_seconds is not None and abs(skew_seconds) > warn_seconds


def skew_words(skew_seconds: int) -> str:
    """`5 min fast`. Negative: the clock is ahead."""
    way = "fast" if skew_seconds < 0 else "slow, or it uploads late"
    size = f"{abs(skew_seconds)} s" if abs(skew_seconds) < 120 else f"{abs(skew_seconds) // 60} min"  # noqa: PLR2004 - two minutes
    return f"{size} {way}"


def zone_hint(terminal_tz: str | None, zone: str) -> str:
    """A zone that is set wrong is the usual reason for whole hours. Empty when the server keeps none for the terminal."""
    words = zone_words(terminal_tz)
    return f"Its time zone is set to {words}; its punches are read in {zone}." if words else ""


def _working_hours(since: datetime, until: datetime) -> float:
    """Hours between two local times, Saturdays and Sundays left out. More than a month counts as for ever."""
    since = max(since, until - timedelta(days=CHECK_DAYS))
    hours, day = 0.0, since.date()
    while day <= until.date():
        if day.weekday() < SATURDAY:
            begins = datetime.combine(day, time(), since.tzinfo)
            start, end = max(since, begins), min(until, begins + timedelta(days=1))
            hours += max(0.0, (end - start).total_seconds() / 3600)
        day += timedelta(days=1)
    return hours
