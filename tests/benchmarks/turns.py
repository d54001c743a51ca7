"""One call in two kinds, by turns in one run: what the second kind costs more.
Turns, since a machine is not equally fast all the time."""

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sqlalchemy import text

from app.db.session import Database
from tests.benchmarks.crowd import owner_url, settle

MOST = 1.10
# Of one person.
Call = Callable[[int], Awaitable[None]]
Turns = list[tuple[list[float], float]]


@dataclass(frozen=True)
class Switch:
    """Statements that keep what the second kind has, take it away, and give it back."""

    keep: tuple[str, ...]
    take: tuple[str, ...]
    give: tuple[str, ...]


async def both(name: str, calls: tuple[Call, Call], people: int, turns: int) -> None:
    """Each person calls once of each kind."""
    found: tuple[Turns, Turns] = ([], [])
    each = people // (turns + 1)
    for turn in range(turns + 1):
        some = range(turn * each + 1, (turn + 1) * each + 1)
        for kind in (0, 1) if turn % 2 else (1, 0):
            measured = await _measure(calls[kind], some)
            # The first turn warms up.
            found[kind].extend([measured] if turn else [])
    _tell(name, *found)


async def switched(
    name: str,
    call: Callable[[int, int], Awaitable[None]],
    database: Database,
    switch: Switch,
    *,
    rounds: int,
    turns: int,
) -> None:
    """`call(person, kind)` over the same rows, which are switched before each turn."""
    owner = Database(owner_url(database))
    await _run(owner, switch.keep)
    found: tuple[Turns, Turns] = ([], [])
    for turn in range(2 * turns + 2):
        kind = turn % 2
        await _run(owner, switch.give if kind else switch.take)

        async def of_kind(person: int, kind: int = kind) -> None:
            await call(person, kind)

        measured = await _measure(of_kind, range(1, rounds + 1))
        found[kind].extend([measured] if turn > 1 else [])
    _tell(name, *found)
    await owner.close()


async def _measure(call: Call, people: range) -> tuple[list[float], float]:
    """Milliseconds of each call, and CPU milliseconds a call."""
    spent, began = [], time.process_time()
    for person in people:
        at = time.perf_counter()
        await call(person)
        spent.append((time.perf_counter() - at) * 1000)
    return spent, (time.process_time() - began) * 1000 / len(people)


def _tell(name: str, plain: Turns, conditional: Turns) -> None:
    """Medians over all turns; the ratio of CPU says the same on a busy machine."""
    medians = [statistics.median([ms for spent, _ in turns for ms in spent]) for turns in (plain, conditional)]
    cpu = [statistics.median([ms for _, ms in turns]) for turns in (plain, conditional)]
    ratio = cpu[1] / cpu[0]
    print(
        f"{name:12} without {medians[0]:6.2f} ms (CPU {cpu[0]:5.2f})  with {medians[1]:6.2f} ms (CPU {cpu[1]:5.2f})  "
        f"ratio {medians[1] / medians[0]:.2f}, of CPU {ratio:.2f}{'  MISSED' if ratio > MOST else ''}"
    )


async def _run(database: Database, statements: tuple[str, ...]) -> None:
    async with database.transaction() as db:
        for one in statements:
            await db.execute(text(one))
    await settle(database)
