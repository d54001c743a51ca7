"""What pages weigh on the wire, in brotli and in gzip, and what compressing one costs: bytes, the ratio to the same
page packed as tightly as the format can (however long that takes),
and milliseconds of the processor more than the same page sent as it is.

    python -m tests.benchmarks.bench_weight [--rounds 40]
"""

import argparse
import asyncio
import statistics
import tempfile
import time
import zlib

import brotli
import httpx

from app.db.session import Database
from app.parts import make_parts
from app.web import sessions
from tests.benchmarks.arena import BASE_URL, arena, settings_in, site_of
from tests.benchmarks.bench_lists import fill, person

PUNCHES = 20_000
LIMIT_MS = 2
# The most that a page may weigh in either encoding; the lists have fifty rows.
PAGES = {"/clock_transactions": 14_000, "/clock_employees": 16_000, "/sign-in": 3_000}
TIGHTEST = {
    "br": lambda body: brotli.compress(body, mode=brotli.MODE_TEXT, quality=11),
    "gzip": lambda body: zlib.compress(body, 9, 31),
}


async def weighed(client: httpx.AsyncClient, url: str, encoding: str) -> int:
    async with client.stream("GET", url, headers={"Accept-Encoding": encoding}) as answer:
        if answer.headers.get("content-encoding", "identity") != encoding:
            raise SystemExit(f"{url} came as {answer.headers.get('content-encoding')}, not as {encoding}")
        return sum([len(piece) async for piece in answer.aiter_raw()])


async def busy(client: httpx.AsyncClient, url: str, encoding: str, rounds: int) -> float:
    """Milliseconds of the processor that one request takes: the median of the rounds."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        await weighed(client, url, encoding)
        spent.append((time.process_time() - began) * 1000)
    return statistics.median(spent)


async def measure(client: httpx.AsyncClient, url: str, most: int, rounds: int) -> int:
    body = (await client.get(url, headers={"Accept-Encoding": "identity"})).content
    plain = await busy(client, url, "identity", rounds)
    missed = 0
    for encoding, pack in TIGHTEST.items():
        size, bare = await weighed(client, url, encoding), len(pack(body))
        cost = await busy(client, url, encoding, rounds) - plain
        late = size > most or cost > LIMIT_MS
        missed += late
        print(
            f"{url:20} {encoding:5} {size:7,} of {len(body):8,} bytes  ratio {size / bare:4.2f}  {cost:+5.1f} ms beside {plain:5.1f}"
            f"{'  MISSED' if late else ''}"
        )
    return missed


async def main(rounds: int) -> None:
    async with arena() as database:
        await fill(database, PUNCHES)
        async with database.transaction() as db:
            session, _ = await person(db)
        print(f"floor: the same page in the tightest brotli or gzip; at most {LIMIT_MS} ms to pack it")
        print(f"{await walked(database, session, rounds)} of {len(PAGES) * len(TIGHTEST)} were over what they may")


async def walked(database: Database, session: str, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_in(folder)
        parts = make_parts(settings, database.url)
        transport = httpx.ASGITransport(app=site_of(parts))
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            missed = await measure(client, "/sign-in", PAGES["/sign-in"], rounds)
            client.cookies.set(sessions.cookie_name(settings), session)
            for url in ("/clock_transactions", "/clock_employees"):
                missed += await measure(client, url, PAGES[url], rounds)
        await parts.close()
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    asyncio.run(main(parser.parse_args().rounds))
