"""The limits from which a terminal is worth a warning: offline, or with a wrong clock. Pure."""

from datetime import datetime, timedelta

from app.clock.days import CHECK_DAYS
from app.clock.zone_words import zone_words

# Fewer punches are a first day, or a mistake of one person.
FEWEST = 10
# A terminal that was last seen longer ago was switched off, and holds nothing back.
SWITCHED_OFF = timedelta(days=CHECK_DAYS)


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
    """A zone that is set wrong is the usual reason for whole hours.
    Empty when the server keeps none for the terminal."""
    words = zone_words(terminal_tz)
    return f"Its time zone is set to {words}; its punches are read in {zone}." if words else ""
