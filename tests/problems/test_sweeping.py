"""How often the schedule asks for a look at all kinds in a workspace."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, text, update

from app.accounts.models import Job, WorkerHeartbeat
from app.clock.connection import saved
from app.clock.days import LIVE_DAYS
from app.clock.models import Connection, Setting
from app.db.session import Database
from app.host import jobs
from app.parts import Parts
from app.problems import looking
from app.problems.models import Problem, ProblemSweep
from tests.clock.mirrored import connect, mirror_terminal
from tests.clock.problems.days import stay
from tests.conftest import Browser
from tests.host.pages.admin.test_policies import DEFAULTS
from tests.host.pages.test_problems import have

QUIET = "nothing"
SILENT_AFTER = timedelta(hours=48 * LIVE_DAYS)


async def swept(database: Database, workspace: str, ago: timedelta) -> None:
    """The job ran so long ago, as a worker runs it."""
    done = {"workspace": workspace, "name": looking.JOB, "key": looking.JOB, "status": "done"}
    async with database.transaction(workspace) as db:
        await db.execute(insert(Job).values(**done, finished_at=datetime.now(UTC)))
    async with database.transaction(workspace) as db:
        assert await looking.look(db)
    async with database.transaction(workspace) as db:
        await db.execute(
            text("UPDATE jobs SET created_at = created_at - CAST(:ago AS interval) WHERE name = :name"),
            {"ago": ago, "name": looking.JOB},
        )
        await db.execute(
            text(
                "UPDATE problem_sweeps SET looked_at = looked_at - CAST(:ago AS interval), opens_at = opens_at - CAST(:ago AS interval)"
            ),
            {"ago": ago},
        )


async def is_asked(parts: Parts, workspace: str) -> bool:
    await jobs.schedule(parts, workspace)
    return await waits(parts, workspace)


async def waits(parts: Parts, workspace: str) -> bool:
    async with parts.database.transaction(workspace) as db:
        waiting = select(Job.name).where(Job.workspace == workspace, Job.status == "queued")
        return looking.JOB in (await db.scalars(waiting)).all()


async def bring_about(database: Database, workspace: str, there: str) -> None:
    now = datetime.now(UTC)
    async with database.transaction(workspace) as db:
        if there != QUIET:
            await connect(db, updated_at=now - timedelta(minutes=50) if there == "connection soon" else now)
        if there == "all well":
            await db.execute(insert(Setting).values(name="sync_interval_minutes", value=0))
        if there in ("terminal soon", "terminal at once"):
            left = timedelta(minutes=20 if there == "terminal soon" else 3)
            await db.execute(insert(Setting).values(name="silence_hours", value=48))
            last = now - SILENT_AFTER + left
            await mirror_terminal(db, "T1", state="online", last_punch_at_utc=last)
            # Another terminal speaks.
            await stay(db, "100", "imported", now, sn="T2")
        if there == "awaiting":
            await stay(db, "100", "awaiting", now - timedelta(days=3), updated_at=now - timedelta(hours=47, minutes=30))


@pytest.mark.parametrize(
    ("workspace", "there", "minutes", "expected"),
    [
        ("globex", QUIET, 6, False),
        ("globex", QUIET, 59, False),
        ("globex", QUIET, 61, True),
        ("globex", "connection", 4, False),
        # Its first run will be overdue after an hour.
        ("globex", "connection", 44, False),
        ("globex", "connection", 46, True),
        ("globex", "connection soon", 6, True),
        ("globex", "all well", 59, False),
        ("globex", "all well", 61, True),
        ("globex", "terminal soon", 14, False),
        ("globex", "terminal soon", 16, True),
        ("globex", "terminal at once", 6, True),
        ("globex", "awaiting", 6, True),
        ("main", QUIET, 6, True),
    ],
)
async def test_a_tenant_without_a_problem_is_looked_into_when_time_may_open_one(
    parts: Parts, workspace: str, there: str, minutes: int, *, expected: bool
) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w1", host="h", pid=1))
    await bring_about(parts.database, workspace, there)
    await swept(parts.database, workspace, timedelta(minutes=minutes))
    async with parts.database.transaction(workspace) as db:
        assert not await db.scalar(select(Problem.id).where(Problem.stands).limit(1))
    assert await is_asked(parts, workspace) is expected


async def test_where_a_problem_stands_it_is_every_five_minutes(parts: Parts) -> None:
    await swept(parts.database, "globex", timedelta(minutes=6))
    await have(parts.database, "job_failed", 1, "globex")
    assert await is_asked(parts, "globex")


async def test_a_look_of_another_version_says_nothing_of_time(parts: Parts) -> None:
    await swept(parts.database, "globex", timedelta(minutes=6))
    async with parts.database.transaction("globex") as db:
        await db.execute(text("UPDATE problem_sweeps SET looked_at = looked_at - interval '1 minute'"))
    assert await is_asked(parts, "globex")


async def test_a_workspace_that_no_look_noted_is_looked_into(parts: Parts) -> None:
    await swept(parts.database, "globex", timedelta(minutes=6))
    async with parts.database.transaction("globex") as db:
        await db.execute(text("UPDATE problem_sweeps SET looked_at = NULL, opens_at = NULL"))
        assert (await db.scalars(select(ProblemSweep.opens_at))).all() == [None]
    assert await is_asked(parts, "globex")


@pytest.mark.parametrize(("before", "expected"), [("failing", True), ("healthy", False)])
async def test_a_connection_that_works_again_is_looked_at(parts: Parts, before: str, *, expected: bool) -> None:
    async with parts.database.transaction("globex") as db:
        await connect(db)
        await db.execute(update(Connection).values(status=before))
    async with parts.database.transaction("globex") as db:
        await saved.mark_working(db, datetime.now(UTC))
    assert await waits(parts, "globex") is expected


async def test_a_module_that_is_switched_on_is_looked_into(parts: Parts, alice: Browser) -> None:
    await alice.submit("/admin/policies", {**DEFAULTS, "module_clock": ""})
    assert await waits(parts, "main")
