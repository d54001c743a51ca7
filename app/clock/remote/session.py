"""What a session with the server is: its tokens, how long they live, and what a store for them must do.

Makes no call: client.py signs in and renews. The store that all workers share is connection/shared_session.py.
"""

import base64
import binascii
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import msgspec

from app.secrets import Secret

MARGIN = timedelta(minutes=5)
SHORTEST = timedelta(seconds=60)
LONGEST = timedelta(days=3650)
_MILLISECONDS = 100_000_000_000  # an epoch number above this counts milliseconds
_DIGITS = 15  # more than any number of seconds or milliseconds has


@dataclass(frozen=True, slots=True)
class Credentials:
    """What signs in. `company` is set on servers that host several."""

    username: str
    password: Secret
    company: str | None = None


@dataclass(frozen=True, slots=True)
class ClockSession:
    """The tokens of one sign-in. Times are aware UTC, by our clock."""

    access: Secret
    refresh: Secret | None
    issued_at: datetime
    expires_at: datetime

    def due(self, now: datetime) -> bool:
        """True when to renew before the next call: five minutes before the end, or a tenth of a short life."""
        return now >= self.expires_at - min(MARGIN, (self.expires_at - self.issued_at) / 10)

    def to_text(self) -> Secret:
        """For one sealed column."""
        refresh = self.refresh.reveal() if self.refresh else None
        kept = _Kept(self.access.reveal(), refresh, self.issued_at, self.expires_at)
        return Secret(msgspec.json.encode(kept).decode())

    @staticmethod
    def from_text(text: Secret) -> "ClockSession | None":
        """What to_text wrote; None when it cannot be read, which only costs a sign-in."""
        try:
            kept = msgspec.json.decode(text.reveal(), type=_Kept)
        except (msgspec.DecodeError, UnicodeError):
            return None
        refresh = Secret(kept.refresh) if kept.refresh else None
        return ClockSession(Secret(kept.access), refresh, kept.issued_at, kept.expires_at)


class SessionStore(Protocol):
    """Where the one session of a connection is kept, shared by every worker on every machine."""

    def lock(self) -> AbstractAsyncContextManager[Any]:
        """Held around every sign-in and refresh of this connection. The server allows one session per account."""
        ...

    async def load(self) -> ClockSession | None:
        """The current session, also when another process made it."""
        ...

    async def save(self, session: ClockSession) -> None:
        """Keep a session: the server accepted us. The count of rejections begins again."""
        ...

    async def before_sign_in(self) -> None:
        """Called under the lock before the password goes out. Raises ClockError TC-LOCKED when it must not."""
        ...

    async def sign_in_rejected(self) -> None:
        """Called under the lock: the server refused the credentials once more."""
        ...


class _Kept(msgspec.Struct):
    access: str
    refresh: str | None
    issued_at: datetime
    expires_at: datetime


def life_of(access: str, said_s: Any, said_end: Any, now: datetime, default_s: int) -> timedelta:
    """How long a token lives: what the reply said, else what the JWT says, else the profile's default.

    `said_s` is a number of seconds, `said_end` an epoch number (seconds or milliseconds);
    anything else counts as unsaid.
    """
    seconds = _number(said_s)
    end = _number(said_end)
    if seconds is None and end is not None:
        seconds = (end / 1000 if end > _MILLISECONDS else end) - now.timestamp()
    if seconds is None:
        seconds = _jwt_life_s(access, now)
    if seconds is None:
        seconds = default_s
    return min(max(timedelta(seconds=min(seconds, LONGEST.total_seconds())), SHORTEST), LONGEST)


def _jwt_life_s(token: str, now: datetime) -> float | None:
    """From `iat` to `exp` where both are there: then a wrong clock on the server does no harm."""
    try:
        payload = token.split(".")[1]
        claims = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error, RecursionError):
        return None
    end, begin = (_number(claims.get(name)) if isinstance(claims, dict) else None for name in ("exp", "iat"))
    if end is None:
        return None
    return end - (begin if begin is not None else now.timestamp())


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
        return None
    number = float(value) if abs(float(value)) < 10**_DIGITS else None
    return number if number is not None and number > 0 else None


def utc_now() -> datetime:
    return datetime.now(UTC)
