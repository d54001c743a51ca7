"""`muster doctor`: one line for each thing, and exit code 1 when something is not in order."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import insert, update

from app import jobs
from app.accounts.models import Job, User, WorkerHeartbeat
from app.clock.models import Connection
from app.config import Settings
from app.db.session import Database
from app.db.steps import FITS
from app.doctor import ReportLine, outbound
from app.outbound.policy import AllowListError
from app.parts import Parts
from tests.clock.sync_rows import connected
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine, Ended
from tests.conftest import Browser

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
    assert set(levels(ended)) == {
        "database",
        "roles",
        "connections",
        "migrations",
        "keys",
        "jobs",
        "workers",
        "mail",
        "monitor",
        "clocks",
        "outbound",
    }
    told = await muster("doctor")
    assert len(told.out.splitlines()) == len(ended.json)


@pytest.mark.usefixtures("a_worker")
async def test_what_all_processes_may_open_is_added_up(muster: CommandLine, urls: DatabaseUrls) -> None:
    """Each is counted once, however many connections it has open."""
    for each, most, level in ((20, 40, "ok"), (5000, 10000, "warning")):
        names = [f"muster web {each} here:1", f"muster web {each} here:1", f"muster worker {each} there:1"]
        with ExitStack() as stack:
            for name in names:
                stack.enter_context(psycopg.connect(urls.app, application_name=name))
            ended = await muster("doctor", "--json")
        found = next(one for one in ended.json if one["name"] == "connections")
        assert found["level"] == level
        assert f"2 processes may open {most}," in found["sentence"]
        assert f"3 workspaces in each may take {3 * most} MiB" in found["sentence"]


async def test_without_a_worker_it_says_how_to_start_one(muster: CommandLine) -> None:
    ended = await muster("doctor")
    assert ended.refusal == "Not in order: workers."
    assert "muster worker" in ended.out


async def test_a_silent_worker_is_none(muster: CommandLine, database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w", host="h", pid=1, seen_at=HOURS_AGO))
    assert levels(await muster("doctor", "--json"))["workers"] == "failed"


@pytest.mark.usefixtures("a_worker")
async def test_a_time_clock_that_fails_is_named_and_warned_of(muster: CommandLine, parts: Parts) -> None:
    await connected(parts, status="unverified")
    assert levels(await muster("doctor", "--json"))["clocks"] == "warning", "it was never tested"
    failing = {"status": "failing", "last_error_code": "TC-NETWORK"}
    for values, level in ((failing, "warning"), ({"status": "paused"}, "ok"), ({"status": "healthy"}, "ok")):
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(**values))
        ended = await muster("doctor", "--json")
        assert (ended.code, levels(ended)["clocks"]) == (0, level)
        assert ("main failing TC-NETWORK" in ended.out) == (values is failing)


@pytest.mark.usefixtures("a_worker")
async def test_overdue_silent_and_failed_jobs_are_counted(muster: CommandLine, database: Database) -> None:
    async with database.transaction() as db:
        await jobs.request(db, "clock_sync", due_at=HOURS_AGO)
        done = {"workspace": "main", "name": "clock_sync", "status": "failed", "finished_at": datetime.now(UTC)}
        await db.execute(insert(Job).values(**done, key="a"))
        silent = {"workspace": "main", "name": "clock_sync", "status": "running", "heartbeat_at": HOURS_AGO}
        await db.execute(insert(Job).values(**silent, key="b"))
    ended = await muster("doctor")
    assert "1 overdue, 1 without a heartbeat, 1 failed" in ended.out
    assert ended.refusal == "Not in order: jobs."


@contextmanager
def at_step(urls: DatabaseUrls, schema: str, step: str, needs: str | None = None) -> Iterator[None]:
    """As if the clock's tables of the schema were there. `needs`: what a step that took something away says."""
    table = sql.Identifier(schema, "migrations_clock")
    note = sql.SQL("COMMENT ON TABLE {} IS {}")
    move = sql.SQL("UPDATE {} SET version_num = %s").format(table)
    with psycopg.connect(urls.owner) as owner:
        (before,) = owner.execute(sql.SQL("SELECT version_num FROM {}").format(table)).fetchone() or ("",)
        owner.execute(move, [step])
        owner.execute(note.format(table, sql.Literal(needs and FITS + needs)))
    yield
    with psycopg.connect(urls.owner) as owner:
        owner.execute(move, [before])
        owner.execute(note.format(table, sql.NULL))


