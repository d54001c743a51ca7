"""Undoes what a code's punches made: takes their records back, or moves them to the employee whom the code has now.

It belongs to the act that ends or changes the link, in the same transaction. Beyond `long_acts.INLINE_LIMIT` records a
job follows. When the codes have very many punches, the job also finds the records, so the cost of the request does not
grow. One statement says which records stay, and why. It runs before the act, for the question; and in each slice, after
the employees are locked. Binding itself is in bindings/actions.py.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import BigInteger, Select, TextualSelect, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.clock.bindings import actions as bindings
from app.clock.bindings import rows as binding_rows
from app.clock.models import Punch
from app.clock.punches import marks
from app.clock.punches.forgetting_records import forget_record
from app.db.among import among
from app.host.attendance import imported
from app.host.attendance import records as attendance
from app.host.attendance.hours import INSTANT, LONGEST, Hours
from app.host.models import AttendanceRecord
from app.long_acts import acts as long_acts
from app.long_acts.acts import ItemOutcome, LongActWork
from app.long_acts.progress import DONE, Progress

Undo = Literal["leave", "take_back", "move"]
# A request looks at this many punches with records at most: those of INLINE_LIMIT records with ten punches each.
MOST_LINKED = 10 * long_acts.INLINE_LIMIT
# Why a record is left.
LEFT: Mapping[str, str] = {
    "decided": "approved, rejected or auto-closed",
    "edited": "edited by hand",
    "locked": "on a locked day",
    "shared": "with punches of another code of the same person",
    "overlaps": "overlapping a record of the new person",
    "rebound": "left, because the code was bound to another employee meanwhile",
    "gone": "changed or deleted meanwhile",
}
# A punch that was edited on the server still tells of the record that it left.
_MADE_BY_CODES = """
    SELECT host_attendance_id AS id FROM clock_transactions WHERE emp_code = ANY(CAST(:codes AS text[]))
    UNION SELECT edited_record_id FROM clock_transactions
    WHERE emp_code = ANY(CAST(:codes AS text[])) AND edited_record_id IS NOT NULL"""
_OWNERS = text(
    f"""
    SELECT DISTINCT r.employee_id FROM attendance_records r JOIN ({_MADE_BY_CODES}) made USING (id)
    UNION SELECT b.host_employee_id FROM clock_employee_bindings b
    WHERE b.emp_code = ANY(CAST(:codes AS text[])) AND b.host_employee_id IS NOT NULL
    """
)
_LINKED = text(
    "SELECT count(*) FROM (SELECT FROM clock_transactions WHERE emp_code = ANY(CAST(:codes AS text[]))"
    " AND host_attendance_id IS NOT NULL LIMIT :most) linked"
)
_MEANT = f"""
    SELECT r.id FROM ({_MADE_BY_CODES}) made JOIN attendance_records r USING (id)
    WHERE r.deleted_at IS NULL AND r.employee_id IS DISTINCT FROM CAST(:target AS bigint)"""
_LONGEST = f"interval '{LONGEST.days} days'"
_INSTANT = f"interval '{INSTANT.microseconds} microseconds'"
# A record counts as edited when its times are not what the import wrote. An open record covers its clock-in alone.
_WHY_LEFT = f"""
    owners AS (
        SELECT DISTINCT employee_id FROM meant JOIN attendance_records USING (id)
    ), links AS (
        SELECT m.id, p.emp_code FROM meant m JOIN clock_transactions p ON p.host_attendance_id = m.id
        UNION SELECT m.id, p.emp_code FROM meant m JOIN clock_transactions p ON p.edited_record_id = m.id
    ), held AS (
        SELECT l.id, bool_or(l.emp_code = ANY(CAST(:codes AS text[]))) AS ours,
            array_agg(b.host_employee_id) FILTER (WHERE l.emp_code <> ALL(CAST(:codes AS text[]))) AS others
        FROM links l LEFT JOIN clock_employee_bindings b USING (emp_code) GROUP BY l.id
    ), found AS (
        SELECT r.id, r.employee_id, CASE
            WHEN r.deleted_at IS NOT NULL OR h.ours IS NOT TRUE THEN 'gone'
            WHEN r.status <> 'pending' THEN 'decided'
            WHEN w.record_id IS NULL OR (r.clock_in, r.clock_out, r.breaks) IS DISTINCT FROM (w.clock_in, w.clock_out, w.breaks)
                THEN 'edited'
            WHEN EXISTS (SELECT FROM day_locks l WHERE l.day = r.workday) THEN 'locked'
            WHEN r.employee_id = ANY(h.others) THEN 'shared'
            WHEN CAST(:target AS bigint) IS NOT NULL AND EXISTS (
                SELECT FROM attendance_records o
                WHERE (o.employee_id = CAST(:target AS bigint)
                    OR o.employee_id IN (SELECT employee_id FROM owners) AND o.employee_id <> r.employee_id
                        AND o.id < r.id AND o.id IN (SELECT id FROM meant))
                  AND o.id <> r.id AND o.kind = r.kind AND o.deleted_at IS NULL
                  AND o.clock_in >= r.clock_in - {_LONGEST}
                  AND o.clock_in < coalesce(r.clock_out, r.clock_in + {_INSTANT})
                  AND coalesce(o.clock_out, o.clock_in + {_INSTANT}) > r.clock_in
            ) THEN 'overlaps'
        END AS why
        FROM meant JOIN attendance_records r USING (id) LEFT JOIN held h USING (id)
        LEFT JOIN clock_imported_records w ON w.record_id = r.id
    )
