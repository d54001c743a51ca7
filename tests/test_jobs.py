"""Jobs: asked for in a transaction, run by the worker that claims them, taken up again when their worker died."""

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from structlog.testing import capture_logs

from app import doctor, jobs
from app.accounts import housekeeping, policies, tenants
from app.accounts.audit import SYSTEM
from app.accounts.models import ApiToken, AuditEntry, Job, Session, Tenant, User, WorkerHeartbeat
from app.db.connecting import connect as connect_to
from app.db.session import Database
from app.errors import Conflict, NotFound
from app.faults import described
from app.host.problem_kinds.workers import STUCK, WORKERS
from app.jobs import Claim
from app.parts import Parts
from app.problems.models import Problem
from app.worker_pace import Pace
from tests.clock.mirrored import connect
from tests.cluster import DatabaseUrls
from workers import claims
from workers.cancelling import end
from workers.running import HELD_S, Function, run
from workers.schedule import schedule
from workers.settings import FUNCTIONS, work
from workers.slots import Slots
from workers.wakeups import wake_due

STALE = timedelta(seconds=30)
QUICK = Pace(look_s=0.2, beat_s=0.2, stale_s=2)
SILENT = Pace(look_s=60, beat_s=60, stale_s=60)
# For what would else hang, on a busy machine too; shorter than the pace of SILENT.
PATIENCE_S = 40


async def has_looked(database: Database) -> bool:
    """The only worker looks for problems as it starts; its other jobs come behind that."""
    async with database.shared_transaction() as db:
        return await db.scalar(select(Job.status).where(Job.name == "problems_sweep")) == "done"


async def ask(database: Database, name: str = "clock_sync", **options: Any) -> int:
    async with database.transaction() as db:
        job_id = await jobs.request(db, name, **options)
    assert job_id is not None
    return job_id


async def row(database: Database, job_id: int) -> Any:
    async with database.shared_transaction() as db:
        return (await db.execute(select(Job.__table__).where(Job.id == job_id))).one()


async def claim(database: Database, job_id: int, attempt: int) -> Claim | None:
    async with database.shared_transaction() as db:
        return await claims.claim(db, job_id, attempt, STALE)


async def make_silent(database: Database, job_id: int, ago: timedelta = timedelta(minutes=5)) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.id == job_id).values(heartbeat_at=datetime.now(UTC) - ago))


