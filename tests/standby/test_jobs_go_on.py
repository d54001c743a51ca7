"""PostgreSQL is killed in the middle of a job: the job begins again as soon as the server is back.
It does not wait until its worker counts as dead."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import select, text

from app import jobs
from app.accounts.models import Job
from app.config import read_settings
from app.db.migrate import migrate
from app.jobs import Claim
from app.parts import Parts, make_parts
from app.worker_pace import Pace
from tests.standby.servers import Pair, Server
from tests.test_jobs import row, until
from workers.settings import work

pytestmark = pytest.mark.slow
PATIENCE_S = 60
# Nothing is found by a look or by silence: only the job's own worker can bring it back.
NEVER = Pace(look_s=3600, beat_s=3600, stale_s=3600)
# The heartbeats notice that the server is away, and end the job's work.
NOTICED = Pace(look_s=3600, beat_s=0.2, stale_s=1)


@pytest.fixture
async def parts(servers: Pair, tmp_path: Path) -> AsyncIterator[Parts]:
    await migrate(servers.urls.owner, "portal_app", workspaces=["main"])
    made = make_parts(read_settings({"MUSTER_DATA_DIR": str(tmp_path)}), servers.urls.app)
    yield made
    await made.close()


@dataclass
class Interrupted:
    """A job that uses the database all the time in its first attempt, or waits elsewhere, and ends in its second."""

    asks: bool = True
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, parts: Parts, claim: Claim) -> None:
        if claim.attempt > 1:
            return
        self.begun.set()
        while True:
            if self.asks:
                async with parts.database.transaction() as db:
                    await db.execute(text("SELECT 1"))
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def at_work(parts: Parts, job: Interrupted, pace: Pace) -> AsyncIterator[int]:
    """A worker in the middle of the job."""
    async with parts.database.transaction() as db:
        job_id = await jobs.request(db, "clock_sync")
    assert job_id is not None
    working = asyncio.create_task(work(parts, functions={"clock_sync": job}, pace=pace, concurrency=2))
    try:
        async with asyncio.timeout(PATIENCE_S):
            await job.begun.wait()
        yield job_id
    finally:
        working.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(working, return_exceptions=True)


async def kill(server: Server) -> None:
    await asyncio.to_thread(server.kill)


@pytest.mark.parametrize(
    ("job", "pace"), [(Interrupted(), NEVER), (Interrupted(asks=False), NOTICED)], ids=["asks", "waits"]
)
async def test_a_job_begins_again_as_soon_as_its_server_is_back(
    servers: Pair, parts: Parts, job: Interrupted, pace: Pace
) -> None:
    async with at_work(parts, job, pace) as job_id:
        await kill(servers.primary)
        await asyncio.sleep(2 * NOTICED.stale_s)
        await asyncio.to_thread(servers.primary.start)

        async def is_done() -> bool:
            return bool((await row(parts.database, job_id)).status == "done")

        await until(is_done, within_s=PATIENCE_S)
        found = await row(parts.database, job_id)
        assert (found.attempt, found.uncounted) == (2, 1)


async def test_a_worker_that_waits_for_its_server_ends_when_it_is_told_to(servers: Pair, parts: Parts) -> None:
    async with at_work(parts, Interrupted(), NEVER) as job_id:
        await kill(servers.primary)
        await asyncio.sleep(1)
    await asyncio.to_thread(servers.primary.start)
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(Job.status).where(Job.id == job_id)) == "running", "another one takes it up"
