"""What a tick of the schedule costs over many tenants: those of `shared.tenants` with work that is faked as two transactions, all due at
once and then in their usual turn; and real tenants with the real modules. Milliseconds for each workspace that is looked into, the
ratio to as many bare transactions in the same run, and after how many ticks the last one was looked into.

    python -m tests.benchmarks.bench_tick [--tenants 5000] [--real 50]
"""

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import delete, func, insert, select, update

from app import wiring
from app.accounts.models import Job, Tenant, WorkspaceLook
from app.accounts.tenants import create_tenant
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from app.parts import Parts, make_parts
from tests.benchmarks.arena import settings_in
from workers.schedule import TICK, Ask, schedule

A_MINUTE = timedelta(minutes=1)
A_TICK = timedelta(seconds=TICK.lasts_s)
MOST_TICKS = 2


async def faked(parts: Parts, _: str) -> datetime | None:
    """As the clock and the surveys, whose transactions find nothing due."""
    for _ in range(2):
        await bare(parts.database)
    return None


async def bare(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(select(1))


async def floor_ms(database: Database, number: int = 500) -> float:
    """Milliseconds of a bare transaction."""
    began = time.perf_counter()
    for _ in range(number):
        await bare(database)
    return (time.perf_counter() - began) * 1000 / number


async def minutes(parts: Parts, name: str, tenants: int, asks: list[Ask] | None, ticks: int) -> bool:
    """Some ticks, a minute apart. Whether somebody waited for too many of them."""
    behind, missed = 0, False
    for tick in range(1, ticks + 1):
        one_ms = await floor_ms(parts.database)
        began = time.perf_counter()
        looked = await schedule(parts, asks)
        spent = time.perf_counter() - began
        each = spent * 1000 / max(looked, 1)
        late = await overdue(parts.database)
        behind = behind + 1 if late else 0
        missed = missed or behind >= MOST_TICKS
        print(
            f"{name:28} tick {tick}: {looked:5} of {tenants} in {spent:5.1f} s  {each:5.2f} ms each  ratio {each / one_ms:5.1f}"
            f"  still due {late}"
        )
        async with parts.database.shared_transaction() as db:
            await db.execute(update(WorkspaceLook).values(next_at=WorkspaceLook.next_at - A_MINUTE))
    return missed


async def overdue(database: Database) -> int:
    """Who was due in the tick that is over, and was not reached."""
    async with database.shared_transaction() as db:
        late = select(func.count()).where(WorkspaceLook.next_at <= datetime.now(UTC) - A_TICK)
        return await db.scalar(late) or 0


async def run(tenants: int, real: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        cluster = embedded.start(Path(folder))
        parts = make_parts(settings_in(folder), cluster.app_url)
        try:
            await migrate(cluster.owner_url, embedded.APP_ROLE)
            wiring.connect()
            late = await of_rows(parts, tenants)
            return await of_real_ones(parts, cluster.owner_url, real) or late
        finally:
            await parts.close()
            cluster.stop()


async def of_rows(parts: Parts, tenants: int) -> bool:
    keys = [f"t{number:05}" for number in range(tenants)]
    async with parts.database.shared_transaction() as db:
        await db.execute(insert(Tenant), [{"key": key, "name": key} for key in keys])
    late = await minutes(parts, "rows, work faked", tenants, [faked], 7)
    async with parts.database.shared_transaction() as db:
        await db.execute(delete(Tenant))
        await db.execute(delete(WorkspaceLook))
    return late


async def of_real_ones(parts: Parts, owner_url: str, tenants: int) -> bool:
    for number in range(tenants):
        key = f"r{number:05}"
        await create_tenant(parts.database, owner_url, embedded.APP_ROLE, key=key, name=key)
    async with parts.database.shared_transaction() as db:
        await db.execute(delete(Job))
    return await minutes(parts, "real tenants", tenants, None, 7)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenants", type=int, default=5000)
    parser.add_argument("--real", type=int, default=50)
    arguments = parser.parse_args()
    if asyncio.run(run(arguments.tenants, arguments.real)):
        raise SystemExit(f"somebody waited for more than {MOST_TICKS} ticks")


if __name__ == "__main__":
    main()
