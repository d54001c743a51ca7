"""A worker that is alive and looks for no problems: web processes find that out from what is stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from app.accounts.models import Job, WorkerHeartbeat
from app.db.session import Database
from app.host.problem_kinds.workers import GONE, STUCK, look_without_worker
from app.problems import looking, sweeps
from app.problems.models import Problem
from app.web.notices.worker_watch import WorkerWatch
from app.worker_pace import PACE
from tests.conftest import Browser
from tests.test_jobs import until
from workers.wakeups import alive

SAID = "no look for problems has succeeded for more than 15 minutes. If one failed, Jobs says why"


async def worker(database: Database, minutes: int) -> None:
    """One that is alive, and was started so long ago."""
    async with database.shared_transaction() as db:
        started = datetime.now(UTC) - timedelta(minutes=minutes)
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1, started_at=started))


async def sweep(database: Database, minutes: int, status: str = "done", workspace: str = "main") -> None:
    """Begun, or made, so long ago."""
    at = datetime.now(UTC) - timedelta(minutes=minutes)
    row = {"workspace": workspace, "name": looking.JOB, "key": looking.JOB, "status": status, "started_at": at}
    async with database.shared_transaction() as db:
        await db.execute(insert(Job).values(row | ({"finished_at": at} if status == "done" else {})))


async def is_late(database: Database) -> bool:
    async with database.shared_transaction() as db:
        return (await sweeps.standing(db)).is_late


@pytest.mark.parametrize(
    ("started", "done", "late"), [(60, 19, False), (60, 21, True), (19, 60, False), (21, 60, True), (21, None, True)]
)
async def test_it_is_late_once_three_sweeps_were_due(
    database: Database, started: int, done: int | None, *, late: bool
) -> None:
    """A worker that was started lately has not had the time."""
    await worker(database, started)
    if done is not None:
        await sweep(database, done)
    await sweep(database, 1, workspace="globex")
    assert await is_late(database) is late


async def test_while_one_is_made_none_is_late(database: Database) -> None:
    """Else the first one after a pause would find itself missing."""
    await worker(database, 90)
    await sweep(database, 60)
    await sweep(database, 1, "running")
    assert not await is_late(database)
    async with database.shared_transaction() as db:
        await db.execute(
            update(Job).where(Job.status == "running").values(started_at=Job.started_at - timedelta(hours=1))
        )
    assert await is_late(database)


async def test_without_a_worker_nothing_but_that_is_told(database: Database) -> None:
    await sweep(database, 60)
    assert not await is_late(database)


async def test_pages_the_health_check_and_problems_tell_of_it(
    app: Any, alice: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    app.app.site.state.workers = WorkerWatch(every_s=0)
    await worker(database, 60)
    await sweep(database, 10)
    assert SAID not in (await alice.get("/people")).text
    assert (await visitor.get("/health/ready")).json() == {"status": "ready", "workers": 1}
    async with database.shared_transaction() as db:
        await db.execute(update(Job).values(finished_at=Job.finished_at - timedelta(minutes=11)))
    assert SAID in (await alice.get("/people")).text
    assert SAID not in (await bob.get("/people")).text
    ready = await visitor.get("/health/ready")
    assert (ready.status_code, "No look for problems" in ready.json()["late"]) == (200, True)
    async with database.transaction() as db:
        await look_without_worker(db)
        assert (await db.scalars(select(Problem.kind))).all() == [STUCK]
    await sweep(database, 0)
    async with database.transaction() as db:
        await looking.look(db, {STUCK})
        assert (await db.scalars(select(Problem.closed_at.is_not(None)))).all() == [True]


async def test_a_worker_that_comes_back_asks_for_the_look_that_closes_worker_gone(database: Database) -> None:
    async with database.transaction() as db:
        await look_without_worker(db)
        assert (await db.scalars(select(Problem.kind).where(Problem.closed_at.is_(None)))).all() == [GONE]

    async def is_alive() -> bool:
        async with database.shared_transaction() as db:
            return (await sweeps.standing(db)).workers > 0

    async with alive(database, "w", "h", 1, PACE):
        await until(is_alive)
        async with database.transaction() as db:
            asked = (await db.scalars(select(Job.name).where(Job.status == "queued"))).all()
            assert asked.count(looking.JOB) == 1
            await looking.look(db)
            assert (await db.scalars(select(Problem.closed_by))).all() == ["itself"]


async def test_a_second_worker_asks_for_none(database: Database) -> None:
    await worker(database, 10)

    async def are_two() -> bool:
        async with database.shared_transaction() as db:
            return (await sweeps.standing(db)).workers > 1

    async with alive(database, "v", "h", 2, PACE):
        await until(are_two)
        async with database.transaction() as db:
            assert (await db.scalars(select(Job.name))).all() == []
