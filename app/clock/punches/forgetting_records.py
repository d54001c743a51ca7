"""Punches that forget their record as if it had never been, and are judged like new ones:
for *Take back* and *Use the punches*.

What follows when a person deletes a record is in marks.py: those punches remember it, and show *Attendance deleted*.
"""

from sqlalchemy import ColumnElement, func, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Punch
from app.clock.punches import daily_totals, marks, settled


async def forget_record(db: AsyncSession, which: ColumnElement[bool]) -> list[str]:
    """Returns the codes of these punches. The caller deletes the record, or gives it other punches."""
    forgotten = (
        update(Punch)
        .where(which)
        .values(
            host_attendance_id=None, imported_at_utc=None, imported_role=None, import_outcome=None, retry=False, lifted=False, repeats_id=None,
            edited_record_id=None, edited_from_utc=None, judge_at=marks.NOW, updated_at=func.now(), **settled.ENDED,
        )
        .returning(Punch.emp_code, Punch.local_date)
    )  # fmt: skip
    rows = (await db.execute(forgotten)).all()
    await daily_totals.mark_outcomes(db, {row.local_date for row in rows})
    return [row.emp_code for row in rows]
