"""Attendance for programs that follow it: every record with its person and its lock, and all that changed since an
instant."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Select, and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.host.attendance.queries import LIVE, RECORDS
from app.host.models import AttendanceRecord, DayLock, DayLockChange, Employee


@dataclass(frozen=True, slots=True)
class AttendanceFilter:
    """`days` are the first and the last workday, None for no bound. With `updated_since` deleted records come too."""

    days: tuple[date | None, date | None] = (None, None)
    employee_id: int | None = None
    department: str | None = None
    status: str | None = None
    updated_since: datetime | None = None


async def feed(db: AsyncSession, wanted: AttendanceFilter) -> Select[Any]:
    """The records of the filter, in no order. Renamed people are read here: so read the instant from which the client
    continues before you call it."""
    since = wanted.updated_since
    first, last = wanted.days
    parts: list[ColumnElement[bool]] = [LIVE if since is None else await _changed(db, since)]
    if first is not None:
        parts.append(AttendanceRecord.workday >= first)
    if last is not None:
        parts.append(AttendanceRecord.workday <= last)
    if wanted.employee_id is not None:
        parts.append(AttendanceRecord.employee_id == wanted.employee_id)
    if wanted.department is not None:
        parts.append(Employee.department == wanted.department)
    if wanted.status is not None:
        parts.append(AttendanceRecord.status == wanted.status)
    return RECORDS.where(and_(*parts))


async def _changed(db: AsyncSession, since: datetime) -> ColumnElement[bool]:
    """Reads changed people and days first. So each of the three reads uses an index, and the cost grows only with what
    changed."""
    people = (await db.scalars(select(Employee.id).where(Employee.updated_at >= since))).all()
    days = (await db.scalars(_locked_or_opened(since))).all()
    written: list[ColumnElement[bool]] = [AttendanceRecord.updated_at >= since]
    if people:
        written.append(among(AttendanceRecord.employee_id, people))
    if days:
        written.append(AttendanceRecord.workday.in_(days))
    return or_(*written)


def _locked_or_opened(since: datetime) -> CompoundSelect[Any]:
    """Looks at the locks as well: while an update runs, a process of the version before may lock a day without noting
    the change."""
    noted = select(DayLockChange.day).where(DayLockChange.changed_at >= since)
    return noted.union(select(DayLock.day).where(DayLock.locked_at >= since))
