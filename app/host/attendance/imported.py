"""Attendance records as an import writes them: many at once, source `clock`, without audit or events. They note
themselves, once for many, what webhooks are told.

The caller locks the employees (`records.hold`), then reads day locks and records, and judges overlaps: these functions
only write. What a person changes: records.py.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import asyncpg
from sqlalchemy import func, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.db.direct import driver
from app.host.attendance.hours import Hours
from app.host.attendance.records import columns
from app.host.models import AttendanceRecord
from app.webhooks import noting
from app.webhooks.kinds import ATTENDANCE_CHANGED, ATTENDANCE_DELETED

_NEXT_IDS = text("SELECT nextval(pg_get_serial_sequence('attendance_records', 'id')) FROM generate_series(1, :count)")
# The columns' defaults set the instants: programs that follow changes go by the database's clock, not by this worker's.
_COPIED = ("id", "employee_id", "workday", "kind", "clock_in", "clock_out", "breaks", "source")


@dataclass(frozen=True, slots=True)
class NewRecord:
    employee_id: int
    workday: date
    hours: Hours


async def create_records(db: AsyncSession, records: Sequence[NewRecord]) -> list[int]:
    """Writes pending records of source `clock` by COPY; their ids, in the order of `records`."""
    if not records:
        return []
    ids = list((await db.scalars(_NEXT_IDS, {"count": len(records)})).all())
    rows = [_row(record_id, record) for record_id, record in zip(ids, records, strict=True)]
    await driver(db).copy_records_to_table("attendance_records", records=rows, columns=_COPIED)
    return ids


async def update_record(db: AsyncSession, record_id: int, hours: Hours, workday: date) -> None:
    """Brings a record up to date with its punches; it does not touch who edited or decided it."""
    values = {**columns(hours), "workday": workday, "updated_at": func.now()}
    await db.execute(update(AttendanceRecord).where(AttendanceRecord.id == record_id).values(values))


async def set_owner(db: AsyncSession, record_ids: Collection[int], employee_id: int) -> None:
    """Gives records to another employee, after a re-binding that a person resolved. The caller has locked all of these
    employees."""
    values = {"employee_id": employee_id, "updated_at": func.now()}
    await db.execute(update(AttendanceRecord).where(among(AttendanceRecord.id, record_ids)).values(values))
    await noting.note(db, ATTENDANCE_CHANGED, record_ids)


async def delete_records(db: AsyncSession, record_ids: Collection[int], by: str) -> None:
    """Soft delete. `by` is the name of the person who asked for it."""
    values = {"deleted_by": by, "deleted_at": func.now(), "updated_at": func.now()}
    await db.execute(update(AttendanceRecord).where(among(AttendanceRecord.id, record_ids)).values(values))
    await noting.note(db, ATTENDANCE_DELETED, record_ids)


def _row(record_id: int, record: NewRecord) -> tuple[object, ...]:
    hours = record.hours
    breaks = [asyncpg.Range(out, back) for out, back in hours.breaks]
    return (
        record_id,
        record.employee_id,
        record.workday,
        hours.kind,
        hours.clock_in,
        hours.clock_out,
        breaks,
        "clock",
    )