"""
_OF_SLICE = text(
    f"WITH meant AS (SELECT unnest(CAST(:ids AS bigint[])) AS id), {_WHY_LEFT} SELECT id, employee_id, why FROM found ORDER BY id"
)
_FORETELL = text(f"WITH meant AS ({_MEANT}), {_WHY_LEFT} SELECT why, count(*) FROM found GROUP BY why")


@dataclass(frozen=True, slots=True)
class Undoable:
    """How many records could be undone (under the key None), and how many would be left, by the reason. Not known where
    there are too many to look at in a request."""

    why: Mapping[str | None, int]
    is_known: bool = True

    def __bool__(self) -> bool:
        return bool(self.why) or not self.is_known

    @property
    def total(self) -> int:
        return sum(self.why.values())

    def done_by(self, undo: Undo) -> int:
        """An overlap does not keep a record from being taken back."""
        free = self.why.get(None, 0)
        return free + self.why.get("overlaps", 0) if undo == "take_back" else free

    def left_by(self, undo: Undo) -> dict[str, int]:
        left = {word: number for word, number in self.why.items() if word is not None}
        return {word: number for word, number in left.items() if undo == "move" or word != "overlaps"}


async def foretell(db: AsyncSession, emp_codes: Collection[str], target: int | None = None) -> Undoable:
    """What could be undone of these codes. Records of `target`, the employee to bind to, do not count."""
    if await _are_many(db, emp_codes):
        return Undoable({}, is_known=False)
    rows = await db.execute(_FORETELL, {"codes": sorted(emp_codes), "target": target})
    return Undoable({why: number for why, number in rows})  # noqa: C416 - rows are no pairs to the type checker


async def _are_many(db: AsyncSession, emp_codes: Collection[str]) -> bool:
    """True when the punches of these codes belong to more records than a request looks at."""
    return (await db.scalar(_LINKED, {"codes": sorted(emp_codes), "most": MOST_LINKED + 1}) or 0) > MOST_LINKED


async def clear(db: AsyncSession, actor: Actor, clock_employee_ids: Iterable[int]) -> tuple[list[str], Progress]:
    """Ends links as `bindings.clear` does, and takes back the records that the punches of these codes made."""
    await binding_rows.hold(db)
    codes = [code.emp_code for code in await bindings.open_to(db, "clear", clock_employee_ids)]
    act = await _note(db, actor, "take_back", codes, None)
    cleared = await bindings.clear(db, actor, clock_employee_ids)
    return cleared, await long_acts.start(db, act, take_back)


async def bind(db: AsyncSession, actor: Actor, clock_employee_id: int, host_employee_id: int, undo: Undo) -> Progress:
    """Binds as `bindings.bind` does, and takes back or moves the records that the code's punches made for others."""
    await binding_rows.hold(db)
    code = await bindings.one(db, clock_employee_id)
    act = await _note(db, actor, undo, [code.emp_code], host_employee_id)
    await bindings.bind(db, actor, clock_employee_id, host_employee_id)
    return await long_acts.start(db, act, WORKS[undo])


