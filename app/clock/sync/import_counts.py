"""What a run's import counts are: what its own import made of older punches, and what became of those that the run itself brought,
whichever import judged them. They are fixed when the run ends.
"""

from collections import Counter

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Punch, SyncRun
from app.clock.sync.run_state import RunState

# By id, since no index serves the run: one run at a time writes punches, so its own lie behind those that it found.
_BROUGHT = text(
    """
    SELECT import_outcome, count(*) FROM clock_transactions
    WHERE id > :found AND first_run_id = :run_id AND import_outcome IS NOT NULL GROUP BY import_outcome
    """
)


async def newest(db: AsyncSession) -> int:
    """The id of the newest punch; a run that begins now brings higher ones."""
    return await db.scalar(select(func.max(Punch.id))) or 0


async def store(db: AsyncSession, run: RunState) -> None:
    """Writes the counts as they stand."""
    rows = await db.execute(_BROUGHT, {"found": run.newest_found, "run_id": run.run_id})
    outcomes = run.imported + Counter({row[0]: row[1] for row in rows})
    await db.execute(update(SyncRun).where(SyncRun.id == run.run_id).values(outcomes=dict(outcomes)))
