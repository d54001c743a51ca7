"""The database server leaves during a job: the worker gives it back, and that costs no attempt.
But not for ever."""

import asyncio
from collections.abc import AsyncIterator, Iterator, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
import structlog
from sqlalchemy import text, update

from app import jobs
from app.accounts.models import Job
from app.clock.importing.import_due import ImportFailedError
from app.db.session import Database
from app.jobs import Claim
from app.parts import Parts
from app.worker_pace import Pace
from tests.cluster import DatabaseUrls
from tests.test_jobs import QUICK, ask, nothing, row, until
from workers import claims
from workers.cancelling import end
from workers.running import run
from workers.slots import Slots
from workers.wakeups import keep_waking

ATTEMPTS = jobs.KINDS["clock_sync"].attempts
LONG_AGO = datetime.now(UTC) - timedelta(hours=1)


async def loses_its_server(parts: Parts, _: Claim) -> None:
    """The server ends the connection in the middle of the job, as it does when it stops."""
    async with parts.database.transaction() as db:
        await db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


async def may_change_nothing(parts: Parts, _: Claim) -> None:
    """As on a standby before it is promoted."""
    async with parts.database.transaction() as db:
        await db.execute(text("SET TRANSACTION READ ONLY"))
        await jobs.request(db, "clock_purge")


async def fails_because_of_it(parts: Parts, claim: Claim) -> None:
    """As an import does, after some tries."""
    try:
        await loses_its_server(parts, claim)
    except Exception as error:
        raise ImportFailedError from error


@pytest.mark.parametrize("job", [loses_its_server, fails_because_of_it, may_change_nothing])
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


async def test_the_sentence_counts_attempts_as_the_page_of_the_job_does(database: Database) -> None:
    job_id = await ask(database)
    died = {"status": "running", "attempt": ATTEMPTS + 2, "uncounted": 2, "heartbeat_at": LONG_AGO}
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.id == job_id).values(**died))
        await claims.due(db, jobs.KINDS, timedelta(seconds=30))
    assert (await row(database, job_id)).error == claims.DIED.format(ATTEMPTS)


@contextmanager
def away(urls: DatabaseUrls) -> Iterator[None]:
    """No part of Muster is connected to the database, and none can connect."""
    name, role = urlsplit(urls.owner).path.removeprefix("/"), urlsplit(urls.app).username
    with psycopg.connect(urls.owner, dbname="postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        connected = "FROM pg_stat_activity WHERE datname = %s AND usename = %s"
        admin.execute(f"SELECT pg_terminate_backend(pid, 5000) {connected}", [name, role])
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


class WakeUps:
    """A queue that only collects."""

    def __init__(self) -> None:
        self.woken: list[int] = []

    async def enqueue(self, _: str, *, job_id: int, **__: Any) -> None:
        self.woken.append(job_id)


@asynccontextmanager
async def woken_after_it_was_away(
    database: Database, urls: DatabaseUrls, queue: WakeUps, stale_s: float
) -> AsyncIterator[tuple[int, int]]:
    """A worker that looks for jobs goes through it. Two jobs ran meanwhile, the second in its last attempt, and their
    rows are older than the limit."""
    running, last = await ask(database), await ask(database, "clock_purge")
    async with database.shared_transaction() as db:
        alive = {"status": "running", "attempt": 1, "heartbeat_at": datetime.now(UTC)}
        await db.execute(update(Job).values(**alive))
        await db.execute(update(Job).where(Job.id == last).values(attempt=jobs.KINDS["clock_purge"].attempts))
    pace = Pace(look_s=0.1, beat_s=1, stale_s=stale_s)
    with structlog.testing.capture_logs() as logs, away(urls):
        waking = asyncio.create_task(keep_waking(database, queue, jobs.KINDS, pace, Slots(4)))  # type: ignore[arg-type]
        await until(partial(noted, logs))
    try:
        async with database.shared_transaction() as db:
            await db.execute(update(Job).values(heartbeat_at=LONG_AGO))
        yield running, last
    finally:
        await end(waking)


async def test_after_the_database_was_away_the_workers_of_running_jobs_have_time_to_answer(
    database: Database, urls: DatabaseUrls
) -> None:
    queue = WakeUps()
    async with woken_after_it_was_away(database, urls, queue, 60) as (running, last):
        waits = await ask(database, "send_mail", key="waits")
        await until(partial(has, queue, waits))
        assert running not in queue.woken, "its worker may give it back"
        assert (await row(database, last)).status == "running"


async def test_a_worker_that_died_while_it_was_away_is_noticed(database: Database, urls: DatabaseUrls) -> None:
    queue = WakeUps()
    async with woken_after_it_was_away(database, urls, queue, 1) as (running, last):
        await until(partial(has, queue, running))
        assert (await row(database, last)).status == "failed"


async def noted(logs: list[MutableMapping[str, Any]]) -> bool:
    return any(one["event"] == "looking for due jobs failed" for one in logs)


async def has(queue: WakeUps, job_id: int) -> bool:
    return job_id in queue.woken
