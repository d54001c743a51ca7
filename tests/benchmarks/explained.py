"""The blocks that statements read: while `watch` is on, each statement that an engine sends is explained first,
in a savepoint."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import await_only

_EXPLAINED = re.compile(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)
_HOW = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "
_BLOCKS = ("Shared Hit Blocks", "Shared Read Blocks", "Temp Read Blocks", "Temp Written Blocks")


@dataclass(frozen=True, slots=True)
class Read:
    """One statement, the blocks that it read (those in memory too), and its plan."""

    statement: str
    blocks: int
    plan: dict[str, Any]

    @property
    def rows(self) -> float:
        """The rows that it looked at, those that a filter left out too."""
        return sum(_looked_at(self.plan))

    def told(self) -> str:
        """The plan as a person reads it: each node with its blocks and the rows that it looked at."""
        return "\n".join([f"{self.blocks} blocks: {' '.join(self.statement.split())}", *_lines(self.plan, 1)])


@dataclass
class Watch:
    reads: list[Read] = field(default_factory=list)

    @property
    def blocks(self) -> int:
        return sum(one.blocks for one in self.reads)

    @property
    def worst(self) -> Read | None:
        return max(self.reads, key=lambda one: one.blocks, default=None)


@contextmanager
def watch(*engines: AsyncEngine) -> Iterator[Watch]:
    """Statements with many sets of values, and those that go past SQLAlchemy, are left out:
    both touch the rows that they name."""
    found = Watch()

    def explain(connection: Any, _: Any, statement: str, values: Any, __: Any, many: bool) -> None:
        if not many and _EXPLAINED.match(statement):
            found.reads.append(await_only(read(connection.connection.driver_connection, statement, values)))

    for engine in engines:
        event.listen(engine.sync_engine, "before_cursor_execute", explain)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine.sync_engine, "before_cursor_execute", explain)


async def read(driver: Any, statement: str, values: Any) -> Read:
    """Of a statement past SQLAlchemy; nothing that it changes stays."""
    await driver.execute("SAVEPOINT explained")
    told = await driver.fetchval(_HOW + statement, *(values or ()))
    await driver.execute("ROLLBACK TO SAVEPOINT explained")
    plan = (msgspec.json.decode(told) if isinstance(told, str | bytes) else told)[0]["Plan"]
    return Read(statement, sum(plan.get(name, 0) for name in _BLOCKS), plan)


def _looked_at(node: dict[str, Any]) -> Iterator[float]:
    for below in node.get("Plans", ()):
        yield from _looked_at(below)
    if "Relation Name" in node:
        names = "Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"
        yield node["Actual Loops"] * sum(node.get(name, 0) for name in names)


def _lines(node: dict[str, Any], depth: int) -> Iterator[str]:
    blocks = sum(node.get(name, 0) for name in _BLOCKS)
    on = node.get("Index Name") or node.get("Relation Name") or node.get("CTE Name") or ""
    left_out = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    more = f", {left_out} left out" if left_out else ""
    many = f" × {node['Actual Loops']}" if node.get("Actual Loops", 1) != 1 else ""
    yield f"{'  ' * depth}{node['Node Type']} {on} {node.get('Actual Rows', 0)} rows{many}{more}, {blocks} blocks"
    for name in ("Index Cond", "Filter", "Sort Key"):
        if name in node:
            yield f"{'  ' * depth}    {name}: {node[name]}"
    for below in node.get("Plans", ()):
        yield from _lines(below, depth + 1)
