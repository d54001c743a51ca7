"""The notice over every page while no worker is alive."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, update

from app.accounts.models import WorkerHeartbeat
from app.db.session import Database
from app.jobs import WORKER_SILENT_AFTER
from app.web.notices.worker_watch import WorkerWatch
from tests.conftest import Browser

SAID = "No worker is running"


async def test_every_page_tells_those_who_can_start_a_worker(
    app: Any, alice: Browser, bob: Browser, eve: Browser, database: Database
) -> None:
    app.app.site.state.workers = WorkerWatch(every_s=0)
    silent = datetime.now(UTC) - WORKER_SILENT_AFTER - timedelta(seconds=5)
    async with database.shared_transaction() as db:
        await db.execute(insert(WorkerHeartbeat).values(worker="one", host="here", pid=1, seen_at=silent))
    assert SAID in (await alice.get("/people")).text
    assert SAID in (await alice.get("/no_such_page")).text
    assert SAID not in (await bob.get("/people")).text
    assert SAID not in (await eve.get("/people")).text
    async with database.shared_transaction() as db:
        await db.execute(update(WorkerHeartbeat).values(seen_at=datetime.now(UTC)))
    assert SAID not in (await alice.get("/people")).text
    async with database.shared_transaction() as db:
        await db.execute(delete(WorkerHeartbeat))
    assert SAID in (await alice.get("/people")).text


async def test_a_process_asks_seldom(app: Any, alice: Browser, selects: list[str]) -> None:
    app.app.site.state.workers = WorkerWatch(every_s=0)
    await alice.get("/people")
    app.app.site.state.workers = WorkerWatch()
    await alice.get("/people")
    assert sum("worker_heartbeats" in one for one in selects) == 1
