"""`/admin/jobs`: what waits, runs and failed, with retry, and the workers that live.
Jobs themselves: tests of app.jobs."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select

from app import jobs
from app.accounts.models import Job, WorkerHeartbeat
from app.db.session import Database
from app.long_acts.models import LongAct
from app.problems import looking
from app.problems.models import Problem
from tests.conftest import Browser
from tests.host.signing_in import acts


async def job(database: Database, status: str, *, workspace: str = "main", **values: object) -> int:
    row = {"workspace": workspace, "name": "housekeeping", "key": f"key {status}", "status": status, **values}
    async with database.shared_transaction() as db:
        return (await db.scalars(insert(Job).values(row).returning(Job.id))).one()


async def worker(database: Database, name: str, *, silent_for: timedelta = timedelta()) -> None:
    seen_at = datetime.now(UTC) - silent_for
    async with database.shared_transaction() as db:
        await db.execute(
            insert(WorkerHeartbeat).values(worker=name, host=f"{name}.example.org", pid=77, seen_at=seen_at)
        )


async def test_the_page_asks_for_the_permission_and_shows_the_own_workspace_alone(
    alice: Browser, bob: Browser, eve: Browser, visitor: Browser, database: Database
) -> None:
    ours = await job(database, "failed", error="ours broke")
    await job(database, "failed", workspace="globex", error="theirs broke")
    text = (await alice.get("/admin/jobs")).text
    assert "ours broke" in text
    assert "theirs broke" not in text
    assert (await bob.get("/admin/jobs")).status_code == 403
    assert (await visitor.get("/admin/jobs")).status_code == 303
    assert (await eve.get(f"/admin/jobs/{ours}")).status_code == 404
    assert (await eve.submit(f"/admin/jobs/{ours}/retry")).status_code == 404


@pytest.mark.parametrize("status", ["queued", "running", "failed", "done"])
async def test_the_list_finds_jobs_by_state(alice: Browser, database: Database, status: str) -> None:
    numbers = {one: await job(database, one) for one in ("queued", "running", "failed", "done")}
    text = (await alice.fragment(f"/admin/jobs?status={status}")).text
    assert "<html" not in text
    shown = {one for one, number in numbers.items() if f'href="/admin/jobs/{number}?' in text}
    assert shown == {status}


async def test_a_failed_job_says_why_and_can_be_retried(alice: Browser, database: Database) -> None:
    number = await job(database, "failed", attempt=3, error="It took longer than 0:10:00.")
    drawer = await alice.fragment(f"/admin/jobs/{number}")
    assert "It took longer than 0:10:00." in drawer.text
    assert "3 of 3" in drawer.text
    assert (await alice.submit(f"/admin/jobs/{number}/retry")).headers["location"] == "/admin/jobs"
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(Job.status).where(Job.id == number))).one() == "queued"
    assert await acts(database) == ["job.retry"]


async def test_a_failed_job_of_an_act_says_which(alice: Browser, database: Database) -> None:
    async with database.transaction() as db:
        kept = {"kind": "people.deactivate", "emp_codes": [], "actor_name": "Alice Ahn", "list_query": "", "total": 40}
        act_id = await db.scalar(insert(LongAct).values(kept).returning(LongAct.id))
    given = {"name": "long_act", "key": f"long_act:{act_id}", "arguments": {"act_id": act_id}, "error": "It broke."}
    number = await job(database, "failed", **given)
    assert f'<a href="/acts/{act_id}">Deactivating people: ' in (await alice.get(f"/admin/jobs/{number}")).text
    async with database.transaction() as db:
        await looking.look(db)
        title = await db.scalar(select(Problem.title).where(Problem.kind == "job_failed"))
    assert title == f"The job “Act on all rows of a list” failed in act {act_id}"


@pytest.mark.parametrize("status", ["queued", "running", "done"])
async def test_only_a_failed_job_is_retried(alice: Browser, database: Database, status: str) -> None:
    number = await job(database, status)
    assert "/retry" not in (await alice.get(f"/admin/jobs/{number}")).text
    assert (await alice.submit(f"/admin/jobs/{number}/retry")).status_code == 409


async def states(database: Database) -> dict[int, str]:
    async with database.shared_transaction() as db:
        return {row.id: row.status for row in await db.execute(select(Job.id, Job.status))}


async def test_failed_jobs_are_retried_many_at_once_after_a_question(alice: Browser, database: Database) -> None:
    first, second = await job(database, "failed", key="one"), await job(database, "failed", key="two")
    finished = await job(database, "done")
    chosen = {"action": "retry", "id": [str(first), str(second), str(finished)]}
    asked = await alice.submit("/admin/jobs/bulk", chosen, headers={"HX-Request": "true"})
    assert "<html" not in asked.text
    assert "Retry 2 jobs?" in asked.text
    assert "Each is queued for one more attempt" in asked.text
    assert "as it is" not in asked.text
    assert await acts(database) == []
    answer = await alice.submit("/admin/jobs/bulk", {**chosen, "confirmed": "1", "number": "2"})
    assert answer.headers["location"] == "/admin/jobs"
    assert "2 jobs are queued again" in (await alice.get("/admin/jobs")).text
    assert await states(database) == {first: "queued", second: "queued", finished: "done"}
    assert await acts(database) == ["job.retry", "job.retry"]
    again = await alice.submit("/admin/jobs/bulk", chosen)
    assert again.status_code == 409
    assert "None of the selected jobs can be retried: none of them failed." in again.text


async def test_of_failed_jobs_of_the_same_work_the_latest_is_retried_and_the_others_are_told(
    alice: Browser, database: Database
) -> None:
    earlier, latest = [await job(database, "failed", key="sync") for _ in range(2)]
    waits, failed = await job(database, "queued", key="match"), await job(database, "failed", key="match")
    every = {"action": "retry", "all": "1"}
    asked = await alice.submit("/admin/jobs/bulk?status=failed", every)
    assert "Retry 1 job?" in asked.text
    assert "2 other failed jobs stay as they are: the same work is queued or running already" in asked.text
    await alice.submit("/admin/jobs/bulk?status=failed", {**every, "confirmed": "1", "number": "1"})
    assert await states(database) == {earlier: "failed", latest: "queued", waits: "queued", failed: "failed"}
    again = await alice.submit("/admin/jobs/bulk", every)
    assert again.status_code == 409
    assert "the same work is queued or running already." in again.text


async def test_many_jobs_are_retried_in_the_own_workspace_and_by_who_may(
    alice: Browser, eve: Browser, bob: Browser, visitor: Browser, database: Database
) -> None:
    number = await job(database, "failed")
    await job(database, "queued", workspace="globex", key="key failed")
    chosen = {"action": "retry", "id": str(number), "confirmed": "1", "number": "1"}
    assert (await eve.submit("/admin/jobs/bulk", chosen)).status_code == 409
    assert (await bob.submit("/admin/jobs/bulk", chosen)).status_code == 403
    assert (await visitor.submit("/admin/jobs/bulk", chosen)).status_code == 303
    async with database.transaction("globex") as db:
        assert await jobs.retryable(db, [number]) == []
    assert (await states(database))[number] == "failed"
    assert (await alice.submit("/admin/jobs/bulk", {"action": "retry"})).status_code == 422
    assert (await alice.submit("/admin/jobs/bulk", {"action": "stop", "all": "1"})).status_code == 404
    assert (await alice.submit("/admin/jobs/bulk", chosen)).status_code == 303
    assert (await states(database))[number] == "queued"


async def test_workers_that_live_and_that_went_silent_are_told_apart(
    alice: Browser, eve: Browser, database: Database
) -> None:
    assert "No worker is running" in (await alice.get("/admin/jobs")).text
    await worker(database, "silent", silent_for=timedelta(minutes=5))
    assert "No worker is running" in (await alice.get("/admin/jobs")).text
    await worker(database, "alive")
    text = (await alice.get("/admin/jobs")).text
    assert "No worker is running" not in text
    assert text.index("alive.example.org") < text.index("Running</span>") < text.index("silent.example.org")
    tenant = (await eve.get("/admin/jobs")).text
    assert "Worker 1" in tenant
    assert "example.org, process" not in tenant  # machines are the platform's business


async def test_a_page_takes_four_selects(alice: Browser, selects: list[str]) -> None:
    await alice.get("/admin/jobs")
    assert len(selects) <= 4, selects  # one of them for the zone of its times
