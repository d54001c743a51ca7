"""How a transaction begins and commits on its connection, and what runs just before and just after the commit."""

from bisect import insort
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver, refuse_if_lost, send

# It is a record like any other, so its commit waits until everything before it is on the disk.
_REACH_THE_DISK = "SELECT pg_logical_emit_message(true, 'muster', '')"
AfterCommit = Callable[[], Awaitable[None]]
BeforeCommit = Callable[[AsyncSession], Awaitable[None]]


async def begin(adapter: Any) -> None:
    """Begins the transaction now. By itself it would begin only with the session's first statement. The pool rolls back
    what is not committed when it takes the connection back. Raises ConnectionError when the server went away
    meanwhile."""
    try:
        await adapter._start_transaction()  # noqa: SLF001 - the public ways of beginning send a statement of their own
    except Exception as error:
        refuse_if_lost(adapter.driver_connection, error)
        raise


async def commit(session: AsyncSession) -> None:
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
    await commit(session)
    connection = driver(session)
    try:
        yield connection
        await send(connection, _REACH_THE_DISK)
    except BaseException:
        # A statement of it may still run.
        await session.info["held"].invalidate()
        raise


def before_commit(session: AsyncSession, do: BeforeCommit) -> None:
    """Runs `do` as the last thing of the transaction; a rollback drops it. For a function that locks rows which other
    transactions lock too. All transactions lock them last, together, and in the order of the functions' names, so two
    never deadlock."""
    insort(session.info["before_commit"], do, key=lambda one: (one.__module__, one.__qualname__))


def after_commit(session: AsyncSession, send: AfterCommit) -> None:
    """Runs `send` once the transaction has committed; a rollback drops it."""
    session.info["after_commit"].append(send)
