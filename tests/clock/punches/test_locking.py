"""In which order acts lock employees and punches, so that two of them never wait for each other."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import COMMAND_LINE
from app.clock.bindings import actions as bindings
from app.clock.models import Punch
from app.clock.punches import marks
from app.clock.review import decisions, settling
from app.db.session import Database
from app.host.attendance import day_locks, imported
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.attendance.imported import NewRecord
from app.host.models import AttendanceRecord, Employee
from app.host.people import people
from app.host.people.people import EmployeeDetails
from tests.clock.mirror_store import when
from tests.clock.mirrored import employ
from tests.clock.resolved import ada_works, id_of
from tests.host.staff import ALICE

Act = Callable[[AsyncSession], Awaitable[Any]]
WAITS_S = 0.5


async def bind_to_ben(db: AsyncSession) -> None:
    await bindings.bind(db, ALICE, await bindings.id_of_code(db, "100"), await employ(db, "Ben"))


async def clear(db: AsyncSession) -> None:
    await bindings.clear(db, ALICE, [await bindings.id_of_code(db, "100")])


async def deactivate(db: AsyncSession) -> None:
    await people.deactivate(db, ALICE, list(await db.scalars(select(Employee.id))))


async def edit(db: AsyncSession) -> None:
    (ada,) = await db.scalars(select(Employee))
    await people.edit(db, ALICE, ada.id, replace(EmployeeDetails.of(ada), id_number="7"))


async def unlock(db: AsyncSession) -> None:
    days = list(await db.scalars(select(AttendanceRecord.workday)))
    await day_locks.unlock(db, ALICE, min(days), max(days))


@pytest.mark.parametrize("act", [bind_to_ben, clear, deactivate, edit, unlock])
async def test_an_act_waits_for_the_import_of_an_employee_before_it_locks_a_punch(database: Database, act: Act) -> None:
    """An import holds the employee first, then writes records, and punches in any order."""
    ada = await ada_works(database, "I 08:00, O 17:00, I 20:00")
    async with database.transaction() as db:
        day = await db.scalar(select(AttendanceRecord.workday))
        assert day is not None
        await day_locks.lock(db, COMMAND_LINE, day, day)
    async with database.transaction() as importing:
        await attendance.hold(importing, [ada])
        acting = asyncio.create_task(carried_out(database, act))
        done, _ = await asyncio.wait([acting], timeout=WAITS_S)
        assert not done
        await importing.execute(select(Punch.id).with_for_update(nowait=True))
        await imported.create_records(importing, [NewRecord(ada, day, Hours(when("Tue 08:00")))])
    await acting


async def carried_out(database: Database, act: Act) -> None:
    async with database.transaction() as db:
        await act(db)


async def mark(db: AsyncSession) -> None:
    await marks.mark(db, Punch.emp_code == "100")


async def settle(db: AsyncSession) -> None:
    await settling.settle(db, ALICE, Punch.emp_code == "100")


async def retry(db: AsyncSession) -> None:
    await decisions.retry(db, ALICE, Punch.emp_code == "100")


@pytest.mark.parametrize("act", [mark, settle, retry])
async def test_an_act_on_many_punches_locks_them_in_the_order_of_their_ids(database: Database, act: Act) -> None:
    """Otherwise they are found in the order of their times, or as they lie: a row that was updated, behind others."""
    await ada_works(database, "I 20:00, I 08:00")
    first, second = await id_of(database, "Mon 20:00"), await id_of(database, "Mon 08:00")
    assert first < second
    async with database.transaction() as db:
        await db.execute(update(Punch).where(Punch.id == first).values(judge_at=marks.NOW))
    async with database.transaction() as other:
        await other.execute(select(Punch.id).where(Punch.id == first).with_for_update())
        acting = asyncio.create_task(carried_out(database, act))
        done, _ = await asyncio.wait([acting], timeout=WAITS_S)
        assert not done
        await other.execute(select(Punch.id).where(Punch.id == second).with_for_update(nowait=True))
    await acting
