"""When a mail that could not be sent is tried again. Pure."""

from datetime import datetime, timedelta

_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 20, 40, 60))
# A mail is tried for this long, unless its link ends earlier.
TRIED_FOR = timedelta(days=1)


def next_attempt(attempts: int, now: datetime, expires_at: datetime) -> datetime | None:
    """When to try again after so many attempts; None when the mail, or the link in it, is too old by then."""
    at = now + _PAUSES[min(attempts, len(_PAUSES)) - 1]
    return at if at < expires_at else None
