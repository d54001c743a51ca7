"""What a workspace lives through with its time clock: two runs against a simulated server,
and what people decide in between."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import select

from app import demo
from app.accounts.audit import Actor
from app.clock.bindings import actions as bindings
from app.clock.codes import BindingState
from app.clock.connection import saved as connection
from app.clock.connection.connection_form import ConnectionForm
from app.clock.importing import import_due
from app.clock.mirror import devices
from app.clock.models import Binding, ClockEmployee, Punch
from app.clock.punches import daily_totals
from app.clock.review import settling
from app.clock.settings import write_settings
from app.clock.sync import backfill, run_rows
from app.clock.sync import run as sync
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from app.host.people import people
from app.host.people.people import EmployeeDetails
from app.parts import Parts
from app.secrets import Secret
from app.simulator import PASSWORD, USERNAME, Simulator, build_world, create_simulator, serving
from app.simulator.cast import code_of

ZONE = "Europe/Berlin"
EMPLOYEES, DAYS, TERMINALS, SEED = 35, 16, 4, 7
BEFORE = timedelta(days=2)
OPERATOR = Actor(None, "Olga Operator", "192.0.2.9")
# People of the simulator by their place. The gaps of app.demo lie at 3, 7, 11, 15 and 19, and 25 further on.
BOUND, IGNORED, CLEARED, GONE, REBOUND, DISABLED = 0, 5, 6, 2, 8, 28
APPROVED, EDITED, DELETED, LOCKED = 9, 10, 14, 13


@dataclass
class ClockLife:
    """One workspace and its server; `now` is the clock of both."""

    parts: Parts
    workspace: str
    simulator: Simulator
    now: datetime

    async def live(self, address: str) -> None:
        await self._connect(address)
        await self._sync()
        await self._decide_on_codes()
        await self._decide_on_records()
        await self._tap_late()
        self._let_pass(BEFORE)
        await self._ask_again()
        await self._sync()
        await self._keep_a_late_one()
        await daily_totals.roll_up(self.parts.database, self.workspace)

    async def _connect(self, address: str) -> None:
        form = ConnectionForm(address, USERNAME, self.simulator.profile.name, ZONE, Secret(PASSWORD))
        async with self._transaction() as db:
            await demo.seed(db, demo.staff(EMPLOYEES, SEED))
            await connection.save(db, self.parts.keys, OPERATOR, form)
            begins = (self.now - timedelta(days=DAYS)).date().isoformat()
            changes = {"history_start": begins, "show_temperature": True, "default_direction": "by_code"}
            await write_settings(db, OPERATOR, changes, self.now)

    async def _sync(self) -> None:
        """A run, and those that it asks for."""
        async with self._transaction() as db:
            run_id, _ = await run_rows.start_run(db, "manual", {}, OPERATOR)
        end = await sync.run(self.parts, self.workspace, run_id, now=lambda: self.now)
        if end.failed:
            raise RuntimeError(f"{self.workspace}: the run failed: {end.code} {end.message}")
        await import_due.import_due(partial(self.parts.database.transaction, self.workspace), now=self.now)

    async def _decide_on_codes(self) -> None:
        world = self.simulator.world
        world.people[GONE].listed = False
        world.people[DISABLED].attendance = False
        world.changed()
        ids = await self._people(BOUND, IGNORED, CLEARED, REBOUND)
        async with self._transaction() as db:
            await bindings.accept(db, OPERATOR, [ids[BOUND], ids[REBOUND]])
            await bindings.ignore(db, OPERATOR, [ids[IGNORED]])
            await bindings.clear(db, OPERATOR, [ids[CLEARED]])
            replacement = await people.add(db, OPERATOR, EmployeeDetails("R-1", "Renate Replacement"))
            await bindings.bind(db, OPERATOR, ids[REBOUND], replacement)
            await devices.set_remarks(db, OPERATOR, world.terminals[0].serial, "Behind the second door")

    async def _people(self, *places: int) -> dict[int, int]:
        """Ids of the mirrored people."""
        codes = {code_of(place): place for place in places}
        async with self._transaction() as db:
            rows = await db.execute(
                select(ClockEmployee.emp_code, ClockEmployee.id).where(ClockEmployee.emp_code.in_(codes))
            )
            return {codes[code]: number for code, number in rows}

    async def _decide_on_records(self) -> None:
        async with self._transaction() as db:
            await attendance.decide(db, OPERATOR, [one.id for one in await self._records(db, APPROVED)], "approved")
            await attendance.decide(db, OPERATOR, [(await self._records(db, EDITED))[-2].id], "rejected")
            edited = (await self._records(db, EDITED))[-1]
            later = Hours.of(edited).clock_in + timedelta(minutes=7)
            await attendance.edit(
                db, OPERATOR, edited.id, replace(Hours.of(edited), clock_in=later), "Queue at the gate"
            )
            await attendance.remove(db, OPERATOR, [(await self._records(db, DELETED))[-1].id])
            locked = (await self._records(db, LOCKED))[-2]
            await day_locks.lock(db, OPERATOR, locked.workday, locked.workday)
            by_hand = Hours(self.now - timedelta(days=DAYS + 4), self.now - timedelta(days=DAYS + 4, hours=-6))
            await attendance.add(db, OPERATOR, locked.employee_id, by_hand, "Came before the clock did")

    async def _records(self, db: Any, place: int) -> Sequence[AttendanceRecord]:
        """What the import made of a person's punches, oldest first; closed ones."""
        behind = select(Punch.host_attendance_id).where(Punch.emp_code == code_of(place))
        rows = select(AttendanceRecord).where(AttendanceRecord.id.in_(behind), AttendanceRecord.clock_out.is_not(None))
        return (await db.scalars(rows.order_by(AttendanceRecord.clock_in))).all()

    async def _tap_late(self) -> None:
        """A break in shifts whose records a person has decided on; the server has it only now."""
        world = self.simulator.world
        async with self._transaction() as db:
            for place, which in {APPROVED: -1, EDITED: -1, LOCKED: -2, REBOUND: -1}.items():
                begun = int((await self._records(db, place))[which].clock_in.timestamp())
                world.punch(place, 1, begun + 3600, 2)
                world.punch(place, 1, begun + 4200, 3)

    async def _ask_again(self) -> None:
        """The late taps lie before the days that every run reads."""
        today = self.now.date()
        async with self._transaction() as db:
            await backfill.ask(db, OPERATOR, today - timedelta(days=DAYS // 2), today, today=today)

    def _let_pass(self, span: timedelta) -> None:
        self.now += span
        self.simulator.world.advance(int(self.now.timestamp()))

    async def _keep_a_late_one(self) -> None:
        async with self._transaction() as db:
            late = select(Punch.id).where(settling.KEEPABLE, Punch.emp_code == code_of(REBOUND)).order_by(Punch.id)
            await settling.keep_record(db, OPERATOR, Punch.id.in_(list(await db.scalars(late.limit(6)))))

    def _transaction(self) -> Any:
        return self.parts.database.transaction(self.workspace)


async def live(parts: Parts, workspaces: dict[str, str], now: datetime) -> None:
    """`workspaces`: the profile of each one's server. They end at `now`, two days ahead: what asks for an import stamps
    it with the time of the database, which must not lie ahead of the first run."""
    async with AsyncExitStack() as stack:
        for workspace, profile in workspaces.items():
            world = build_world(SEED, EMPLOYEES, DAYS, TERMINALS, now - BEFORE, ZONE)
            simulator = create_simulator(world, profile)
            address = await stack.enter_async_context(serving(simulator))
            await ClockLife(parts, workspace, simulator, now - BEFORE).live(address)
            await _check(parts, workspace)


async def _check(parts: Parts, workspace: str) -> None:
    """A dump that lacks a state of bindings would prove less than it seems to."""
    async with parts.database.transaction(workspace) as db:
        found = set(await db.scalars(select(Binding.state).distinct()))
    if missing := set(BindingState) - found:
        raise RuntimeError(f"{workspace} has no binding that is {', '.join(sorted(missing))}")
