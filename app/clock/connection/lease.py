"""The lease: which worker may write for the connection.
A fencing number keeps a worker that was taken for dead from writing.

A worker keeps the lease by renewing it. A dead worker loses it when it runs out.
What a run does with it is in sync/run.py.
"""

from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import affected

TERM = timedelta(seconds=60)

_MAKE = text("INSERT INTO clock_sync_lease (id) VALUES (1) ON CONFLICT DO NOTHING")
_READ = text("SELECT fence, run_id, expires_at > now() AS alive FROM clock_sync_lease WHERE id = 1 FOR UPDATE")
_TAKE = text(
    "UPDATE clock_sync_lease SET fence = fence + 1, run_id = :run_id, expires_at = now() + :term WHERE id = 1 RETURNING fence"
)
_RENEW = text(
    "UPDATE clock_sync_lease SET expires_at = now() + :term WHERE id = 1 AND fence = :fence AND run_id IS NOT NULL"
)
_GIVE_BACK = text("UPDATE clock_sync_lease SET run_id = NULL, expires_at = NULL WHERE id = 1 AND fence = :fence")
_BREAK = text("UPDATE clock_sync_lease SET fence = fence + 1, run_id = NULL, expires_at = NULL WHERE id = 1")


class LeaseLostError(Exception):
    """Another worker may write now: stop, and change nothing more."""


async def holder(db: AsyncSession) -> tuple[int | None, bool]:
    """(the run that has the lease, whether it is alive). Locks the row until the transaction ends."""
    await db.execute(_MAKE)
    found = (await db.execute(_READ)).one()
    return found.run_id, bool(found.alive)


async def take(db: AsyncSession, run_id: int, term: timedelta = TERM) -> int:
    """The fencing number of the new holder. The caller has looked at `holder` in this transaction."""
    fence: int = (await db.execute(_TAKE, {"run_id": run_id, "term": term})).scalar_one()
    return fence


async def keep(db: AsyncSession, fence: int, term: timedelta = TERM) -> None:
    """Renews the lease and holds its row until the transaction ends. Raises LeaseLostError."""
    renewed = await db.execute(_RENEW, {"fence": fence, "term": term})
    if affected(renewed) != 1:
        raise LeaseLostError


async def give_back(db: AsyncSession, fence: int) -> None:
    await db.execute(_GIVE_BACK, {"fence": fence})


async def break_off(db: AsyncSession) -> None:
    """Takes the lease from its holder, because the connection has changed."""
    await db.execute(_BREAK)
