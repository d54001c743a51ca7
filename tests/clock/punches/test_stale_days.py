"""Transactions that note days with outdated totals wait for each other, and never in a ring:
each notes its days in order."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.bindings import undoing
from app.clock.importing import unbound
from app.clock.mirror import gone, rezoning
from app.clock.mirror.punch_rows import Target, write_punches
from app.clock.models import ClockEmployee, Punch, StaleDay
from app.clock.parsing import ParsedPunch
from app.clock.punches.daily_totals import mark_stale
from app.db.session import Database
from tests.clock.mirrored import connect, employ, mirror_person

FIRST, DAYS = date(2026, 3, 2), 60
NOW = datetime(2026, 7, 1, tzinfo=UTC)
PATIENCE_S = 20


def page(numbers: range, minutes: int = 0) -> list[ParsedPunch]:
    """One punch a day, in no order."""
    rows = []
    for number in numbers:
        at = datetime(FIRST.year, FIRST.month, FIRST.day, 8, minutes) + timedelta(days=number % DAYS)
        rows.append(
            ParsedPunch(
                remote_id=str(number), emp_code="1", terminal_sn="T1", terminal_alias="Gate", code=0, verify=1,
                punched_at_raw=str(at), punched_at_local=at, punched_at_utc=at.replace(tzinfo=UTC), uploaded_at_utc=None,
                temperature=None, photo_ref=None,
            )
        )  # fmt: skip
    random.Random(7).shuffle(rows)
    return rows


async def new_punches(db: AsyncSession) -> None:
    await write_punches(db, Target(7, 1, by_instant=False), page(range(DAYS, 2 * DAYS)))


async def edited_punches(db: AsyncSession) -> None:
    await write_punches(db, Target(7, 1, by_instant=False), page(range(DAYS), minutes=30))


async def new_punches_late_in_the_days_and_edited_ones_early(db: AsyncSession) -> None:
    late, early = range(DAYS + 30, 2 * DAYS), range(30)
    await write_punches(db, Target(7, 1, by_instant=False), [*page(late), *page(early, minutes=30)])


async def a_code_is_bound(db: AsyncSession) -> None:
    person = await db.scalar(select(ClockEmployee.id)) or 0
    await bindings.bind(db, SYSTEM, person, await employ(db, "Ada"))


async def the_zone_moves_instants(db: AsyncSession) -> None:
    await rezoning.begin(db, "UTC", "Europe/Berlin", "local_times")
    await rezoning.rewrite_slice(db)


async def the_zone_moves_local_times(db: AsyncSession) -> None:
    await rezoning.begin(db, "UTC", "Asia/Tokyo", "instants")
    await rezoning.rewrite_slice(db)


async def the_server_has_them_no_more(db: AsyncSession) -> None:
    await gone.mark(db, list(await db.scalars(select(Punch.id))), NOW)


async def nobody_stands_behind_them(db: AsyncSession) -> None:
    await db.execute(update(Punch).values(import_outcome=None))
    await unbound.settle(db, list(await db.scalars(select(Punch.id))), NOW)


ACTS: list[Callable[[AsyncSession], Awaitable[None]]] = [
    new_punches, edited_punches, new_punches_late_in_the_days_and_edited_ones_early, a_code_is_bound, the_zone_moves_instants,
    the_zone_moves_local_times, the_server_has_them_no_more, nobody_stands_behind_them,
]  # fmt: skip


async def the_first_day(db: AsyncSession) -> None:
    await db.execute(insert(StaleDay).values(local_date=FIRST))


async def a_punch(db: AsyncSession) -> None:
    await db.execute(select(Punch.id).order_by(Punch.local_date).limit(1).with_for_update())


@pytest.mark.parametrize(
    ("act", "holds"),
    [*((act, the_first_day) for act in ACTS), *((act, a_punch) for act in ACTS if act is not new_punches)],
    ids=lambda act: act.__name__,
)
async def test_two_that_note_the_same_days_never_wait_for_each_other(database: Database, act: Any, holds: Any) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "1")
        await write_punches(db, Target(7, 1, by_instant=False), page(range(DAYS)))
        await db.execute(update(Punch).values(import_outcome="only_one_punch"))
    await forget_the_days(database)
    async with database.transaction() as db:
        await holds(db)
        other = asyncio.create_task(in_its_own_transaction(database, act))
        await until_somebody_waits(database)
        await mark_stale(db, [FIRST + timedelta(days=day) for day in range(1, DAYS)])
    await asyncio.wait_for(other, PATIENCE_S)
    async with database.transaction() as db:
        assert set(await db.scalars(select(StaleDay.local_date))) >= {
            FIRST + timedelta(days=day) for day in range(DAYS)
        }


_A_RECORD_A_DAY = text(
    """
    INSERT INTO attendance_records (employee_id, workday, source, clock_in, clock_out)
    SELECT :ada, local_date, 'clock', punched_at_utc, punched_at_utc + interval '8 hours'
    FROM clock_transactions WHERE local_date <= CAST(:until AS date)
    """
)
_REMEMBERED = text(
    "INSERT INTO clock_imported_records (record_id, clock_in, clock_out) SELECT id, clock_in, clock_out FROM attendance_records"
)
_OF_ITS_RECORD = text(
    """
    UPDATE clock_transactions t SET host_attendance_id = r.id, import_outcome = 'imported', imported_role = 'clock_in',
        imported_at_utc = now()
    FROM attendance_records r WHERE r.workday = t.local_date
    """
)


async def bound_with_take_back(db: AsyncSession) -> None:
    """Notes the days of waiting punches, late ones, and then those of the records that go, which are early."""
    person = await db.scalar(select(ClockEmployee.id)) or 0
    await undoing.bind(db, SYSTEM, person, await employ(db, "Bob"), "take_back")


async def bound_and_bound_again(db: AsyncSession) -> None:
    """Two acts of one transaction: each marks punches and notes their days."""
    await bound_with_take_back(db)
    await bound_with_take_back(db)


@pytest.mark.parametrize("act", [bound_with_take_back, bound_and_bound_again], ids=lambda act: act.__name__)
async def test_an_act_that_notes_days_twice_is_in_no_ring_of_waiting(database: Database, act: Any) -> None:
    early = [FIRST + timedelta(days=day) for day in range(DAYS // 2)]
    async with database.transaction() as db:
        await connect(db)
        ada = await employ(db, "Ada")
        await mirror_person(db, "1", ada)
        await write_punches(db, Target(7, 1, by_instant=False), page(range(DAYS)))
        await db.execute(update(Punch).values(import_outcome="only_one_punch"))
        await db.execute(_A_RECORD_A_DAY, {"ada": ada, "until": early[-1]})
        await db.execute(_REMEMBERED)
        await db.execute(_OF_ITS_RECORD)
    await forget_the_days(database)
    async with database.transaction() as db:
        await the_first_day(db)
        other = asyncio.create_task(in_its_own_transaction(database, act))
        await until_somebody_waits(database)
        await mark_stale(db, [FIRST + timedelta(days=day) for day in range(1, DAYS)])
    await asyncio.wait_for(other, PATIENCE_S)
    async with database.transaction() as db:
        assert await db.scalar(text("SELECT count(*) FROM attendance_records WHERE deleted_at IS NULL")) == 0
        assert set(await db.scalars(select(StaleDay.local_date))) >= set(early)


async def forget_the_days(database: Database) -> None:
    async with database.transaction() as db:
        await db.execute(text("DELETE FROM clock_stale_days"))


async def in_its_own_transaction(database: Database, act: Any) -> None:
    async with database.transaction() as db:
        await act(db)


async def until_somebody_waits(database: Database) -> None:
    waits = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with database.transaction() as db:
                if await db.scalar(waits):
                    return
            await asyncio.sleep(0.01)
