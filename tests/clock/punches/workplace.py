"""A workplace on a real database, where people and servers do this and that, told as lines. After each line
missing_marks.py looks whether a mark is missing."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import select, update

from app.accounts.audit import SYSTEM
from app.clock import purge
from app.clock.bindings import actions as bindings
from app.clock.bindings import undoing
from app.clock.mirror import devices, gone, rezoning
from app.clock.mirror.listing_rows import write_listing
from app.clock.mirror.punch_rows import Target, write_punches
from app.clock.models import ClockEmployee, Connection, Punch
from app.clock.parsing import ParsedPunch, Parser
from app.clock.profiles import ONPREM
from app.clock.punches.daily_totals import mark_stale
from app.clock.review import decisions, settling
from app.clock.settings import write_settings
from app.db.session import Database
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from app.host.people import people
from app.long_acts import acts as long_acts
from app.long_acts.models import LongAct
from app.outbound import Redactor
from tests.clock import mirror_store
from tests.clock.mirror_store import FAR, when
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch
from tests.clock.punches import kept_counts, missing_marks

CODES = ("1", "2", "3", "4")
PEOPLE = ("Ada", "Bea", "Cleo")
DAY = timedelta(days=1)
# A sync run imports what it marked, a deadline waits for the next run, and a zone is changed by saving the connection.
FOLLOWED_BY_AN_IMPORT = frozenset(
    {
        "at", "comes_back", "comes_back_under_another_id", "edit", "goes", "listed_as_reader", "says_door", "taps", "zone_of_building",
        "zone_of_cloud",
    }
)  # fmt: skip
CHANGES_NOTHING = frozenset({"shows"})


class Workplace:
    """Ada has the codes 1 and 2, Bea 3, no employee 4. Terminal T1 counts by code, T2 is undirected. Marks bear the
    real time, so `now` lies behind it."""

    def __init__(self, database: Database, now: datetime = FAR, zone: str = "UTC") -> None:
        self.database = database
        self.now = now
        self.zone = zone
        self.people: dict[str, int] = {}
        self.done: list[str] = []
        self.generation = 1
        self.is_counted_up = False

    async def open(self) -> None:
        async with self.database.transaction() as db:
            await connect(db, self.zone)
            self.people = {name: await employ(db, name) for name in PEOPLE}
            await mirror_terminal(db, "T1")
            await mirror_terminal(db, "T2", direction="undirected")
            owners = (self.people["Ada"], self.people["Ada"], self.people["Bea"], None)
            for code, owner in zip(CODES, owners, strict=True):
                await mirror_person(db, code, owner)

    # What people and the server do, as lines: `bind 1 Bea`.

    async def does(self, line: str) -> None:
        """Carries a line out, and looks whether a mark is missing, or a count is wrong."""
        self.done.append(line)
        await self.counts_right(line)
        verb = line.partition(" ")[0]
        if verb in CHANGES_NOTHING:
            return
        if verb not in FOLLOWED_BY_AN_IMPORT:
            await missing_marks.refuse_unasked(self.database, self.now, self.done)
        await missing_marks.refuse(self.database, CODES, self.now, self.done)

    async def counts_right(self, line: str) -> None:
        """Carries a line out on counts that are up to date. They are looked at whenever something changed."""
        was_counted_up = self.is_counted_up
        if not was_counted_up:
            async with self.database.transaction() as db:
                await kept_counts.refuse(db, self.done)
                await kept_counts.count_up(db)
        await self.carries_out(line)
        self.is_counted_up = line.partition(" ")[0] in CHANGES_NOTHING
        if not (was_counted_up and self.is_counted_up):
            async with self.database.transaction() as db:
                await kept_counts.refuse(db, self.done)

    async def carries_out(self, line: str) -> None:
        verb, _, rest = line.partition(" ")
        await getattr(self, verb)(*rest.split(" to "))

    async def taps(self, text: str) -> None:
        """`taps 1 I 08:00, a 17:00`; `a` at the undirected terminal."""
        code, _, taps = text.partition(" ")
        async with self.database.transaction() as db:
            for tap in taps.split(", "):
                await punch(db, code, tap, zone=self.zone, sn="T2" if tap.startswith("a ") else "T1")
            await mark_stale(db, (await db.scalars(select(Punch.local_date).where(Punch.emp_code == code))).all())

    async def at(self, moment: str) -> None:
        self.now = self.when(moment)

    async def lock(self, day: str) -> None:
        await self.turn_lock(day_locks.lock, day)

    async def unlock(self, day: str) -> None:
        await self.turn_lock(day_locks.unlock, day)

    async def turn_lock(self, verb: Any, day: str) -> None:
        date = self.when(f"{day} 12:00").date()
        async with self.database.transaction() as db:
            await verb(db, SYSTEM, date, date)

    async def bind(self, text: str) -> None:
        code, name = text.split()
        async with self.database.transaction() as db:
            await bindings.bind(db, SYSTEM, await _person(db, code), self.people[name])

    async def clear(self, code: str) -> None:
        async with self.database.transaction() as db:
            await bindings.clear(db, SYSTEM, [await _person(db, code)])

    async def take_back(self, code: str) -> None:
        async with self.database.transaction() as db:
            await undoing.clear(db, SYSTEM, [await _person(db, code)])

    async def move(self, text: str) -> None:
        code, name = text.split()
        async with self.database.transaction() as db:
            await undoing.bind(db, SYSTEM, await _person(db, code), self.people[name], "move")

    async def move_later(self, text: str) -> None:
        """As for more records than one request moves: the code is bound at once, the records follow with `carry_on`."""
        async with self.database.transaction() as db:
            code, name = text.split()
            of_code = select(Punch.host_attendance_id.label("id")).where(Punch.emp_code == code).distinct()
            owner = self.people[name]
            await long_acts.note(db, SYSTEM, "move", of_code, emp_codes=[code], host_employee_id=owner)
            await bindings.bind(db, SYSTEM, await _person(db, code), owner)

    async def take_back_later(self, code: str) -> None:
        async with self.database.transaction() as db:
            of_code = select(Punch.host_attendance_id.label("id")).where(Punch.emp_code == code).distinct()
            await long_acts.note(db, SYSTEM, "take_back", of_code, emp_codes=[code])
            await bindings.clear(db, SYSTEM, [await _person(db, code)])

    async def carry_on(self, _: str) -> None:
        async with self.database.transaction() as db:
            await long_acts.resume(db, await db.scalar(select(LongAct.id)) or 0, undoing.WORKS)

    async def direction(self, text: str) -> None:
        serial, word = text.split()
        async with self.database.transaction() as db:
            await devices.set_direction(db, SYSTEM, serial, word)

    async def kind(self, text: str) -> None:
        serial, word = text.split()
        async with self.database.transaction() as db:
            await devices.set_kind(db, SYSTEM, serial, word)

    async def listed_as_reader(self, serial: str) -> None:
        """The server's own list calls a terminal a door reader."""
        parser = Parser(ONPREM, self.where, Redactor())
        rows = parser.devices([{"id": 1, "sn": serial, "state": "1", "is_attendance": False}]).rows
        async with self.database.transaction() as db:
            await write_listing(db, "devices", 1, rows, {})

    async def set(self, text: str) -> None:
        name, value = text.split()
        async with self.database.transaction() as db:
            await write_settings(db, SYSTEM, {name: value})

    async def by_hand(self, text: str) -> None:
        """`by_hand Ada 09:00-10:00`"""
        name, _, hours = text.partition(" ")
        async with self.database.transaction() as db:
            await attendance.add(db, SYSTEM, self.people[name], self.hours(hours))

    async def edit_record(self, start: str, hours: str) -> None:
        """`edit_record 09:00 to 06:00-12:00`"""
        async with self.database.transaction() as db:
            await attendance.edit(db, SYSTEM, await self.record(db, start), self.hours(hours))

    async def decide(self, start: str, status: str) -> None:
        async with self.database.transaction() as db:
            await attendance.decide(db, SYSTEM, [await self.record(db, start)], status)

    async def delete(self, start: str) -> None:
        async with self.database.transaction() as db:
            await attendance.remove(db, SYSTEM, [await self.record(db, start)])

    async def deactivate(self, name: str) -> None:
        async with self.database.transaction() as db:
            await people.deactivate(db, SYSTEM, [self.people[name]])

    async def activate(self, name: str) -> None:
        async with self.database.transaction() as db:
            await people.activate(db, SYSTEM, [self.people[name]])

    async def retry(self, text: str) -> None:
        async with self.database.transaction() as db:
            await decisions.retry(db, SYSTEM, Punch.id == await self.punch(db, text))

    async def use(self, text: str) -> None:
        async with self.database.transaction() as db:
            await decisions.use_punches(db, SYSTEM, await self.punch(db, text))

    async def settle(self, text: str) -> None:
        async with self.database.transaction() as db:
            await settling.settle(db, SYSTEM, Punch.id == await self.punch(db, text))

    async def unsettle(self, text: str) -> None:
        async with self.database.transaction() as db:
            await settling.unsettle(db, SYSTEM, Punch.id == await self.punch(db, text))

    async def purge(self, day: str) -> None:
        """What was judged before this day."""
        await purge._purge_punches(self.database, "main", self.when(f"{day} 00:00").date())

    async def edit(self, text: str, became: str) -> None:
        """On the server: `edit 1 17:00 to O Tue 18:00`, or `edit 1 17:00 to code 3`."""
        sign, _, rest = became.partition(" ")
        if sign == "code":
            await self.send_again(text, emp_code=rest)
            return
        at = self.when(rest)
        local = at.astimezone(self.where).replace(tzinfo=None)
        moved = {"punched_at_utc": at, "punched_at_local": local, "punched_at_raw": str(local)}
        await self.send_again(text, code=mirror_store.CODES[sign], **moved)

    async def says_door(self, text: str) -> None:
        """The server says of this punch alone that it does not count for attendance."""
        await self.send_again(text, is_attendance=False)

    async def goes(self, text: str) -> None:
        async with self.database.transaction() as db:
            await gone.mark(db, [await self.punch(db, text)], self.now)

    async def comes_back(self, text: str) -> None:
        await self.send_again(text)

    async def comes_back_under_another_id(self, text: str) -> None:
        """After the server's ids began again."""
        self.generation += 1
        await self.send_again(text, remote_id=f"again {self.generation}")

    async def zone_of_building(self, zone: str) -> None:
        async with self.database.transaction() as db:
            await rezoning.begin(db, self.zone, zone, "local_times")
            await self.set_zone(db, zone)

    async def zone_of_cloud(self, zone: str) -> None:
        async with self.database.transaction() as db:
            await rezoning.begin(db, self.zone, zone, "instants")
            await self.set_zone(db, zone)

    async def raw_says_offset(self, text: str) -> None:
        """The server wrote this punch with its offset."""
        async with self.database.transaction() as db:
            here = Punch.id == await self.punch(db, text)
            at = await db.scalar(select(Punch.punched_at_utc).where(here))
            await db.execute(update(Punch).where(here).values(punched_at_raw=f"{at:%Y-%m-%d %H:%M:%S}+00:00"))

    async def set_zone(self, db: Any, zone: str) -> None:
        await db.execute(update(Connection).values(timezone=zone))
        self.zone = zone

    async def shows(self, text: str) -> None:
        """`shows 1 08:00 imported`: so that a story is about what it says."""
        tap, _, word = text.rpartition(" ")
        async with self.database.transaction() as db:
            here = Punch.id == await self.punch(db, tap)
            assert await db.scalar(select(Punch.import_outcome).where(here)) == word, self.done

    # Who and what a line means.

    @property
    def where(self) -> ZoneInfo:
        return ZoneInfo(self.zone)

    def when(self, text: str) -> datetime:
        return when(text, self.where)

    def hours(self, text: str) -> Hours:
        """`Sat 09:00-10:00`; an end that is earlier in the day is the next day's, `09:00-` is open."""
        begun, _, ended = text.rpartition("-")
        start = self.when(begun)
        end = self.when(f"{begun.rpartition(' ')[0]} {ended}".strip()) if ended else None
        return Hours(start, end + DAY if end and end <= start else end)

    async def punch(self, db: Any, text: str) -> int:
        """`1 Mon 08:00`; of several the first."""
        code, _, moment = text.partition(" ")
        found = select(Punch.id).where(Punch.emp_code == code, Punch.punched_at_utc == self.when(moment))
        return int((await db.execute(found.order_by(Punch.id).limit(1))).scalar_one())

    async def record(self, db: Any, start: str) -> int:
        stands = (AttendanceRecord.clock_in == self.when(start), AttendanceRecord.deleted_at.is_(None))
        found = select(AttendanceRecord.id).where(*stands).order_by(AttendanceRecord.id).limit(1)
        return int((await db.execute(found)).scalar_one())

    async def send_again(self, text: str, **changes: Any) -> None:
        async with self.database.transaction() as db:
            await self.send(db, await self.punch(db, text), **changes)

    async def send(self, db: Any, punch_id: int, **changes: Any) -> None:
        """A page with one punch, as the server has it now."""
        row = (await db.execute(select(Punch).where(Punch.id == punch_id))).scalar_one()
        same = ParsedPunch(
            remote_id=row.remote_id, emp_code=row.emp_code, punched_at_raw=row.punched_at_raw,
            punched_at_local=row.punched_at_local, punched_at_utc=row.punched_at_utc, code=row.punch_code,
            verify=row.verify_code, terminal_sn=row.terminal_sn, terminal_alias=row.terminal_alias, temperature=None,
            uploaded_at_utc=None, photo_ref=None,
        )  # fmt: skip
        page = [msgspec.structs.replace(same, **changes)]
        await write_punches(db, Target(7, self.generation, by_instant=False), page)


async def _person(db: Any, code: str) -> int:
    return int((await db.execute(select(ClockEmployee.id).where(ClockEmployee.emp_code == code))).scalar_one())
