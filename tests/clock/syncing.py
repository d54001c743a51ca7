"""What the tests of the sync share: a simulator on a real socket, a saved connection to it, and a run in one word."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from app.accounts.audit import COMMAND_LINE
from app.clock.connection import lease
from app.clock.connection import saved as connection
from app.clock.connection.connection_form import ConnectionForm
from app.clock.models import Connection, Punch, Setting, SyncRun
from app.clock.settings import write_settings
from app.clock.sync import run as sync
from app.clock.sync import run_rows
from app.clock.sync.run_rows import RunEnd
from app.parts import Parts
from app.secrets import Secret
from app.simulator import PASSWORD, USERNAME, Simulator, create_simulator, serving
from tests.simulator.worlds import fresh_world

NOW = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)
ZONE = "Europe/Berlin"


@dataclass
class Site:
    """A simulated server, and the workspace connected to it. `now` is the clock of both worlds' tests."""

    parts: Parts
    simulator: Simulator
    address: str
    now: datetime = NOW

    async def sync(self, **request: Any) -> RunEnd:
        """One run in the foreground."""
        return await self.run_of(await self.start(**request))

    async def sync_punches(self, **request: Any) -> RunEnd:
        """The same of people and punches alone, where the lists beside them tell nothing."""
        return await self.sync(resources=["employees", "transactions"], **request)

    async def sync_people(self) -> RunEnd:
        return await self.sync(resources=["employees"])

    async def start(self, **request: Any) -> int:
        async with self.parts.database.transaction() as db:
            run_id, _ = await run_rows.start_run(db, "manual", request, COMMAND_LINE)
        return run_id

    async def run_of(self, run_id: int, term: timedelta = lease.TERM) -> RunEnd:
        return await sync.run(self.parts, "main", run_id, now=lambda: self.now, term=term)

    async def sync_until_done(self) -> list[RunEnd]:
        """Runs until nothing more is queued."""
        ends = [await self.sync()]
        while (queued := await self.scalar("SELECT id FROM clock_sync_runs WHERE status = 'queued'")) is not None:
            ends.append(await self.run_of(queued))
        return ends

    async def row(self, run_id: int) -> SyncRun:
        async with self.parts.database.transaction() as db:
            return await run_rows.get_run(db, run_id)

    async def connection(self) -> Connection:
        async with self.parts.database.transaction() as db:
            return await connection.required(db)

    async def set(self, **changes: Any) -> None:
        async with self.parts.database.transaction() as db:
            await write_settings(db, COMMAND_LINE, changes, self.now)

    async def store(self, name: str, value: Any) -> None:
        """A setting as it lies in the table, whatever would be refused today."""
        row = upsert(Setting).values(name=name, value=value)
        async with self.parts.database.transaction() as db:
            await db.execute(row.on_conflict_do_update(index_elements=[Setting.name], set_={"value": value}))

    async def scalar(self, statement: str, **values: Any) -> Any:
        async with self.parts.database.transaction() as db:
            return await db.scalar(text(statement), values)

    async def rows(self, statement: str, **values: Any) -> Sequence[Any]:
        async with self.parts.database.transaction() as db:
            return (await db.execute(text(statement), values)).all()

    async def punches(self) -> int:
        async with self.parts.database.transaction() as db:
            return await db.scalar(select(func.count()).select_from(Punch)) or 0

    async def save(self, **changes: Any) -> None:
        """Saves the connection with some fields changed."""
        async with self.parts.database.transaction() as db:
            old = await connection.load(db)
            fields: dict[str, Any] = {
                "base_url": old.base_url if old else self.address,
                "username": USERNAME,
                "profile": self.simulator.profile.name,
                "timezone": ZONE,
            }
            await connection.save(db, self.parts.keys, COMMAND_LINE, ConnectionForm(**{**fields, **changes}))
            if old is None:
                await db.execute(update(Connection).values(created_at=self.now))

    def faults(self, *texts: str) -> None:
        self.simulator.set_faults(texts)

    @property
    def world(self) -> Any:
        return self.simulator.world

    def listed_people(self) -> int:
        return sum(person.listed for person in self.world.people)

    def let_pass(self, **span: float) -> None:
        """Time passes in both worlds."""
        self.now += timedelta(**span)
        self.world.advance(int(self.now.timestamp()))

    async def holds_everything(self, since: datetime | None = None) -> None:
        """Every punch of the world exactly once, with its person, terminal, code and instant."""
        mirrored = await self.rows(
            "SELECT emp_code, terminal_sn, punch_code, extract(epoch FROM punched_at_utc)::bigint AS at"
            " FROM clock_transactions ORDER BY 1, 2, 3, 4"
        )
        floor = since.timestamp() if since else 0
        table, world = self.world.punches, self.world
        expected = sorted(
            (
                world.people[table.person[i]].code,
                world.terminals[table.terminal[i]].serial,
                table.code[i],
                table.punched[i],
            )
            for i in range(len(table))
            if table.punched[i] >= floor
        )
        assert [tuple(row) for row in mirrored] == expected


@asynccontextmanager
async def site(
    parts: Parts, profile: str = "cloud", faults: Sequence[str] = (), *, employees: int = 10, days: int = 9,
    history: int | None = None, now: datetime = NOW, **more: Any,
) -> AsyncIterator[Site]:  # fmt: skip
    """A connected workspace. It reads `history` days, or as many as the world has: the 90 that a workspace begins with
    would be asked for slice by slice and in vain. Keyword arguments go to the simulator."""
    world = fresh_world(7, employees, days, 4, now, ZONE)
    simulator = create_simulator(world, profile, faults, **more)
    begins = now.date() - timedelta(days=days + 1 if history is None else history)
    async with serving(simulator) as address:
        made = Site(parts, simulator, address, now)
        await made.save(password=Secret(PASSWORD))
        await made.store("history_start", begins.isoformat())
        yield made


Make = Callable[..., Any]
