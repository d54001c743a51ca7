"""Problems as other programs, the command line and a monitoring system read them."""

import re
from typing import Any

import jsonschema_rs
import pytest
from sqlalchemy import delete, func, insert, text

from app.accounts import policies
from app.accounts.models import Job, WorkerHeartbeat
from app.clock.api.routes import openapi_document
from app.db.session import Database
from app.problems import looking
from tests.clock.api.test_routes import Caller
from tests.command_line import CommandLine
from tests.conftest import BASE_URL, Browser
from tests.host.pages.test_problems import have
from tests.problems.test_looking import Platform, platform

__all__ = ["platform"]
URL = "/api/v1/problems"
DOCUMENT = openapi_document("http://testserver")


@pytest.fixture
async def caller(visitor: Browser, token: Any) -> Caller:
    return Caller(visitor, await token("alice", "problems:read"))


def fits(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    schema = DOCUMENT["paths"][URL]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).validate(answer.json())
    return answer.json()["data"]


async def test_a_program_reads_and_follows_problems(caller: Caller, platform: Platform) -> None:
    job_id = await platform.job("failed")
    await platform.look()
    await platform.job("failed", "clock_import")
    await platform.look()
    first = await caller.get(URL, per_page=1)
    (row,) = fits(first)
    assert (row["kind"], row["closed_at"]) == ("job_failed", None)
    assert row["url"].endswith(f"/admin/jobs/{job_id}")
    (row,) = fits(await caller.get(URL, cursor=first.json()["meta"]["next_cursor"]))
    assert row["kind"] == "import_failed"
    since = first.json()["meta"]["next_updated_since"]
    await platform.job("done", "clock_import", error=None)
    await platform.look()
    (row,) = fits(await caller.get(URL, updated_since=since, kind="import_failed"))
    assert row["closed_by"] == "itself"
    assert [one["kind"] for one in fits(await caller.get(URL))] == ["job_failed"]
    assert fits(await caller.get(URL, severity="critical")) == []
    assert [one["kind"] for one in fits(await caller.get(URL, status="closed"))] == ["import_failed"]
    for wrong in ({"kind": "nonsense"}, {"status": "open", "updated_since": since}):
        assert (await caller.get(URL, **wrong)).status_code == 422


async def test_a_program_reads_only_the_kinds_that_its_owner_sees(
    visitor: Browser, token: Any, platform: Platform
) -> None:
    """Bob the operator may not see jobs."""
    await platform.job("failed")
    await platform.look()
    bobs = Caller(visitor, await token("bob", "problems:read"))
    assert fits(await bobs.get(URL)) == []
    eves = Caller(visitor, await token("eve", "problems:read"))
    assert fits(await eves.get(URL)) == []


async def test_a_module_that_is_off_shows_its_problems_to_no_program_and_no_command(
    caller: Caller, platform: Platform, muster: CommandLine
) -> None:
    await have(platform.database, "silence", 1)
    assert [one["kind"] for one in fits(await caller.get(URL))] == ["silence"]
    assert [one["kind"] for one in (await muster("problems", "--json")).json] == ["silence"]
    async with platform.database.shared_transaction() as db:
        await policies.write(db, "main", {"module_clock": False})
    assert fits(await caller.get(URL)) == fits(await caller.get(URL, kind="silence")) == []
    assert (await muster("problems", "--json")).json == []
    assert (await muster("problems", "--kind", "silence")).out == "No problem of this kind is open.\n"


async def test_what_another_version_described_in_its_own_way_leads_to_the_problem(
    caller: Caller, platform: Platform
) -> None:
    (problem_id,) = await have(platform.database, "rows_set_aside", 1)
    (row,) = fits(await caller.get(URL))
    assert row["url"] == f"{BASE_URL}/problems/{problem_id}"


async def test_a_portal_without_a_worker_tells(
    caller: Caller, visitor: Browser, database: Database, muster: CommandLine
) -> None:
    """No sweep runs then: what shows problems looks for it first. It closes once a worker is there."""
    (row,) = fits(await caller.get(URL))
    assert (row["kind"], row["severity"]) == ("worker_gone", "critical")
    assert "No worker is running" in (await muster("problems")).out
    figures = (await visitor.get("/metrics")).text.splitlines()
    assert {'muster_problems_open{kind="worker_gone"} 1.0', 'muster_problems_open{kind="job_failed"} 0.0'} <= {*figures}
    async with database.transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="w1", host="h", pid=1))
        await looking.look(db)
    assert (await visitor.get("/health/ready")).json() == {"status": "ready", "workers": 1}
    assert fits(await caller.get(URL)) == []


async def test_work_that_waits_long_is_a_problem_while_workers_live(platform: Platform) -> None:
    async with platform.database.transaction() as db:
        old = func.now() - text("interval '16 minutes'")
        await db.execute(insert(Job).values(workspace="globex", name="housekeeping", key="x", due_at=old))
    await platform.look()
    (moved,) = platform.moves
    assert [one.kind for one in moved.opened] == ["queue_stuck"]
    async with platform.database.transaction() as db:
        await db.execute(delete(Job))
    (moved,) = await platform.look()
    assert [one.kind for one in moved.closed] == ["queue_stuck"]


async def test_the_command_lists_kinds_with_most_harm_first(platform: Platform, muster: CommandLine) -> None:
    assert (await muster("problems")).out == "Nothing waits for a person.\n"
    await platform.job("failed")
    await platform.look()
    told = (await muster("problems", "--kind", "job_failed")).out
    assert re.search(r"^Job failed \(warning\): 1\n  \d+  The job “Remove expired .+” failed, since ", told)
    assert [one["kind"] for one in (await muster("problems", "--json")).json] == ["job_failed"]
    assert "There is no kind 'nonsense'" in (await muster("problems", "--kind", "nonsense")).refusal
