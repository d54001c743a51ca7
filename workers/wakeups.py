"""Puts a wake-up for every due job into the queue, and reports that this worker lives. Each worker does both for
itself.

It is no cron of SAQ: when a worker is killed while it runs one, that cron stays blocked until SAQ's sweep, and this
loop must find what killed workers left behind.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Collection
from datetime import timedelta

import asyncpg
import structlog
from saq import Queue
from sqlalchemy import delete, func
from sqlalchemy.dialects.postgresql import insert

from app import jobs
from app.accounts.models import WorkerHeartbeat
from app.db.connecting import NOTICED, connect
from app.db.session import PLATFORM, Database
from app.problems import sweeps
from app.worker_pace import Pace
from workers import claims
from workers.cancelling import end
from workers.slots import Slots

ENTRY = "run_job"
# After a look that failed: the database may be back at any moment.
AWAY_S = 1
_log = structlog.get_logger("muster.jobs")


async def keep_waking(database: Database, queue: Queue, names: Collection[str], pace: Pace, slots: Slots) -> None:
    """Runs until cancelled. What fails is tried again at the next look; a place that becomes free causes a look at
    once.

    While the database is away, no worker can write that it lives. So after a look that failed, the workers of running
    jobs have `stale_s` seconds to do that, or to give their jobs back, before they are taken for dead."""
    loop = asyncio.get_running_loop()
    rung, failed_at = slots.freed, -math.inf
    ear: asyncpg.Connection | None = None
    try:
        while True:
            rung.clear()
            pause_s = pace.look_s
            try:
                ear = await _listening(ear, database, rung)
                is_back_long = loop.time() - failed_at > pace.stale_s
                stale_after = pace.stale_after if is_back_long else None
                await wake_due(database, queue, names, pace, slots.busy, stale_after=stale_after)
            except Exception as error:  # noqa: BLE001 - the database may be away for a while; the loop must outlive that
                _log.warning("looking for due jobs failed", reason=type(error).__name__)
                pause_s, failed_at = min(AWAY_S, pace.look_s), loop.time()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await rung.wait()
    finally:
        if ear is not None and not ear.is_closed():
            await ear.close(timeout=2)


async def wake_due(
    database: Database,
    queue: Queue,
    names: Collection[str],
    pace: Pace,
    busy: claims.NoPlace,
    *,
    stale_after: timedelta | None,
) -> int:
    """One look. Returns how many jobs were due. `busy`, `stale_after`: as in `claims.due`."""
    # SAQ takes the lowest priority first: the platform's sweep never waits behind mails. If the sweeps of all tenants
    # did the same, mails could wait for ever.
    turns = ((jobs.FIRST.intersection(names), PLATFORM), (names, None))
    for priority, (some, workspace) in enumerate(turns):
        async with database.shared_transaction() as db:
            found = await claims.due(db, some, stale_after, busy, workspace=workspace)
        await _wake(queue, found, pace, priority)
    return len(found)


async def _wake(queue: Queue, found: Collection[tuple[int, int]], pace: Pace, priority: int) -> None:
    # The key changes with time. Otherwise a wake-up whose worker died would block the next one for the same attempt.
    slot = int(time.time() // (pace.stale_s * 2))
    for job_id, attempt in found:
        await queue.enqueue(
            ENTRY,
            key=f"{job_id}:{attempt}:{slot}",
            timeout=int(jobs.LONGEST.total_seconds()) + 60,
            heartbeat=int(pace.stale_s * 4) or 1,
            retries=3,
            ttl=60,
            priority=priority,
            job_id=job_id,
            attempt=attempt,
        )


async def _listening(ear: asyncpg.Connection | None, database: Database, rung: asyncio.Event) -> asyncpg.Connection:
    """A connection that rings when somebody asks for work, and when it breaks. Then a new one takes its place."""
    if ear is not None and not ear.is_closed():
        return ear
    named = None if database.pooled else {"application_name": "muster-worker", **NOTICED}
    ear = await connect(database.url, server_settings=named)
    await ear.add_listener(jobs.CHANNEL, lambda *_: rung.set())
    ear.add_termination_listener(lambda _: rung.set())
    return ear


@contextlib.asynccontextmanager
async def alive(database: Database, worker: str, host: str, pid: int, pace: Pace) -> AsyncIterator[None]:
    """Keeps this worker's row fresh, and removes it at the end."""
    beating = asyncio.create_task(_keep_alive(database, worker, host, pid, pace))
    try:
        yield
    finally:
        await end(beating)
        with contextlib.suppress(Exception):
            async with database.shared_transaction() as db:
                await db.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.worker == worker))


async def _keep_alive(database: Database, worker: str, host: str, pid: int, pace: Pace) -> None:
    row = insert(WorkerHeartbeat).values(worker=worker, host=host, pid=pid)
    seen = row.on_conflict_do_update(index_elements=[WorkerHeartbeat.worker], set_={"seen_at": func.now()})
    while True:
        try:
            async with database.transaction(PLATFORM) as db:
                await sweeps.ask_after_silence(db)
                await db.execute(seen)
        except Exception as error:  # noqa: BLE001 - a worker without database says so and waits
            _log.warning("the worker's heartbeat could not be written", reason=type(error).__name__)
        await asyncio.sleep(pace.beat_s)
