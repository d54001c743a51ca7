"""Punches that their record lets go: they forget it and are judged like new ones."""

from sqlalchemy import ColumnElement, func, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Punch
from app.clock.punches import daily_totals, marks, settled


async def release(db: AsyncSession, which: ColumnElement[bool]) -> list[str]:
    """Returns their codes. Nothing remembers the record afterwards, so none of them shows `attendance_deleted`."""
    released = (
        update(Punch)
        .where(which)
        .values(
            host_attendance_id=None, imported_at_utc=None, imported_role=None, import_outcome=None, retry=False, lifted=False, repeats_id=None,
            edited_record_id=None, edited_from_utc=None, judge_at=marks.NOW, updated_at=func.now(), **settled.ENDED,
        )
        .returning(Punch.emp_code, Punch.local_date)
    )  # fmt: skip
    rows = (await db.execute(released)).all()
    await daily_totals.mark_stale(db, {row.local_date for row in rows})
    return [row.emp_code for row in rows]
