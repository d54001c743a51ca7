"""What a tick of the schedule costs over many tenants: those of `shared.tenants` with work that is faked as two
transactions, all due at once and then in their usual turn; and real tenants with the real modules. Milliseconds for
each workspace that is looked into, the ratio to as many bare transactions in the same run, and after how many ticks the
last one was looked into. Then how many looks for problems a second one worker makes in real tenants with a time clock.

    python -m tests.benchmarks.bench_tick [--tenants 5000] [--real 50]
"""

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from sqlalchemy import delete, exists, func, insert, select, update

from app import wiring
from app.accounts.audit import SYSTEM
from app.accounts.models import Job, Tenant, WorkspaceLook
from app.accounts.tenants import create_tenant
from app.clock.settings import write_settings
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from app.jobs import CHANNEL, LOOK
from app.parts import Parts, make_parts
from app.problems import sweeps
from app.problems.models import Problem, ProblemSweep
from tests.benchmarks.arena import settings_in
from tests.benchmarks.bench_beside import a_worker_is_there, until, worker
from tests.clock.mirrored import connect, employ, mirror_person, punch
from workers.schedule import TICK, Ask, schedule

A_MINUTE = timedelta(minutes=1)
A_TICK = timedelta(seconds=TICK.lasts_s)
MOST_TICKS = 2
LOOKS_S, MANY = 30, 5000


async def faked(parts: Parts, _: str) -> datetime | None:
    """As the clock and the surveys, whose transactions find nothing due."""
    for _ in range(2):
        await bare(parts.database)
    return None


async def bare(database: Database) -> None:
    async with database.shared_transaction() as db:
        await db.execute(select(1))


async def looks(parts: Parts, tenants: int) -> bool:
    """All tenants at once, again and again. Whether one worker makes fewer looks than 5,000 tenants
    with a time clock ask for."""
    async with parts.database.shared_transaction() as db:
        keys = list(await db.scalars(select(Tenant.key)))
        server = psutil.Process(await db.scalar(select(func.pg_backend_pid()))).parent()
    for key in keys:
        async with parts.database.transaction(key) as db:
            await connect(db)
            await write_settings(db, SYSTEM, {"sync_interval_minutes": 0})
            for number in range(20):
                await mirror_person(db, str(number), await employ(db, f"Person {number}"))
                await punch(db, str(number), "I 08:00, O 12:00, I 13:00, O 17:00")
    async with worker(parts.database) as working:
        await until(parts.database, a_worker_is_there)
        await until(parts.database, nothing_is_asked)  # what making the tenants asked for
        began, made, worked = time.perf_counter(), 0, _worked_s(working, server)
        while time.perf_counter() - began < LOOKS_S:
            async with parts.database.shared_transaction() as db:
                await db.execute(insert(Job), [{"workspace": key, "name": LOOK, "key": LOOK} for key in keys])
                await db.execute(select(func.pg_notify(CHANNEL, "")))
            await until(parts.database, nothing_is_asked)
            made += len(keys)
        rate = made / (time.perf_counter() - began)
        each_ms = [
            1000 * (after - before) / made for before, after in zip(worked, _worked_s(working, server), strict=True)
        ]
    wanted = MANY / await pause_s(parts, keys)
    print(
        f"looks for problems: {rate:.1f} a second by one worker in {tenants} tenants; {MANY} tenants ask for {wanted:.1f}."
        f" Processor time of a look: {each_ms[0]:.1f} ms of the worker, {each_ms[1]:.1f} ms of the server"
    )
    return rate < wanted


async def pause_s(parts: Parts, keys: list[str]) -> float:
    """Seconds from one look to the next where nothing happens, on average."""
    pauses = []
    for key in keys:
        async with parts.database.transaction(key) as db:
            stands = await db.scalar(select(exists().where(Problem.stands)))
            pause = func.extract("epoch", ProblemSweep.opens_at - ProblemSweep.looked_at)
            until = sweeps.EVERY if stands else timedelta(seconds=float(await db.scalar(select(pause))))
            pauses.append(max(until, sweeps.EVERY).total_seconds())
    return sum(pauses) / len(pauses)


def _worked_s(working: psutil.Process, server: psutil.Process) -> tuple[float, float]:
    """Processor time of the worker, and of the server's connections."""
    used = [[one.cpu_times() for one in some] for some in ([working], server.children())]
    worker_s, server_s = (sum(one.user + one.system for one in some) for some in used)
    return worker_s, server_s


async def nothing_is_asked(database: Database) -> bool:
    async with database.shared_transaction() as db:
        return not await db.scalar(select(func.count()).where(Job.status.in_(("queued", "running"))))


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
        began, worked = time.perf_counter(), time.process_time()
        looked = await schedule(parts, asks)
        spent, worked = time.perf_counter() - began, time.process_time() - worked
        each = spent * 1000 / max(looked, 1)
        late = await overdue(parts.database)
        behind = behind + 1 if late else 0
        missed = missed or behind >= MOST_TICKS
        print(
            f"{name:28} tick {tick}: {looked:5} of {tenants} in {spent:5.1f} s, {worked:4.1f} of the processor  {each:5.2f} ms each  ratio {each / one_ms:5.1f}"
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
            late = await of_real_ones(parts, cluster.owner_url, real) or late
            return await looks(parts, real) or late
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
        raise SystemExit(f"somebody waited for more than {MOST_TICKS} ticks, or for a look")


if __name__ == "__main__":
    main()