OLD, NEWER, UNKNOWN = "2026_11_21_first_tables", "2036_01_01_more_tables", "2035_01_01_other_tables"


@pytest.mark.usefixtures("a_worker")
async def test_a_workspace_that_is_behind_is_named(muster: CommandLine, urls: DatabaseUrls) -> None:
    with at_step(urls, "tenant_globex", OLD):
        ended = await muster("doctor")
    assert "Behind: globex.clock. Run migrate:modules." in ended.out
    assert ended.refusal == "Not in order: migrations."


@pytest.mark.usefixtures("a_worker")
@pytest.mark.parametrize("needs", [None, OLD])
async def test_tables_to_which_a_newer_program_added_are_a_warning_and_left_alone(
    muster: CommandLine, urls: DatabaseUrls, needs: str | None
) -> None:
    with at_step(urls, "tenant_globex", NEWER, needs):
        ended = await muster("doctor")
        refused = await muster("migrate:modules")
    assert "warn  migrations: A newer Muster added to the tables of globex.clock." in ended.out
    assert ended.code == 0
    assert f"tenant_globex.clock are at {NEWER}" in refused.refusal


@pytest.mark.usefixtures("a_worker")
async def test_tables_from_which_a_newer_program_took_what_this_one_needs_are_a_failure(
    muster: CommandLine, urls: DatabaseUrls
) -> None:
    with at_step(urls, "tenant_globex", NEWER, UNKNOWN):
        ended = await muster("doctor")
        refused = await muster("migrate:modules")
    assert "This program is too old for the tables of globex.clock: start the newer version." in ended.out
    assert ended.refusal == "Not in order: migrations."
    assert f"tenant_globex.clock are at {NEWER}" in refused.refusal


async def test_a_portal_over_older_tables_is_not_ready_and_one_over_newer_is(
    visitor: Browser, urls: DatabaseUrls
) -> None:
    assert (await visitor.get("/health/ready")).json() == {"status": "ready", "workers": 0}
    with at_step(urls, "main", OLD):
        answer = await visitor.get("/health/ready")
        assert (answer.status_code, "migrate:modules" in answer.text) == (503, True)
    for needs in (None, OLD):
        with at_step(urls, "main", NEWER, needs):
            assert (await visitor.get("/health/ready")).status_code == 200
    with at_step(urls, "main", NEWER, UNKNOWN):
        answer = await visitor.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json() == {"status": "is too old for its tables: start the newer version"}


async def test_a_worker_touches_no_tables_that_do_not_fit_it(muster: CommandLine, urls: DatabaseUrls) -> None:
    with at_step(urls, "main", OLD):
        assert "The tables of clock are older" in (await muster("worker")).refusal
    with at_step(urls, "main", NEWER, UNKNOWN):
        assert (
            "The tables of clock are newer than this program, and no longer fit it" in (await muster("worker")).refusal
        )


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
    def judged(text: str) -> ReportLine:
        return outbound(replace(settings, outbound_allow=text))

    assert judged("").level == "ok"
    assert judged("127.0.0.1/32:9009, 10.0.0.0/8").level == "ok"
    assert judged("0.0.0.0/0").level == "warning"
    assert judged("::/0").level == "warning"
    with pytest.raises(AllowListError):
        judged("everything")


async def test_it_says_when_the_outside_monitor_may_not_be_called(muster: CommandLine) -> None:
    ended = await muster("doctor", "--json", MUSTER_PING_URL="http://10.1.2.3/ping/of-muster-7f3a")
    assert levels(ended)["monitor"] == "warning"
    assert "MUSTER_OUTBOUND_ALLOW=10.1.2.3/32:80" in ended.out
    assert "7f3a" not in ended.out
