"""The one seam to PostgreSQL: opens transactions and sets the workspace they belong to. Nothing else names a schema.

A transaction belongs to one workspace. Return commits, raise rolls back; jobs that were
asked for meanwhile are sent after the commit and dropped with a rollback.
"""

import asyncio
import copy
import re
from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Self

import asyncpg
from sqlalchemy import ColumnElement, Text, case, event, func, literal, true
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from app.config.hosts import Wanted
from app.counting import nearest
from app.db.connecting import NOTICED, connecting, refused_a_change
from app.db.direct import Beginning, driver, refuse_if_lost, send
from app.db.pool import Shares, Trust, note_failure, pooled_engine

PLATFORM = "main"
TENANT_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
# Compiling a statement takes tens of milliseconds, and all of ours are short. Every request needs the shared tables
# first: a connection that sees them from the start saves it a round trip.
AT_FIRST = {"jit": "off", "search_path": "shared"}
PATIENCE_S = 10
LONGEST_STATEMENT = 64 * 1024
# The server ends a statement after its limit. If the server stays silent for this much longer, it is taken for lost.
SILENCE_S = 5
# It is a record like any other, so its commit waits until everything before it is on the disk.
_REACH_THE_DISK = "SELECT pg_logical_emit_message(true, 'muster', '')"

AfterCommit = Callable[[], Awaitable[None]]
BeforeCommit = Callable[[AsyncSession], Awaitable[None]]


def schema_of(workspace: str) -> str:
    """The schema of a workspace key. Raises ValueError for anything that is not a key: it ends up in DDL."""
    if workspace == PLATFORM:
        return PLATFORM
    if not TENANT_KEY.fullmatch(workspace) or workspace == "shared":
        raise ValueError(f"not a workspace key: {workspace!r}")
    return f"tenant_{workspace}"