async def until(true: Callable[[], Awaitable[bool]], within_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + within_s
    while not await true():
        assert time.monotonic() < deadline, "it did not come true in time"
        await asyncio.sleep(0.05)


@asynccontextmanager
async def worker(parts: Parts, function: Function, pace: Pace = QUICK) -> AsyncIterator[None]:
    functions = dict.fromkeys(jobs.KINDS, function)
    working = asyncio.create_task(work(parts, functions=functions, pace=pace, concurrency=2))
    try:
        yield
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def test_every_kind_of_job_has_a_function_and_every_function_a_kind() -> None:
    assert set(FUNCTIONS) == set(jobs.KINDS)


class Recorder:
    """A job that remembers its claims."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []

    async def __call__(self, _: Parts, claim: Claim) -> None:
        self.claims.append(claim)


async def test_a_job_of_a_rolled_back_transaction_never_runs(parts: Parts) -> None:
    ran = Recorder()
    async with worker(parts, ran):
        with pytest.raises(ZeroDivisionError):
            await ask_and_fail(parts.database)
        job_id = await ask(parts.database, "clock_match")
        await until(lambda: is_status(parts.database, job_id, "done"))
    # Beside them the worker asks for what is due daily.
    assert [one.name for one in ran.claims if one.name in ("clock_sync", "clock_match")] == ["clock_match"]


async def ask_and_fail(database: Database) -> None:
    async with database.transaction() as db:
        await jobs.request(db, "clock_sync", arguments={"run_id": 1})
        raise ZeroDivisionError


async def is_status(database: Database, job_id: int, status: str) -> bool:
    return bool((await row(database, job_id)).status == status)


async def is_at_work(database: Database, workspace: str) -> bool:
    """On a long job: that of the schedule may have come first."""
    async with database.shared_transaction() as db:
        under_way = Job.workspace == workspace, Job.status == "running", Job.name.not_in(jobs.BRIEF)
        return bool(await db.scalar(select(func.count()).where(*under_way)))


async def are_done(database: Database, least: int) -> bool:
    async with database.shared_transaction() as db:
        done = await db.scalar(select(func.count()).where(Job.name == "clock_sync", Job.status == "done"))
    return (done or 0) >= least


async def test_a_committed_job_runs_at_once_in_its_workspace_with_its_arguments(parts: Parts) -> None:
    ran = Recorder()
    async with worker(parts, ran, pace=SILENT):
        await until(lambda: is_alive(parts.database))
        async with parts.database.transaction("globex") as db:
            job_id = await jobs.request(db, "clock_sync", arguments={"run_id": 7})
        assert job_id is not None
        await until(lambda: is_status(parts.database, job_id, "done"))
    assert [(one.workspace, one.arguments) for one in ran.claims if one.id == job_id] == [("globex", {"run_id": 7})]


async def is_alive(database: Database) -> bool:
    async with database.shared_transaction() as db:
        return await db.scalar(select(WorkerHeartbeat.worker)) is not None


async def test_a_job_whose_wake_up_got_lost_is_found_at_the_next_look(parts: Parts) -> None:
    ran = Recorder()
    async with worker(parts, ran):
        await until(lambda: is_alive(parts.database))
        async with parts.database.shared_transaction() as db:
            # Written behind the back of `request`: no worker is told.
            job_id = await db.scalar(
                text("INSERT INTO jobs (workspace, name, key) VALUES ('main', 'clock_sync', 'x') RETURNING id")
            )
        await until(lambda: is_status(parts.database, job_id, "done"))
    assert [one.id for one in ran.claims if one.name == "clock_sync"] == [job_id]


async def test_a_job_for_later_waits_for_its_time(database: Database) -> None:
    due_at = datetime.now(UTC) + timedelta(hours=1)
    job_id = await ask(database, due_at=due_at)
    async with database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE) == []
    assert await claim(database, job_id, 0) is None
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.id == job_id).values(due_at=datetime.now(UTC) - timedelta(seconds=1)))
        assert await claims.due(db, jobs.KINDS, STALE) == [(job_id, 0)]


async def test_a_second_request_of_the_same_key_joins_the_first_until_that_is_over(database: Database) -> None:
    job_id = await ask(database)
    async with database.transaction() as db:
        assert await jobs.request(db, "clock_sync") is None
        assert await jobs.request(db, "clock_sync", key="another") is not None
    async with database.transaction("globex") as db:
        assert await jobs.request(db, "clock_sync") is not None
    assert await claim(database, job_id, 0)
    async with database.transaction() as db:
        assert await jobs.request(db, "clock_sync") is None
        assert await claims.finish(db, job_id, 1)
        assert await jobs.request(db, "clock_sync") is not None


async def test_an_unknown_kind_of_job_is_a_mistake_of_the_caller(database: Database) -> None:
    async with database.transaction() as db:
        with pytest.raises(KeyError):
            await jobs.request(db, "clock_snyc")


async def test_of_many_doubled_wake_ups_exactly_one_gets_the_job(parts: Parts) -> None:
    job_id = await ask(parts.database)
    claims = await asyncio.gather(*(claim(parts.database, job_id, 0) for _ in range(8)))
    assert [one.attempt for one in claims if one] == [1]


async def test_one_workspace_has_at_most_half_of_a_workers_slots(parts: Parts) -> None:
    """A job that never ends holds its slot; the second of its workspace waits for it,
    and another workspace does not."""
    slots, go = Slots(2), asyncio.Event()
    ran: list[str] = []

    async def job(_: Parts, claim: Claim) -> None:
        ran.append(claim.workspace)
        if claim.workspace == "main":
            await go.wait()

    first, second = await ask(parts.database), await ask(parts.database, key="another")
    async with parts.database.transaction("acme") as db:
        elsewhere = await jobs.request(db, "clock_sync")
    stuck = asyncio.create_task(run(parts, {"clock_sync": job}, QUICK, (first, 0), nothing, slots=slots))
    await until(lambda: is_status(parts.database, first, "running"))
    assert slots.busy == claims.NoPlace(["main"], [])
    for job_id in (second, elsewhere):
        await run(parts, {"clock_sync": job}, QUICK, (job_id, 0), nothing, slots=slots)
    assert ran == ["main", "acme"]
    async with parts.database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE, slots.busy) == []
        assert await claims.due(db, jobs.KINDS, STALE) == [(second, 0)]
    go.set()
    await stuck
    assert (slots.busy, slots.freed.is_set()) == (claims.NoPlace([], []), True)


async def test_brief_work_runs_while_long_jobs_fill_all_other_places(parts: Parts) -> None:
    """Of two workspaces, one of which is at its half, and with more long jobs waiting before them."""
    go = asyncio.Event()

    async def job(_: Parts, claim: Claim) -> None:
        if claim.name not in jobs.BRIEF:
            await go.wait()

    async with worker(parts, job):
        await until(lambda: has_looked(parts.database))
        long = [await ask(parts.database, key=f"{number}") for number in range(60)]
        async with parts.database.transaction("acme") as db:
            await jobs.request(db, "clock_import")
        # The queue chooses which of them comes first.
        for workspace in ("main", "acme"):
            await until(partial(is_at_work, parts.database, workspace))
        brief = [await ask(parts.database, name) for name in ("problems_sweep", "send_mail", "alerts")]
        for job_id in brief:
            await until(partial(is_status, parts.database, job_id, "done"))
        assert [await is_status(parts.database, one, "queued") for one in long].count(False) == 1
        go.set()
        await until(lambda: are_done(parts.database, 2))


async def test_a_sweep_goes_before_mails_that_waited_longer(parts: Parts) -> None:
    """While mails of two workspaces take all places, also the two for brief work."""
    begun: list[str] = []
    ends = {number: asyncio.Event() for number in range(6)}

    async def job(_: Parts, claim: Claim) -> None:
        if claim.arguments:  # not what the schedule asks for meanwhile
            begun.append(claim.name)
            await ends[claim.arguments["number"]].wait()

    async def ask_in(workspace: str, name: str, number: int) -> None:
        async with parts.database.transaction(workspace) as db:
            await jobs.request(db, name, key=f"{number}", arguments={"number": number})

    async def have_begun(number: int) -> bool:
        return len(begun) == number

    async with worker(parts, job):
        await until(lambda: has_looked(parts.database))
        for number, workspace in enumerate(("acme", "acme", "globex", "globex")):
            await ask_in(workspace, "send_mail", number)
        await until(partial(have_begun, 4))
        for number, name in ((4, "send_mail"), (5, "problems_sweep")):
            await ask_in("main", name, number)
            await asyncio.sleep(5 * QUICK.look_s)
        assert len(begun) == 4
        ends[0].set()
        await until(partial(have_begun, 5))
    assert begun[4] == "problems_sweep"


async def test_a_workspace_with_its_half_has_one_brief_job_at_a_time_besides(database: Database) -> None:
    slots = Slots(4)
    names = ["clock_sync", "problems_sweep", "clock_import"]
    with contextlib.ExitStack() as held:
        for number, name in enumerate(names):
            assert slots.busy == claims.NoPlace([], [])
            held.enter_context(slots.taken(Claim(number, 1, "main", name, {})))
        assert slots.busy == claims.NoPlace(["main"], ["main"])
        sweep, sync = await ask(database, "problems_sweep"), await ask(database)
        async with database.transaction("acme") as db:
            elsewhere = await jobs.request(db, "send_mail")
        async with database.shared_transaction() as db:
            assert await claims.due(db, jobs.KINDS, STALE, slots.busy) == [(elsewhere, 0)]
            assert await claims.claim(db, sweep, 0, STALE, slots.busy) is None
            assert await claims.due(db, jobs.KINDS, STALE) == [(sweep, 0), (elsewhere, 0), (sync, 0)]
    assert slots.busy == claims.NoPlace([], [])


async def test_longer_work_that_found_a_full_worker_is_woken_again_at_once(parts: Parts) -> None:
    job_id, heard, full = await ask(parts.database), asyncio.Event(), claims.NoPlace(is_full=True)
    ear = await connect_to(parts.database.url)
    await ear.add_listener(jobs.CHANNEL, lambda *_: heard.set())
    async with parts.database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE, full) == []
        assert await claims.claim(db, job_id, 0, STALE, full) is None
    async with asyncio.timeout(5):
        await heard.wait()
    await ear.close()


async def test_two_jobs_that_are_claimed_at_once_do_not_share_the_last_slot(parts: Parts) -> None:
    slots, go, both = Slots(2), asyncio.Event(), 2
    begun: list[int] = []

    async def job(_: Parts, claim: Claim) -> None:
        begun.append(claim.id)
        await go.wait()

    asked = [await ask(parts.database, key=f"{number}") for number in range(both)]
    running = [
        asyncio.create_task(run(parts, {"clock_sync": job}, QUICK, (job_id, 0), nothing, slots=slots))
        for job_id in asked
    ]
    await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED, timeout=10)
    assert len(begun) == 1
    go.set()
    await asyncio.gather(*running)


async def test_a_jobs_statements_may_take_as_long_as_the_job(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(jobs.KINDS, "clock_sync", jobs.JobKind("", timeout=timedelta(minutes=7)))
    found = []

    async def job(own: Parts, claim: Claim) -> None:
        async with own.database.transaction(claim.workspace) as db:
            found.append(await db.scalar(text("SHOW statement_timeout")))
        async with own.database.shared_transaction() as db:
            found.append(await db.scalar(text("SHOW statement_timeout")))

    await run(parts, {"clock_sync": job}, QUICK, (await ask(parts.database), 0), nothing, slots=Slots(4))
    assert found == ["7min", "7min"]


async def test_a_late_wake_up_of_an_earlier_attempt_does_nothing(parts: Parts) -> None:
    job_id = await ask(parts.database)
    assert await claim(parts.database, job_id, 0)
    async with parts.database.shared_transaction() as db:
        await claims.give_back(db, job_id, 1)
    ran = Recorder()
    await run(parts, {"clock_sync": ran}, QUICK, (job_id, 0), nothing, slots=Slots(4))
    assert ran.claims == []
    await run(parts, {"clock_sync": ran}, QUICK, (job_id, 1), nothing, slots=Slots(4))
    assert [one.attempt for one in ran.claims] == [2]


async def nothing() -> None:
    """No queue to tell."""


async def test_a_running_job_is_taken_over_only_after_silence_and_then_fences_the_first_runner(
    database: Database,
) -> None:
    job_id = await ask(database)
    assert await claim(database, job_id, 0)
    assert await claim(database, job_id, 1) is None, "its worker was heard of a moment ago"
    await make_silent(database, job_id)
    async with database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE) == [(job_id, 1)]
    second = await claim(database, job_id, 1)
    assert second is not None
    assert second.attempt == 2
    async with database.shared_transaction() as db:
        assert not await claims.beat(db, job_id, 1)
        assert not await claims.finish(db, job_id, 1)
        assert not await claims.fail(db, job_id, 1, "too late")
        assert await claims.beat(db, job_id, 2)
    assert (await row(database, job_id)).status == "running"


async def test_a_runner_that_was_taken_over_is_stopped_in_the_middle_of_its_work(parts: Parts) -> None:
    job_id = await ask(parts.database)
    started, finished = asyncio.Event(), asyncio.Event()

    async def long(_: Parts, __: Claim) -> None:
        started.set()
        await asyncio.sleep(30)
        finished.set()

    running = asyncio.create_task(run(parts, {"clock_sync": long}, QUICK, (job_id, 0), nothing, slots=Slots(4)))
    await started.wait()
    await make_silent(parts.database, job_id)
    assert await claim(parts.database, job_id, 1)
    await asyncio.wait_for(running, 5)
    assert not finished.is_set()
    assert (await row(parts.database, job_id)).attempt == 2, "the second runner's row was left alone"
    assert (await row(parts.database, job_id)).status == "running"


async def test_a_long_job_that_keeps_beating_is_left_alone(parts: Parts) -> None:
    job_id = await ask(parts.database)

    async def long(_: Parts, __: Claim) -> None:
        await asyncio.sleep(3)

    pace = Pace(look_s=0.1, beat_s=0.2, stale_s=1)
    async with worker(parts, long, pace):
        await until(lambda: is_status(parts.database, job_id, "done"))
    assert (await row(parts.database, job_id)).attempt == 1


async def test_a_failing_job_is_tried_again_later_and_then_shown_as_failed_without_its_text(parts: Parts) -> None:
    job_id = await ask(parts.database)

    async def broken(_: Parts, __: Claim) -> None:
        raise RuntimeError("password=hunter2")

    for attempt in range(jobs.KINDS["clock_sync"].attempts):
        await run(parts, {"clock_sync": broken}, QUICK, (job_id, attempt), nothing, slots=Slots(4))
        found = await row(parts.database, job_id)
        assert "hunter2" not in found.error
        assert found.error.startswith("RuntimeError")
        if attempt < 2:
            assert found.status == "queued"
            assert found.due_at > datetime.now(UTC) + timedelta(seconds=20)
            async with parts.database.shared_transaction() as db:
                await db.execute(
                    update(Job).where(Job.id == job_id).values(due_at=datetime.now(UTC) - timedelta(seconds=1))
                )
    assert found.status == "failed"


async def test_what_the_product_refuses_is_not_tried_again(parts: Parts) -> None:
    job_id = await ask(parts.database)

    async def refused(_: Parts, __: Claim) -> None:
        raise Conflict("The connection is paused.")

    await run(parts, {"clock_sync": refused}, QUICK, (job_id, 0), nothing, slots=Slots(4))
    found = await row(parts.database, job_id)
    assert (found.status, found.error) == ("failed", "The connection is paused.")


async def test_what_becomes_of_a_job_shows_among_the_problems_at_once(parts: Parts) -> None:
    async def broken(_: Parts, __: Claim) -> None:
        raise Conflict("No.")

    async def run_as(function: Function) -> list[str]:
        async with parts.database.transaction() as db:
            job_id = await jobs.request(db, "housekeeping")
        await run(parts, {"housekeeping": function}, QUICK, (job_id or 0, 0), nothing, slots=Slots(4))
        async with parts.database.transaction() as db:
            return (await db.scalars(select(Problem.kind).where(Problem.closed_at.is_(None)))).all()

    assert await run_as(broken) == ["job_failed"]
    assert await run_as(Recorder()) == []


async def test_a_job_that_takes_too_long_is_stopped(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(jobs.KINDS, "clock_sync", jobs.JobKind("", timeout=timedelta(seconds=0.2), attempts=1))
    job_id = await ask(parts.database)

    async def endless(_: Parts, __: Claim) -> None:
        await asyncio.sleep(60)

    await run(parts, {"clock_sync": endless}, QUICK, (job_id, 0), nothing, slots=Slots(4))
    found = await row(parts.database, job_id)
    assert found.status == "failed"
    assert "longer than" in found.error


async def test_a_job_that_keeps_killing_its_worker_is_given_up(database: Database) -> None:
    job_id = await ask(database)
    for attempt in range(3):
        assert await claim(database, job_id, attempt)
        await make_silent(database, job_id)
    async with database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE) == []
    found = await row(database, job_id)
    assert (found.status, found.error) == ("failed", claims.DIED.format(3))


async def test_a_worker_without_a_free_place_gives_it_up_too(database: Database) -> None:
    """That takes no place, and brief work is done by then."""
    long, brief = await ask(database), await ask(database, "problems_sweep")
    for job_id in (long, brief):
        for attempt in range(3):
            assert await claim(database, job_id, attempt)
            await make_silent(database, job_id)
    full = claims.NoPlace(["main"], ["main"], is_full=True)
    async with database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE, full) == []
    assert [(await row(database, one)).status for one in (long, brief)] == ["failed", "failed"]


async def test_a_worker_without_a_free_place_leaves_a_job_with_an_attempt_left(database: Database) -> None:
    job_id = await ask(database)
    assert await claim(database, job_id, 0)
    await make_silent(database, job_id)
    async with database.shared_transaction() as db:
        assert await claims.due(db, jobs.KINDS, STALE, claims.NoPlace(is_full=True)) == []
    assert (await row(database, job_id)).status == "running"


@pytest.mark.parametrize(("name", "looks"), [("clock_sync", ["queued"]), ("problems_sweep", ["failed"])])
async def test_a_failure_asks_for_a_look_in_its_workspace(database: Database, name: str, looks: list[str]) -> None:
    """Else a look that fails would be asked for without end."""
    async with database.transaction("globex") as db:
        job_id = await jobs.request(db, name)
    assert job_id is not None
    assert await claim(database, job_id, 0)
    async with database.shared_transaction() as db:
        assert await claims.fail(db, job_id, 1, "no")
    async with database.shared_transaction() as db:
        found = await db.execute(select(Job.workspace, Job.status).where(Job.name == "problems_sweep"))
        assert [tuple(one) for one in found] == [("globex", status) for status in looks]


async def keys_that_wait(database: Database) -> list[str]:
    async with database.shared_transaction() as db:
        return list(await db.scalars(select(Job.key).where(Job.status == "queued").order_by(Job.id)))


async def test_a_job_that_was_asked_for_again_begins_after_that_was_committed(database: Database) -> None:
    job_id = await ask(database)
    async with database.transaction() as first, database.transaction() as second:
        for one in (first, second):
            async with asyncio.timeout(5):
                await jobs.request_after(one, "clock_sync")
        async with asyncio.timeout(5):
            assert await claim(database, job_id, 0) is None
    assert await keys_that_wait(database) == ["clock_sync"]
    assert await claim(database, job_id, 0)


async def test_a_job_whose_askers_had_not_committed_is_woken_soon(parts: Parts) -> None:
    """Not at the next look of the schedule, which may be seconds away."""
    database = parts.database
    job_id, slots = await ask(database), Slots(2)
    async with database.transaction() as asking:
        await jobs.request_after(asking, "clock_sync")
        await run(parts, {}, QUICK, (job_id, 0), nothing, slots=slots)
        assert not slots.freed.is_set()
    async with asyncio.timeout(5):
        await slots.freed.wait()
    slots.freed.clear()
    assert await claim(database, job_id, 0)
    await run(parts, {}, QUICK, (job_id, 0), nothing, slots=slots)
    await asyncio.sleep(2 * HELD_S)
    assert not slots.freed.is_set(), "another worker has it"


async def test_jobs_whose_askers_had_not_committed_are_woken_together(parts: Parts) -> None:
    """Each look wakes all of them: if each of them caused a look, there would be more and more."""
    database = parts.database
    names = ("clock_sync", "clock_import")
    held, slots, looks = [await ask(database, name) for name in names], Slots(4), 0
    async with database.transaction() as asking:
        for name in names:
            await jobs.request_after(asking, name)
        for _ in range(2):
            for job_id in held:
                await run(parts, {}, QUICK, (job_id, 0), nothing, slots=slots)
                await asyncio.sleep(HELD_S / 10)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * HELD_S):
                while await slots.freed.wait():
                    slots.freed.clear()
                    looks += 1
    assert looks == 1


async def test_behind_jobs_that_run_or_are_due_later_another_one_waits(database: Database) -> None:
    for key in ("clock_sync", "clock_sync:next"):
        async with database.transaction() as db:
            await jobs.request_after(db, "clock_sync")
        assert await keys_that_wait(database) == [key]
        async with database.shared_transaction() as db:
            await db.execute(update(Job).where(Job.key == key).values(status="running"))
    async with database.transaction() as db:
        await jobs.request_after(db, "clock_sync")
    third = "clock_sync:next:next"
    assert await keys_that_wait(database) == [third]
    async with database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.key == third).values(due_at=func.now() + timedelta(minutes=5)))
    async with database.transaction() as db:
        await jobs.request_after(db, "clock_sync")
    assert await keys_that_wait(database) == [third, f"{third}:next"]


async def test_work_that_waits_for_its_next_attempt_is_enough_and_comes_no_sooner(database: Database) -> None:
    job_id = await ask(database)
    assert await claim(database, job_id, 0)
    async with database.shared_transaction() as db:
        assert await claims.postpone(db, job_id, 1, timedelta(minutes=1), "The server is away.")
    for _ in range(3):
        async with database.transaction() as db:
            await jobs.request_after(db, "clock_sync")
    assert await keys_that_wait(database) == ["clock_sync"]


async def test_only_the_sweep_of_the_platform_goes_before_what_waited_longer(database: Database) -> None:
    """Those of all tenants could keep mails waiting without end."""
    first = await ask(database, "send_mail", key="mail")
    async with database.transaction("acme") as db:
        await jobs.request(db, "problems_sweep")
    sweep = await ask(database, "problems_sweep")
    woken: list[tuple[int, int]] = []

    class NotingQueue:
        async def enqueue(self, _: str, *, priority: int, job_id: int, **__: Any) -> None:
            woken.append((priority, job_id))

    assert await wake_due(database, NotingQueue(), jobs.KINDS, QUICK, claims.FREE, stale_after=STALE) == 3  # type: ignore[arg-type]
    assert woken[0] == (0, sweep)
    assert [one for one in woken if one[0] == 0] == [(0, sweep)]
    assert woken[1] == (1, first)


async def test_a_failed_job_is_retried_by_hand_once_and_by_its_own_workspace_alone(database: Database) -> None:
    job_id = await ask(database)
    assert await claim(database, job_id, 0)
    async with database.transaction() as db:
        with pytest.raises(Conflict, match="running"):
            await jobs.retry(db, SYSTEM, job_id)
        await claims.fail(db, job_id, 1, "no")
    async with database.transaction("globex") as db:
        with pytest.raises(NotFound):
            await jobs.retry(db, SYSTEM, job_id)
    async with database.transaction() as db:
        await jobs.retry(db, SYSTEM, job_id)
        assert await db.scalar(select(AuditEntry.act).where(AuditEntry.subject_id == str(job_id))) == "job.retry"
    assert (await row(database, job_id)).status == "queued"
    assert await claim(database, job_id, 1)


async def test_a_failed_job_is_not_retried_beside_a_newer_one_of_its_key(database: Database) -> None:
    job_id = await ask(database)
    assert await claim(database, job_id, 0)
    async with database.transaction() as db:
        await claims.fail(db, job_id, 1, "no")
        assert await jobs.request(db, "clock_sync")
        with pytest.raises(Conflict, match="already"):
            await jobs.retry(db, SYSTEM, job_id)


async def test_a_worker_that_is_stopped_gives_its_job_back(parts: Parts) -> None:
    job_id = await ask(parts.database)
    started = asyncio.Event()

    async def long(_: Parts, claim: Claim) -> None:
        if claim.id == job_id:  # the schedule asks for its own meanwhile
            started.set()
        await asyncio.sleep(60)

    async with worker(parts, long):
        await asyncio.wait_for(started.wait(), 10)
    found = await row(parts.database, job_id)
    assert (found.status, found.attempt) == ("queued", 1)
    assert not await is_alive(parts.database)


async def test_a_task_that_swallows_a_cancellation_is_ended_all_the_same() -> None:
    async def deaf_once() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    task = asyncio.create_task(deaf_once())
    await asyncio.sleep(0)
    await asyncio.wait({asyncio.create_task(end(task))}, timeout=10)
    assert task.cancelled()


async def test_a_job_whose_sign_of_life_swallows_its_cancellation_is_done(parts: Parts) -> None:
    """The wait of psycopg's pool does so when a connection comes in that very moment."""
    job_id, beating = await ask(parts.database), asyncio.Event()

    async def brief(_: Parts, __: Claim) -> None:
        await beating.wait()

    async def touch() -> None:
        if not beating.is_set():
            beating.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)

    running = asyncio.create_task(
        run(parts, dict.fromkeys(jobs.KINDS, brief), QUICK, (job_id, 0), touch, slots=Slots(4))
    )
    await asyncio.wait({running}, timeout=10)
    assert (await row(parts.database, job_id)).status == "done"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # connections that were just being made
