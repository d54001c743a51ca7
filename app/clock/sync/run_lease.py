"""The lease of a run under way: kept while a call takes long, and freed when the run breaks off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog

from app.clock.connection import lease
from app.clock.sync.run_state import RunState
from app.db.away import insist

_SHORTEST_BEAT_S = 1.0
_log = structlog.get_logger("muster.clock.sync")


@asynccontextmanager
async def kept(running: RunState) -> AsyncIterator[None]:
    """Keeps the lease during a slow call. If it is lost, the next page's transaction finds out."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(max(running.term.total_seconds() / 4, _SHORTEST_BEAT_S))
            try:
                await running.renew()
            except lease.LeaseLostError:
                return
            except Exception as error:  # noqa: BLE001 - the database may be away for a while; the next beat renews it
                reason = type(error).__name__
                _log.warning(
                    "the lease was not renewed", workspace=running.workspace, run_id=running.run_id, reason=reason
                )

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def let_go(running: RunState) -> None:
    """The worker is told to end. It frees the lease, so the next worker need not wait until it expires."""
    with suppress(Exception):
        await _free_lease(running)


async def let_go_when_back(running: RunState) -> None:
    """The database left. Once it answers, the next attempt of the job resumes the run, which stays open, and needs the
    lease. If that takes longer, the lease has expired."""
    with suppress(Exception):
        await insist(partial(_free_lease, running), running.term.total_seconds())


async def _free_lease(running: RunState) -> None:
    await running.flush_log()
    async with running.parts.database.transaction(running.workspace) as db:
        await lease.give_back(db, running.fence)
