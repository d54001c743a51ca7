"""How the time zone that a server keeps for a terminal is written. Pure."""

import re

_HOURS = re.compile(r"[+-]?\d{1,2}")


def zone_words(terminal_tz: str | None) -> str | None:
    """The time zone that the server keeps for a terminal, as people write it: "8" is UTC+8; a name stays as it is."""
    if terminal_tz is None or not _HOURS.fullmatch(terminal_tz):
        return terminal_tz
    hours = int(terminal_tz)
    return f"UTC{hours:+d}" if hours else "UTC"
