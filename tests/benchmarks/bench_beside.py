"""What is done at the same time, over the real command: pages while a worker judges punches by a new rule,
and one web process against two.

    python -m tests.benchmarks.bench_beside [--punches 300000] [--rounds 8]

Printed: the rate of the judging as a ratio to that of the import in the same run, and the p95 of pages alone, beside
the import and beside the judging; then the processor time per request of `serve --workers 2` as a ratio to that
of `--workers 1`, asked in turns.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psutil
from sqlalchemy import func, select

from app import jobs
from app.accounts.audit import SYSTEM
from app.accounts.models import Job, WorkerHeartbeat
from app.clock.punches import daily_totals
from app.clock.settings import write_settings
from app.db.session import Database
from app.secrets import new_key_text
from tests.benchmarks.arena import BASE_URL, arena
from tests.benchmarks.bench_import import fill, punched
from tests.benchmarks.bench_lists import person
from tests.benchmarks.crowd import Line, Portal, lines, serving

PAGES = ("/clock_transactions", "/people", "/clock")
CLIENTS, PAUSE_S, LOOK_S = 4, 0.1, 0.5
REQUESTS = 300
PEOPLE = 250


async def main(punches: int, rounds: int) -> None:
    days = punches // PEOPLE // 4
    async with arena() as database:
        await fill(database, PEOPLE, days)
        async with database.transaction() as db:
            session, _ = await person(db)
        async with serving(database, workers=1) as one, serving(database, workers=2) as two:
            await judging(database, one, session, days)
            await processes(one, two, session, rounds)


async def judging(database: Database, portal: Portal, session: str, days: int) -> None:
    """The import of punches, then as many that a new rule makes into records; pages are asked all the time. Both last
    until the job has ended, so the days are counted in both."""
    await daily_totals.roll_up(database, "main")
    await browsing(portal, session, lambda: asyncio.sleep(10))
    alone = await browsing(portal, session, lambda: asyncio.sleep(15))
    async with worker(database):
        await until(database, a_worker_is_there)
        began = time.perf_counter()
        async with database.transaction() as db:
            await jobs.request(db, "clock_import")
        beside_import = await browsing(portal, session, lambda: until(database, no_import_is_left))
        imported = time.perf_counter() - began
        number = await punched(database, range(PEOPLE, 2 * PEOPLE), days, "T2")
        async with database.transaction() as db:
            await jobs.request(db, "clock_import")
        await until(database, no_import_is_left)
        began = time.perf_counter()
        async with database.transaction() as db:
            await write_settings(db, SYSTEM, {"default_direction": "undirected"})
        asked = time.perf_counter() - began
        beside = await browsing(portal, session, lambda: until(database, no_import_is_left))
        judged = time.perf_counter() - began
    print(
        f"judging: {number} punches, {asked * 1000:.0f} ms to save the rule; import {number / imported:,.0f} a second,"
        f" by the new rule {number / judged:,.0f}; ratio {imported / judged:.2f}"
    )
    print(
        f"pages meanwhile: p95 alone {alone:.0f} ms, beside the import {beside_import:.0f} ms,"
        f" beside the judging {beside:.0f} ms; ratio {beside / alone:.1f}"
    )


async def a_worker_is_there(database: Database) -> bool:
    async with database.shared_transaction() as db:
        return bool(await db.scalar(select(func.count()).select_from(WorkerHeartbeat)))


async def no_import_is_left(database: Database) -> bool:
    open_jobs = select(func.count()).where(Job.name == "clock_import", Job.status.in_(("queued", "running")))
    async with database.shared_transaction() as db:
        return not await db.scalar(open_jobs)


async def until(database: Database, is_so: Callable[[Database], Awaitable[bool]]) -> None:
    while not await is_so(database):  # noqa: ASYNC110 - another process does it
        await asyncio.sleep(LOOK_S)


async def browsing(portal: Portal, session: str, work: Callable[[], Awaitable[None]]) -> float:
    """The p95 in milliseconds of clients who look at pages as long as the work lasts."""
    spent: dict[str, list[float]] = {path: [] for path in PAGES}
    doing = asyncio.ensure_future(work())

    async def client(line: Line, place: int) -> None:
        while not doing.done():
            began = time.perf_counter()
            path = PAGES[place % len(PAGES)]
            await page(line, path, session)
            spent[path].append((time.perf_counter() - began) * 1000)
            place += 1
            await asyncio.sleep(PAUSE_S)

    async with lines(portal, CLIENTS) as opened:
        await asyncio.gather(*(client(line, place) for place, line in enumerate(opened)))
    await doing
    told = ", ".join(f"{path} {_p95(some):.0f} ms" for path, some in spent.items())
    print(f"  p95 of {told}", flush=True)
    return _p95([one for some in spent.values() for one in some])


def _p95(some: list[float]) -> float:
    return sorted(some)[int(len(some) * 0.95)] if some else 0.0


async def processes(one: Portal, two: Portal, session: str, rounds: int) -> None:
    """Milliseconds of the processor for a request, in turns, so that what else the machine does meets both."""
    for portal in (one, two):
        await cpu_ms(portal, session)
    each = [(await cpu_ms(one, session), await cpu_ms(two, session)) for _ in range(rounds)]
    of_one, of_two = (statistics.median(side) for side in zip(*each, strict=True))
    ratio = statistics.median(second / first for first, second in each)
    print(
        f"processes: {of_one:.2f} ms of the processor for a request with one, {of_two:.2f} ms with two; ratio {ratio:.2f}"
    )


async def cpu_ms(portal: Portal, session: str) -> float:
    before, waiting = portal.cpu_s(), list(range(REQUESTS))

    async def client(line: Line) -> None:
        while waiting:
            await page(line, PAGES[waiting.pop() % len(PAGES)], session)

    async with lines(portal, 2 * CLIENTS) as opened:
        await asyncio.gather(*map(client, opened))
    return (portal.cpu_s() - before) / REQUESTS * 1000


async def page(line: Line, path: str, session: str) -> None:
    line.writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: muster={session}\r\n\r\n".encode())
    answer = await line.reader.readuntil(b"\r\n\r\n")
    if answer[9:12] != b"200":
        raise SystemExit(f"{path} was answered with {answer[9:12].decode()}")
    await line.reader.readexactly(int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))


@asynccontextmanager
async def worker(database: Database, **settings: str) -> AsyncIterator[psutil.Process]:
    """`muster worker`, as an installation runs it; `settings` are more of its environment."""
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        environment = {
            **os.environ,
            "MUSTER_DATABASE_URL": database.url,
            "MUSTER_SECRET_KEYS": new_key_text("bench"),
            "MUSTER_BASE_URL": BASE_URL,
            "MUSTER_DATA_DIR": folder,
            **settings,
        }
        command = [sys.executable, "-m", "app", "worker"]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - once, before anything is measured
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(timeout=60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--punches", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.punches, arguments.rounds))
