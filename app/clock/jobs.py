"""What the jobs of the clock do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/clock/module.py`; a job is asked for with `app.jobs.request`.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial

from app import jobs
from app.accounts import policies
from app.accounts.audit import SYSTEM
from app.clock import purge
from app.clock.bindings import match_pass
from app.clock.importing import import_due
from app.clock.punches import daily_totals
from app.clock.review import long_work
from app.clock.sync import run as sync
from app.clock.sync import run_rows, when_due
from app.jobs import Claim, Function
from app.parts import Parts
from app.problems import looking
from app.worker_pace import PACE

# A worker that takes over the job of a killed one must find the run's lease expired too.
LEASE_TERM = timedelta(seconds=PACE.stale_s - PACE.beat_s)


async def run_sync(parts: Parts, claim: Claim) -> None:
    await sync.run(parts, claim.workspace, claim.arguments["run_id"], term=LEASE_TERM)


async def match(parts: Parts, claim: Claim) -> None:
    open_transaction = partial(parts.database.transaction, claim.workspace)
    compared = await match_pass.compare_names(open_transaction)
    async with open_transaction() as db:
        await match_pass.match_all(db, compared)
        await looking.look_soon(db)


async def import_punches(parts: Parts, claim: Claim) -> None:
    await import_due.import_due(partial(parts.database.transaction, claim.workspace))
    if await daily_totals.roll_up(parts.database, claim.workspace):
        # Some problems are found in the counts of these days. A look that the import asked for may have come before.
        async with parts.database.transaction(claim.workspace) as db:
            await looking.look_soon(db)


async def carry_on(parts: Parts, claim: Claim) -> None:
    await long_work.carry_on(partial(parts.database.transaction, claim.workspace), claim.arguments["act_id"])


async def remove_old(parts: Parts, claim: Claim) -> None:
    await purge.purge(parts.database, claim.workspace, datetime.now(UTC))


async def schedule(parts: Parts, workspace: str) -> datetime | None:
    """Asks for a sync run where the interval is over, for one in place of a run whose worker died,
    and for the daily purge."""
    async with parts.database.transaction(workspace) as db:
        await jobs.request_daily(db, "clock_purge")
        if not policies.enabled(await policies.read(db, workspace), "module_clock"):
            return None
        now = datetime.now(UTC)
        turn = await when_due.turn(db, now)
        if turn.is_due:
            await run_rows.queue_run(db, "schedule", {}, SYSTEM)
        return turn.again_at


FUNCTIONS: Mapping[str, Function] = {
    "clock_sync": run_sync,
    "clock_match": match,
    "clock_import": import_punches,
    "clock_long_act": carry_on,
    "clock_unnamed_act": carry_on,
    "clock_purge": remove_old,
}
