"""The database server leaves during a job: the worker gives it back, and that costs no attempt.
But not for ever."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import text, update

from app import jobs
from app.accounts.models import Job
from app.clock.importing.import_due import ImportFailedError
from app.jobs import Claim
from app.parts import Parts
from tests.test_jobs import QUICK, ask, nothing, row
from workers import claims
from workers.running import run
from workers.slots import Slots

ATTEMPTS = jobs.KINDS["clock_sync"].attempts


async def loses_its_server(parts: Parts, _: Claim) -> None:
    """The server ends the connection in the middle of the job, as it does when it stops."""
    async with parts.database.transaction() as db:
        await db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


async def fails_because_of_it(parts: Parts, claim: Claim) -> None:
    """As an import does, after some tries."""
    try:
        await loses_its_server(parts, claim)
    except Exception as error:
        raise ImportFailedError from error


@pytest.mark.parametrize("job", [loses_its_server, fails_because_of_it])
async def test_a_job_whose_server_left_is_queued_at_once_even_in_its_last_attempt(
    parts: Parts, job: jobs.Function
) -> None:
    job_id = await ask(parts.database)
    async with parts.database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.id == job_id).values(attempt=ATTEMPTS - 1))
    await run(parts, {"clock_sync": job}, QUICK, (job_id, ATTEMPTS - 1), nothing, slots=Slots(4))
    found = await row(parts.database, job_id)
    assert (found.status, found.attempt, found.uncounted) == ("queued", ATTEMPTS, 1)
    assert found.due_at <= datetime.now(UTC)
    assert found.error, "the page of the job says what happened"
    await run(parts, {"clock_sync": nothing_more}, QUICK, (job_id, ATTEMPTS), nothing, slots=Slots(4))
    assert (await row(parts.database, job_id)).status == "done"


async def nothing_more(_: Parts, __: Claim) -> None:
    pass


async def test_a_job_that_loses_its_server_again_and_again_is_given_up(parts: Parts) -> None:
    """It may be what brings the server down."""
    job_id = await ask(parts.database)
    once = partial(run, parts, {"clock_sync": loses_its_server}, QUICK)
    for attempt in range(claims.MOST_UNCOUNTED + ATTEMPTS):
        assert (await row(parts.database, job_id)).status == "queued", attempt
        async with parts.database.shared_transaction() as db:
            past = datetime.now(UTC) - timedelta(seconds=1)
            await db.execute(update(Job).where(Job.id == job_id).values(due_at=past))
        await once((job_id, attempt), nothing, slots=Slots(4))
    found = await row(parts.database, job_id)
    assert (found.status, found.uncounted) == ("failed", claims.MOST_UNCOUNTED)


async def test_a_dead_worker_costs_an_attempt_but_not_one_that_did_not_count(parts: Parts) -> None:
    job_id = await ask(parts.database)
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    died = {"status": "running", "attempt": ATTEMPTS, "heartbeat_at": long_ago}
    for uncounted, status in ((1, "running"), (0, "failed")):
        async with parts.database.shared_transaction() as db:
            await db.execute(update(Job).where(Job.id == job_id).values(uncounted=uncounted, **died))
            await claims.due(db, jobs.KINDS, timedelta(seconds=30))
        assert (await row(parts.database, job_id)).status == status
