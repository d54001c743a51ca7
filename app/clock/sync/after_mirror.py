"""What a run does once the mirror is written: matching, import, totals. Each is a step of its own, in this order."""

from collections.abc import Awaitable, Callable
from functools import partial

from app.clock.bindings import actions as bindings
from app.clock.importing import import_due
from app.clock.punches import changes, daily_totals, marks
from app.clock.sync import import_counts
from app.clock.sync.run_state import RunState, StoppedError

Step = Callable[[RunState], Awaitable[None]]


async def match_step(run: RunState) -> None:
    """Judges the bindings of people that came, changed or went. New conflicts go into `run.findings["conflicts"]`, a list
    of codes: they make the run partial."""
    async with run.writing(resource="bindings") as step:
        result = await bindings.match_all(step.db)
        if result.new_conflicts:
            run.findings["conflicts"] = list(result.new_conflicts)


async def import_step(run: RunState) -> None:
    """Judges the punches that wait, and writes attendance records. What a change of a rule concerns is left to the job. Raises ImportFailedError, StoppedError."""

    async def progress(done: int, of: int) -> bool:
        async with run.writing(resource="import", done=done, of=of):
            return not run.stop_requested

    opened = partial(run.parts.database.transaction, run.workspace)
    imported = await import_due.import_marked(opened, now=run.now(), progress=progress, newest_found=run.newest_found)
    run.imported = imported.outcomes - imported.newer
    async with run.writing(resource="import") as step:
        await import_counts.store(step.db, run)
        if await changes.under_way(step.db):
            await marks.ask_for_import(step.db)
    if not imported.complete:
        raise StoppedError


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
