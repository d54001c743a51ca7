"""What surrounds punches, read the same way for everybody who judges them: the import, a preview of other rules,
*Why?*, and a person's decision. Reads only; nothing is held."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import rows as import_rows
from app.clock.importing.owners import OwnedCodes, Owners, owned_codes, read_owners
from app.clock.importing.rows import World
from app.clock.models import Punch
from app.clock.pairing import widening
from app.clock.pairing.inputs import Case, PairingPunch, Record, TimeSpan, Who
from app.clock.pairing.judge import judge
from app.clock.pairing.verdicts import Judgement, Verdict
from app.clock.punches import of_records
from app.clock.punches.marks import NEAR
from app.db.among import among
from app.db.direct import driver
from app.errors import NotFound
from app.host.models import DayLock


@dataclass(frozen=True, slots=True)
class Facts:
    """A case as it was read, with the codes that it is about. `judge_at` is the mark that each of its punches had, by
    the punch's id."""

    case: Case
    codes: tuple[str, ...]
    judge_at: Mapping[int, datetime | None]
    world: World

    @property
    def who(self) -> Who:
        return self.case.who

    @property
    def within(self) -> TimeSpan:
        """The part that is judged."""
        assert self.case.within is not None  # noqa: S101 -- nothing is handed out before it is known
        return self.case.within


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts that decide about one punch."""

    punch_id: int
    facts: Facts

    @property
    def case(self) -> Case:
        return self.facts.case

    @property
    def who(self) -> Who:
        return self.facts.who

    @property
    def punch(self) -> PairingPunch:
        return next(one for one in self.case.punches if one.id == self.punch_id)

    @property
    def records(self) -> Sequence[Record]:
        return self.case.records

    def judged(self) -> Judgement:
        """What the import would make of the punch now."""
        return judge(self.case)

    def judged_after_retry(self) -> Judgement:
        """What the import would make of the punch after a *Retry*."""
        again = replace(self.punch, retry=True)
        return judge(
            replace(self.case, punches=[again if one.id == self.punch_id else one for one in self.case.punches])
        )


def verdict_on(punch_id: int, judgement: Judgement) -> Verdict | None:
    """None when the punch waits for a window that was not read completely."""
    return next((one for one in judgement.verdicts if one.punch_id == punch_id), None)


async def around(db: AsyncSession, punch_id: int, now: datetime) -> Surroundings:
    """Everything that decides about a punch. Raises NotFound."""
    return await around_in(db, await import_rows.read_world(db, now), punch_id, now)


async def around_in(db: AsyncSession, world: World, punch_id: int, now: datetime) -> Surroundings:
    """As `around`, for a caller that asks about many punches and has read their common `world`."""
    found = await around_all(db, world, [punch_id], now)
    if punch_id not in found:
        raise NotFound("There is no such punch.")
    return found[punch_id]


async def around_all(
    db: AsyncSession, world: World, punch_ids: Collection[int], now: datetime
) -> dict[int, Surroundings]:
    """What surrounds each of many punches; those near each other share what was read.
    Punches that are gone are left out."""
    places = select(Punch.emp_code, Punch.punched_at_utc).where(among(Punch.id, punch_ids))
    instants: dict[str, list[datetime]] = {}
    for code, at in await db.execute(places):
        instants.setdefault(code, []).append(at)
    wanted = set(punch_ids)
    return {
        punch.id: Surroundings(punch.id, facts)
        for facts in await near(db, world, await read_owners(db, instants), instants, now)
        for punch in facts.case.punches
        if punch.id in wanted and facts.within.start <= punch.at < facts.within.end
    }


async def read_linked(db: AsyncSession, facts: Facts) -> list[PairingPunch]:
    """Punches of other codes that belong to the records around, because a re-binding left them there; and punches that
    left these records when they were edited on the server."""
    ids = [one.id for one in facts.case.records]
    found = await of_records.punches_of_records(driver(db), ids)
    edited = await of_records.edited_punches_of(driver(db), ids)
    return [*(one for one in found if one.emp_code not in facts.codes), *edited]


async def near(
    db: AsyncSession, world: World, owners: Owners, instants: Mapping[str, Sequence[datetime]], now: datetime
) -> list[Facts]:
    """What surrounds the punches of these codes at these instants: enough that judging this part gives the same as
    judging everything."""
    changed = await _changed(db, owners, instants, world)
    found: list[Facts] = []
    while changed:
        apart, joined = _joined([*found, *await _widened(db, world, changed, now)])
        found, changed = apart, joined
    return await _with_locks(db, found, world)


async def over(
    db: AsyncSession, world: World, owned: Sequence[OwnedCodes], within: TimeSpan, now: datetime
) -> list[Facts]:
    """What surrounds all punches of these codes `within`; one for each, in their order."""
    reading = TimeSpan(within.start - NEAR, within.end)
    found = await _read(db, world, [_Reading(one, within, reading) for one in owned], now)
    return await _with_locks(db, [_judging(one, within) for one in found], world)


class _Reading(NamedTuple):
    """What must be read because punches changed at the instants `changed`."""

    owned: OwnedCodes
    changed: TimeSpan
    span: TimeSpan


async def _changed(
    db: AsyncSession, owners: Owners, instants: Mapping[str, Sequence[datetime]], world: World
) -> list[_Reading]:
    """Clusters of instants: per employee over all their codes, per code where no employee stands behind it."""
    owned = await owned_codes(db, {code: owners[code] for code in instants})
    together: dict[OwnedCodes, list[datetime]] = {}
    for code, some in instants.items():
        together.setdefault(owned[code], []).extend(some)
    return [
        _first_reading(codes, span, world)
        for codes, some in together.items()
        for span in widening.clusters(some, world.rules)
    ]


def _first_reading(owned: OwnedCodes, changed: TimeSpan, world: World) -> _Reading:
    return _Reading(owned, changed, widening.first_reading(changed, world.rules))


async def _widened(db: AsyncSession, world: World, wanted: Sequence[_Reading], now: datetime) -> list[Facts]:
    """Reads around each change, wider and wider, until it is known which part can be judged."""
    found: list[Facts] = []
    waiting = list(wanted)
    while waiting:
        wider = []
        for asked, facts in zip(waiting, await _read(db, world, waiting, now), strict=True):
            window = widening.widen(facts.case, asked.changed, asked.span)
            if window.within is None:
                wider.append(asked._replace(span=window.reading))
            else:
                found.append(_judging(facts, window.within))
        waiting = wider
    return found


async def _read(db: AsyncSession, world: World, wanted: Sequence[_Reading], now: datetime) -> list[Facts]:
    reads = await import_rows.read_spans(db, world, [(one.owned, one.span) for one in wanted])
    found = []
    for (owned, _, _), read in zip(wanted, reads, strict=True):
        case = Case(
            owned.who, read.punches, read.records, world.rules, now, unread=world.unread, elsewhere=read.elsewhere
        )
        found.append(Facts(case, owned.codes, read.judge_at, world))
    return found


def _judging(facts: Facts, within: TimeSpan) -> Facts:
    return replace(facts, case=replace(facts.case, within=within))


def _joined(found: list[Facts]) -> tuple[list[Facts], list[_Reading]]:
    """Joins cases of one person whose parts now overlap: otherwise a shift would be judged twice."""
    apart: list[Facts] = []
    joined: list[_Reading] = []
    found = sorted(found, key=lambda one: (one.codes, one.within.start))
    for number, one in enumerate(found):
        before = found[number - 1] if number else None
        after = found[number + 1] if number + 1 < len(found) else None
        if not (_meet(before, one) or _meet(one, after)):
            apart.append(one)
        elif joined and joined[-1].owned.codes == one.codes and joined[-1].changed.end > one.within.start:
            whole = TimeSpan(joined[-1].changed.start, max(joined[-1].changed.end, one.within.end))
            joined[-1] = _first_reading(joined[-1].owned, whole, one.world)
        else:
            joined.append(_first_reading(OwnedCodes(one.who, one.codes), one.within, one.world))
    return apart, joined


def _meet(one: Facts | None, other: Facts | None) -> bool:
    return one is not None and other is not None and one.codes == other.codes and one.within.end > other.within.start


async def _with_locks(db: AsyncSession, found: Sequence[Facts], world: World) -> list[Facts]:
    days = _days(found, world)
    locked = set(await db.scalars(select(DayLock.day).where(DayLock.day.in_(days)))) if days else set()
    return [replace(one, case=replace(one.case, locked_days=locked)) for one in found]


def _days(found: Sequence[Facts], world: World) -> set[date]:
    """Every local day that a shift of these cases may have as its workday, those between them,
    and those of the records that
    stand: looking at each punch would cost more than reading a few days without one."""
    zone = world.rules.zone
    days: set[date] = set()
    for one in found:
        days |= {record.workday for record in one.case.records}
        instants = [punch.at for punch in one.case.punches]
        if instants:
            first, last = (at.astimezone(zone).date() for at in (min(instants), max(instants)))
            days |= {first + timedelta(days=n) for n in range((last - first).days + 1)}
    return days