class Database:
    """An engine with small pools, and the transactions on it. Waiting tasks get a connection in the order of asking;
    after PATIENCE_S they are refused with the pool's own TimeoutError. A task that holds a connection must not wait for
    another.

    `limit_s`: what a statement may take. `idle_s`: how long a transaction may wait between two statements; then the
    server ends it, because its process may be frozen and holds locks that others need. `share`: how many of the
    connections one workspace may have at once. `pooled`: a pooler in front of the server hands connections from one
    client to another, so each transaction sets everything for itself.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        application_name: str = "muster",
        limit_s: float | None = None,
        idle_s: float | None = None,
        share: int | None = None,
        pooled: bool = False,
        wanted: Wanted = "primary",
    ) -> None:
        self.url, self.pooled = url, pooled
        self.shares = Shares(share)
        self._limit_s, self._idle_s = limit_s, idle_s
        # What holds in a new connection. A transaction sets what it needs beyond that.
        self._at_first = {} if pooled else {**AT_FIRST, **_limited(limit_s, idle_s)}
        connect = connecting(
            url,
            wanted=wanted,
            server_settings=None if pooled else {"application_name": application_name, **NOTICED, **self._at_first},
            timeout=PATIENCE_S,
            command_timeout=limit_s and limit_s + SILENCE_S,
            # The longest statement, which looks for problems, is worth keeping too, until its next turn in some
            # minutes.
            max_cacheable_statement_size=LONGEST_STATEMENT,
            max_cached_statement_lifetime=0,
            connection_class=Beginning,
        )
        self.engine = pooled_engine(connect, pool_size, PATIENCE_S)
        self._trust = Trust()
        event.listen(self.engine.sync_engine, "checkout", self._trust.check)
        event.listen(self.engine.sync_engine, "handle_error", note_failure, retval=True)
        # The pool itself lets newcomers overtake waiting tasks; under heavy load a task would wait forever.
        self._places = asyncio.Semaphore(pool_size)

    def leave(self) -> None:
        """Call it when the server is the wrong one: older connections are replaced before they are used again."""
        self._trust.lose()

    def limited(self, limit_s: float) -> Self:
        """The same connections, with another limit for each statement."""
        other = copy.copy(self)
        other._limit_s = limit_s  # noqa: SLF001 - a copy of ours
        return other

    @asynccontextmanager
    async def transaction(
        self, workspace: str = PLATFORM, in_turn: Callable[[], None] | None = None
    ) -> AsyncIterator[AsyncSession]:
        """A transaction in `workspace`, with the shared tables behind it. `in_turn` is called when the transaction has
        its connection: after that it waits only for the server."""
        async with self.shares.place(workspace), self._begun(_path_of(workspace), in_turn) as session:
            session.info["workspace"] = workspace
            yield session

    @asynccontextmanager
    async def snapshot(self, workspace: str = PLATFORM) -> AsyncIterator[AsyncSession]:
        """A transaction in `workspace` that only reads, and sees one and the same moment however long it takes."""
        one_moment: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        async with self.shares.place(workspace), self._begun(_path_of(workspace), **one_moment) as session:
            session.info["workspace"] = workspace
            yield session

    @asynccontextmanager
    async def shared_transaction(self) -> AsyncIterator[AsyncSession]:
        """A transaction that sees only the shared tables, until `enter_workspace`."""
        async with self._begun(None) as session:
            yield session

    @asynccontextmanager
    async def _begun(
        self, path: str | None, in_turn: Callable[[], None] | None = None, **options: Any
    ) -> AsyncIterator[AsyncSession]:
        """Makes a session in any case: direct statements do not go through it, and an unused one costs little."""
        async with self._place(in_turn), self.engine.connect() as held:
            if options:
                await held.execution_options(**options)
            adapter: Any = (await held.get_raw_connection()).dbapi_connection
            # Once closed, a session would open a transaction again at its next statement, in no workspace at all.
            session = AsyncSession(held, expire_on_commit=False, close_resets_only=False)
            session.info.update(held=held, driver=adapter.driver_connection, after_commit=[], before_commit=[])
            session.info["shares"] = self.shares
            try:
                adapter.driver_connection.begins_with = self._needed(path)
                await _begin(adapter)
                yield session
                await _commit(session)
            except (asyncio.CancelledError, TimeoutError) as ended:
                # A statement of it may still run, and the adapter not know what has begun.
                await held.invalidate()
                if isinstance(ended, TimeoutError):
                    self._trust.lose()
                raise
            except Exception as error:
                adapter.driver_connection.refused_a_change |= refused_a_change(error)
                raise
            finally:
                await self._leave_if_lost(held, adapter.driver_connection, may_write=not options)
                if share := session.info.pop("share", None):
                    share.release()
                await session.close()
        for job in session.info.pop("after_commit"):
            await job()

    async def _leave_if_lost(self, held: AsyncConnection, connection: Beginning, *, may_write: bool) -> None:
        """When the server takes no changes, the next transaction looks for the one that does."""
        if connection.refused_a_change and may_write:
            self._trust.lose()
        elif not connection.is_closed():
            return
        await held.invalidate()

    def _needed(self, path: str | None) -> str:
        """What a transaction sets at its beginning."""
        wanted = {**AT_FIRST, **_limited(self._limit_s, self._idle_s)} | ({"search_path": path} if path else {})
        return " ".join(
            f"SET LOCAL {name} TO {value};" for name, value in wanted.items() if self._at_first.get(name) != value
        )

    @asynccontextmanager
    async def _place(self, in_turn: Callable[[], None] | None) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._places.acquire()
        except TimeoutError:
            raise PoolTimeoutError(f"no connection came free within {PATIENCE_S} s") from None
        try:
            if in_turn is not None:
                in_turn()
            yield
        finally:
            self._places.release()

    async def close(self) -> None:
        await self.engine.dispose()


@cache
def _limited(limit_s: float | None, idle_s: float | None) -> Mapping[str, str]:
    """Asked for each transaction."""
    limits = {"statement_timeout": limit_s, "idle_in_transaction_session_timeout": idle_s}
    return {name: str(nearest(seconds * 1000)) for name, seconds in limits.items() if seconds is not None}


async def _begin(adapter: Any) -> None:
    """Begins the transaction now. By itself it would begin only with the session's first statement. The pool rolls back
    what is not committed when it takes the connection back. Raises ConnectionError when the server went away
    meanwhile."""
    try:
        await adapter._start_transaction()  # noqa: SLF001 - the public ways of beginning send a statement of their own
    except Exception as error:
        refuse_if_lost(adapter.driver_connection, error)
        raise


async def _commit(session: AsyncSession) -> None:
    """Raises ConnectionError where the server went away meanwhile."""
    while session.info["before_commit"]:
        await session.info["before_commit"].pop(0)(session)
    if session.in_transaction():
        await session.commit()
    try:
        await session.info["held"].run_sync(lambda held: held.connection.commit())
    except Exception as error:
        refuse_if_lost(driver(session), error)
        raise


@asynccontextmanager
async def alone(session: AsyncSession) -> AsyncIterator[asyncpg.Connection]:
    """Commits, and gives the connection for direct statements that each are a transaction of their own, which the
    server itself ends: nothing that one of them locks ever waits for us. They name the schema of what they touch. One
    that turns `synchronous_commit` off lets its locks go before it has reached the disk; the end of the block waits for
    that, together with other waiting tasks. Raises ConnectionError where the server went away meanwhile."""
    await _commit(session)
    connection = driver(session)
    try:
        yield connection
        await send(connection, _REACH_THE_DISK)
    except BaseException:
        # A statement of it may still run.
        await session.info["held"].invalidate()
        raise


async def enter_workspace(session: AsyncSession, workspace: str) -> None:
    """Puts an open transaction into a workspace, once. Raises RuntimeError when it is already in another one,
    ShareTaken when that has its share of connections; the transaction is as it was then."""
    if session.info.get("workspace", workspace) != workspace:
        raise RuntimeError(f"this transaction belongs to {session.info['workspace']}, not to {workspace}")
    await entered(session, workspace)
    await send(driver(session), into_workspace(workspace))


def entering(workspace: ColumnElement[str]) -> ColumnElement[str]:
    """A column that puts the transaction into the workspace of the one row that its SELECT finds, where
    `enter_workspace` would take a round trip of its own; `entered` says afterwards which one it was."""
    schema = case((workspace == PLATFORM, literal(PLATFORM)), else_=literal("tenant_") + workspace)
    return func.set_config("search_path", schema + ", shared", true(), type_=Text)


async def entered(session: AsyncSession, workspace: str) -> None:
    """Notes what `entering` did. Raises ValueError for what is not a workspace, ShareTaken for one that has its
    share."""
    schema_of(workspace)
    if "workspace" not in session.info:
        session.info["share"] = await session.info["shares"].take_at_once(workspace)
        session.info["workspace"] = workspace


def into_workspace(workspace: str) -> str:
    """The command that puts a connection of the driver into a workspace, until its transaction ends."""
    return f"SET LOCAL search_path TO {_path_of(workspace)}"


def _path_of(workspace: str) -> str:
    return f"{schema_of(workspace)}, shared"


def workspace_of(session: AsyncSession) -> str:
    """The workspace that the transaction is in."""
    workspace: str = session.info["workspace"]
    return workspace


def before_commit(session: AsyncSession, do: BeforeCommit) -> None:
    """Runs `do` as the last thing of the transaction; a rollback drops it. For a function that locks rows which other
    transactions lock too. All transactions lock them last, together, and in the order of the functions' names, so two
    never deadlock."""
    insort(session.info["before_commit"], do, key=lambda one: (one.__module__, one.__qualname__))


def after_commit(session: AsyncSession, send: AfterCommit) -> None:
    """Runs `send` once the transaction has committed; a rollback drops it."""
    session.info["after_commit"].append(send)
