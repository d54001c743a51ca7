"""Random acts on a real database: after each, judging what is marked gives what judging everything would (import-rules: "When a
punch is judged again"). A difference is a missing mark, which only a *Retry* would cure. `MARKED_HISTORIES=500` tries more."""

import os
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.importing import import_due
from app.clock.mirror import devices
from app.clock.models import ClockEmployee, Punch
from app.clock.review import decisions
from app.clock.settings import write_settings
from app.db.session import Database
from app.errors import Refusal
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord, DayLock
from app.host.people import people
from tests.clock.mirrored import connect, employ, everything_due, mirror_person, mirror_terminal
from tests.clock.resolved import import_all

CODES = ("1", "2", "3")
TERMINALS = ("T1", "T2")
HISTORIES = int(os.environ.get("MARKED_HISTORIES", "6"))
ACTS_IN_EACH = 25
DAYS = 4


class Workplace:
    """Two people, three codes, two terminals, and somebody who does this and that. Its clock runs ahead of the real one, so that
    every mark is due."""

    def __init__(self, database: Database, chance: random.Random) -> None:
        self.database = database
        self.chance = chance
        self.ends = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        self.begins = self.ends - timedelta(days=DAYS)
        self.now = datetime.now(UTC) + timedelta(hours=1)
        self.people: list[int] = []
        self.done: list[str] = []

    async def open(self) -> None:
        async with self.database.transaction() as db:
            await connect(db)
            self.people = [await employ(db, "Ada"), await employ(db, "Bea")]
            for serial in TERMINALS:
                await mirror_terminal(db, serial, direction=self.chance.choice(("by_code", "undirected")))
            for code, person in zip(CODES, (self.people[0], self.people[0], self.people[1]), strict=True):
                await mirror_person(db, code, person)

    # Who and what.

    async def some_id(self, column: Any, *conditions: Any) -> int:
        async with self.database.transaction() as db:
            ids = list(await db.scalars(select(column).where(*conditions).order_by(column)))
        return self.chance.choice(ids) if ids else 0

    async def some_record(self) -> int:
        return await self.some_id(AttendanceRecord.id, AttendanceRecord.deleted_at.is_(None))

    def some_day(self) -> date:
        return (self.begins + timedelta(days=self.chance.randrange(0, DAYS))).date()

    async def some_instant(self) -> datetime:
        """Near a tap that is there, just outside a record, or near midnight."""
        async with self.database.transaction() as db:
            taps = list(await db.scalars(select(Punch.punched_at_utc).order_by(Punch.punched_at_utc)))
            starts = list(await db.scalars(select(AttendanceRecord.clock_in).order_by(AttendanceRecord.id)))
        midnights = [self.begins + timedelta(days=day, minutes=m) for day in range(1, DAYS) for m in (-10, 10, 30)]
        way = self.chance.random()
        if starts and way < 0.4:
            return self.chance.choice(starts) - timedelta(minutes=self.chance.choice((2, 40, 60)))
        if taps and way < 0.8:
            return min(self.chance.choice(taps) + self.some_step() * self.chance.choice((1, 1, -1)), self.ends)
        return self.chance.choice(midnights)

    def some_step(self) -> timedelta:
        if self.chance.random() < 0.3:
            return timedelta(seconds=self.chance.choice((0, 3, 10, 240, 300, 1200)))
        return timedelta(minutes=self.chance.choice((60, 120, 240, 420, 470, 540, 720, 1435)))

    # Acts.

    async def taps_arrive(self) -> None:
        at = await self.some_instant()
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            await self.tap(at)
            at = min(at + self.some_step(), self.ends)

    async def tap(self, at: datetime) -> None:
        row = {
            "id_generation": 1,
            "remote_id": str(self.chance.randrange(10**9)),
            "emp_code": self.chance.choice(CODES),
            "terminal_sn": self.chance.choice(TERMINALS),
            "punch_code": self.chance.choice((0, 0, 0, 1, 1, 1, 2, 3, 4, 5)),
            "punched_at_raw": str(at),
            "punched_at_local": at.replace(tzinfo=None),
            "punched_at_utc": at,
            "local_date": at.date(),
        }
        self.done[-1] += f" {row['emp_code']}/{row['terminal_sn']}/{row['punch_code']} {at:%d %H:%M:%S}"
        async with self.database.transaction() as db:
            await db.execute(insert(Punch).values(row))

    async def a_code_is_bound(self) -> None:
        person = await self.some_id(ClockEmployee.id)
        async with self.database.transaction() as db:
            await bindings.bind(db, SYSTEM, person, self.chance.choice(self.people))

    async def a_code_is_cleared(self) -> None:
        person = await self.some_id(ClockEmployee.id)
        async with self.database.transaction() as db:
            await bindings.clear(db, SYSTEM, [person])

    async def a_terminal_changes(self) -> None:
        serial = self.chance.choice(TERMINALS)
        direction = self.chance.choice(("by_code", "in", "out", "undirected"))
        async with self.database.transaction() as db:
            await devices.set_direction(db, SYSTEM, serial, direction)
            await devices.set_kind(db, SYSTEM, serial, self.chance.choice((None, None, None, "access")))

    async def a_setting_changes(self) -> None:
        name, value = self.chance.choice(
            [
                ("repeat_tap_seconds", self.chance.choice((0, 10, 60))),
                ("double_tap_fix", self.chance.choice((True, False))),
                ("double_tap_minutes", self.chance.choice((5, 15))),
                ("shift_gap_hours", self.chance.choice((4, 8))),
                ("import_single_punches", self.chance.choice((True, False))),
            ]
        )
        async with self.database.transaction() as db:
            await write_settings(db, SYSTEM, {name: value})

    async def a_day_is_locked(self) -> None:
        async with self.database.transaction() as db:
            days = list(await db.scalars(select(AttendanceRecord.workday).order_by(AttendanceRecord.id)))
            day = self.chance.choice(days or [self.some_day()])
            await day_locks.lock(db, SYSTEM, day, day)

    async def days_are_unlocked(self) -> None:
        async with self.database.transaction() as db:
            days = list(await db.scalars(select(DayLock.day).order_by(DayLock.day)))
            day = self.chance.choice(days or [self.some_day()])
            await day_locks.unlock(db, SYSTEM, day, day)

    async def a_record_is_made(self) -> None:
        start = self.begins + timedelta(hours=self.chance.randrange(0, 24 * DAYS))
        length = self.chance.choice((None, timedelta(hours=1), timedelta(hours=9)))
        hours = Hours(start, start + length if length else None, kind=self.chance.choice(("regular", "overtime")))
        async with self.database.transaction() as db:
            await attendance.add(db, SYSTEM, self.chance.choice(self.people), hours)

    async def a_record_is_edited(self) -> None:
        record_id = await self.some_record()
        moved = timedelta(hours=self.chance.choice((-30, -3, -1, 1, 3, 30, 90)))
        async with self.database.transaction() as db:
            record = await db.scalar(select(AttendanceRecord).where(AttendanceRecord.id == record_id))
            if record is not None:
                end = record.clock_out and record.clock_out + moved
                start = record.clock_in + self.chance.choice((moved, timedelta(0)))
                await attendance.edit(db, SYSTEM, record_id, Hours(start, end, kind=record.kind))

    async def a_record_is_decided(self) -> None:
        record_id = await self.some_record()
        status = self.chance.choice(("approved", "rejected", "pending"))
        async with self.database.transaction() as db:
            await attendance.decide(db, SYSTEM, [record_id], status)

    async def a_record_is_deleted(self) -> None:
        record_id = await self.some_record()
        async with self.database.transaction() as db:
            await attendance.remove(db, SYSTEM, [record_id])

    async def a_person_comes_or_goes(self) -> None:
        act = self.chance.choice((people.deactivate, people.activate, people.activate, people.remove, people.restore))
        person = self.chance.choice(self.people)
        async with self.database.transaction() as db:
            await act(db, SYSTEM, [person])

    async def somebody_retries(self) -> None:
        punch_id = await self.some_id(Punch.id, Punch.import_outcome != "imported")
        async with self.database.transaction() as db:
            await decisions.retry(db, SYSTEM, Punch.id == punch_id)

    async def somebody_uses_the_punches(self) -> None:
        punch_id = await self.some_id(Punch.id, Punch.import_outcome == "arrived_late")
        async with self.database.transaction() as db:
            await decisions.use_punches(db, SYSTEM, punch_id)

    async def time_passes(self) -> None:
        self.now += timedelta(hours=self.chance.choice((1, 4, 9, 25)))

    # What came of it.

    async def does(self, act: str) -> None:
        self.done.append(act)
        try:
            await getattr(self, act)()
        except Refusal as refused:
            self.done[-1] += f" (refused: {refused})"
        await import_all(self.database, self.now)
        marked = await self.seen()
        everything = await self.seen_if_everything_were_judged()
        assert marked == everything, self.told(marked, everything)

    async def seen(self) -> dict[str, Any]:
        async with self.database.transaction() as db:
            return await _seen(db)

    async def seen_if_everything_were_judged(self) -> dict[str, Any]:
        async with self.database.transaction() as db:
            only_tried = await db.begin_nested()
            await everything_due(db)
            await import_due.import_codes(db, CODES, self.now)
            found = await _seen(db)
            await only_tried.rollback()
        return found

    def told(self, marked: dict[str, Any], everything: dict[str, Any]) -> str:
        keys = sorted(key for key in marked.keys() | everything.keys() if marked.get(key) != everything.get(key))
        differences = [f"{key}: {marked.get(key)}, everything judged: {everything.get(key)}" for key in keys]
        return "\n".join([*self.done, *differences])


