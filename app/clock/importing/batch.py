"""One batch of an import: reads what surrounds the due punches of some codes, judges it with the pairing core, and
writes the records that result. importing/import_due.py divides an import into batches. `import_now` is the batch of a
few people in a person's own request, so that they see the result of their act; anything larger is left to the job.

A batch holds its employees' attendance, so that people and other imports wait for each other; a punch that is marked
again meanwhile keeps its mark.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg
import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.days import CLOCKS_APART, DAY
from app.clock.importing import rows as import_rows
from app.clock.importing.due import WITHIN, DateSpan
from app.clock.importing.facts import Facts, near
from app.clock.importing.owners import Owners, OwnersChangedError, held_owners
from app.clock.importing.rows import JudgedPunch
from app.clock.models import Punch
from app.clock.pairing.inputs import PairingEmployee
from app.clock.pairing.judge import judge
from app.clock.pairing.verdicts import CreateRecord, Judgement, UpdateRecord
from app.clock.punches import changes, rejudging
from app.db.direct import driver
from app.host.attendance.hours import Hours
from app.host.attendance.imported import NewRecord
from app.webhooks import noting
from app.webhooks.kinds import ATTENDANCE_CHANGED

log = structlog.get_logger()

# As much as a request may wait for.
MOST_CODES = 20
MOST_PUNCHES = 1000
_DUE_INSTANTS = """
SELECT emp_code, punched_at_utc FROM clock_transactions WHERE judge_at <= $1 AND emp_code = ANY($2::text[])
"""
_DUE_INSTANTS_WITHIN = f"""
SELECT emp_code, punched_at_utc FROM clock_transactions WHERE {WITHIN} AND emp_code = ANY($4::text[])
    AND punched_at_utc >= $2 - interval '{CLOCKS_APART.days} days' AND punched_at_utc < $3 + interval '{(CLOCKS_APART + DAY).days} days'
"""


@dataclass
class ImportCounts:
    """What an import did: punches judged, those whose outcome changed by outcome, and records written. `newer` counts
    those of `outcomes` whose punch has an id above `newest_found`."""

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


async def import_batch(
    db: AsyncSession,
    codes: Sequence[str],
    now: datetime,
    *,
    newest_found: int = 0,
    owners: Owners | None = None,
    instants: Mapping[str, Sequence[datetime]] | None = None,
    within: DateSpan | None = None,
) -> ImportCounts:
    """Judges the due punches of these codes and writes the result; `within` are the local days that it is about (None:
    all); with `instants` the punches at these instants, marked or not. `newer` counts punches with an id above
    `newest_found`. The result is not complete where a change holds the import back. Raises OwnersChangedError."""
    result = ImportCounts()
    creates: list[CreateRecord] = []
    judgements: list[tuple[Facts, Judgement, dict[int, int]]] = []
    due = await _due(db, codes, now, owners=owners, instants=instants, within=within)
    if due is None:
        return ImportCounts(complete=False)
    for facts in due:
        judgement = judge(facts.case)
        places = {one.key: len(creates) + place for place, one in enumerate(judgement.creates)}
        creates += judgement.creates
        judgements.append((facts, judgement, places))
        for update in judgement.updates:
            await import_rows.update_record(db, update.record_id, _hours(update), update.workday)
        result.add(_counted(judgement, newest_found))
    ids = await import_rows.create_records(db, [_new(one) for one in creates])
    # A due punch keeps its mark until the days before it are read. A punch that was asked for by its instant has no
    # mark yet.
    unread = [] if instants is None else [one for _, judged, _ in judgements for one in judged.unjudged]
    await _store(db, judgements, ids, unread)
    changed = [*ids, *(update.record_id for _, judgement, _ in judgements for update in judgement.updates)]
    await noting.note(db, ATTENDANCE_CHANGED, changed)
    return result


async def hold_owners(db: AsyncSession, codes: Sequence[str]) -> Owners | None:
    """Locks the employees behind the codes before a punch is marked, as the import does. Otherwise the two could
    deadlock. Returns None when a binding changed meanwhile."""
    try:
        return await held_owners(db, codes)
    except OwnersChangedError:
        return None


async def import_now(
    db: AsyncSession, codes: Sequence[str], punch_ids: Sequence[int], owners: Owners | None = None
) -> dict[str, int] | None:
    """The new outcomes of the punches, or None when the queued import judges them. `owners` is what `hold_owners`
    returned."""
    now = await database_time(db)
    if not await changes.may_judge(db):
        return None
    if len(punch_ids) > MOST_PUNCHES or await _waiting(db, codes, now) > MOST_PUNCHES:
        return None
    try:
        async with db.begin_nested():
            await import_batch(db, codes, now, owners=owners)
    except (OwnersChangedError, DBAPIError, asyncpg.PostgresError) as error:
        log.warning("an import at once was left to the next import", error=type(error).__name__)
        return None
    outcome = func.coalesce(Punch.import_outcome, "")
    rows = await db.execute(select(outcome, func.count()).where(Punch.id.in_(punch_ids)).group_by(outcome))
    return {word: number for word, number in rows}  # noqa: C416 - rows are no pairs to the type checker


async def _waiting(db: AsyncSession, codes: Sequence[str], now: datetime) -> int:
    waiting = select(func.count()).where(Punch.judge_at <= now, Punch.emp_code.in_(codes))
    return await db.scalar(waiting) or 0


async def database_time(db: AsyncSession) -> datetime:
    """The time of the database's clock. Marks have its times, so due punches are found by it."""
    now: datetime = (await db.execute(select(func.clock_timestamp()))).scalar_one()
    return now