async def _note(db: AsyncSession, actor: Actor, undo: Undo, codes: list[str], target: int | None) -> LongActWork:
    """When the records are few, it locks the people concerned before it marks a punch, as the import does. Otherwise
    the two could deadlock."""
    if await _are_many(db, codes):
        last = await db.scalar(select(func.max(AttendanceRecord.id))) or 0
        return await long_acts.note_unnamed(db, actor, undo, last, emp_codes=codes, host_employee_id=target)
    owners = set(await db.scalars(_OWNERS, {"codes": codes}))
    await attendance.hold(db, owners | {target} if target else owners)
    return await long_acts.note(db, actor, undo, _meant(codes, target), emp_codes=codes, host_employee_id=target)


def _meant(codes: Collection[str], target: int | None) -> TextualSelect:
    return text(_MEANT).bindparams(codes=sorted(codes), target=target).columns(id=BigInteger)


def name_records(act: LongActWork, last: int) -> Select[int]:
    """A `Naming` of long_acts. Records that were made since are of the new owner."""
    meant = _meant(act.emp_codes, act.host_employee_id).subquery()
    return select(meant.c.id).where(meant.c.id <= last)


async def take_back(db: AsyncSession, act: LongActWork, record_ids: Sequence[int]) -> dict[int, ItemOutcome]:
    """Deletes the records, and lets their punches forget them. A `Work` of long_acts."""
    answers, free = await _sorted_out(db, act, record_ids, "take_back")
    before = await _told(db, free)
    await marks.mark_waiting_near(db, free)
    if await forget_record(db, or_(among(Punch.host_attendance_id, free), among(Punch.edited_record_id, free))):
        await marks.ask_for_import(db)
    await imported.delete_records(db, free, act.actor.name)
    changes = [audit.AuditedChange(one, before[one], {"deleted": True}) for one in free]
    await audit.record_many(db, act.actor, "clock.take_back", "attendance", changes)
    return answers


async def move(db: AsyncSession, act: LongActWork, record_ids: Sequence[int]) -> dict[int, ItemOutcome]:
    """Gives the records to the employee whom the code has now; their punches stay imported. A `Work` of long_acts."""
    answers, free = await _sorted_out(db, act, record_ids, "move")
    before, target = await _told(db, free), act.host_employee_id
    if target is None:
        raise ValueError("records are moved to somebody")
    await marks.mark_waiting_near(db, free)
    await imported.set_owner(db, free, target)
    await marks.mark_records(db, free)
    changes = [
        audit.AuditedChange(one, {"employee_id": before[one]["employee_id"]}, {"employee_id": target}) for one in free
    ]
    await audit.record_many(db, act.actor, "clock.move_record", "attendance", changes)
    return answers


WORKS: Mapping[str, long_acts.Work] = {"take_back": take_back, "move": move}
NAMINGS: Mapping[str, long_acts.Naming] = dict.fromkeys(WORKS, name_records)


async def _sorted_out(
    db: AsyncSession, act: LongActWork, record_ids: Sequence[int], undo: Undo
) -> tuple[dict[int, ItemOutcome], list[int]]:
    """Locks the employees. Returns an answer for each record, and the records that can be undone."""
    await binding_rows.hold(db)
    owners = set(await db.scalars(select(AttendanceRecord.employee_id).where(among(AttendanceRecord.id, record_ids))))
    await attendance.hold(db, owners | {act.host_employee_id} if act.host_employee_id else owners)
    if act.host_employee_id and not await _still_bound(db, act):
        return dict.fromkeys(record_ids, ItemOutcome("rebound")), []
    given = {"codes": list(act.emp_codes), "ids": list(record_ids), "target": act.host_employee_id}
    answers = dict.fromkeys(record_ids, ItemOutcome("gone"))
    for row in await db.execute(_OF_SLICE, given):
        if row.employee_id in owners:
            answers[row.id] = ItemOutcome(
                DONE if row.why is None or (row.why, undo) == ("overlaps", "take_back") else row.why
            )
    return answers, [one for one, answer in answers.items() if answer.became == DONE]


async def _still_bound(db: AsyncSession, act: LongActWork) -> bool:
    found = await binding_rows.codes_of(db, [act.host_employee_id] if act.host_employee_id else [])
    return any(set(act.emp_codes) & set(codes) for codes in found.values())


async def _told(db: AsyncSession, record_ids: Collection[int]) -> dict[int, dict[str, Any]]:
    """The records as the audit tells them."""
    rows = await db.execute(select(*attendance.RECORD).where(among(AttendanceRecord.id, record_ids)))
    return {row.id: {"employee_id": row.employee_id, **Hours.of(row).told(), "status": row.status} for row in rows}
