"""*Use the punches* for many: each shift is decided on its own, so a refused one does not stop the others.

What happens to one shift is in review/decisions.py; beyond `long_acts.INLINE_LIMIT` punches a job goes through them.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.importing import batch, facts
from app.clock.importing import rows as import_rows
from app.clock.importing.owners import OwnersChangedError
from app.clock.models import Punch
from app.clock.pairing.inputs import PairingPunch
from app.clock.pairing.verdicts import Judgement
from app.clock.punches import marks
from app.clock.review import decisions, settling
from app.clock.review.decisions import Unusable
from app.errors import NotFound
from app.host.attendance import records as attendance
from app.long_acts import acts as long_acts
from app.long_acts.acts import ItemOutcome, LongActWork
from app.long_acts.progress import DONE, Progress

USABLE = settling.KEEPABLE
# Why punches are left; an act may end with other rules' words, which are told by their sentence alone.
LEFT: Mapping[str, str] = {
    "record_decided": "on a record that is approved, rejected or auto-closed",
    "record_edited": "on a record that was edited by hand",
    "date_locked": "on a locked day",
    "overlaps": "overlapping another record",
    "only_one_punch": "without a clock-in or a clock-out",
    "over_24h": "in a shift longer than 24 hours",
    "not_late": "no longer late",
    "not_bound": "of a code that is not bound",
    "unread": "after days that were not read completely",
    "changed": "changed meanwhile",
    "changing": "while a change of the zone, of bindings or people comes to the punches",
    "gone": "removed meanwhile",
}
# A chosen punch's shift, and the records that it touches, lie nearer. A shift that reaches further is left: "changed".
AROUND = timedelta(days=30)
_AROUND = f"interval '{AROUND.days} days'"
# Employees whose records or punches may be touched: those behind the codes, owners of records that any of their punches
# near belong to, and those behind other codes in these records.
_PEOPLE = text(
    f"""
    WITH chosen AS (
        SELECT b.host_employee_id AS who, p.punched_at_utc AS at
        FROM clock_transactions p JOIN clock_employee_bindings b USING (emp_code)
        WHERE p.id = ANY(CAST(:ids AS bigint[])) AND b.host_employee_id IS NOT NULL
    ), near AS (
        SELECT DISTINCT record
        FROM chosen c JOIN clock_employee_bindings b ON b.host_employee_id = c.who
        JOIN clock_transactions q ON q.emp_code = b.emp_code
         AND q.punched_at_utc BETWEEN c.at - {_AROUND} AND c.at + {_AROUND}
        CROSS JOIN LATERAL (VALUES (q.host_attendance_id), (q.edited_record_id)) AS of (record)
        WHERE record IS NOT NULL
    )
    SELECT who FROM chosen
    UNION SELECT r.employee_id FROM near JOIN attendance_records r ON r.id = near.record
    UNION SELECT b.host_employee_id FROM near
        JOIN clock_transactions p ON p.host_attendance_id = near.record OR p.edited_record_id = near.record
        JOIN clock_employee_bindings b ON b.emp_code = p.emp_code WHERE b.host_employee_id IS NOT NULL
    """
)


Decide = Callable[[int], Awaitable[tuple[Collection[int], ItemOutcome]]]


async def use(db: AsyncSession, actor: Actor, which: ColumnElement[bool], *, most: int | None = None) -> Progress:
    """Uses every punch of `which` that arrived late and is still undecided, now or by a job."""
    act = await long_acts.note(db, actor, "use", select(Punch.id).where(which, USABLE))
    return await long_acts.start(db, act, use_shifts, most)


async def foretell(db: AsyncSession, which: ColumnElement[bool]) -> dict[str, int] | None:
    """How many punches `use` would use, DONE, and leave, by why: each shift as things are.
    None for too many to look at each."""
    ids = list(
        await db.scalars(select(Punch.id).where(which, USABLE).order_by(Punch.id).limit(long_acts.INLINE_LIMIT + 1))
    )
    if len(ids) > long_acts.INLINE_LIMIT:
        return None
    now = await batch.database_time(db)
    seen = await facts.around_all(db, await import_rows.read_world(db, now), ids, now)
    shared: dict[int, tuple[Judgement, Sequence[PairingPunch]]] = {}

    async def look(punch_id: int) -> tuple[Collection[int], ItemOutcome]:
        one = seen.get(punch_id)
        if one is None:
            raise NotFound
        if id(one.facts) not in shared:
            shared[id(one.facts)] = one.judged(), await facts.read_linked(db, one.facts)
        planned = decisions.planned_for(one, *shared[id(one.facts)])
        return [*(verdict.punch_id for verdict in planned.verdicts), *planned.released], ItemOutcome(DONE)

    return Counter(answer.became for answer in (await _each(ids, look)).values())


async def use_shifts(db: AsyncSession, act: LongActWork, punch_ids: Sequence[int]) -> dict[int, ItemOutcome]:
    """Uses the shifts of these punches one after the other, and asks for the import. A `Work` of long_acts."""
    held = set(await db.scalars(_PEOPLE, {"ids": list(punch_ids)}))
    await attendance.hold(db, held)
    now = await batch.database_time(db)
    world = await import_rows.read_world(db, now)

    async def use_one(punch_id: int) -> tuple[Collection[int], ItemOutcome]:
        async with db.begin_nested():
            seen = await facts.around_in(db, world, punch_id, now)
            used = await decisions.use_shift(db, act.actor, seen, held)
        return used.touched, ItemOutcome(DONE)

    answers = await _each(punch_ids, use_one)
    await marks.ask_for_import(db)
    return answers


async def _each(punch_ids: Sequence[int], decide: Decide) -> dict[int, ItemOutcome]:
    """An answer for each punch. A shift is asked about once: its other punches share the answer."""
    meant = set(punch_ids)
    answers: dict[int, ItemOutcome] = {}
    for punch_id in punch_ids:
        if punch_id not in answers:
            taps, answer = await _decided(punch_id, decide)
            shared = dict.fromkeys(meant & {*taps, punch_id}, answer)
            answers = answers | shared if answer.became == DONE else shared | answers
    return answers


async def _decided(punch_id: int, decide: Decide) -> tuple[Collection[int], ItemOutcome]:
    try:
        return await decide(punch_id)
    except Unusable as refused:
        return refused.taps, ItemOutcome(refused.word, refused.message)
    except OwnersChangedError as changed:
        return (), ItemOutcome("changed", changed.message)
    except NotFound as gone:
        return (), ItemOutcome("gone", gone.message)