async def rehearse_batch(db: AsyncSession, codes: Sequence[str], now: datetime) -> ImportCounts:
    """As `import_batch`, but writes nothing."""
    result = ImportCounts()
    for facts in await _due(db, codes, now) or ():
        result.add(_counted(judge(facts.case), newest_found=0))
    return result


async def _due(
    db: AsyncSession,
    codes: Sequence[str],
    now: datetime,
    *,
    owners: Owners | None = None,
    instants: Mapping[str, Sequence[datetime]] | None = None,
    within: DateSpan | None = None,
) -> list[Facts] | None:
    """Locks the people first: a later change marks its punches again. None while a change holds the import back. The
    zone is read before this check, so that it is the zone that the punches have."""
    held = owners or await held_owners(db, codes)
    world = await import_rows.read_world(db, now)
    if not await changes.may_judge(db):
        return None
    if instants is None:
        wanted: Mapping[str, Sequence[datetime]] = await _due_instants(db, codes, now, within)
    else:
        wanted = {code: instants[code] for code in codes}
    return await near(db, world, held, wanted, now)


async def _store(
    db: AsyncSession,
    judgements: Sequence[tuple[Facts, Judgement, dict[int, int]]],
    ids: Sequence[int],
    unread: Sequence[int],
) -> None:
    rows = []
    for facts, judgement, places in judgements:
        for verdict in judgement.verdicts:
            seen = facts.judge_at[verdict.punch_id]
            is_news = verdict.is_news
            if not is_news and verdict.judge_at == seen and verdict.repeats == verdict.punch.repeats:
                continue
            record = verdict.record if verdict.record is None or verdict.record > 0 else ids[places[verdict.record]]
            rows.append(
                JudgedPunch(
                    verdict.punch_id,
                    verdict.outcome,
                    record,
                    verdict.role,
                    covered_by=verdict.covered_by,
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
        for facts, judged, _ in judgements
        if not isinstance(facts.who, PairingEmployee)
        for one in judged.verdicts
    }
    await import_rows.hold_punches(db, [*(row.id for row in rows if row.id in alone), *unread])
    if unread:
        await rejudging.keep(db, unread)
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


async def _due_instants(
    db: AsyncSession, codes: Collection[str], now: datetime, within: DateSpan | None = None
) -> dict[str, list[datetime]]:
    """Instants of the due punches by code."""
    found: dict[str, list[datetime]] = {}
    if within is None:
        rows = await driver(db).fetch(_DUE_INSTANTS, now, list(codes))
    else:
        rows = await driver(db).fetch(_DUE_INSTANTS_WITHIN, now, *within, list(codes))
    for code, at in rows:
        found.setdefault(code, []).append(at)
    return found
