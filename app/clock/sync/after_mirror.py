"""What a run does once the mirror is written: matching, import, totals. Each is a step of its own, in this order.

A run's import counts are what its own import made of older punches, and what became of those that the run itself
brought, whichever import judged them. They are fixed when the run ends.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.bindings import match_pass
from app.clock.importing import import_due
from app.clock.models import Punch, SyncRun
from app.clock.punches import changes, daily_totals, marks
from app.clock.sync.run_state import RunState, StoppedError

Step = Callable[[RunState], Awaitable[None]]

# By id, because no index serves the run. One run at a time writes punches,
# so its own ids are higher than those that it found.
_BROUGHT = text(
    """
    SELECT import_outcome, count(*) FROM clock_transactions
    WHERE id > :found AND first_run_id = :run_id AND import_outcome IS NOT NULL GROUP BY import_outcome
    """
)


async def match_step(run: RunState) -> None:
    """Judges the bindings of people that came, changed or went. New conflicts go into `run.findings["conflicts"]`, a
    list of codes: they make the run partial."""
    compared = await match_pass.compare_names(partial(run.parts.database.transaction, run.workspace))
    async with run.writing(resource="bindings") as step:
        result = await match_pass.match_all(step.db, compared)
        if result.new_conflicts:
            run.findings["conflicts"] = list(result.new_conflicts)


async def import_step(run: RunState) -> None:
    """Judges the punches that wait, and writes attendance records. What a change of a rule concerns is left to the job.
    Raises ImportFailedError, StoppedError."""

    async def progress(done: int, of: int) -> bool:
        async with run.writing(resource="import", done=done, of=of):
            return not run.stop_requested

    opened = partial(run.parts.database.transaction, run.workspace)
    imported = await import_due.import_marked(opened, now=run.now(), progress=progress, newest_found=run.newest_found)
    run.imported = imported.outcomes - imported.newer
    async with run.writing(resource="import") as step:
        await store_counts(step.db, run)
        if await changes.under_way(step.db):
            await marks.ask_for_import(step.db)
    if not imported.complete:
        raise StoppedError


async def newest_punch(db: AsyncSession) -> int:
    """The id of the newest punch; a run that begins now brings higher ones."""
    return await db.scalar(select(func.max(Punch.id))) or 0


async def store_counts(db: AsyncSession, run: RunState) -> None:
    """Writes the import counts as they stand."""
    rows = await db.execute(_BROUGHT, {"found": run.newest_found, "run_id": run.run_id})
    outcomes = run.imported + Counter({row[0]: row[1] for row in rows})
    await db.execute(update(SyncRun).where(SyncRun.id == run.run_id).values(outcomes=dict(outcomes)))


async def rollup_step(run: RunState) -> None:
    """Counts the days whose punches changed."""
    await daily_totals.roll_up(run.parts.database, run.workspace)


async def after_mirror(run: RunState, *, imports: bool) -> None:
    """All steps in order; without the import where it was not asked for."""
    for step in STEPS:
        if step is import_step and not imports:
            continue
        await run.renew()
        await step(run)


STEPS: tuple[Step, ...] = (match_step, import_step, rollup_step)
