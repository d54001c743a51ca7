"""`muster doctor`: one line for each thing, and exit code 1 when something is not in order."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from sqlalchemy import insert

from app import jobs
from app.config import Settings
from app.db.session import Database
from app.doctor import Finding, outbound
from app.host.shared import Job, User, WorkerHeartbeat
from app.outbound.policy import AllowListError
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine, Ended

HOURS_AGO = datetime.now(UTC) - timedelta(hours=2)


@pytest.fixture
async def a_worker(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1))


def levels(ended: Ended) -> dict[str, str]:
    return {one["name"]: one["level"] for one in ended.json}


@pytest.mark.usefixtures("a_worker")
async def test_all_is_well_with_a_worker(muster: CommandLine) -> None:
    ended = await muster("doctor", "--json")
    assert ended.code == 0
    assert set(levels(ended).values()) == {"ok"}
    assert set(levels(ended)) == {"database", "roles", "migrations", "keys", "jobs", "workers", "outbound"}
    told = await muster("doctor")
    assert len(told.out.splitlines()) == len(ended.json)


async def test_without_a_worker_it_says_how_to_start_one(muster: CommandLine) -> None:
    ended = await muster("doctor")
    assert ended.refusal == "Not in order: workers."
    assert "muster worker" in ended.out


async def test_a_silent_worker_is_none(muster: CommandLine, database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1, seen_at=HOURS_AGO))
    assert levels(await muster("doctor", "--json"))["workers"] == "failed"


@pytest.mark.usefixtures("a_worker")
async def test_overdue_silent_and_failed_jobs_are_counted(muster: CommandLine, database: Database) -> None:
    async with database.transaction() as db:
        await jobs.request(db, "clock_sync", due_at=HOURS_AGO)
        done = {"workspace": "main", "name": "clock_sync", "status": "failed", "finished_at": datetime.now(UTC)}
        await db.execute(insert(Job).values(**done, key="a"))
        silent = {"workspace": "main", "name": "clock_sync", "status": "running", "heartbeat_at": HOURS_AGO}
        await db.execute(insert(Job).values(**silent, key="b"))
    ended = await muster("doctor")
    assert "1 overdue, 1 without a sign of life, 1 failed" in ended.out
    assert ended.refusal == "Not in order: jobs."


@pytest.mark.usefixtures("a_worker")
async def test_a_workspace_that_is_behind_is_named(muster: CommandLine, urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.owner) as owner:
        (step,) = owner.execute("SELECT version_num FROM tenant_globex.migrations_clock").fetchone() or ("",)
        owner.execute("UPDATE tenant_globex.migrations_clock SET version_num = 'older'")
    try:
        ended = await muster("doctor")
        assert "globex.clock" in ended.out
        assert ended.refusal == "Not in order: migrations."
    finally:
        with psycopg.connect(urls.owner) as owner:
            owner.execute("UPDATE tenant_globex.migrations_clock SET version_num = %s", [step])


@pytest.mark.usefixtures("a_worker")
async def test_running_the_app_as_the_owner_is_found(muster: CommandLine, urls: DatabaseUrls) -> None:
    ended = await muster("doctor", "--json", MUSTER_DATABASE_URL=urls.owner)
    assert levels(ended)["roles"] == "failed"


@pytest.mark.usefixtures("a_worker")
async def test_a_secret_that_no_key_opens_is_found(muster: CommandLine, database: Database) -> None:
    async with database.shared_transaction() as db:
        values = {
            "workspace": "acme",
            "email": "ada@example.org",
            "name": "Ada",
            "totp_secret": "gone.AAAAAAAAAAAAAAAA.AAAA",
        }
        await db.execute(insert(User).values(**values))
    ended = await muster("doctor")
    assert "acme: users.totp_secret" in ended.out
    assert ended.refusal == "Not in order: keys."


def test_an_allow_list_that_opens_very_much_is_a_warning(settings: Settings) -> None:
    def judged(text: str) -> Finding:
        return outbound(replace(settings, outbound_allow=text))

    assert judged("").level == "ok"
    assert judged("127.0.0.1/32:9009, 10.0.0.0/8").level == "ok"
    assert judged("0.0.0.0/0").level == "warning"
    assert judged("::/0").level == "warning"
    with pytest.raises(AllowListError):
        judged("everything")