async def test_a_worker_ends_whatever_it_is_at(parts: Parts) -> None:
    """In its first moments it does a little of everything, and many things wait for a connection."""
    for moment in range(24):
        with capture_logs() as said:
            working = asyncio.create_task(work(parts, functions={}, pace=SILENT))
            while "worker started" not in [line["event"] for line in said]:  # noqa: ASYNC110 - a log is no event
                await asyncio.sleep(0.001)
            await asyncio.sleep(moment * 0.001)
            working.cancel()
            await asyncio.wait({working}, timeout=30)
        assert working.done(), f"after {moment} ms"
    gc.collect()


def start_worker(urls: DatabaseUrls, log: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", "tests.job_worker", urls.app, "0.3", "1.5", str(log)])


def lines(log: Path) -> list[list[str]]:
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.slow
async def test_a_job_whose_worker_is_killed_is_taken_up_by_another_and_done_once(
    database: Database, urls: DatabaseUrls, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    first = start_worker(urls, log)
    second = None
    try:
        job_id = await ask(database, arguments={"work_s": 2})
        await until(lambda: written(log, 1))
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        second = start_worker(urls, log)
        await until(lambda: is_status(database, job_id, "done"))
        assert [(one[0], one[2]) for one in lines(log)] == [("start", "1"), ("start", "2"), ("end", "2")]
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.wait()


async def written(log: Path, count: int) -> bool:
    return len(lines(log)) >= count


@pytest.mark.slow
async def test_two_workers_that_start_at_once_on_a_new_database_share_the_work(
    database: Database, urls: DatabaseUrls, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with database.transaction() as db:
        ids = [await jobs.request(db, "clock_sync", key=str(n), arguments={"work_s": 0.5}) for n in range(12)]
    workers = [start_worker(urls, log), start_worker(urls, log)]
    try:
        await until(lambda: written(log, 24))
        for process in workers:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(20) for process in workers] == [0, 0]
    finally:
        for process in workers:
            process.kill()
            process.wait()
    ended = [one for one in lines(log) if one[0] == "end"]
    assert sorted(int(one[1]) for one in ended) == ids
    assert len({one[3] for one in ended}) == 2, "both took part"


def test_the_production_pace_takes_a_killed_workers_job_up_within_a_minute() -> None:
    pace = Pace()
    assert pace.stale_s + pace.look_s < 45
    assert pace.stale_s > 2 * pace.beat_s, "one lost sign of life must not end a job"


def test_an_error_is_described_by_its_place_and_never_by_its_text() -> None:
    with pytest.raises(AttributeError) as caught:
        claims.pause_before(None, 1)  # type: ignore[arg-type]
    assert described(caught.value).startswith("AttributeError in workers/claims.py, line ")
    assert described(ValueError("secret")) == "ValueError"


async def test_housekeeping_takes_what_is_over_and_leaves_the_rest(database: Database) -> None:
    old = datetime.now(UTC) - timedelta(days=40)
    done, running = await ask(database, key="a"), await ask(database, key="b")
    async with database.transaction() as db:
        await db.execute(update(Job).where(Job.id == done).values(status="done", finished_at=old))
        user_id = await db.scalar(select(User.id).limit(1))
        for number, expires_at in enumerate((old, datetime.now(UTC) + timedelta(hours=1))):
            values = {
                "id_hash": bytes([number]),
                "user_id": user_id,
                "ip": "",
                "user_agent": "",
                "expires_at": expires_at,
            }
            db.add(Session(**values))
        soon = datetime.now(UTC) + timedelta(days=1)
        for name, ended in {
            "expired": {"expires_at": old},
            "revoked": {"expires_at": soon, "revoked_at": old},
            "just revoked": {"revoked_at": datetime.now(UTC)},
            "of a day": {"expires_at": soon},
            "for ever": {},
        }.items():
            db.add(ApiToken(user_id=user_id, name=name, token_hash=name.encode(), hint="", scopes=["me"], **ended))
    await housekeeping.tidy(database.shared_transaction, jobs.OVER)
    async with database.shared_transaction() as db:
        assert list(await db.scalars(select(Job.id))) == [running]
        assert list(await db.scalars(select(Session.id_hash))) == [b"\x01"]
        kept = await db.scalars(select(ApiToken.name).order_by(ApiToken.id))
        assert list(kept) == ["just revoked", "of a day", "for ever"]


async def test_a_daily_job_is_asked_for_once_a_day_and_workspace(database: Database) -> None:
    async with database.transaction() as db:
        first = await jobs.request_daily(db, "clock_purge")
        assert await jobs.request_daily(db, "clock_purge") is None
    assert first is not None
    async with database.transaction("acme") as db:
        assert await jobs.request_daily(db, "clock_purge") is not None
    async with database.transaction() as db:
        await db.execute(update(Job).where(Job.id == first).values(status="done"))
        assert await jobs.request_daily(db, "clock_purge") is None
        yesterday = datetime.now(UTC) - timedelta(days=1)
        await db.execute(update(Job).where(Job.id == first).values(created_at=yesterday))
        assert await jobs.request_daily(db, "clock_purge") is not None


async def test_the_schedule_asks_for_what_is_due_in_each_workspace(parts: Parts) -> None:
    for workspace in ("main", "globex"):
        async with parts.database.transaction(workspace) as db:
            await connect(db)
    async with parts.database.transaction("globex") as db:
        await policies.write(db, "globex", {"module_clock": False})
    await schedule(parts)
    await schedule(parts)
    async with parts.database.shared_transaction() as db:
        asked = {tuple(row) for row in await db.execute(select(Job.workspace, Job.name))}
        assert await db.scalar(select(func.count()).where(Job.name == "clock_sync")) == 1
    names = ("clock_purge", "surveys_head", "problems_sweep")
    everywhere = {(workspace, name) for workspace in ("main", "acme", "globex") for name in names}
    only_main = {("main", name) for name in ("housekeeping", "keys_check", "surveys_verify", "clock_sync")}
    assert asked == only_main | everywhere


async def test_a_tenant_that_is_deactivated_is_not_scheduled(parts: Parts) -> None:
    async with parts.database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "acme").values(active=False))
    await schedule(parts)
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).where(Job.workspace == "acme")) == 0