async def _seen(db: Any) -> dict[str, Any]:
    punches = await db.execute(
        select(Punch.punched_at_utc, Punch.emp_code, Punch.terminal_sn, Punch.punch_code, Punch.id,
               Punch.import_outcome, Punch.host_attendance_id)
    )  # fmt: skip
    records = await db.scalars(select(AttendanceRecord).execution_options(populate_existing=True))
    hours = {one.id: (one.employee_id, Hours.of(one), one.deleted_at is None) for one in records}
    found: dict[str, Any] = {
        f"punch {code}/{sn}/{number} {at:%d %H:%M:%S} ({key})": (word, hours.get(record))
        for at, code, sn, number, key, word, record in punches
    }
    return found | {"records": sorted(map(str, hours.values()))}


ACTS = {
    "taps_arrive": 14,
    "a_code_is_bound": 4,
    "a_code_is_cleared": 2,
    "a_terminal_changes": 2,
    "a_setting_changes": 2,
    "a_day_is_locked": 4,
    "days_are_unlocked": 4,
    "a_record_is_made": 2,
    "a_record_is_edited": 4,
    "a_record_is_decided": 3,
    "a_record_is_deleted": 3,
    "a_person_comes_or_goes": 2,
    "somebody_retries": 2,
    "somebody_uses_the_punches": 6,
    "time_passes": 2,
}


# What a mark was missing in once.
STORIES = (
    ("a_day_is_locked", "taps_arrive", "days_are_unlocked"),
    ("a_code_is_bound", "taps_arrive", "somebody_uses_the_punches"),
)


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_judging_what_is_marked_gives_what_judging_everything_would(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    place = Workplace(database, chance)
    await place.open()
    await place.does("taps_arrive")
    while len(place.done) < ACTS_IN_EACH:
        (act,) = chance.choices(list(ACTS), weights=ACTS.values())
        for each in chance.choice([*STORIES, (act,), (act,), (act,)]):
            await place.does(each)
