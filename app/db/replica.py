"""Long reads from a copy of the database, if there is one and it is recent enough; otherwise from the primary.

A replica is a standby that follows the primary. What a person did a moment ago may not be there yet. So each read
begins with the primary's place in its log, and waits for a moment until the replica has come so far.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

import structlog
from asyncpg import PostgresError
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database

# Older figures are not shown: people would miss what they did before they opened the page.
MOST_LAG = timedelta(seconds=10)
# A page says how old its figures are. A file does not: it has everything up to the moment of the request, or is read at
# the primary.
PAGE_WAITS_S, FILE_WAITS_S = 0.2, 5
LOOK_S = 0.02
# A replica that can't be used is asked again after this time. Pages do not wait for it meanwhile.
REST_S = 15
# The longest waits: for others who have the connections, for a connection, and for the first answer.
PATIENCE_S = 2
_BEAT = "(SELECT max(seen_at) FROM shared.worker_heartbeats)"
_MARK = text(f"SELECT pg_current_wal_flush_lsn()::text AS place, clock_timestamp() AS at, {_BEAT} AS beat")
# A server that was promoted, wrote, and became a standby once more may be further in a log of its own. It lacks the
# last heartbeat, so the age of its rows is unknown then.
_STANDING = text(f"""
    SELECT follows, came AND is_ours AS has_all, CASE WHEN is_ours OR NOT came THEN pg_last_xact_replay_timestamp() END AS as_of
    FROM (SELECT pg_is_in_recovery() AS follows,
        coalesce(pg_last_wal_replay_lsn() >= CAST(CAST(:place AS text) AS pg_lsn), false) AS came,
        coalesce({_BEAT} >= CAST(:beat AS timestamptz), CAST(:beat AS timestamptz) IS NULL) AS is_ours) found
""")
FAULTS = (DBAPIError, PostgresError, PoolTimeoutError, OSError)
_log = structlog.get_logger()
T = TypeVar("T")


class ReplicaUnusable(Exception):
    """The replica can't be read now."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of the primary: its place in the log, and the last heartbeat of a worker, which proves that a copy
    belongs to this primary."""

    place: str
    at: datetime
    beat: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recent(Generic[T]):
    """`as_of` is the moment of the figures when the replica gave them;
    None when the primary did, because those are of now."""

    found: T
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReplicaProgress:
    """How far a replica has come. `has_all`: it has everything up to the mark. `as_of`: the newest change that it has,
    None when it saw none yet."""

    follows: bool
    has_all: bool
    as_of: datetime | None

    def lag(self, since: Mark) -> timedelta | None:
        """None when it is not known."""
        if self.has_all:
            return timedelta(0)
        return None if self.as_of is None else max(since.at - self.as_of, timedelta(0))


async def mark(db: AsyncSession) -> Mark:
    """The mark of the primary that the transaction is on."""
    row = (await db.execute(_MARK)).one()
    return Mark(row.place, row.at, row.beat)


async def progress(db: AsyncSession, since: Mark) -> ReplicaProgress:
    """The progress of the server that the transaction is on."""
    row = (await db.execute(_STANDING, {"place": since.place, "beat": since.beat})).one()
    return ReplicaProgress(row.follows, row.has_all, row.as_of)


class Readable(Protocol):
    """Where a file's rows are read."""

    def transaction(self, workspace: str) -> AbstractAsyncContextManager[AsyncSession]: ...


