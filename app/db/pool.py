"""The rules of a process for its pool of connections: how many one workspace may have at once, and which ones are still
used.

A server that went away, was demoted or fell silent answers no further request over a connection from before.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from weakref import WeakValueDictionary

import asyncpg
import msgspec
from sqlalchemy.engine import AdaptedConnection, ExceptionContext
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.db.connecting import Connect, refused_a_change
from app.db.direct import Beginning

PATIENCE_S = 3
DIALECT = "postgresql+asyncpg://"


class ShareTaken(PoolTimeoutError):
    """The workspace has as many connections as it may."""


class Shares:
    """At most so many connections for one workspace; more of its work waits in turn, for PATIENCE_S at most. `most`
    None: there is no such limit. A task that waits here must hold no connection. Otherwise waiting tasks would hold the
    connections for which others wait.

    `alone`: there is no other workspace to share with. With sixteen callers at once each of their requests would wait
    for its place and begin twice, which takes 1.7 times the processor time.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self.alone = False
        self._held: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def take_at_once(self, workspace: str) -> asyncio.Semaphore | None:
        """Takes one place, which the caller releases. Raises ShareTaken when there is none, or others wait for it."""
        places = self._places(workspace)
        if places is None:
            return None
        if places.locked():
            raise ShareTaken(_taken(workspace))
        await places.acquire()
        return places

    @asynccontextmanager
    async def place(self, workspace: str) -> AsyncIterator[None]:
        """Raises ShareTaken when none came free in time."""
        places = self._places(workspace)
        if places is None:
            yield
            return
        try:
            async with asyncio.timeout(PATIENCE_S):
                await places.acquire()
        except TimeoutError:
            raise ShareTaken(_taken(workspace)) from None
        try:
            yield
        finally:
            places.release()

    def _places(self, workspace: str) -> asyncio.Semaphore | None:
        if self._most is None or self.alone:
            return None
        places = self._held.get(workspace)
        if places is None:
            places = self._held[workspace] = asyncio.Semaphore(self._most)
        return places


def _taken(workspace: str) -> str:
    return f"{workspace} has all the connections that one workspace may have"


class Trust:
    """The connections of one pool that can be relied on, for all who share the pool."""

    def __init__(self) -> None:
        self._since = 0.0

    def lose(self) -> None:
        """The server behind one of them can't be relied on any longer: each connection is replaced before it is used
        again."""
        self._since = time.monotonic()

    def check(self, connection: AdaptedConnection, *_: object) -> None:
        """Raises DisconnectionError for one that can't be relied on; the pool then makes another. Without this, it
        would learn of broken ones only by errors of its own statements."""
        driver = _ours(connection.driver_connection)
        if driver.is_closed() or driver.opened_at < self._since:
            raise DisconnectionError("the database server closed the connection")


def note_failure(context: ExceptionContext) -> Exception | None:
    """The engine calls this when a statement failed. Returns the error to raise instead, if any."""
    if context.connection is None:
        return None
    driver, error = _ours(context.connection.connection.driver_connection), context.original_exception
    driver.refused_a_change |= refused_a_change(error)
    # The server ended the connection while it was idle. The driver could not match that message to a statement: it
    # refused the next one, and closed.
    if isinstance(error.__cause__, asyncpg.InternalClientError) and driver.is_closed():
        return ConnectionError("the database server ended the connection")
    return None


def _ours(connection: object) -> Beginning:
    """The pool's connections are made as this class."""
    return cast("Beginning", connection)


def pooled_engine(connect: Connect, pool_size: int, patience_s: float) -> AsyncEngine:
    """An engine that keeps so many connections, and opens no more."""
    return create_async_engine(
        DIALECT,
        async_creator=connect,
        pool_size=pool_size,
        max_overflow=0,  # under load, overflow connections would be opened and closed all the time
        pool_use_lifo=True,
        pool_recycle=1800,
        pool_timeout=patience_s,
        pool_pre_ping=False,
        hide_parameters=True,  # an error's text goes into logs
        json_serializer=_json_text,
        json_deserializer=msgspec.json.decode,
    )


def _json_text(value: object) -> str:
    return msgspec.json.encode(value).decode()
