"""Names the transaction for which an index waits that is built or dropped while others write.

It waits for every transaction of the database that began before it and still reads, whatever that one touches: a
backup, the export of another tenant, or a psql that somebody forgot.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

# Most indexes are built sooner, and nothing is asked.
LOOK_S = 1.0
LOCK_NOT_AVAILABLE = "55P03"
# When it waits for another index of this migration, the oldest transaction beside the migration holds up both.
# PostgreSQL hides from the owner when a transaction of another role began.
_WAITED_FOR = text("""
    WITH builder AS (SELECT coalesce(
        (SELECT nullif(current_locker_pid, 0) FROM pg_stat_progress_create_index WHERE pid = :builder),
        (pg_blocking_pids(:builder))[1]) AS waits_for)
    SELECT pid, application_name, to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since
    FROM pg_stat_activity, builder
    WHERE datname = current_database() AND application_name <> current_setting('application_name')
        AND waits_for IS NOT NULL AND (pid = waits_for OR backend_xmin IS NOT NULL)
    ORDER BY pid = waits_for DESC, age(backend_xmin) DESC LIMIT 1
""")


class IndexWaited(Exception):
    """The step gave up: another transaction did not end in time."""

    sqlstate = LOCK_NOT_AVAILABLE


@asynccontextmanager
async def naming_transaction(
    engine: AsyncEngine, connection: AsyncConnection, told: Callable[[str], None]
) -> AsyncIterator[None]:
    """While the block builds an index on `connection`, `told` hears which transaction must end first. Raises
    IndexWaited, which names it, when the block got no lock."""
    names, ended = list[str](), asyncio.Event()

    def note(name: str) -> None:
        names.append(name)
        told(name)

    looking = asyncio.create_task(_look(engine, await connection.scalar(text("SELECT pg_backend_pid()")), note, ended))
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE and names:
            raise IndexWaited(f"its index waited for the transaction of {names[-1]}; end that first") from error
        raise
    finally:
        ended.set()
        await asyncio.gather(looking, return_exceptions=True)


async def _look(engine: AsyncEngine, builder: int, note: Callable[[str], None], ended: asyncio.Event) -> None:
    while not await _is_set(ended, LOOK_S):
        async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            found = (await connection.execute(_WAITED_FOR, {"builder": builder})).first()
        if found is not None:
            since = f", open since {found.since} UTC" if found.since else ""
            note(f"PostgreSQL process {found.pid} ({found.application_name or 'without a name'}){since}")


async def _is_set(ended: asyncio.Event, within_s: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await ended.wait()
    return ended.is_set()
