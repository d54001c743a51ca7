"""One batch of an import: reads what surrounds the due punches of some codes, has the pairing core judge it, and carries its
intents out. How an import comes to its batches is in importing/import_due.py.

A batch holds its employees' attendance, so that people and other imports wait for each other; a punch that is marked again
meanwhile keeps its mark.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing import rows as import_rows
from app.clock.importing.owners import Owners, Who, codes_of_people, held_owners, read_owners
from app.clock.importing.rows import Read, Settled, World
from app.clock.pairing import widening
from app.clock.pairing.inputs import PairingEmployee, TimeSpan
from app.clock.pairing.judge import judge
from app.clock.pairing.verdicts import CreateRecord, Judgement, UpdateRecord
from app.host.attendance.hours import Hours
from app.host.attendance.imported import NewRecord


@dataclass
class ImportCounts:
    """What an import did: punches judged, those whose outcome changed by outcome, and records written. `newer` are those of
    `outcomes` whose punch is newer than the importer asked about."""

    judged: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    newer: Counter[str] = field(default_factory=Counter)
    created: int = 0
    updated: int = 0
    complete: bool = True

    def add(self, other: "ImportCounts") -> None:
        self.judged += other.judged
        self.outcomes += other.outcomes
        self.newer += other.newer
        self.created += other.created
        self.updated += other.updated


@dataclass(frozen=True, slots=True)
class Case:
    """One cluster of changed punches of one person, ready to be judged."""

    who: Who
    codes: tuple[str, ...]
    read: Read
    within: TimeSpan


async def import_batch(
    db: AsyncSession, codes: Sequence[str], now: datetime, newest_found: int = 0, owners: Owners | None = None
) -> ImportCounts:
    """Judges what is due of these codes and writes what it comes to; `newer` are punches above `newest_found`. Raises
    OwnersChangedError."""
    cases, world = await _prepare(db, codes, now, owners)
    locked = await import_rows.locked_days(db, days_of(cases, world))
    result = ImportCounts()
    creates: list[CreateRecord] = []
    judgements: list[tuple[Case, Judgement, dict[int, int]]] = []
    for case in cases:
        judgement = _judge(case, world, locked, now)
        places = {one.key: len(creates) + place for place, one in enumerate(judgement.creates)}
        creates += judgement.creates
        judgements.append((case, judgement, places))
        for update in judgement.updates:
            await import_rows.update_record(db, update.record_id, _hours(update), update.workday)
        result.add(_counted(judgement, newest_found))
    ids = await import_rows.create_records(db, [_new(one) for one in creates])
    await _store(db, judgements, ids)
    return result


async def rehearse_batch(db: AsyncSession, codes: Sequence[str], now: datetime) -> ImportCounts:
    """The same, and writes nothing."""
    cases, world = await _prepare(db, codes, now)
    locked = await import_rows.locked_days(db, days_of(cases, world))
    result = ImportCounts()
    for case in cases:
        result.add(_counted(_judge(case, world, locked, now), newest_found=0))
    return result


async def _prepare(
    db: AsyncSession, codes: Sequence[str], now: datetime, owners: Owners | None = None
) -> tuple[list[Case], World]:
    """Holds the people first: what changes later marks its punches again."""
    held = owners or await held_owners(db, codes)
    due = await import_rows.due_instants(db, codes, now)
    world = await import_rows.read_world(db, now)
    return await _cases(db, world, await _changed(db, held, due, world), now), world


async def _changed(
    db: AsyncSession, owners: Mapping[str, Who], due: Mapping[str, list[datetime]], world: World
) -> list[tuple[Who, tuple[str, ...], TimeSpan]]:
    """Clusters of due instants: per employee over all their codes, per code where nobody stands behind it."""
    siblings = await codes_of_people(db, {who.id for who in owners.values() if isinstance(who, PairingEmployee)})
    people: dict[object, tuple[Who, tuple[str, ...], list[datetime]]] = {}
    for code, instants in due.items():
        who = owners[code]
        key, codes = (who.id, tuple(siblings[who.id])) if isinstance(who, PairingEmployee) else (code, (code,))
        people.setdefault(key, (who, codes, []))[2].extend(instants)
    return [
        (who, codes, span)
        for who, codes, instants in people.values()
        for span in widening.clusters(instants, world.rules)
    ]


async def cases_around(
    db: AsyncSession, world: World, instants: Mapping[str, list[datetime]], now: datetime
) -> list[Case]:
    """What surrounds these instants of these codes, as an import of them would read it; nobody is held."""
    owners = await read_owners(db, instants)
    return await _cases(db, world, await _changed(db, owners, instants, world), now)


async def _cases(
    db: AsyncSession, world: World, changed: Sequence[tuple[Who, tuple[str, ...], TimeSpan]], now: datetime
) -> list[Case]:
    """Reads around each cluster, wider and wider, until judging the part gives what judging everything would."""
    cases: list[Case] = []
    waiting = [(who, codes, span, widening.first_reading(span, world.rules)) for who, codes, span in changed]
    while waiting:
        reads = await import_rows.read_spans(db, world, [(who, codes, reading) for who, codes, _, reading in waiting])
        wider = []
        for (who, codes, span, reading), read in zip(waiting, reads, strict=True):
            window = widening.widen(who, read.punches, read.records, span, reading, world.rules, now)
            if window.within is None:
                wider.append((who, codes, span, window.reading))
            else:
                cases.append(Case(who, codes, read, window.within))
        waiting = wider
        if not waiting:
            cases, joined = _joined(cases)
            waiting = [(who, codes, span, widening.first_reading(span, world.rules)) for who, codes, span in joined]
    return cases


def _joined(cases: list[Case]) -> tuple[list[Case], list[tuple[Who, tuple[str, ...], TimeSpan]]]:
    """Cases of one person whose parts grew into each other are one case: a shift must not be judged twice."""
    apart: list[Case] = []
    joined: list[tuple[Who, tuple[str, ...], TimeSpan]] = []
    cases = sorted(cases, key=lambda case: (case.codes, case.within.start))
    for number, case in enumerate(cases):
        before = cases[number - 1] if number else None
        after = cases[number + 1] if number + 1 < len(cases) else None
        if _meet(before, case) or _meet(case, after):
            if joined and joined[-1][1] == case.codes and joined[-1][2].end > case.within.start:
                end = max(joined[-1][2].end, case.within.end)
                joined[-1] = (case.who, case.codes, TimeSpan(joined[-1][2].start, end))
            else:
                joined.append((case.who, case.codes, case.within))
        else:
            apart.append(case)
    return apart, joined


def _meet(one: Case | None, other: Case | None) -> bool:
    return one is not None and other is not None and one.codes == other.codes and one.within.end > other.within.start


def _judge(case: Case, world: World, locked: set[date], now: datetime) -> Judgement:
    return judge(
        case.who,
        case.read.punches,
        case.read.records,
        locked,
        world.rules,
        now,
        unread=world.unread,
        within=case.within,
        elsewhere=case.read.elsewhere,
    )


def days_of(cases: Sequence[Case], world: World) -> set[date]:
    """Every local day that a shift of these cases may have as its workday, those between them, and those of the records that
    stand: a look at each punch would cost more than the days that nobody asks for."""
    zone = world.rules.zone
    found: set[date] = set()
    for case in cases:
        found |= {one.workday for one in case.read.records}
        instants = [one.at for one in case.read.punches]
        if instants:
            first, last = (at.astimezone(zone).date() for at in (min(instants), max(instants)))
            found |= {first + timedelta(days=n) for n in range((last - first).days + 1)}
    return found


async def _store(
    db: AsyncSession, judgements: Sequence[tuple[Case, Judgement, dict[int, int]]], ids: Sequence[int]
) -> None:
    rows = []
    for case, judgement, places in judgements:
        for verdict in judgement.verdicts:
            seen = case.read.judge_at[verdict.punch_id]
            is_news = verdict.is_news
            if not is_news and verdict.judge_at == seen and verdict.repeats == verdict.punch.repeats:
                continue
            record = verdict.record if verdict.record is None or verdict.record > 0 else ids[places[verdict.record]]
            rows.append(
                Settled(
                    verdict.punch_id,
                    verdict.outcome,
                    record,
                    verdict.role,
                    reviewed=verdict.reviewed,
                    retry=verdict.retry,
                    lifted=verdict.lifted,
                    repeats_id=verdict.repeats,
                    judge_at=verdict.judge_at,
                    seen=seen,
                    news=is_news,
                )
            )
    alone = {
        one.punch_id
        for case, judged, _ in judgements
        if not isinstance(case.who, PairingEmployee)
        for one in judged.verdicts
    }
    await import_rows.hold_punches(db, [row.id for row in rows if row.id in alone])
    await import_rows.store_verdicts(db, rows)


def _counted(judgement: Judgement, newest_found: int) -> ImportCounts:
    news = [verdict for verdict in judgement.verdicts if verdict.is_news]
    by_word = Counter(verdict.outcome.value for verdict in news)
    newer = Counter(verdict.outcome.value for verdict in news if verdict.punch_id > newest_found)
    return ImportCounts(len(judgement.verdicts), by_word, newer, len(judgement.creates), len(judgement.updates))


def _new(intent: CreateRecord) -> NewRecord:
    return NewRecord(intent.employee_id, intent.workday, _hours(intent))


def _hours(intent: CreateRecord | UpdateRecord) -> Hours:
    return Hours(intent.clock_in, intent.clock_out, intent.breaks, intent.kind.value)
