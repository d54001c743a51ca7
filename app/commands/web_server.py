"""Ends uvicorn's server without losing a request: after SIGTERM it says that it is ending, and serves for a few more
seconds.

A proxy sees it in `/health/ready` or in `Connection: close`, and uses another process.
"""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import structlog
import uvicorn
from sqlalchemy import exists, select
from uvicorn.supervisors import multiprocess

from app.accounts.models import Tenant
from app.commands import shared_figures
from app.db.session import Database

TICK_S = 0.1
KNOWN_EVERY_S = 30
_log = structlog.get_logger()


class Server(uvicorn.Server):
    """One web process. It calls `ready` once it can answer the first page."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._ready = ready
        self._drains = False
        self._staying_known: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM drains; a second signal, or Ctrl-C, ends at once."""
        self._drains = sig == signal.SIGTERM and not self.should_exit
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._staying_known = asyncio.create_task(stay_known(self.config.loaded_app.parts.database))
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._serve_on()
        for listening in sockets or []:
            await self._take_the_last(listening)
        if self._staying_known is not None:
            self._staying_known.cancel()
        await super().shutdown(sockets)

    async def _serve_on(self) -> None:
        parts = self.config.loaded_app.parts
        parts.leaving.has_begun = True
        for tick in range(int(parts.settings.drain_s / TICK_S)):
            if not self._drains:
                return
            await self.on_tick(tick)
            await asyncio.sleep(TICK_S)

    async def _take_the_last(self, listening: socket.socket) -> None:
        """Closing a socket resets the connections that wait to be accepted. So these are accepted first, in one step
        with closing."""
        waiting = []
        with listening.dup() as last:
            last.setblocking(False)
            for server in self.servers:
                server.close()
            while accepted := _accepted(last):
                waiting.append(accepted)
        loop = asyncio.get_running_loop()
        for connection in waiting:
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        state: asyncio.Protocol = kind(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return state


async def stay_known(database: Database) -> None:
    """Keeps one connection open, so that `muster doctor` can count this process even if it answers no request."""
    while True:
        try:
            await share_with_tenants(database)
        except Exception as error:  # noqa: BLE001 - pages say that the database is away; the next look finds it again
            _log.debug("the database was not reached", reason=type(error).__name__)
        await asyncio.sleep(KNOWN_EVERY_S)


async def share_with_tenants(database: Database) -> None:
    """Without tenants, the platform may use all connections of the process."""
    async with database.shared_transaction() as db:
        database.shares.alone = not await db.scalar(select(exists(select(Tenant.key))))


def _accepted(listening: socket.socket) -> socket.socket | None:
    try:
        return listening.accept()[0]
    except OSError:
        return None


class Process(multiprocess.Process):
    """One of several web processes, with our Server."""

    @property
    def server(self) -> Server:
        if self._server is None:
            self._server = Server(self.config)
        assert isinstance(self._server, Server)  # noqa: S101 - it is set only here
        return self._server


class WebProcesses(multiprocess.Multiprocess):
    """Several web processes on one socket. One that dies is replaced."""

    def keep_subprocess_alive(self) -> None:
        with self._forgetting_the_dead():
            super().keep_subprocess_alive()

    def handle_signals(self) -> None:
        with self._forgetting_the_dead():
            super().handle_signals()

    @contextmanager
    def _forgetting_the_dead(self) -> Iterator[None]:
        before = {one.pid for one in self.processes}
        yield
        for pid in before - {one.pid for one in self.processes}:
            shared_figures.forget_present(pid or 0)

    def terminate_all(self) -> None:
        # They continue to serve for a while, each with its own copy. If it stayed open here, it would accept requests
        # that are never answered.
        for one in self.sockets:
            one.close()
        super().terminate_all()


# uvicorn makes its processes by this name, in four places.
multiprocess.Process = Process  # type: ignore[misc]
