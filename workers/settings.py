"""One worker process: SAQ's queue and worker, put together. `muster worker` starts it by name; app never imports it.

SAQ's tables live in schema `saq`, which the app's role may create in. SAQ speaks psycopg; the jobs themselves use the
app's own engine.
"""

import asyncio
import hashlib
import logging
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import asyncpg
import structlog
from psycopg_pool import AsyncConnectionPool
from saq import CronJob
from saq.queue.postgres import PostgresQueue
from sqlalchemy import text

from app import wiring
from app.config.hosts import for_psycopg
from app.db.connecting import NOTICED, connect
from app.db.migrate import LOCK
from app.db.session import PLATFORM, Database
from app.db.standing import out_of_step
from app.errors import Conflict
from app.jobs import Function
from app.parts import BOOKS_S, FOR_BRIEF_WORK, Parts
from app.registry import modules
from app.worker_pace import PACE, Pace
from workers.cancelling import CANCELLED_S, EndingWorker, end
from workers.running import run
from workers.schedule import schedule
from workers.slots import Slots
from workers.wakeups import ENTRY, alive, keep_waking

FUNCTIONS: Mapping[str, Function] = {
    name: function for module in modules() for name, function in module.work().FUNCTIONS.items()
}
# A worker of another version may not know all kinds of jobs. So workers wake each other only if they know the same
# kinds; each looks for due work itself.
QUEUE = f"muster_{hashlib.sha256(' '.join(sorted(FUNCTIONS)).encode()).hexdigest()[:8]}"
# Any number that no other lock uses. Of two workers that start at once, one waits while the other makes SAQ's tables.
TABLES_LOCK = LOCK + 1
START_PATIENCE_S = 30
# Tables to which a newer program only added do not stop a worker.
_UNFIT = {
    "outgrown": "newer than this program, and no longer fit it; start the newer version.",
    "behind": "older than this program; run `muster migrate:modules`.",
}
# The pool waits twice as long after each attempt, up to this. After that, the next job that needs a connection tries
# again.
RECONNECT_S = 10
_log = structlog.get_logger("muster.jobs")


async def work(
    parts: Parts, *, concurrency: int = 4, functions: Mapping[str, Function] = FUNCTIONS, pace: Pace = PACE
) -> None:
    """Runs jobs until SIGINT or SIGTERM; then running jobs are cancelled and given back to the other workers."""
    wiring.connect()
    parts = replace(parts, database=parts.database.limited(BOOKS_S))
    logging.getLogger("saq").setLevel(logging.ERROR)
    await _await_database(parts.database)
    pool = _pool(parts.database, concurrency)
    queue = PostgresQueue(pool=pool, name=QUEUE, swept_error_message="its worker stopped responding")
    await pool.open(wait=True, timeout=START_PATIENCE_S)
    try:
        await _make_tables(parts.database, queue)
        await _work(parts, queue, concurrency, functions, pace)
    finally:
        await pool.close()


async def _await_database(database: Database) -> None:
    """Waits for a database that starts later than the worker. A refused sign-in, and tables that are missing or too
    old, raise at once, because waiting does not help."""
    loop = asyncio.get_running_loop()
    patient_until = loop.time() + START_PATIENCE_S
    while not await _answers(database.url, insist=loop.time() > patient_until):  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(1)
    async with database.transaction(PLATFORM) as db:
        # When a backup without the queue was restored, the schema is missing, which is an error of its own.
        await db.execute(text("SELECT has_schema_privilege('saq', 'CREATE')"))
        found = await out_of_step(db, PLATFORM)
    for standing, what_to_do in _UNFIT.items():
        if modules := [module for (_, module), found_so in found.items() if found_so == standing]:
            raise Conflict(f"The tables of {', '.join(modules)} are {what_to_do}")


async def _answers(url: str, *, insist: bool) -> bool:
    try:
        connection = await connect(url)
    except (OSError, asyncpg.CannotConnectNowError) as error:
        if insist:
            raise
        _log.warning("the database can't be reached yet", reason=type(error).__name__)
        return False
    await connection.close()
    return True


async def _work(
    parts: Parts, queue: PostgresQueue, concurrency: int, functions: Mapping[str, Function], pace: Pace
) -> None:
    slots = Slots(concurrency)
    worker = _worker(parts, queue, concurrency, functions, pace, slots=slots)
    name, pid = socket.gethostname(), os.getpid()
    async with alive(parts.database, f"{name}:{pid}:{secrets.token_hex(3)}", name, pid, pace):
        waking = asyncio.create_task(keep_waking(parts.database, queue, functions.keys(), pace, slots))
        _log.info("worker started", concurrency=concurrency)
        try:
            await worker.start()
        finally:
            await end(waking)
    _log.info("worker stopped")


def _worker(
    parts: Parts, queue: PostgresQueue, concurrency: int, functions: Mapping[str, Function], pace: Pace, *, slots: Slots
) -> EndingWorker:
    async def run_job(context: Mapping[str, Any], *, job_id: int, attempt: int) -> None:
        await run(parts, functions, pace, (job_id, attempt), context["job"].update, slots=slots)

    async def ask_what_is_due(_: Mapping[str, Any]) -> None:
        await schedule(parts)

    # SAQ has one key for all queues: the cron of a worker that stopped before an update would keep this one
    # from coming.
    ask_what_is_due.__qualname__ = f"schedule_{queue.name}"
    every_minute = CronJob(cast("Any", ask_what_is_due), cron="* * * * *", timeout=50, heartbeat=50, retries=3, ttl=30)
    return EndingWorker(
        queue,
        [(ENTRY, cast("Any", run_job))],
        concurrency=concurrency + FOR_BRIEF_WORK,
        cron_jobs=[every_minute],
        timers=cast("Any", {"sweep": 20}),
        cancellation_hard_deadline_s=CANCELLED_S,
    )


def _pool(database: Database, concurrency: int) -> AsyncConnectionPool[Any]:
    settings = {"search_path": "saq", **NOTICED}
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    named: dict[str, Any] = {"options": options, "application_name": "muster-queue"}
    return AsyncConnectionPool(
        database.url,
        min_size=2,
        max_size=concurrency + FOR_BRIEF_WORK + 4,
        open=False,
        check=AsyncConnectionPool.check_connection,
        configure=_find_tables if database.pooled else None,
        reconnect_timeout=RECONNECT_S,
        kwargs={"autocommit": True, **for_psycopg(database.url), **({} if database.pooled else named)},
    )


async def _find_tables(connection: Any) -> None:
    """Sets the schema after connecting, because a pooler refuses settings while connecting."""
    await connection.execute("SET search_path TO saq")


async def _make_tables(database: Database, queue: PostgresQueue) -> None:
    """SAQ's own lock lets the second of two workers start before the tables exist. So here one waits for the other."""
    noticed = None if database.pooled else NOTICED
    gate = await connect(database.url, timeout=START_PATIENCE_S, server_settings=noticed)
    try:
        await gate.execute("SELECT pg_advisory_lock($1)", TABLES_LOCK)
        await queue.connect()
    finally:
        await gate.close()
