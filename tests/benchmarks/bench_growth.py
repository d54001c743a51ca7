"""How times grow with the rows stored: each page, API, export and job of a workspace of some size, and of one with ten
times as much, in turns in one run. Each time is a median in milliseconds; the ratio of processor time says the same on
a busy machine. Of an export only the first rows are awaited.

    python -m tests.benchmarks.bench_growth [--punches 100000] [--times 10] [--only WORDS ...] [--kept FOLDER]

Printed: both times, their ratio, that of processor time, and how often the larger time is that of a bare indexed SELECT
of one page. A view that asks for a tenth of a year is meant to read its punches, and a job may read all it is for:
their line says so.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import text

from tests.benchmarks import houses
from tests.benchmarks.houses import House, View

MOST = 1.3
MOST_BARE = 40
LEAST_ROUNDS, MOST_ROUNDS, SECONDS = 3, 25, 4.0
# Below this, a ratio says nothing.
FEW_MS = 1.0
BARE = "SELECT * FROM clock_transactions ORDER BY local_date DESC, punched_at_utc DESC, id DESC LIMIT 50"
Turns = list[tuple[float, float]]


async def by_turns(sides: Sequence[House], views: Sequence[View]) -> list[Turns]:
    """Milliseconds, and those of the processor, of each call. The first call of each side warms up."""
    found: list[Turns] = [[] for _ in views]
    for view in views:
        await view()
    ends = time.perf_counter() + SECONDS
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and time.perf_counter() > ends:
            break
        for side in range(len(views)) if number % 2 else reversed(range(len(views))):
            worked, began = sides[side].worked_s(), time.perf_counter()
            await views[side]()
            spent = time.perf_counter() - began
            found[side].append((spent * 1000, (sides[side].worked_s() - worked) * 1000))
    return found


def tell(name: str, sides: Sequence[Turns]) -> bool:
    """Prints one view; True when it grew."""
    *ms, bare = [statistics.median(one for one, _ in side) for side in sides]
    cpu = [statistics.mean(one for _, one in side) for side in sides]
    ratio, of_cpu = ms[1] / max(ms[0], FEW_MS), cpu[1] / max(cpu[0], FEW_MS)
    grew = ratio > MOST and of_cpu > MOST
    print(
        f"{name:36} {ms[0]:8.1f} {ms[1]:8.1f} ms  × {ratio:5.2f}  processor {cpu[0]:7.1f} {cpu[1]:7.1f}  × {of_cpu:5.2f}"
        f"  bare × {ms[1] / bare:6.1f}{'  GREW' if grew else ''}{'  SLOW' if ms[1] / bare > MOST_BARE else ''}",
        flush=True,
    )
    return grew


async def main(folder: Path, punches: int, times: int, only: list[str]) -> None:
    async with AsyncExitStack() as stack:
        sizes = (punches, punches * times)
        small, large = [await stack.enter_async_context(houses.opened(folder / str(one), one)) for one in sizes]
        print(f"{sizes[0]:,} and {sizes[1]:,} punches", flush=True)

        async def bare() -> None:
            async with large.parts.database.transaction() as db:
                await db.execute(text(BARE))

        of_large = large.views()
        views = {name: (view, of_large[name]) for name, view in small.views().items()}
        wanted = [name for name in views if not only or any(words in name for words in only)]
        grown = 0
        for name in wanted:
            grown += tell(name, await by_turns((small, large, large), (*views[name], bare)))
        print(
            f"{grown} of {len(wanted)} views take more than {MOST} times as long where there is {times} times as much"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--punches", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[], help="views with one of these words in their name")
    parser.add_argument("--kept", type=Path, help="a folder for the databases, which the next run finds filled")
    given = parser.parse_args()
    with houses.folder_of(given.kept) as folder:
        asyncio.run(main(folder, given.punches, given.times, given.only))
