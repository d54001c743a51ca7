"""What the tests of the remote client share: a liar that plays a whole server, and a client pointed at it."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.clock.profiles import CLOUD, ONPREM, Profile
from app.clock.remote import ClockSession, Credentials, RemoteClock, SessionStore
from app.outbound import AddressPolicy, CallRecord, Limits, OutboundClient, parse_allow_list
from app.secrets import Secret
from tests.fakes.liar import Liar, Speech, says_json

PASSWORD = "c0rrect/h0rse+battery"
QUICK = Limits(connect_s=2.0, call_s=2.0, body_bytes=1024 * 1024, attempts=3, pause_s=0.001)
MANILA = ZoneInfo("Asia/Manila")
NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)


class MemorySessionStore:
    """A session of this process alone, which nothing ever locks."""

    def __init__(self) -> None:
        self.session: ClockSession | None = None
        self.rejections = 0
        self._lock = asyncio.Lock()

    def lock(self) -> asyncio.Lock:
        return self._lock

    async def load(self) -> ClockSession | None:
        return self.session

    async def save(self, session: ClockSession) -> None:
        self.session = session
        self.rejections = 0

    async def before_sign_in(self) -> None:
        """The password may always go out."""

    async def sign_in_rejected(self) -> None:
        self.rejections += 1


@dataclass
class Rig:
    """A client, the server it talks to, and what was logged."""

    liar: Liar
    profile: Profile
    clock: RemoteClock
    outbound: OutboundClient
    store: SessionStore
    records: list[CallRecord] = field(default_factory=list)

    @property
    def punches_path(self) -> str:
        return self.profile.paths["transactions"]

    def says_punches(self, *speeches: Speech) -> None:
        self.liar.says(self.punches_path, *speeches)

    @property
    def codes(self) -> list[str | None]:
        return [record.tc_code for record in self.records]


def rig(liar: Liar, profile: Profile, store: SessionStore | None = None, **changes: Any) -> Rig:
    """Point a client of `profile` at a liar that signs anybody in. Close `rig.outbound` when done."""
    records: list[CallRecord] = []

    async def log(record: CallRecord) -> None:
        records.append(record)

    liar.says(profile.sign_in.path, says_sign_in(profile, "first-token-0001"))
    liar.says(profile.sign_in.refresh_path, says_sign_in(profile, "second-token-0002"))
    outbound = OutboundClient(
        AddressPolicy(parse_allow_list(changes.pop("allow", liar.allowed))), limits=changes.pop("limits", QUICK)
    )
    store = store or MemorySessionStore()
    clock = RemoteClock(
        profile,
        changes.pop("base_url", liar.url),
        MANILA,
        Credentials("operator", Secret(PASSWORD), changes.pop("company", None)),
        outbound=outbound,
        session_store=store,
        log=log,
        now=changes.pop("now", lambda: NOW),
    )
    assert not changes
    return Rig(liar, profile, clock, outbound, store, records)


def says_sign_in(profile: Profile, token: str, **more: Any) -> bytes:
    if profile is ONPREM:
        return says_json({"token": token, **more})
    return says_json(
        {
            "code": "ZBSY0000",
            "message": "",
            "data": {"access": token, "refresh": f"refresh-of-{token}", "expires_in": 86400, **more},
        }
    )


def says_page(profile: Profile, rows: list[Any], total: int | None = None, **more: Any) -> bytes:
    total = len(rows) if total is None else total
    if profile.name == "onprem":
        return says_json({"count": total, "next": "null", "previous": None, "msg": "", "code": 0, "data": rows, **more})
    return says_json({"code": "ZBSY0000", "message": "", "data": {"total": total, "data": rows, **more}})


__all__ = ["CLOUD", "MANILA", "NOW", "ONPREM", "PASSWORD", "QUICK", "Rig", "rig", "says_page", "says_sign_in"]
