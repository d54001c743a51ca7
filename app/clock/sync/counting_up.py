"""Counts days while a run still brings punches: until a day is counted up, each page counts its punches one by one."""

from functools import partial

from app.clock.mirror.counts import Counts
from app.clock.mirror.cursors import PUNCHES
from app.clock.punches import daily_totals
from app.clock.sync.run_state import RunState

# Whole weeks are counted each time, so not after fewer punches than this.
MANY = 20_000


async def count_up(run: RunState) -> None:
    """Counts the changed days once many punches were written since this run last did."""
    counts = run.counts.get(PUNCHES, Counts())
    written = counts.created + counts.updated
    if written - run.counted_up < MANY:
        return
    await daily_totals.roll_up_in(partial(run.parts.database.transaction, run.workspace))
    run.counted_up = written
