"""What grows with the rows stored: the blocks that the statements of each page, API and job read, in a workspace of
some size and in one of ten times as much. Time says little on a busy machine; blocks are the same on each.

    python -m tests.benchmarks.bench_plans [--punches 5000] [--times 10] [--told FILE] [--only WORDS]

Printed for each view: the blocks at both sizes, and their ratio, most first. FILE gets the plans of those that grew. A
view that asks for a tenth of a year is meant to read its punches; a list, a page, or a figure is not.
"""

import argparse
import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.parts import Parts
from tests.benchmarks import houses
from tests.benchmarks.explained import Read, watch
from tests.benchmarks.houses import View

# Ten times the rows may make an index one level deeper.
GROWN = 1.3
FEW = 60


@dataclass(frozen=True, slots=True)
class Measured:
    blocks: int
    reads: list[Read]


async def measure(folder: Path, punches: int, only: str) -> dict[str, Measured]:
    async with houses.opened(folder, punches) as house:
        return {name: await _measured(house.parts, view) for name, view in house.views().items() if only in name}


async def _measured(parts: Parts, view: View) -> Measured:
    with watch(parts.database.engine, parts.exports.engine) as found:
        await view()
    return Measured(found.blocks, found.reads)


def report(small: Mapping[str, Measured], large: Mapping[str, Measured]) -> int:
    """Prints all views, and returns how many grew."""
    grown = 0
    ratios = {name: one.blocks / max(small[name].blocks, FEW) for name, one in large.items()}
    for name in sorted(ratios, key=lambda one: -ratios[one]):
        grown += ratios[name] > GROWN
        print(f"{name:36} {small[name].blocks:10,} {large[name].blocks:10,}  × {ratios[name]:5.2f}{'  GREW' if ratios[name] > GROWN else ''}")  # fmt: skip
    print(f"{grown} of {len(ratios)} views read more blocks where there is more")
    return grown


def tell(told: Path, small: Mapping[str, Measured], large: Mapping[str, Measured]) -> None:
    """The plans of what grew, in the larger workspace."""
    with told.open("w") as out:
        for name, one in large.items():
            if one.blocks <= GROWN * max(small[name].blocks, FEW):
                continue
            out.write(f"== {name}: {small[name].blocks:,} -> {one.blocks:,}\n")
            for read in sorted(one.reads, key=lambda read: -read.blocks)[:3]:
                out.write(f"{read.told()}\n\n")


async def main(punches: int, times: int, told: Path | None, only: str, kept: Path | None) -> None:
    with houses.folder_of(kept) as folder:
        found = []
        for number in (punches, punches * times):
            print(f"{number:,} punches, {number // 5:,} records, {number // 10:,} answers and entries of the audit", flush=True)  # fmt: skip
            found.append(await measure(folder / str(number), number, only))
        report(*found)
        if told:
            tell(told, *found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--punches", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--told", type=Path, help="a file for the plans of what grew")
    parser.add_argument("--only", default="", help="views with these words in their name")
    parser.add_argument("--kept", type=Path, help="a folder for the databases, which the next run finds filled")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.punches, arguments.times, arguments.told, arguments.only, arguments.kept))
