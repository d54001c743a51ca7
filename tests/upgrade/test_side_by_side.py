"""The version before serves pages, answers and a sync; this version migrates under it, starts beside it and takes over.
No request fails, and nothing is lost."""

import asyncio
import hashlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.db.session import Database
from app.simulator import PASSWORD, USERNAME, Simulator, create_simulator, serving
from tests.benchmarks.crowd import gather_people, token_of
from tests.cluster import DatabaseUrls, TestCluster
from tests.command_line import CommandLine
from tests.conftest import command_line
from tests.simulator.worlds import fresh_world
from tests.test_cli_serve import PATIENCE_S, Running, free_port
from tests.upgrade.load import Load
from tests.version_before import ROOT, version_before

pytestmark = pytest.mark.slow
PEOPLE = 3000
COOKIE = "muster"
SESSION = "a-session-of-the-test"
SURVEY = {
    "format": "muster.survey/1",
    "title": "Lunch",
    "type": "feedback",
    "enforcement": "optional",
    "questions": [{"label": "How was lunch?", "type": "single_choice", "options": ["Good", "Bad"], "required": True}],
}
# Pages of so few punches, each answered so slowly, that the run lasts until it is told to hurry.
_SLOWLY = """
INSERT INTO main.clock_settings (name, value) VALUES ('page_size', '10'), ('history_start', to_jsonb(CAST(%s AS text)))
"""
_SESSION = """
INSERT INTO shared.sessions (id_hash, user_id, ip, user_agent, expires_at)
SELECT %s, id, '127.0.0.1', 'tests', now() + interval '1 hour' FROM shared.users WHERE email = 'olga@example.org'
"""


