"""Marks punches to be judged again after codes changed their owner, or an owner became active or inactive."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.pairing.inputs import FOLDS, UNPAIRED
from app.clock.punches import daily_totals, marks
from app.clock.punches.settled import ended_where


class Move(NamedTuple):
    """A code whose owner changed: host employees, None where there was or is none."""

    emp_code: str
    was: int | None
    now: int | None


# Line 0 of the import's order protects what stands: such a punch changes its word only when the owner of its record is
# another than the new one, or was when it was judged. A punch without a record is the new owner's as if it had just come; but one
# that the server has no more keeps its word.
_MARK = text(
    f"""
    WITH moved AS (
        SELECT * FROM unnest(CAST(:codes AS text[]), CAST(:hosts AS bigint[])) AS m (emp_code, host)
    ), found AS (
        SELECT p.id, p.host_attendance_id IS NULL AND m.host IS NOT NULL AND p.gone_at_utc IS NULL
            AND p.import_outcome IS NOT NULL AND p.import_outcome <> ALL(CAST(:unpaired AS text[])) AS is_new
        FROM moved m JOIN clock_transactions p ON p.emp_code = m.emp_code
        LEFT JOIN attendance_records r ON r.id = p.host_attendance_id
        WHERE p.host_attendance_id IS NULL OR p.import_outcome = 'arrived_late' OR r.employee_id <> m.host
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
    SELECT DISTINCT local_date FROM marked WHERE is_new
    """
)
# People are judged over all their codes together, so what waits on the other codes of an owner may end otherwise too; and a
# fold with a record stands for itself once its own tap went away.
_MARK_OTHERS = text(
    f"""
    WITH found AS (
        SELECT p.id FROM clock_employee_bindings b JOIN clock_transactions p ON p.emp_code = b.emp_code
        WHERE b.host_employee_id = ANY(CAST(:owners AS bigint[])) AND b.emp_code <> ALL(CAST(:codes AS text[]))
          AND (p.host_attendance_id IS NULL OR p.import_outcome = ANY(CAST(:folds AS text[])))
        ORDER BY p.id FOR UPDATE OF p
    ), marked AS (
        UPDATE clock_transactions p SET judge_at = {marks.DUE} FROM found WHERE p.id = found.id RETURNING p.id
    )
    SELECT count(*) FROM marked
    """
)


async def mark_moved(db: AsyncSession, moves: Sequence[Move]) -> None:
    """Marks the punches of these codes, and what waits on all other codes of their owners, and asks for an import."""
    codes, hosts = [move.emp_code for move in moves], [move.now for move in moves]
    days = (await db.scalars(_MARK, {"codes": codes, "hosts": hosts, "unpaired": sorted(UNPAIRED)})).all()
    await _mark_others(db, {one for move in moves for one in (move.was, move.now) if one}, codes)
    await daily_totals.mark_stale(db, days)
    await marks.ask_for_import(db)


async def mark_people(db: AsyncSession, host_employee_ids: Collection[int]) -> None:
    """Marks what waits on any code of these people: they may have become inactive, or active again."""
    if await _mark_others(db, host_employee_ids, []):
        await marks.ask_for_import(db)


async def _mark_others(db: AsyncSession, owners: Collection[int], codes: Sequence[str]) -> int:
    given = {"owners": sorted(owners), "codes": list(codes), "folds": sorted(FOLDS)}
    marked: int = await db.scalar(_MARK_OTHERS, given) or 0
    return marked
