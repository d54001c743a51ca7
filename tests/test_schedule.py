"""The schedule over many tenants: who is looked into when, and that one of them keeps no other from its turn."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from saq.queue.postgres import PostgresQueue
from sqlalchemy import event, func, insert, select, text, update

from app.accounts import policies, schedule_looks, tenants
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Tenant, WorkspaceLook
from app.db.session import Database
from app.parts import Parts
from app.worker_pace import PACE
from workers import settings
from workers.schedule import TickLimits, schedule
from workers.slots import Slots

SHORT = TickLimits(lasts_s=0.3, look_s=0.2, at_once=5)


class Asked:
    """A module that notes whom it was asked about, in the place of real ones."""

    def __init__(self, database: Database) -> None:
        self.database, self.noted = database, list[str]()
        self.wants: dict[str, datetime] = {}
        self.does: dict[str, Callable[[], object]] = {}

    async def __call__(self, _: Parts, workspace: str) -> datetime | None:
        self.noted.append(workspace)
        if do := self.does.get(workspace):
            await do()  # type: ignore[misc]
        return self.wants.get(workspace)

    async def time_passes(self, span: timedelta) -> None:
        async with self.database.shared_transaction() as db:
            await db.execute(update(WorkspaceLook).values(next_at=WorkspaceLook.next_at - span))


@pytest.fixture
def asked(database: Database) -> Asked:
    return Asked(database)


async def add_tenants(database: Database, number: int) -> list[str]:
    keys = [f"t{one:04}" for one in range(number)]
    async with database.shared_transaction() as db:
        await db.execute(insert(Tenant), [{"key": key, "name": key} for key in keys])
    return keys


async def test_every_workspace_is_looked_into_once_and_then_left_alone(parts: Parts, asked: Asked) -> None:
    assert await schedule(parts, [asked]) == 3
    assert sorted(asked.noted) == ["acme", "globex", "main"]
    assert await schedule(parts, [asked]) == 0


async def test_a_workspace_is_looked_into_again_when_it_wants(parts: Parts, asked: Asked) -> None:
    asked.wants = {"acme": datetime.now(UTC) + timedelta(minutes=2)}
    await schedule(parts, [asked])
    await asked.time_passes(timedelta(minutes=1))
    assert await schedule(parts, [asked]) == 0
    await asked.time_passes(timedelta(minutes=1, seconds=1))
    assert await schedule(parts, [asked]) == 1
    assert asked.noted[-1] == "acme"
    await asked.time_passes(schedule_looks.MOST_PAUSE)
    assert await schedule(parts, [asked]) == 3


async def test_one_that_wants_to_be_looked_into_at_once_waits_for_the_next_tick(parts: Parts, asked: Asked) -> None:
    asked.wants = {"acme": datetime.now(UTC) - timedelta(hours=1)}
    async with asyncio.timeout(5):
        assert await schedule(parts, [asked]) == 3
    await asked.time_passes(timedelta(minutes=1))
    assert await schedule(parts, [asked]) == 1


async def test_a_tick_continues_where_the_one_before_ran_out_of_time(parts: Parts, asked: Asked) -> None:
    await add_tenants(asked.database, 12)
    for key in await everybody(asked.database):
        asked.does[key] = lambda: asyncio.sleep(0.05)
    first = await schedule(parts, [asked], SHORT)
    assert first < 15
    while len(asked.noted) < 15:
        await asked.time_passes(schedule_looks.LEAST_PAUSE)
        await schedule(parts, [asked], SHORT)
    assert set(Counter(asked.noted).values()) == {1}
    assert len(asked.noted) == 15


async def test_a_tick_that_runs_out_of_time_puts_off_what_it_claimed_to_the_next_one(
    parts: Parts, asked: Asked
) -> None:
    for key in await everybody(asked.database):
        asked.does[key] = lambda: asyncio.sleep(0.15)
    assert await schedule(parts, [asked], TickLimits(lasts_s=0.1)) == 1
    await asked.time_passes(schedule_looks.LEAST_PAUSE + timedelta(seconds=1))
    assert await schedule(parts, [asked]) == 2
    assert sorted(asked.noted) == ["acme", "globex", "main"]


async def test_a_worker_that_stops_in_the_middle_of_its_tick_leaves_the_rest_to_the_others(
    parts: Parts, asked: Asked
) -> None:
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.sleep(60)

    for key in await everybody(asked.database):
        asked.does[key] = hang
    stopped = asyncio.create_task(schedule(parts, [asked]))
    await begun.wait()
    stopped.cancel()
    await asyncio.wait([stopped])
    assert stopped.cancelled()
    assert len(asked.noted) == 1
    asked.does.clear()
    await asked.time_passes(schedule_looks.LEAST_PAUSE + timedelta(seconds=1))
    assert await schedule(parts, [asked]) == 3


async def test_what_a_killed_worker_claimed_comes_to_the_others_after_a_minute(parts: Parts, asked: Asked) -> None:
    await schedule(parts, [asked])
    await asked.time_passes(schedule_looks.MOST_PAUSE)
    assert len(await claim_all(asked.database)) == 3
    assert await schedule(parts, [asked]) == 0, "they are claimed"
    await asked.time_passes(timedelta(minutes=1))
    assert await schedule(parts, [asked]) == 3
    assert TickLimits().lasts_s < schedule_looks.CLAIMED_FOR.total_seconds()


async def everybody(database: Database) -> list[str]:
    async with database.shared_transaction() as db:
        return ["main", *await db.scalars(select(Tenant.key))]


async def test_who_waited_longest_goes_first(parts: Parts, asked: Asked) -> None:
    await schedule(parts, [asked])
    async with asked.database.shared_transaction() as db:
        for minutes, workspace in enumerate(("globex", "main", "acme")):
            due = func.now() - timedelta(minutes=9 - minutes)
            await db.execute(update(WorkspaceLook).where(WorkspaceLook.workspace == workspace).values(next_at=due))
    asked.noted.clear()
    await schedule(parts, [asked], TickLimits(at_once=1))
    assert asked.noted == ["globex", "main", "acme"]


async def test_one_that_fails_or_hangs_does_not_stop_the_others(parts: Parts, asked: Asked) -> None:
    async def fail() -> None:
        raise RuntimeError

    asked.does = {"acme": lambda: asyncio.sleep(60), "globex": fail}
    other = Asked(asked.database)
    async with asyncio.timeout(10):
        assert await schedule(parts, [asked, other], TickLimits(look_s=0.2)) == 3
    assert sorted(other.noted) == ["acme", "globex", "main"]


async def test_a_change_during_a_look_is_not_lost(parts: Parts, asked: Asked) -> None:
    async def change() -> None:
        async with asked.database.transaction("acme") as db:
            schedule_looks.look_soon(db, "acme")

    asked.wants = {"acme": datetime.now(UTC) + timedelta(minutes=4)}
    asked.does = {"acme": change}
    await schedule(parts, [asked], TickLimits(lasts_s=0))
    claimed = await claim_all(asked.database)
    (look,) = [one for one in claimed if one.workspace == "acme"]
    await change()
    async with asked.database.shared_transaction() as db:
        await schedule_looks.settle(db, [(look, asked.wants["acme"])])
    assert [one.workspace for one in await claim_all(asked.database)] == ["acme"]


async def claim_all(database: Database) -> list[schedule_looks.Look]:
    async with database.shared_transaction() as db:
        return list(await schedule_looks.claim(db, 100))


async def test_two_workers_share_the_workspaces(parts: Parts, asked: Asked) -> None:
    await add_tenants(asked.database, 40)
    for key in await everybody(asked.database):
        asked.does[key] = lambda: asyncio.sleep(0.001)
    looked = await asyncio.gather(*(schedule(parts, [asked], TickLimits(at_once=4)) for _ in range(2)))
    assert sum(looked) == 43
    assert set(Counter(asked.noted).values()) == {1}


async def test_a_switch_of_a_policy_or_a_tenant_is_looked_at_in_the_next_tick(parts: Parts, asked: Asked) -> None:
    await schedule(parts, [asked])
    async with asked.database.transaction("acme") as db:
        await policies.write(db, "acme", {"module_clock": True})
    async with asked.database.transaction() as db:
        await tenants.deactivate(db, COMMAND_LINE, "globex")
        await tenants.activate(db, COMMAND_LINE, "globex")
    asked.noted.clear()
    await schedule(parts, [asked])
    assert sorted(asked.noted) == ["acme", "globex"]


@pytest.fixture
def transactions(database: Database) -> list[str]:
    """Every statement that the engine or the driver was given by SQLAlchemy."""
    seen: list[str] = []
    event.listen(database.engine.sync_engine, "before_cursor_execute", lambda *call: seen.append(call[2]))
    return seen


async def test_a_tick_of_five_thousand_tenants_asks_those_that_are_due_and_no_other(
    parts: Parts, asked: Asked, transactions: list[str]
) -> None:
    await add_tenants(asked.database, 5000)
    assert await schedule(parts, [asked]) == 5003
    assert set(Counter(asked.noted).values()) == {1}
    async with asked.database.shared_transaction() as db:
        late = update(WorkspaceLook).where(WorkspaceLook.workspace.in_(["t0007", "t4999"]))
        await db.execute(late.values(next_at=func.now()))
    asked.noted.clear()
    transactions.clear()
    assert await schedule(parts, [asked]) == 2
    assert sorted(asked.noted) == ["t0007", "t4999"]
    assert len(transactions) <= 5


async def test_the_cron_of_a_worker_of_another_version_does_not_block_that_of_this_one(parts: Parts) -> None:
    """It stays queued when that worker stops, and the new one has another queue."""
    pool = settings._pool(parts.database, 1)
    await pool.open(wait=True)
    try:
        queues = [PostgresQueue(pool=pool, name=name) for name in ("muster_before", settings.QUEUE)]
        await settings._make_tables(parts.database, queues[0])
        async with parts.database.shared_transaction() as db:
            await db.execute(text("DELETE FROM saq.saq_jobs"))  # Workers of other tests leave some.
        count = text("SELECT count(*) FROM saq.saq_jobs WHERE queue = :name")
        for queue in queues:
            await settings._worker(parts, queue, 1, {}, PACE, slots=Slots(1)).schedule()
            async with parts.database.shared_transaction() as db:
                assert await db.scalar(count, {"name": queue.name}) == 1
    finally:
        await pool.close()