class Versions:
    """Both programs over one database."""

    def __init__(self, old: Path, folder: Path, urls: DatabaseUrls, muster: CommandLine) -> None:
        self.old, self.folder, self.urls, self.muster = old, folder, urls, muster
        settings = {"MUSTER_BASE_URL": "http://127.0.0.1", "MUSTER_DRAIN_S": "1"}
        self.environment = {**muster.environment, **settings}
        muster.environment.update(settings)
        self.running: list[Running] = []

    async def before(self, *arguments: str, stdin: str = "") -> str:
        """A command of the version before."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app", *arguments, cwd=self.old, env={"PATH": os.environ["PATH"], **self.environment},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, err = await process.communicate(stdin.encode())
        assert process.returncode == 0, err.decode()
        return out.decode()

    def start(self, *arguments: str, program: Path = ROOT) -> Running:
        without_owner = {**self.environment, "MUSTER_OWNER_DATABASE_URL": ""}
        self.running.append(Running(self.folder, without_owner, *arguments, program=program))
        return self.running[-1]

    async def serve(self, program: Path = ROOT) -> tuple[Running, str]:
        port = free_port()
        portal = self.start("serve", "--port", str(port), "--no-worker", program=program)
        await portal.says("Muster serves")
        return portal, f"http://127.0.0.1:{port}"

    async def work(self, program: Path = ROOT) -> Running:
        worker = self.start("worker", program=program)
        await worker.says("worker started")
        return worker


@pytest.fixture
def urls(cluster: TestCluster) -> Iterator[DatabaseUrls]:
    made = cluster.create_empty()
    yield made
    cluster.drop(made)


@pytest.fixture
def versions(urls: DatabaseUrls, tmp_path: Path) -> Iterator[Versions]:
    with version_before(tmp_path / "before") as old:
        made = Versions(old, tmp_path, urls, command_line(urls, tmp_path))
        try:
            yield made
        finally:
            for one in made.running:
                one.kill_all()


@asynccontextmanager
async def time_clock() -> AsyncIterator[tuple[Simulator, str, datetime]]:
    """Its address, and the day on which its history begins."""
    now = datetime.now(UTC).replace(microsecond=0)
    simulator = create_simulator(fresh_world(7, 30, 10, 4, now, "Europe/Berlin"), "cloud", [])
    async with serving(simulator) as address:
        yield simulator, address, now - timedelta(days=11)


async def lives(versions: Versions, address: str, since: datetime) -> Load:
    """What the version before has: a tenant, an administrator, a survey, people who may answer it, and a time clock."""
    await versions.before("migrate:modules")
    survey = versions.folder / "survey.json"
    survey.write_text(json.dumps(SURVEY))
    connect = ("clock:connect", address, "--username", USERNAME, "--profile", "cloud", "--timezone", "Europe/Berlin")
    person = ("user:create", "olga@example.org", "--name", "Olga", "--type", "admin", "--role", "Administrator")
    uid, *_ = await asyncio.gather(
        versions.before("surveys:create", str(survey)),
        versions.before("tenant:create", "acme", "--name", "Acme"),
        versions.before(*person),
        versions.before(*connect, "--password-stdin", stdin=PASSWORD),
    )
    token, _ = await asyncio.gather(
        versions.before("token:create", "olga@example.org", "--scope", "clock:read", "--json"),
        versions.before("surveys:publish", uid.split()[-1]),
    )
    database = Database(versions.urls.app, pool_size=1)
    async with database.transaction() as db:
        await gather_people(db, PEOPLE)
    await database.close()
    with psycopg.connect(versions.urls.owner) as owner:
        owner.execute(_SESSION, [hashlib.sha256(SESSION.encode()).digest()])
        owner.execute(_SLOWLY, [since.date().isoformat()])
    tokens = [token_of(number) for number in range(1, PEOPLE + 1)]
    return Load([], {"Cookie": f"{COOKIE}={SESSION}"}, tokens, json.loads(token)["token"])


async def test_this_version_takes_over_from_the_one_before_without_a_failed_request(versions: Versions) -> None:
    async with time_clock() as (simulator, address, since):
        load = await lives(versions, address, since)
        simulator.set_faults(["slow=2"])
        (old_portal, old_address), old_worker = await asyncio.gather(
            versions.serve(versions.old), versions.work(versions.old)
        )
        load.portals = [old_address]
        await begin_sync(load, old_address)
        ended = asyncio.Event()
        loading = asyncio.create_task(load.run(ended))
        await load.comes_to(5, old_address)

        migrated = await versions.muster("migrate:modules", "--jobs", "2")
        assert migrated.code == 0, migrated.err
        assert {"shared", "main", "tenant_acme"} <= {line.partition(".")[0] for line in migrated.out.splitlines()}
        await load.comes_to(5, old_address)
        (_, new_address), _ = await asyncio.gather(versions.serve(), versions.work())
        load.portals.append(new_address)
        await load.comes_to(5, new_address)
        await load.comes_to(5, old_address)
        load.portals.remove(old_address)
        assert [await one.end(signal.SIGTERM) for one in (old_portal, old_worker)] == [0, 0]
        assert (await runs(versions))[-1] in ("queued", "running"), "the old worker ended before the run"
        await load.comes_to(5, new_address)
        ended.set()
        await loading
        simulator.set_faults([])
        await everything_is_read(versions)
        assert load.failures == []
        assert "Traceback" not in old_portal.printed + old_worker.printed
        await nothing_is_lost(versions, load, simulator)


async def begin_sync(load: Load, portal: str) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE_S) as client:
        started = await load.form(client, portal, "/clock_sync", "/clock_sync/start", {})
    assert started.status_code == 303, started.text


async def rows(versions: Versions, query: str) -> list[Any]:
    async with await psycopg.AsyncConnection.connect(versions.urls.app) as connection:
        return await (await connection.execute(query)).fetchall()


async def runs(versions: Versions) -> list[str]:
    return [status for (status,) in await rows(versions, "SELECT status FROM main.clock_sync_runs ORDER BY id")]


async def everything_is_read(versions: Versions) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while {"queued", "running"} & set(await runs(versions)):  # noqa: ASYNC110 - another process ends it
            await asyncio.sleep(0.1)


async def nothing_is_lost(versions: Versions, load: Load, simulator: Simulator) -> None:
    kept = {receipt for (receipt,) in await rows(versions, "SELECT encode(row_hash, 'hex') FROM main.survey_responses")}
    assert kept == set(load.receipts)
    people = await rows(versions, "SELECT id_number FROM main.employees WHERE id_number LIKE 'P%'")
    assert sorted(number for (number,) in people) == sorted(load.added)
    table, world = simulator.world.punches, simulator.world
    told = sorted((world.people[table.person[i]].code, table.punched[i]) for i in range(len(table)))
    mirrored = "SELECT emp_code, extract(epoch FROM punched_at_utc)::bigint FROM main.clock_transactions ORDER BY 1, 2"
    assert await rows(versions, mirrored) == told
    *given_back, last = await runs(versions)
    assert ({*given_back} <= {"truncated", "succeeded"}, last) == (True, "succeeded")
    assert await rows(versions, "SELECT name, error FROM shared.jobs WHERE status = 'failed'") == []
    verified = await versions.muster("ledger:verify", "--json")
    assert (verified.json["fits"], verified.json["rows"]) == (True, len(load.receipts))
    assert (await versions.muster("doctor")).code == 0
