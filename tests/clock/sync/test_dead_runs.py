"""Runs whose worker is gone: the job that began one carries it on, as often as it must; without a job it is closed."""

import asyncio

from sqlalchemy import update

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.clock.sync import run as sync
from app.clock.sync import run_rows, when_due
from tests.clock.syncing import site

RUNS = 'SELECT status, "trigger" FROM clock_sync_runs ORDER BY id'


async def break_off(here, run_id):
    """As a worker does that is told to end: it frees the lease, and the run stays open."""
    begun = asyncio.Event()
    running = asyncio.create_task(
        sync.run(here.parts, "main", run_id, now=lambda: here.now, watch=lambda _: begun.set())
    )
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled(), "it ended before it was told to"


async def look(here):
    async with here.parts.database.transaction() as db:
        return await when_due.turn(db, here.now)


async def test_a_run_that_two_restarts_broke_off_is_carried_on_by_its_job(parts):
    async with site(parts) as here:
        run_id = await here.start()
        for _ in range(2):
            await break_off(here, run_id)
        assert (await here.run_of(run_id)).status == "succeeded"
        assert await here.rows(RUNS) == [("truncated", "manual"), ("truncated", "resume"), ("succeeded", "resume")]
        await here.holds_everything()


async def test_a_run_that_a_person_starts_between_two_attempts_takes_the_place_of_the_dead_one(parts):
    async with site(parts) as here:
        first = await here.start()
        for _ in range(2):
            await break_off(here, first)
        second = await here.start()
        assert (await here.run_of(first)).run_id == first
        assert (await here.row(second)).status == "queued", "its own job begins it"
        assert (await here.run_of(second)).status == "succeeded"
        assert (await here.run_of(first)).run_id == first
        assert await here.rows(RUNS) == [("truncated", "manual"), ("truncated", "resume"), ("succeeded", "manual")]


async def test_a_run_left_without_a_job_is_closed_where_runs_start_only_by_hand(parts):
    async with site(parts) as here:
        await here.set(sync_interval_minutes=0)
        async with parts.database.transaction() as db:
            run_id, _ = await run_rows.queue_run(db, "manual", {}, COMMAND_LINE)
        await break_off(here, run_id)
        await look(here)
        assert (await here.row(run_id)).status == "running", "its job waits and will carry it on"
        await end_jobs(parts, "failed")
        assert not (await look(here)).is_due
        closed = await here.row(run_id)
        assert (closed.status, closed.error_message) == ("truncated", run_rows.DIED)
        assert (await here.run_of(run_id)).status == "succeeded", "a retry of the failed job carries it on"


async def test_a_run_without_a_job_that_has_its_lease_stays_open(parts):
    """`muster clock:sync` runs one in the foreground."""
    async with site(parts) as here:
        await here.set(sync_interval_minutes=0)
        run_id = await here.start()
        async with parts.database.transaction() as db:
            await run_rows.begin(db, run_id, sync.lease.TERM, here.now)
        await look(here)
        assert (await here.row(run_id)).status == "running"


async def end_jobs(parts, status):
    async with parts.database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.name == "clock_sync").values(status=status))
