"""Syncs in a rush hour: `python -m tests.benchmarks.bench_rush_hour [SECONDS_LATE…]` (default 0 30).

The simulator lists punches newest first, 50 a page, takes 0.2 s a call, and gets one punch a second. Prints of three
runs how each ended and how many calls a page of the last days took. SECONDS_LATE: punches arrive up to so many seconds
after they were made, so that they stand further down the list.
"""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from app.clock.sync.run_rows import RunEnd
from app.config import read_settings
from app.db.migrate import migrate
from app.parts import make_parts
from app.secrets import new_key_text
from tests.clock.syncing import Site, site
from tests.cluster import open_cluster

FAULTS = ("newest_first", "page_cap_50", "slow=0.2")
RUNS = 3
EMPLOYEES = 320


def main() -> None:
    late = [int(one) for one in sys.argv[1:]] or [0, 30]
    with open_cluster() as cluster:
        template = cluster.make_template("bench", lambda url: asyncio.run(_migrate(url, cluster.app_role)))
        for seconds in late:
            urls = cluster.clone(template)
            try:
                asyncio.run(_bench(urls.app, seconds))
            finally:
                cluster.drop(urls)


async def _migrate(owner_url: str, app_role: str) -> None:
    await migrate(owner_url, app_role, workspaces=["main"])


async def _bench(database_url: str, late: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "MUSTER_DATA_DIR": folder,
            "MUSTER_SECRET_KEYS": new_key_text("bench"),
            "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32",
        }
        parts = make_parts(read_settings({**os.environ, **given}), database_url)
        try:
            async with site(parts, "onprem", ["newest_first", "page_cap_50"], employees=EMPLOYEES, days=6) as here:
                await here.sync()
                here.faults(*FAULTS)
                print(f"\n{await here.punches():,} punches; each arrives up to {late} s late")
                async with _one_a_second(here, late):
                    for _ in range(RUNS):
                        await _run(here)
        finally:
            await parts.close()


@asynccontextmanager
async def _one_a_second(here: Site, late: int) -> AsyncIterator[None]:
    async def arrive() -> None:
        for second in range(10_000):
            await asyncio.sleep(1)
            made = here.world.now + second - random.randint(0, late)
            here.world.punch(random.randrange(len(here.world.people)), 0, made, 0)

    task = asyncio.create_task(arrive())
    try:
        yield
    finally:
        task.cancel()


async def _run(here: Site) -> None:
    before, began = here.simulator.call_count, time.perf_counter()
    end: RunEnd = await here.sync(resources=["transactions"])
    made = here.simulator.call_count - before
    pages = max(_pages([call.query for call in list(here.simulator.calls)[-made:]]))
    print(
        f"  {end.status}: {made} calls for {pages} pages = {made / pages:.2f} a page, {time.perf_counter() - began:.0f} s"
    )


def _pages(queries: Sequence[dict[str, str]]) -> list[int]:
    return [int(query.get("page", 0)) for query in queries]


if __name__ == "__main__":
    main()
