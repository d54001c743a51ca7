"""`/metrics`: who may read it, and that it counts what happened."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import insert

from app.accounts.models import Job, WorkerHeartbeat
from app.db.session import Database
from tests.conftest import BASE_URL, Browser
from tests.host.signing_in import change_user

From = Callable[[str], Browser]


@pytest.fixture
def caller(app: Any) -> From:
    """`caller("203.0.113.7")`: somebody who calls from that address."""

    def make(address: str) -> Browser:
        return Browser(transport=httpx.ASGITransport(app=app, client=(address, 40000)), base_url=BASE_URL)

    return make


def value(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in\n{text}"
    return float(found[1])


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
async def test_the_machine_itself_may_read_it(caller: From, address: str) -> None:
    answer = await caller(address).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert answer.headers["content-type"].count("charset") == 1


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "::ffff:203.0.113.7", "unix"])
async def test_others_may_not(caller: From, address: str) -> None:
    answer = await caller(address).get("/metrics")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "muster_" not in answer.text


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
async def test_a_proxy_on_this_machine_does_not_open_it_to_the_world(caller: From, header: str) -> None:
    assert (await caller("127.0.0.1").get("/metrics", headers={header: "203.0.113.7"})).status_code == 401
    assert (await caller("127.0.0.1").get("/metrics", headers={header: "127.0.0.1"})).status_code == 401


@pytest.mark.parametrize(
    ("short", "scope", "status"),
    [
        ("alice", "metrics:read", 200),
        ("alice", "clock:read", 401),  # another scope
        ("bob", "metrics:read", 401),  # may not see jobs
        ("eve", "metrics:read", 401),  # of a tenant
    ],
)
async def test_a_token_with_the_scope_may_read_it_from_anywhere(
    caller: From, token: Any, short: str, scope: str, status: int
) -> None:
    bearer = {"Authorization": f"Bearer {await token(short, scope)}"}
    assert (await caller("203.0.113.7").get("/metrics", headers=bearer)).status_code == status


async def test_the_token_of_a_deactivated_owner_may_not(caller: From, token: Any, database: Database) -> None:
    bearer = {"Authorization": f"Bearer {await token('alice', 'metrics:read')}"}
    await change_user(database, "alice", active=False)
    assert (await caller("203.0.113.7").get("/metrics", headers=bearer)).status_code == 401


async def test_requests_are_counted_by_the_pattern_of_their_address(caller: From, alice: Browser) -> None:
    here = caller("127.0.0.1")
    name = 'muster_requests_total{method="GET",route="/admin/users/{user_id}",status="4xx"}'
    await alice.get("/admin/users/987654321")
    before = value((await here.get("/metrics")).text, name)
    await alice.get("/admin/users/987654322")
    text = (await here.get("/metrics")).text
    assert value(text, name) == before + 1
    assert "98765432" not in text
    assert value(text, 'muster_request_seconds_count{kind="page"}') > 0


async def test_jobs_and_workers_are_counted_over_all_workspaces(caller: From, database: Database) -> None:
    now = datetime.now(UTC)
    async with database.shared_transaction() as db:
        for workspace, status in (("main", "queued"), ("globex", "queued"), ("main", "failed"), ("main", "done")):
            row = {"workspace": workspace, "name": "housekeeping", "key": status, "status": status}
            await db.execute(insert(Job).values(row | {"due_at": now - timedelta(seconds=90)}))
        for workspace, age in (("main", 60), ("main", 7200), ("globex", 3600)):
            row = {"workspace": workspace, "name": "clock_sync", "key": str(age), "status": "done"}
            await db.execute(insert(Job).values(row | {"finished_at": now - timedelta(seconds=age)}))
        await db.execute(insert(WorkerHeartbeat).values(worker="a", host="h", pid=1))
        gone = {"worker": "b", "host": "h", "pid": 2, "seen_at": now - timedelta(minutes=2)}
        await db.execute(insert(WorkerHeartbeat).values(gone))
    text = (await caller("127.0.0.1").get("/metrics")).text
    assert value(text, 'muster_jobs{job="housekeeping",status="queued"}') == 2
    assert value(text, 'muster_jobs{job="housekeeping",status="failed"}') == 1
    assert 'status="done"' not in text
    assert 3600 <= value(text, 'muster_job_done_age_seconds{job="clock_sync"}') < 3700
    assert 90 <= value(text, "muster_job_wait_seconds") < 120
    assert value(text, "muster_workers") == 1
    assert value(text, 'muster_db_connections{state="used"}') >= 1
