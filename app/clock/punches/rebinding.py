"""Marks punches to be judged again after codes changed their owner, or an owner became active or inactive.

A request marks a thousand punches at most. More are left to the import: it marks them slice by slice, in the order in
which the changes were made, and judges nothing before the last mark is set.
So it never judges a code by half of its punches.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import TextClause, exists, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Binding, OwnerChange, OwnerChangeCode
from app.clock.pairing.inputs import FOLDS, UNPAIRED
from app.clock.punches import changes, daily_totals, marks
from app.clock.punches.settled import ended_where
from app.db.among import among
from app.host.attendance import records as attendance

MOST_AT_ONCE = 1000
SLICE = 20_000


class Move(NamedTuple):
    """A code whose owner changed: host employees, None when there was or is none."""

    emp_code: str
    was: int | None
    now: int | None


class ChangedCode(NamedTuple):
    """A code whose punches are marked. `moved`: it has another owner, `host`; else it is about what waits on it."""

    emp_code: str
    host: int | None
    moved: bool


_GIVEN = (
    "unnest(CAST(:codes AS text[]), CAST(:hosts AS bigint[]), CAST(:moved AS boolean[])) AS m (emp_code, host, moved)"
)
_STORED = "(SELECT emp_code, host_employee_id, moved FROM clock_owner_change_codes WHERE change_id = :change) AS m (emp_code, host, moved)"


def _mark(source: str, which: str) -> str:
    """Line 0 of the import's order protects what stands: a punch of a code with another owner changes its word only
    when the owner of its record is another than the new one, or was when it was judged. A punch without a record is the
    new owner's as if it had just come; but one that the server no longer has keeps its word.

    People are judged over all their codes together, so what waits on the other codes of an owner may end otherwise too;
    and a fold with a record stands for itself once its own tap went away.
    """
    return f"""
    WITH found AS (
        SELECT p.id, m.moved AND p.host_attendance_id IS NULL AND m.host IS NOT NULL AND p.gone_at_utc IS NULL
            AND p.import_outcome IS NOT NULL AND p.import_outcome <> ALL(CAST(:unpaired AS text[])) AS is_new
        FROM {source} JOIN clock_transactions p ON p.emp_code = m.emp_code
        LEFT JOIN attendance_records r ON m.moved AND r.id = p.host_attendance_id
        WHERE {which} AND (p.host_attendance_id IS NULL OR CASE
            WHEN m.moved THEN p.import_outcome = 'arrived_late' OR r.employee_id <> m.host
            ELSE p.import_outcome = ANY(CAST(:folds AS text[])) END)
        ORDER BY p.id FOR UPDATE OF p
    ), marked AS (
        UPDATE clock_transactions p SET judge_at = {marks.DUE},
            import_outcome = CASE WHEN f.is_new THEN NULL ELSE p.import_outcome END,
            updated_at = CASE WHEN f.is_new THEN now() ELSE p.updated_at END,
            {ended_where("f.is_new", "p")}
        FROM found f
        WHERE p.id = f.id
        RETURNING p.local_date, f.is_new
    )
    SELECT local_date, bool_or(is_new) FROM marked GROUP BY local_date
    """


_MARK = text(_mark(_GIVEN, "true"))
_MARK_SLICE = text(_mark(_STORED, "p.id = ANY(CAST(:ids AS bigint[]))"))
_SOME = text(
    "SELECT count(*) FROM (SELECT FROM unnest(CAST(:codes AS text[])) AS m (emp_code)"
    " JOIN clock_transactions p ON p.emp_code = m.emp_code LIMIT :most) AS few"
)
_ALL = text(
    "SELECT count(*) FROM clock_owner_change_codes m JOIN clock_transactions p ON p.emp_code = m.emp_code"
    " WHERE m.change_id = :change"
)
_NEXT = text(
    """
    SELECT m.place, p.punched_at_utc, p.id FROM clock_owner_change_codes m
    CROSS JOIN LATERAL (
        SELECT p.punched_at_utc, p.id FROM clock_transactions p
        WHERE p.emp_code = m.emp_code
            AND (m.place > :place OR CAST(:at AS timestamptz) IS NULL OR (p.punched_at_utc, p.id) < (:at, :id))
        ORDER BY p.punched_at_utc DESC, p.id DESC LIMIT :slice
    ) AS p
    WHERE m.change_id = :change AND m.place >= :place
    ORDER BY m.place, p.punched_at_utc DESC, p.id DESC LIMIT :slice
    """
)


async def mark_moved(db: AsyncSession, moves: Sequence[Move]) -> None:
    """Marks the punches of these codes, and the waiting punches of all other codes of their owners, to be judged again.
    Asks for an import."""
    moved = [ChangedCode(move.emp_code, move.now, moved=True) for move in moves]
    owners = {one for move in moves for one in (move.was, move.now) if one}
    known = {one.emp_code for one in moved}
    others = [one for one in await _codes_of(db, owners) if one.emp_code not in known]
    await _mark_or_note(db, [*moved, *others], owners)
    await marks.ask_for_import(db)


async def mark_people(db: AsyncSession, host_employee_ids: Collection[int]) -> None:
    """Marks the waiting punches of all codes of these people, to be judged again: the people may have become inactive,
    or active again."""
    if await _mark_or_note(db, await _codes_of(db, host_employee_ids), host_employee_ids):
        await marks.ask_for_import(db)


async def mark_slice(db: AsyncSession) -> bool:
    """Marks the next punches of the oldest change. True while there may be more; False when no change is left, or where
    another import is at it."""
    oldest = select(func.min(OwnerChange.id)).where(changes.OWNERS_ARE_OPEN).scalar_subquery()
    held = select(OwnerChange).where(OwnerChange.id == oldest, changes.OWNERS_ARE_OPEN)
    change = await db.scalar(held.with_for_update(skip_locked=True))
    if change is None:
        return False
    if change.total is None:
        change.total = await db.scalar(_ALL, {"change": change.id}) or 0
    found = await _next(db, change)
    if not found:
        change.finished_at = await db.scalar(select(func.now()))
        return True
    change.reached_place, change.reached_at, change.reached_id = found[-1]
    change.marked += len(found)
    await _carry_out(db, _MARK_SLICE, {"change": change.id, "ids": [punch_id for *_, punch_id in found]})
    return True


async def _next(db: AsyncSession, change: OwnerChange) -> list[tuple[int, datetime, int]]:
    reached = {"place": change.reached_place, "at": change.reached_at, "id": change.reached_id}
    rows = await db.execute(_NEXT, {"change": change.id, "slice": SLICE, **reached})
    return [(place, at, punch_id) for place, at, punch_id in rows]


async def _codes_of(db: AsyncSession, owners: Collection[int]) -> list[ChangedCode]:
    codes = select(Binding.emp_code).where(among(Binding.host_employee_id, owners)).order_by(Binding.emp_code)
    return [ChangedCode(code, None, moved=False) for code in await db.scalars(codes)]


async def _mark_or_note(db: AsyncSession, codes: Sequence[ChangedCode], owners: Collection[int]) -> bool:
    """True when there is anything to judge. What follows a change that waits for its turn waits behind it. The owners
    are locked before their punches, as the import does. Otherwise the two could deadlock."""
    if not codes:
        return False
    names = [one.emp_code for one in codes]
    some = await db.scalar(_SOME, {"codes": names, "most": MOST_AT_ONCE + 1}) or 0
    if some > MOST_AT_ONCE or (some and await db.scalar(select(exists().where(changes.OWNERS_ARE_OPEN)))):
        await _note(db, codes)
        return True
    if some:
        await attendance.hold(db, owners)
    hosts, moved = [one.host for one in codes], [one.moved for one in codes]
    return await _carry_out(db, _MARK, {"codes": names, "hosts": hosts, "moved": moved})


async def _note(db: AsyncSession, codes: Sequence[ChangedCode]) -> None:
    change_id = await db.scalar(insert(OwnerChange).returning(OwnerChange.id))
    rows = [
        {"change_id": change_id, "place": place, "emp_code": code, "host_employee_id": host, "moved": moved}
        for place, (code, host, moved) in enumerate(codes, 1)
    ]
    await db.execute(insert(OwnerChangeCode), rows)


async def _carry_out(db: AsyncSession, statement: TextClause, values: Mapping[str, object]) -> bool:
    rows = (await db.execute(statement, {**values, "unpaired": sorted(UNPAIRED), "folds": sorted(FOLDS)})).all()
    await daily_totals.mark_outcomes(db, [day for day, is_new in rows if is_new])
    return bool(rows)
