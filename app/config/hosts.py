"""The servers that an address of the database names: several, as libpq reads them, with a port for each.
Nothing connects here."""

import re
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args
from urllib.parse import unquote

from app.counting import nearest

Wanted = Literal["any", "primary", "read-write", "standby", "read-only", "prefer-standby"]
# Of what Muster writes to: any other kind of server refuses changes.
TAKES_CHANGES: tuple[Wanted, ...] = ("primary", "read-write", "any")
# Seconds for each of several: a machine that is off must not keep a process from the next one for long.
PATIENCE_S = 5
# A machine that says nothing at all is given up after so many seconds,
# where the network would wait for a quarter of an hour.
SILENT_S, IDLE_S, PROBE_S, PROBES = 6, 3, 2, 3
_ADDRESS = re.compile(
    r"(?P<scheme>postgres(?:ql)?)://(?:(?P<who>[^/?#\[\]]*)@)?(?P<hosts>[^/?#@]*)(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?"
)
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<name>[^:\[\]]*))(?::(?P<port>[0-9]*))?")
_LAST_PORT = 65_535
# What is read here; the drivers need not read it once more.
_READ = frozenset({"host", "port", "connect_timeout", "target_session_attrs"})


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """None: what the driver takes by itself."""

    host: str | None
    port: int | None

    def __str__(self) -> str:
        return f"{self.host or 'the local server'}{f':{self.port}' if self.port else ''}"


@dataclass(frozen=True, slots=True)
class Address:
    """`patience_s`: what one server has for answering, None when the address does not say. `rest`: the address without
    what the other fields hold."""

    user: str
    servers: tuple[DatabaseServer, ...]
    wanted: Wanted | None
    patience_s: int | None
    rest: str

    def patience_among(self, alone_s: float) -> float:
        """Seconds for each server. `alone_s`: for the only one."""
        return self.patience_s or (alone_s if len(self.servers) == 1 else PATIENCE_S)


def read(url: str) -> Address:
    """Raises ValueError for what is not an address; its text names no part of it, since that may be a password."""
    found = _ADDRESS.fullmatch(url)
    if found is None:
        raise ValueError("a character in it is out of place")
    pairs = [pair for pair in (found["query"] or "").split("&") if pair]
    said = {name: unquote(value) for name, _, value in (pair.partition("=") for pair in pairs)}
    who = f"{found['who']}@" if found["who"] is not None else ""
    rest = "&".join(pair for pair in pairs if pair.partition("=")[0] not in _READ)
    return Address(
        user=said.get("user") or unquote((found["who"] or "").partition(":")[0]),
        servers=_servers(found["hosts"], said),
        wanted=_wanted(said.get("target_session_attrs")),
        patience_s=_seconds(said.get("connect_timeout")),
        rest=f"{found['scheme']}://{who}{found['path'] or ''}{f'?{rest}' if rest else ''}",
    )


def for_psycopg(url: str) -> dict[str, Any]:
    """What psycopg is told besides the address, so that it connects as the other driver does."""
    address = read(url)
    return {
        "target_session_attrs": address.wanted or "primary",
        "connect_timeout": nearest(address.patience_among(2 * PATIENCE_S)),
        "keepalives_idle": IDLE_S,
        "keepalives_interval": PROBE_S,
        "keepalives_count": PROBES,
        "tcp_user_timeout": SILENT_S * 1000,
    }


def _servers(authority: str, said: dict[str, str]) -> tuple[DatabaseServer, ...]:
    """`host=` and `port=` behind the question mark stand over what is before it, as in libpq."""
    names = said.get("host", "").split(",") if said.get("host") else []
    places = [DatabaseServer(one or None, None) for one in names] or [_place(one) for one in authority.split(",")]
    ports = [_port(one) for one in said.get("port", "").split(",")] if said.get("port") else []
    if len(ports) not in (0, 1, len(places)):
        raise ValueError("it must have as many ports as servers, or one for all")
    if len(places) > 1 and not all(one.host for one in places):
        raise ValueError("each of several servers needs a name")
    if ports:
        places = [DatabaseServer(one.host, ports[number % len(ports)]) for number, one in enumerate(places)]
    return tuple(places)


def _place(text: str) -> DatabaseServer:
    found = _HOST.fullmatch(text)
    if found is None:
        raise ValueError("a server in it can't be read")
    return DatabaseServer(found["six"] or unquote(found["name"]) or None, _port(found["port"] or ""))


def _port(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:6]) <= _LAST_PORT:
        raise ValueError("a port must be from 1 to 65535")
    return int(text)


def _wanted(text: str | None) -> Wanted | None:
    if text is not None and text not in get_args(Wanted):
        raise ValueError("target_session_attrs must be a word that libpq knows")
    return cast("Wanted | None", text)


def _seconds(text: str | None) -> int | None:
    """0 and less: without end in libpq; here as where nothing is said."""
    if text is None:
        return None
    if not re.fullmatch(r"-?[0-9]{1,6}", text):
        raise ValueError("connect_timeout must be seconds")
    return max(int(text), 0) or None
