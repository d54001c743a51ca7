"""Accounts, sessions and tokens of the simulated server. Time here is real time (epoch seconds), never the world's."""

import base64
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec


@dataclass(slots=True)
class Session:
    """One sign-in: its current access and refresh token. `calls` counts data calls with the current access token."""

    username: str
    access: str = ""
    refresh: str = ""
    expires: float = 0
    alive: bool = True
    calls: int = 0
    access_alive: bool = True


@dataclass
class Sessions:
    """All sessions of a server with one account. `clock` gives real epoch seconds."""

    username: str
    password: str
    clock: Callable[[], float]
    one_session: bool
    lasts_s: int
    opaque: bool = False
    by_access: dict[str, Session] = field(default_factory=dict)
    by_refresh: dict[str, Session] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _serial: int = 0

    def accepts(self, username: object, password: object) -> bool:
        """True when these are the account's credentials."""
        return username == self.username and password == self.password

    def sign_in(self) -> Session:
        """A new session; where an account has one session only, it ends the others."""
        if self.one_session:
            self.end_all()
        session = Session(self.username)
        self._issue(session)
        return session

    def renew(self, refresh: object) -> Session | None:
        """New tokens for the session of this refresh token or (on-prem) of this living access token; None: refused."""
        if not isinstance(refresh, str):
            return None
        session = self.by_refresh.get(refresh) or self.find(refresh)
        if session is None or not session.alive:
            return None
        self._issue(session)
        return session

    def find(self, access: str) -> Session | None:
        """The living session of this access token."""
        session = self.by_access.get(access)
        if session is None or not session.alive or session.access != access or not session.access_alive:
            return None
        return session if self.clock() < session.expires else None

    def end_all(self) -> None:
        """End every session, as a restart of the server or a sign-in elsewhere does."""
        self.by_access.clear()
        self.by_refresh.clear()

    def _issue(self, session: Session) -> None:
        self.by_access.pop(session.access, None)
        self.by_refresh.pop(session.refresh, None)
        session.expires = self.clock() + self.lasts_s
        session.access = self._token(session, "access")
        session.refresh = self._token(session, "refresh")
        session.calls, session.access_alive = 0, True
        self.by_access[session.access] = session
        self.by_refresh[session.refresh] = session

    def _token(self, session: Session, use: str) -> str:
        """A JWT whose `exp` is true; or, when `opaque`, a word that says nothing."""
        self._serial += 1
        if self.opaque:
            return secrets.token_hex(20)
        now = int(self.clock())
        claims = {
            "token_type": use, "username": session.username, "iat": now, "exp": now + self.lasts_s, "jti": self._serial,
        }  # fmt: skip
        head = _base64(msgspec.json.encode({"alg": "HS256", "typ": "JWT"})) + "." + _base64(msgspec.json.encode(claims))
        return head + "." + _base64(hmac.digest(self._key, head.encode(), "sha256"))


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
