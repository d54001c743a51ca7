"""A call that leaves this host, its limits, its reply, and what is kept of it: plain data."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from app.outbound import strict_json
from app.outbound.errors import SHAPE, OutboundError, network_failure


@dataclass(frozen=True, slots=True)
class Limits:
    """connect_s: name, connection and TLS together. call_s: first byte sent to last received, not per read."""

    connect_s: float = 10.0
    call_s: float = 60.0
    body_bytes: int = 16 * 1024 * 1024
    attempts: int = 3
    pause_s: float = 1.0


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """What to send. No repr: the headers and the body hold secrets."""

    method: str
    base_url: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    gzip: bool = False
    body_bytes: int | None = None


@dataclass(slots=True, repr=False)
class OutboundReply:
    """A whole answer. `body_code` is what the judge found in it, kept for the record."""

    status: int
    headers: httpx.Headers
    body: bytes
    may_be_cut: bool
    body_code: str | None = None

    @property
    def media_type(self) -> str:
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    def json(self) -> Any:
        """The strictly decoded body. Raises OutboundError: TC-SHAPE, or TC-NET when the connection cut it."""
        try:
            return strict_json.decode(self.body)
        except strict_json.JsonCutShortError:
            if self.may_be_cut:
                raise network_failure("The answer was cut off.") from None
            raise OutboundError(SHAPE, "The answer is not JSON: it is cut off.") from None
        except strict_json.JsonError as error:
            raise OutboundError(SHAPE, f"The answer is not strict JSON: {error}.") from None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One attempt, as it may be stored: nothing secret in it. Sizes in bytes, times aware UTC."""

    started_at: datetime
    method: str
    host: str
    path: str
    query: str
    http_status: int | None
    body_code: str | None
    duration_ms: int
    bytes: int
    tc_code: str | None
    excerpt: str


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """One step of reaching a server: `resolve`, `connect` or `tls`."""

    name: str
    duration_ms: float
    detail: str


Log = Callable[[CallRecord], Awaitable[None]]
