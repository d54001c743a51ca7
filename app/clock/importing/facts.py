"""What surrounds one punch, read as the import reads it, so that a page or a person's decision judges by the same facts.
Reads only; what is made of it is in why.py and review/decisions.py."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import batch
from app.clock.importing import rows as import_rows
from app.clock.importing.owners import Who, codes_of_people, read_owners
from app.clock.importing.rows import Read, World
from app.clock.models import Punch
from app.clock.pairing import widening
from app.clock.pairing.inputs import PairingEmployee, PairingPunch, Record, TimeSpan
from app.clock.pairing.judge import judge
from app.clock.pairing.verdicts import Judgement, Verdict
from app.db.among import among
from app.errors import NotFound

_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that decides about the punch `punch_id`: whose it is, the punches and records around it, locked days."""

    punch_id: int
    world: World
    who: Who
    codes: tuple[str, ...]
    read: Read
    within: TimeSpan
    locked: set[date]
    now: datetime

    @property
    def punch(self) -> PairingPunch:
        return next(one for one in self.read.punches if one.id == self.punch_id)

    @property
    def records(self) -> Sequence[Record]:
        return self.read.records

    def judged(self) -> Judgement:
        """What the import would make of it now."""
        return self._judged(self.read.punches)

    def judged_after_retry(self) -> Judgement:
        """What it would make of it once a person has asked again."""
        again = replace(self.punch, retry=True, reviewed=False)
        return self._judged([again if one.id == self.punch_id else one for one in self.read.punches])

    def _judged(self, punches: Sequence[PairingPunch]) -> Judgement:
        world = self.world
        return judge(
            self.who,
            punches,
            self.records,
            self.locked,
            world.rules,
            self.now,
            unread=world.unread,
            within=self.within,
            elsewhere=self.read.elsewhere,
        )


def verdict_on(punch_id: int, judgement: Judgement) -> Verdict | None:
    """None when the punch waits for a window that was not read completely."""
    return next((one for one in judgement.verdicts if one.punch_id == punch_id), None)


async def around(db: AsyncSession, punch_id: int, now: datetime) -> Surroundings:
    """Reads wider and wider until judging the part gives what judging everything would. Raises NotFound."""
    return await around_in(db, await import_rows.read_world(db, now), punch_id, now)


async def around_in(db: AsyncSession, world: World, punch_id: int, now: datetime) -> Surroundings:
    """The same for many punches, which share a world."""
    row = await _place(db, punch_id)
    who = (await read_owners(db, [row.emp_code]))[row.emp_code]
    codes: tuple[str, ...] = (row.emp_code,)
    if isinstance(who, PairingEmployee):
        codes = tuple((await codes_of_people(db, [who.id]))[who.id])
    changed = TimeSpan(row.punched_at_utc, row.punched_at_utc + _MOMENT)
    reading = widening.first_reading(changed, world.rules)
    while True:
        (read,) = await import_rows.read_spans(db, world, [(who, codes, reading)])
        window = widening.widen(who, read.punches, read.records, changed, reading, world.rules, now)
        if window.within is not None:
            break
        reading = window.reading
    locked = await import_rows.locked_days(db, _days(read, world))
    return Surroundings(punch_id, world, who, codes, read, window.within, locked, now)


async def around_all(
    db: AsyncSession, world: World, punch_ids: Collection[int], now: datetime
) -> dict[int, Surroundings]:
    """What surrounds each of many punches; those near each other share what was read. Punches that are gone are left out."""
    places = select(Punch.emp_code, Punch.punched_at_utc).where(among(Punch.id, punch_ids))
    instants: dict[str, list[datetime]] = {}
    for code, at in await db.execute(places):
        instants.setdefault(code, []).append(at)
    cases = await batch.cases_around(db, world, instants, now)
    locked = await import_rows.locked_days(db, batch.days_of(cases, world))
    wanted = set(punch_ids)
    return {
        punch.id: Surroundings(punch.id, world, case.who, case.codes, case.read, case.within, locked, now)
        for case in cases
        for punch in case.read.punches
        if punch.id in wanted and case.within.start <= punch.at < case.within.end
    }


async def _place(db: AsyncSession, punch_id: int) -> Any:
    found = select(Punch.emp_code, Punch.punched_at_utc).where(Punch.id == punch_id)
    row: Any = (await db.execute(found)).one_or_none()
    if row is None:
        raise NotFound("There is no such punch.")
    return row


def _days(read: Read, world: World) -> set[date]:
    zone = world.rules.zone
    return {one.workday for one in read.records} | {one.at.astimezone(zone).date() for one in read.punches}