async def set_active(database: Database, key: str, *, active: bool) -> None:
    async with database.transaction() as db:
        await (tenants.activate if active else tenants.deactivate)(db, SYSTEM, key)


async def ask_everywhere(database: Database) -> dict[int, str]:
    """A job in each workspace, one of another sort in Acme whose worker died, by id."""
    asked = {}
    for workspace, name in (
        ("main", "clock_sync"),
        ("acme", "clock_sync"),
        ("acme", "send_mail"),
        ("globex", "clock_sync"),
    ):
        async with database.transaction(workspace) as db:
            asked[await jobs.request(db, name) or 0] = workspace
    async with database.shared_transaction() as db:
        died = {"status": "running", "attempt": 1, "heartbeat_at": func.now() - timedelta(minutes=5)}
        await db.execute(update(Job).where(Job.name == "send_mail").values(died))
    return asked


async def taken(database: Database, asked: dict[int, str]) -> tuple[set[str], set[str]]:
    """The workspaces whose jobs a worker is woken for, and those whose jobs it gets."""
    woken, got = set(), set()
    async with database.shared_transaction() as db:
        woken = {asked[job_id] for job_id, _ in await claims.due(db, list(FUNCTIONS), STALE)}
        for job_id, workspace in asked.items():
            attempt = await db.scalar(select(Job.attempt).where(Job.id == job_id)) or 0
            if await claims.is_held(db, job_id, attempt, STALE) and await claims.claim(db, job_id, attempt, STALE):
                got.add(workspace)
        await db.rollback()
    return woken, got


