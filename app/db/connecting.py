"""Connects to the right one of several servers. What happens to connections afterwards is in db/pool.py."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from typing import Any, cast

import asyncpg
from asyncpg.connect_utils import SessionAttribute
from asyncpg.exceptions import TargetServerAttributeNotMatched

from app.config import hosts
from app.config.hosts import DatabaseServer

PATIENCE_S = 10
# A server that takes no changes: a standby, or one that is set so.
READ_ONLY = "25006"
# After one of these errors the next server is asked. A wrong password is wrong everywhere.
_NOT_THIS_ONE = (
    OSError,
    TargetServerAttributeNotMatched,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
)
Connect = Callable[[], Awaitable[asyncpg.Connection]]
# When a server has not answered for so long, its machine may be off: the next one is asked too, and both may still
# answer. Only when at most one of the servers can be the wanted one. Otherwise the order decides.
HEAD_START_S = 1
_ONE_FITS = ("primary", "read-write")
# What a session sets for itself, so that the server notices when the machine of a client was switched off. It then ends
# the session within about a minute, and what the session has locked is free again. A pooler refuses these settings
# while connecting, and must notice it itself.
NOTICED = {
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
_Turn = tuple[int, hosts.Wanted]


class _NoneFits(Exception):
    """`met`: the place of each server, and what it said."""

    def __init__(self, met: Sequence[tuple[int, Exception]]) -> None:
        super().__init__()
        self.met = met


def connecting(url: str, *, wanted: hosts.Wanted = "primary", **options: Any) -> Connect:
    """Connects to what the driver itself reads in the address: `sslmode`, `sslrootcert` and the like, as psycopg and
    psql read them. SQLAlchemy would hand them on as arguments, which the driver refuses. Of several servers it first
    asks the one that it used last. `wanted` is the kind of server to find, unless the address names one; the default is
    a server that takes changes.

    Raises ConnectionError when no server can be reached, or none is of that kind. A refusal of PostgreSQL comes as its
    own error.
    """
    address, last = hosts.read(url), 0
    wanted = address.wanted or wanted
    options.setdefault("timeout", PATIENCE_S)
    options["timeout"] = address.patience_among(options["timeout"])

    async def ask(turn: _Turn) -> asyncpg.Connection:
        return await _to(address.servers[turn[0]], address.rest, turn[1], options)

    async def connect() -> asyncpg.Connection:
        nonlocal last
        turns = _turns(len(address.servers), wanted, last)
        try:
            last, connection = await _first(turns, ask, HEAD_START_S if wanted in _ONE_FITS else None)
        except _NoneFits as refused:
            raise _refusal([(address.servers[place], error) for place, error in refused.met]) from None
        return connection

    return connect


async def connect(url: str, **options: Any) -> asyncpg.Connection:
    """One connection, as `connecting` makes it. Raises the same errors."""
    return await connecting(url, **options)()


async def _first(
    turns: Sequence[_Turn], ask: Callable[[_Turn], Coroutine[Any, Any, asyncpg.Connection]], head_start_s: float | None
) -> tuple[int, asyncpg.Connection]:
    """The place and the connection of the first server that answers. The next one is asked when all before it refused,
    or did not answer for `head_start_s` seconds. Raises _NoneFits."""
    asked: dict[asyncio.Task[asyncpg.Connection], _Turn] = {}
    met: list[tuple[int, Exception]] = []
    waiting = list(turns)
    try:
        while waiting or asked:
            if waiting:
                turn = waiting.pop(0)
                asked[asyncio.create_task(ask(turn))] = turn
            wait_s = head_start_s if waiting else None
            for task in (await asyncio.wait(asked, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED))[0]:
                place, _ = asked[task]
                if (error := task.exception()) is None:
                    del asked[task]
                    return place, task.result()
                if not isinstance(error, _NOT_THIS_ONE):
                    raise error
                del asked[task]
                met.append((place, error))
    finally:
        await _let_go(asked)
    raise _NoneFits(met)


async def _let_go(asked: Collection[asyncio.Task[asyncpg.Connection]]) -> None:
    for task in asked:
        task.cancel()
    for late in await asyncio.gather(*asked, return_exceptions=True):
        if isinstance(late, asyncpg.Connection):
            late.terminate()


def _turns(number: int, wanted: hosts.Wanted, first: int) -> list[tuple[int, hosts.Wanted]]:
    """(place of the server, what it must be), in the order of asking. Where any server will do, the address says the
    order."""
    places = [*range(first, number), *range(first)] if wanted != "any" else [*range(number)]
    if wanted == "prefer-standby":
        return [(place, "standby") for place in places] + [(place, "any") for place in places]
    return [(place, wanted) for place in places]


async def _to(server: DatabaseServer, url: str, kind: hosts.Wanted, options: dict[str, Any]) -> asyncpg.Connection:
    where: dict[str, Any] = {name: one for name, one in (("host", server.host), ("port", server.port)) if one}
    attribute = SessionAttribute(kind)
    connection: asyncpg.Connection = await asyncpg.connect(url, **where, target_session_attrs=attribute, **options)
    _notice_silence(connection)
    return connection


def _notice_silence(connection: asyncpg.Connection) -> None:
    """A machine that was switched off does not answer at all, so the system must find out that it is gone."""
    line = cast("Any", connection)._transport.get_extra_info("socket")  # noqa: SLF001 - there is no other way to it
    if line.family == socket.AF_UNIX:
        return
    with socket.socket(fileno=os.dup(line.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _SILENCE.items():
            if (option := getattr(socket, name, None)) is not None:  # not every system has all of them
                same.setsockopt(socket.IPPROTO_TCP, option, value)


_SILENCE = {
    "TCP_KEEPIDLE": hosts.IDLE_S,
    "TCP_KEEPINTVL": hosts.PROBE_S,
    "TCP_KEEPCNT": hosts.PROBES,
    "TCP_USER_TIMEOUT": hosts.SILENT_S * 1000,
}


def _refusal(met: Sequence[tuple[DatabaseServer, Exception]]) -> Exception:
    if len(met) > 1:
        return ConnectionError("; ".join(f"{server}: {_reason(error)}" for server, error in met))
    ((_, error),) = met
    if isinstance(error, (ConnectionError, asyncpg.PostgresError)):
        return error
    return ConnectionError(_reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it gave no answer in time"
    if isinstance(error, TargetServerAttributeNotMatched):
        return "it is not the kind of server that is wanted: a standby takes no changes"
    return str(error)  # no such socket, or no such machine


def refused_a_change(error: BaseException) -> bool:
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlstate", None) == READ_ONLY
