"""Random acts on a real database: after each, judging what is marked gives what judging everything would. What fails is
printed as lines, a story for test_marks_in_stories.py. `MARKED_HISTORIES=500` tries more."""

import os
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.clock.models import Punch
from app.clock.punches import rejudging
from app.db.session import Database
from app.errors import Refusal
from app.host.models import AttendanceRecord, DayLock
from tests.clock.punches.workplace import CODES, PEOPLE, Workplace

HISTORIES = int(os.environ.get("MARKED_HISTORIES", "5"))
ACTS_IN_EACH = 25
DAYS = 4
SIGNS = ("I", "I", "I", "O", "O", "O", "bo", "bi", "oi", "oo", "a", "a", "a", "a")
SETTINGS: dict[str, tuple[object, ...]] = {
    "repeat_tap_seconds": (0, 10, 60),
    "double_tap_fix": (True, False),
    "double_tap_minutes": (5, 15),
    "shift_gap_hours": (4, 8),
    "import_single_punches": (True, False),
}


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the punches of one story need several."""
    monkeypatch.setattr(rejudging, "SLICE", 3)


class Chance(Workplace):
    """A workplace where chance says what is done next.
    Its clock runs ahead of the real one, so that every mark is due."""

    def __init__(self, database: Database, seed: int) -> None:
        super().__init__(database, datetime.now(UTC) + timedelta(hours=1))
        self.chance = random.Random(seed)
        self.ends = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        self.begins = self.ends - timedelta(days=DAYS)

    async def carries_out(self, line: str) -> None:
        try:
            await super().carries_out(line)
        except Refusal as refused:
            self.done[-1] += f" (refused: {refused})"

    async def continues(self) -> None:
        (act,) = self.chance.choices(list(ACTS), weights=ACTS.values())
        if line := await getattr(self, act)():
            await self.does(line)

    # What may be done next, as a line; none where there is nothing to do it with.

    async def some_taps(self) -> str:
        at, taps = await self.some_instant(), []
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            taps.append(f"{self.chance.choice(SIGNS)} {self.said(at)}")
            at = min(at + self.some_step(), self.ends)
        return f"taps {self.chance.choice(CODES)} {', '.join(taps)}"

    async def some_link(self) -> str:
        code, name = self.chance.choice(CODES), self.chance.choice(PEOPLE)
        line = self.chance.choice(("bind {} {}", "bind {} {}", "move {} {}", "clear {}", "take_back {}"))
        return line.format(code, name)

    async def some_terminal(self) -> str:
        serial = self.chance.choice(("T1", "T2"))
        directions = [f"direction {serial} {word}" for word in ("by_code", "in", "out", "undirected")]
        return self.chance.choice([*directions, f"kind {serial} access", f"kind {serial} attendance"])

    async def some_setting(self) -> str:
        name = self.chance.choice(list(SETTINGS))
        return f"set {name} {self.chance.choice(SETTINGS[name])}"

    async def some_zone(self) -> str:
        verb = self.chance.choice(("zone_of_cloud", "zone_of_building"))
        return f"{verb} {self.chance.choice(('UTC', 'Asia/Tokyo', 'America/New_York'))}"

    async def some_lock(self) -> str:
        day = await self.one_of(AttendanceRecord.workday) or (self.begins + timedelta(days=1)).date()
        return f"lock {day}"

    async def some_unlocking(self) -> str:
        day = await self.one_of(DayLock.day)
        return f"unlock {day}" if day else ""

    async def some_record_by_hand(self) -> str:
        start = self.begins + timedelta(hours=self.chance.randrange(0, 24 * DAYS))
        return f"by_hand {self.chance.choice(PEOPLE)} {self.some_hours(start)}"

    async def some_correction(self) -> str:
        start = await self.one_of(AttendanceRecord.clock_in, AttendanceRecord.deleted_at.is_(None))
        if start is None:
            return ""
        moved = start + timedelta(hours=self.chance.choice((-30, -3, -1, 0, 0, 1, 3, 30, 90)))
        return f"edit_record {self.said(start)} to {self.some_hours(moved)}"

    async def some_decision(self) -> str:
        start = await self.one_of(AttendanceRecord.clock_in, AttendanceRecord.deleted_at.is_(None))
        status = self.chance.choice(("approved", "rejected", "pending"))
        return f"decide {self.said(start)} to {status}" if start else ""

    async def some_deletion(self) -> str:
        start = await self.one_of(AttendanceRecord.clock_in, AttendanceRecord.deleted_at.is_(None))
        return f"delete {self.said(start)}" if start else ""

    async def some_coming_or_going(self) -> str:
        verb = self.chance.choice(("deactivate", "activate", "activate"))
        return f"{verb} {self.chance.choice(PEOPLE)}"

    async def some_retry(self) -> str:
        return await self.with_punch("retry {}", Punch.import_outcome != "imported")

    async def some_use(self) -> str:
        return await self.with_punch("use {}", Punch.import_outcome == "arrived_late")

    async def some_edit(self) -> str:
        moved = f"{self.chance.choice(SIGNS[:-4])} {self.said(await self.some_instant())}"
        became = self.chance.choice((moved, moved, f"code {self.chance.choice(CODES)}"))
        return await self.with_punch(f"edit {{}} to {became}", Punch.gone_at_utc.is_(None))

    async def some_door(self) -> str:
        return await self.with_punch("says_door {}", Punch.gone_at_utc.is_(None))

    async def some_going(self) -> str:
        return await self.with_punch("goes {}", Punch.gone_at_utc.is_(None))

    async def some_coming_back(self) -> str:
        verb = self.chance.choice(("comes_back", "comes_back_under_another_id"))
        return await self.with_punch(f"{verb} {{}}", Punch.gone_at_utc.is_not(None))

    async def some_time(self) -> str:
        later = self.now + timedelta(hours=self.chance.choice((1, 4, 9, 25)))
        return f"at {self.said(later)}"

    # With what.

    async def one_of(self, column: Any, *conditions: Any) -> Any:
        async with self.database.transaction() as db:
            found = list(await db.scalars(select(column).where(*conditions).order_by(column)))
        return self.chance.choice(found) if found else None

    async def with_punch(self, line: str, condition: Any) -> str:
        punch_id = await self.one_of(Punch.id, condition)
        async with self.database.transaction() as db:
            found = select(Punch.emp_code, Punch.punched_at_utc).where(Punch.id == punch_id)
            row = (await db.execute(found)).one_or_none()
        return line.format(f"{row[0]} {self.said(row[1])}") if row else ""

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

    def some_hours(self, start: datetime) -> str:
        length = self.chance.choice((None, timedelta(hours=1), timedelta(hours=9)))
        return f"{self.said(start)}-{self.said(start + length)[11:] if length else ''}"

    def said(self, at: datetime) -> str:
        return f"{at.astimezone(self.where):%Y-%m-%d %H:%M:%S}"


ACTS = {
    "some_taps": 14,
    "some_link": 7,
    "some_terminal": 2,
    "some_setting": 2,
    "some_zone": 1,
    "some_lock": 4,
    "some_unlocking": 4,
    "some_record_by_hand": 2,
    "some_correction": 4,
    "some_decision": 3,
    "some_deletion": 3,
    "some_coming_or_going": 2,
    "some_retry": 2,
    "some_use": 6,
    "some_edit": 5,
    "some_door": 1,
    "some_going": 3,
    "some_coming_back": 2,
    "some_time": 2,
}


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_judging_what_is_marked_gives_what_judging_everything_would(database: Database, seed: int) -> None:
    place = Chance(database, seed)
    await place.open()
    while len(place.done) < ACTS_IN_EACH:
        await place.continues()
