"""How pages answer beside clients that take their time, and beside many large exports at once.

    python -m tests.benchmarks.bench_strain [--punches 1000000] [--seconds 60]

First 500 posts that come byte by byte and 100 readers who read very slowly; then 30 exports of all punches beside 32
clients on pages. Printed for the pages: their statuses, and how long they took.
It only talks to this machine, and stops by itself.
"""

import argparse
import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from app.db.session import Database
from tests.benchmarks.arena import arena
from tests.benchmarks.bench_lists import fill, person, settle
from tests.benchmarks.crowd import Portal, owner_url, serving

SLOW_POSTS, SLOW_READERS, BESIDE = 500, 100, 16
EXPORTS, CLIENTS = 30, 32
PAGES = ("/sign-in", "/people", "/account", "/clock_transactions", "/admin/audit", "/health/ready")
PAUSE_S = 0.5
FORM = "Content-Type: application/x-www-form-urlencoded"
LARGE = "/static/vendor/tabler-core@1.6.1/css/tabler.min.css"
EXPORT = "/clock_transactions?export=csv"
Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Clients:
    """Of one portal, signed in."""

    def __init__(self, portal: Portal, session: str) -> None:
        self.port, self.session = portal.port, session
        self.statuses: Counter[int] = Counter()
        self.took: list[float] = []

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Opened]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()

    def head(self, method: str, path: str, *more: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: muster={self.session}", *more]
        return "\r\n".join([*lines, "", ""]).encode()

    async def browse(self) -> None:
        """Asks for one page after the other, with a pause between."""
        while True:
            for path in PAGES:
                began = time.perf_counter()
                self.statuses[await self._page(path)] += 1
                self.took.append(time.perf_counter() - began)
                await asyncio.sleep(PAUSE_S)

    async def _page(self, path: str) -> int:
        """Its status; 0 where no answer came."""
        try:
            async with self.line() as (reader, writer):
                writer.write(self.head("GET", path, "Connection: close"))
                return int((await reader.read()).split(b" ", 2)[1])
        except (OSError, IndexError):
            return 0

    async def post_slowly(self) -> None:
        """Signs in byte by byte, again and again."""
        while True:
            with suppress(OSError):
                async with self.line() as (_, writer):
                    writer.write(self.head("POST", "/sign-in", "Content-Length: 5000", FORM))
                    while not writer.is_closing():
                        writer.write(b"a")
                        await writer.drain()
                        await asyncio.sleep(1)

    async def read_slowly(self) -> None:
        """Asks for more than the system takes for it, and reads a little of that each second."""
        while True:
            with suppress(OSError):
                async with self.line() as (reader, writer):
                    writer.write(self.head("GET", LARGE) * 20)
                    while await reader.read(100):  # noqa: ASYNC110 - its pace
                        await asyncio.sleep(1)

    async def export(self) -> tuple[int, int]:
        """Status and bytes."""
        async with self.line() as (reader, writer):
            writer.write(self.head("GET", EXPORT, "Connection: close"))
            status, size = int((await reader.readuntil(b"\r\n")).split(b" ")[1]), 0
            while piece := await reader.read(2**20):
                size += len(piece)
            return status, size

    def report(self, title: str) -> None:
        took = sorted(self.took)
        p99 = took[math.ceil(len(took) * 0.99) - 1]
        middle = took[len(took) // 2]
        print(f"{title}: {dict(self.statuses)}, median {middle * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms", flush=True)


async def running(work: list[Callable[[], Awaitable[None]]], meanwhile: Awaitable[None]) -> None:
    tasks = [asyncio.ensure_future(one()) for one in work]
    try:
        await meanwhile
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def beside_slow_clients(clients: Clients, seconds: int) -> None:
    slow = [clients.post_slowly] * SLOW_POSTS + [clients.read_slowly] * SLOW_READERS
    await running(slow + [clients.browse] * BESIDE, asyncio.sleep(seconds))
    clients.report(f"beside {SLOW_POSTS} slow posts and {SLOW_READERS} slow readers, {seconds} s")


async def beside_exports(clients: Clients) -> None:
    async def exporting() -> None:
        began = time.perf_counter()
        ended = await asyncio.gather(*(clients.export() for _ in range(EXPORTS)))
        sizes = {size for status, size in ended if status == 200}
        print(
            f"exports: {dict(Counter(status for status, _ in ended))}, bytes {sizes}, {time.perf_counter() - began:.0f} s"
        )

    await running([clients.browse] * CLIENTS, exporting())
    clients.report(f"beside {EXPORTS} exports, {CLIENTS} clients")


async def main(punches: int, seconds: int) -> None:
    async with arena() as database:
        session = await filled(database, punches)
        async with serving(database, workers=1) as portal:
            quiet = Clients(portal, session)
            await running([quiet.browse] * BESIDE, asyncio.sleep(10))
            quiet.report("alone, 10 s")
            await beside_slow_clients(Clients(portal, session), seconds)
            await beside_exports(Clients(portal, session))


async def filled(database: Database, punches: int) -> str:
    await fill(database, punches)
    owner = Database(owner_url(database))
    await settle(owner)
    await owner.close()
    async with database.transaction() as db:
        session, _ = await person(db)
    return session


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--punches", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.punches, arguments.seconds))
