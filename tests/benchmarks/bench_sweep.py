"""What a sweep for problems costs over a million punches and 500 people: its statements, p50 and p95 in milliseconds
when nothing has changed, and the ratio to a bare SELECT in the same run.
Then with 10,000 open problems, and the first sweep that opens them.

    python -m tests.benchmarks.bench_sweep [--punches 1000000] [--rounds 100]
"""

import argparse
import asyncio
import statistics
import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import event, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app import wiring
from app.clock.problems.fact_selects import DAYS as KEPT
from app.db.session import Database
from app.problems import looking
from app.problems.models import Problem
from tests.benchmarks import bench_lists, full_house
from tests.benchmarks.arena import arena
from tests.benchmarks.bench_lists import DAYS, PEOPLE, p95, timed
from tests.direct import heard

LIMIT_MS, STATEMENTS, MANY = 30, 3, 10_000
# What a workspace has where people look after it: some dozens of days wait, and a code or two.
_SETTLE = """
UPDATE clock_transactions SET settled_at_utc = now(), settled_by = 'B'
WHERE import_outcome IN ('only_one_punch', 'not_bound', 'arrived_late', 'overlaps') AND id % 97 > 0 AND settled_at_utc IS NULL
"""
# A person's day each, of the last weeks.
_UNDECIDED = f"""
UPDATE clock_transactions SET import_outcome = 'only_one_punch', settled_at_utc = NULL WHERE id IN (
    SELECT min(id) FROM clock_transactions WHERE local_date >= (now() - interval '{KEPT - 2} days')::date AND gone_at_utc IS NULL
    GROUP BY emp_code, local_date ORDER BY 1 LIMIT :number)
"""


async def sweep(database: Database) -> None:
    async with database.transaction() as db:
        assert await looking.look(db)


async def measure(database: Database, owner: Database, name: str, rounds: int) -> float:
    """Returns p95 in milliseconds, of sweeps that change nothing."""
    await bench_lists.settle(owner)
    began = time.perf_counter()
    await sweep(database)
    first_ms = (time.perf_counter() - began) * 1000
    async with database.transaction() as db:
        opened = await db.scalar(select(func.count()).where(Problem.closed_at.is_(None))) or 0
        floor_ms = statistics.median(await timed(rounds, lambda: db.execute(select(1))))
    took = await timed(rounds, lambda: sweep(database))
    asked = await statements(database)
    print(
        f"{name:24} {opened:6} open  first {first_ms:7.0f} ms  then p50 {statistics.median(took):5.1f} p95 {p95(took):5.1f} ms"
        f"  ratio {p95(took) / floor_ms:5.1f}  statements {asked}"
    )
    if asked > STATEMENTS:
        raise SystemExit(f"a sweep in which nothing changed took {asked} statements")
    return p95(took)


async def statements(database: Database) -> int:
    """Those of SQLAlchemy, and those that go to the driver itself."""
    found: list[str] = []
    engine = database.engine.sync_engine

    def note(_: object, __: object, statement: str, *___: object) -> None:
        found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    with heard(database, lambda query: None if query.startswith("BEGIN") else found.append(query)):
        await sweep(database)
    event.remove(engine, "before_cursor_execute", note)
    return len(found)


async def bind(db: AsyncSession) -> None:
    await db.execute(text(full_house._HOST), {"people": PEOPLE})
    await db.execute(text(full_house._BOUND))
    await db.execute(text(full_house._IGNORED))


async def change(database: Database, sql: str, **given: object) -> None:
    async with database.transaction() as db:
        await db.execute(text("SET LOCAL statement_timeout = 0"))
        await db.execute(text(sql), given)


async def run(punches: int, rounds: int) -> None:
    wiring.connect()
    async with arena() as database:
        owner = Database(database.url.replace("muster_app", "muster_owner"))
        try:
            first = datetime.now(UTC).date() - timedelta(days=DAYS)
            await bench_lists.fill(database, punches, first, full_house._IMPORTED)
            async with database.transaction() as db:
                await bind(db)
            await measure(database, owner, "a year, untouched", rounds)
            await change(database, _UNDECIDED, number=MANY)
            await measure(database, owner, "many open", rounds)
            await change(database, _SETTLE)
            spent = await measure(database, owner, "looked after", rounds)
        finally:
            await owner.close()
    if spent > LIMIT_MS:
        print(f"p95 is above {LIMIT_MS} ms: on a busy machine the ratio says more")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--punches", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.punches, arguments.rounds))


if __name__ == "__main__":
    main()