class Replica:
    """`pages` and `files` are pools of their own: a page must not wait for the connection of a file."""

    def __init__(self, pages: Database, files: Database) -> None:
        self.pages, self.files = pages, files
        self._rests_until = 0.0

    async def read(self, db: AsyncSession, workspace: str, work: Callable[[AsyncSession], Awaitable[T]]) -> Recent[T]:
        """What `work` finds at the replica. When the replica is away, breaks off or is too far behind: what it finds at
        the primary, in `db`."""
        since = await mark(db)
        try:
            async with self._at(self.pages, workspace, since, PAGE_WAITS_S) as (there, lag):
                return Recent(await work(there), since.at - lag)
        except ReplicaUnusable:
            pass
        except FAULTS as fault:
            if _is_away(fault):
                self._rest(type(fault).__name__)
        return Recent(await work(db))

    @asynccontextmanager
    async def reading(self, primary: Database, workspace: str) -> AsyncIterator[AsyncSession]:
        """A transaction for a file that sees everything up to this moment: at the replica, or at the primary."""
        async with AsyncExitStack() as stack:
            try:
                db = await stack.enter_async_context(self._with_everything(primary, workspace))
            except ReplicaUnusable:
                db = await stack.enter_async_context(primary.transaction(workspace))
            yield db

    async def has_everything(self, primary: Database, workspace: str) -> bool:
        """True when `files` has everything up to this moment, or gets it within seconds."""
        try:
            async with self._with_everything(primary, workspace):
                return True
        except ReplicaUnusable:
            return False

    @asynccontextmanager
    async def _with_everything(self, primary: Database, workspace: str) -> AsyncIterator[AsyncSession]:
        """Raises ReplicaUnusable; later errors come as they are."""
        async with primary.shared_transaction() as db:
            since = await mark(db)
        async with AsyncExitStack() as stack:
            try:
                session, lag = await stack.enter_async_context(self._at(self.files, workspace, since, FILE_WAITS_S))
            except FAULTS as fault:
                self._rest(type(fault).__name__)
                raise ReplicaUnusable from fault
            if lag:
                raise ReplicaUnusable
            yield session

    @asynccontextmanager
    async def _at(
        self, database: Database, workspace: str, since: Mark, patience_s: float
    ) -> AsyncIterator[tuple[AsyncSession, timedelta]]:
        """A transaction at the replica, and how far it is behind the mark.
        Raises ReplicaUnusable, and errors of the database."""
        if time.monotonic() < self._rests_until:
            raise ReplicaUnusable
        async with AsyncExitStack() as stack:
            db = await _begun(stack, database, workspace)
            async with asyncio.timeout(PATIENCE_S + patience_s):
                found = await _caught_up(db, since, patience_s)
            lag = found.lag(since)
            if not found.follows:
                database.leave()  # of several servers, the next connection finds one that follows
                self._rest("it is no standby")
                raise ReplicaUnusable
            if lag is None or lag > MOST_LAG:
                self._rest("it is too far behind")
                raise ReplicaUnusable
            yield db, lag

    def _rest(self, reason: str) -> None:
        if time.monotonic() >= self._rests_until:
            _log.warning("the replica is not used", reason=reason)
        self._rests_until = time.monotonic() + REST_S

    async def close(self) -> None:
        await self.pages.close()
        await self.files.close()


@dataclass(frozen=True, slots=True)
class ReplicaFirst:
    """Reads rows of files from the replica, if it has everything up to the moment in which a transaction begins."""

    replica: Replica
    primary: Database

    def transaction(self, workspace: str) -> AbstractAsyncContextManager[AsyncSession]:
        return self.replica.reading(self.primary, workspace)


async def _begun(stack: AsyncExitStack, database: Database, workspace: str) -> AsyncSession:
    """Raises ReplicaUnusable while others have all connections of the pool: this says nothing about the replica."""
    patience = _Patience()
    try:
        async with patience.limit:
            return await stack.enter_async_context(database.transaction(workspace, patience.begin))
    except (TimeoutError, PoolTimeoutError):
        if patience.begun:
            raise
        raise ReplicaUnusable from None


class _Patience:
    """Waits PATIENCE_S for those before us, and as long again for the server once it is our turn."""

    def __init__(self) -> None:
        self.limit, self.begun = asyncio.timeout(PATIENCE_S), False

    def begin(self) -> None:
        self.begun = True
        self.limit.reschedule(asyncio.get_running_loop().time() + PATIENCE_S)


async def _caught_up(db: AsyncSession, since: Mark, patience_s: float) -> ReplicaProgress:
    """How far the replica has come, once it has everything up to the mark or the time is up."""
    until = time.monotonic() + patience_s
    while True:
        found = await progress(db, since)
        if found.has_all or not found.follows or time.monotonic() > until:
            return found
        await asyncio.sleep(LOOK_S)


def _is_away(fault: Exception) -> bool:
    """False when the server answered that it ended one statement, as it does for one that takes too long."""
    return not isinstance(fault, DBAPIError) or fault.connection_invalidated