async def test_jobs_of_a_deactivated_tenant_wait_until_it_is_active_again(parts: Parts) -> None:
    asked = await ask_everywhere(parts.database)
    await set_active(parts.database, "acme", active=False)
    others = {"main", "globex"}
    assert await taken(parts.database, asked) == (others, others)
    await set_active(parts.database, "acme", active=True)
    everybody = {*others, "acme"}
    assert await taken(parts.database, asked) == (everybody, everybody)


async def test_a_job_that_runs_when_its_tenant_is_deactivated_ends(parts: Parts) -> None:
    async with parts.database.transaction("acme") as db:
        job_id = await jobs.request(db, "clock_sync") or 0
    assert await claim(parts.database, job_id, 0)
    await set_active(parts.database, "acme", active=False)
    async with parts.database.shared_transaction() as db:
        assert await claims.beat(db, job_id, 1)
        assert await claims.finish(db, job_id, 1)


async def stuck_work(parts: Parts) -> tuple[str, Any]:
    """What `muster doctor` says about jobs, and since when the problem of stuck work finds one waiting."""
    async with parts.database.transaction() as db:
        fact = next(one for one in WORKERS if STUCK in one.kinds)
        since = (await db.execute(fact.select)).one().since
    return next(one.sentence for one in await doctor.examine(parts, None) if one.name == "jobs"), since


async def test_jobs_that_wait_for_their_tenant_are_not_late(parts: Parts) -> None:
    await ask_everywhere(parts.database)
    await set_active(parts.database, "acme", active=False)
    long_ago = datetime.now(UTC) - timedelta(days=9)
    async with parts.database.shared_transaction() as db:
        await db.execute(update(Job).where(Job.workspace == "acme").values(due_at=long_ago))
        db.add(WorkerHeartbeat(worker="one", host="h", pid=1))
    for active in (False, True):
        if active:
            await set_active(parts.database, "acme", active=True)
        said, since = await stuck_work(parts)
        assert said.startswith("0 overdue")
        assert since > long_ago + timedelta(days=8)
