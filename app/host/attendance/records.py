"""Attendance records that a person adds, edits, decides or deletes. What an import writes: imported.py.

Every verb holds off day locks, then takes the employee's lock, then reads. So no two records of one kind ever overlap
and no locked day ever changes, even when other transactions run at the same time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Row, bindparam, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor, AuditedChange
from app.dates import span_words
from app.db.among import among
from app.db.session import workspace_of
from app.errors import Conflict, FieldError, Invalid, NotFound
from app.host import events, zone
from app.host.attendance import day_locks
from app.host.attendance.hours import INSTANT, STATUSES, Hours, in_order, problems
from app.host.models import AttendanceRecord, Employee

LONGEST_NOTE = 1000
# Employees share this many locks, so that an act on everybody does not fill PostgreSQL's lock table.
LOCKS = 512
_HOLD = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(key, 0)) FROM unnest(CAST(:keys AS text[])) WITH ORDINALITY AS k(key, at)"
    " ORDER BY at"
)
# Plain rows: what a verb read must not change when it writes.
RECORD = tuple(AttendanceRecord.__table__.columns)
_NEXT_TO = (
    select(*RECORD)
    .where(
        AttendanceRecord.employee_id == bindparam("employee_id"),
        AttendanceRecord.kind == bindparam("kind"),
        AttendanceRecord.deleted_at.is_(None),
        AttendanceRecord.id != bindparam("except_id"),
        AttendanceRecord.clock_in < bindparam("covered_until"),
        func.coalesce(AttendanceRecord.clock_out, AttendanceRecord.clock_in + INSTANT) > bindparam("clock_in"),
    )
    .order_by(AttendanceRecord.clock_in)
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did: `reopened` is the status that went back to pending because the hours changed."""

    changed: bool
    reopened: str | None = None


async def hold(db: AsyncSession, employee_ids: Iterable[int]) -> None:
    """Keeps other transactions from writing these employees' records and from locking a day, until this one ends. Read
    only after it.

    Name all employees of a transaction in one call: a second call may wait for a transaction that waits for the first.
    """
    await day_locks.begin_edit(db)
    keys = [f"attendance:{workspace_of(db)}:{one}" for one in sorted({one % LOCKS for one in employee_ids})]
    await db.execute(_HOLD, {"keys": keys})


async def hold_record(db: AsyncSession, record_id: int) -> None:
    """`hold` for the employee that the record belongs to. Raises NotFound."""
    await _held(db, record_id)


async def add(db: AsyncSession, actor: Actor, employee_id: int, hours: Hours, note: str | None = None) -> int:
    """The new record's id: pending, made by hand.
    Raises Invalid, NotFound, Conflict (deleted person, overlap, locked day)."""
    hours = _checked(hours, note)
    await hold(db, [employee_id])
    person = (
        await db.execute(select(Employee.name, Employee.deleted_at).where(Employee.id == employee_id))
    ).one_or_none()
    if person is None:
        raise NotFound("There is no such person.")
    if person.deleted_at is not None:
        raise Conflict(f"{person.name} was deleted. Restore them first.")
    where = await zone.of(db)
    workday = hours.workday(where)
    await day_locks.refuse_locked(db, [workday])
    await _refuse_overlap(db, employee_id, hours, where)
    values = {"employee_id": employee_id, "workday": workday, "source": "manual", "note": note or None}
    record_id = (
        await db.execute(insert(AttendanceRecord).values(**values, **columns(hours)).returning(AttendanceRecord.id))
    ).scalar_one()
    told = {"employee_id": employee_id, "workday": workday.isoformat(), **hours.told(), "note": note or None}
    await audit.record(db, actor, "attendance.add", "attendance", record_id, after=told)
    await events.tell(db, events.RecordsChanged((record_id,), "created"))
    return record_id


async def edit(
    db: AsyncSession,
    actor: Actor,
    record_id: int,
    hours: Hours,
    note: str | None = None,
    *,
    seen: datetime | None = None,
) -> Edited:
    """New hours or note. New hours set a decided record back to pending: they were not approved.

    `seen` is the `updated_at` of the record that the person looked at: the edit is refused when the record has changed
    since. Raises Invalid, NotFound, Conflict (changed since, overlap, locked day).
    """
    hours = _checked(hours, note)
    record = await _held(db, record_id)
    if seen is not None and seen != record.updated_at:
        raise Conflict("This record changed since you opened it. Reload the page and repeat your change.")
    old = Hours.of(record)
    if hours == old and (note or None) == record.note:
        return Edited(changed=False)
    where = await zone.of(db)
    workday = record.workday if hours.clock_in == old.clock_in else hours.workday(where)
    await day_locks.refuse_locked(db, {record.workday, workday})
    values: dict[str, Any] = {"note": note or None, "updated_at": func.now()}
    if hours != old:
        await _refuse_overlap(db, record.employee_id, hours, where, except_id=record_id)
        values |= {**columns(hours), "workday": workday, **_marks(record, old, actor)}
    await db.execute(update(AttendanceRecord).where(AttendanceRecord.id == record_id).values(values))
    await _tell_edit(db, actor, record, hours, values)
    reopened = record.status if hours != old and record.status != "pending" else None
    return Edited(changed=True, reopened=reopened)


async def decide(
    db: AsyncSession, actor: Actor, ids: Iterable[int], status: str, *, seen: datetime | None = None
) -> list[int]:
    """Approves, rejects, closes, or sets back to pending; returns the records that had another status.

    `seen`: when a person saw the records; those that changed since are left. All others or none. Raises Invalid,
    NotFound, and DayLocked when one of those to change lies on a locked day.
    """
    if status not in STATUSES:
        raise Invalid("A record is pending, approved, rejected or auto_closed.", details=[FieldError("status", status)])
    records = [record for record in _as_seen(await _held_many(db, ids), seen) if record.status != status]
    await day_locks.refuse_locked(db, {record.workday for record in records})
    changed = [record.id for record in records]
    if not changed:
        return []
    by: dict[str, Any] = {"decided_by": None, "decided_at": None}
    if status != "pending":
        by = {"decided_by": actor.name, "decided_at": func.now()}
    await db.execute(
        update(AttendanceRecord)
        .where(among(AttendanceRecord.id, changed))
        .values(status=status, **by, updated_at=func.now())
    )
    changes = [AuditedChange(record.id, {"status": record.status}, {"status": status}) for record in records]
    await audit.record_many(db, actor, "attendance.decide", "attendance", changes)
    await events.tell(db, events.RecordsChanged(tuple(changed), "decided"))
    return changed


async def remove(db: AsyncSession, actor: Actor, ids: Iterable[int], *, seen: datetime | None = None) -> list[int]:
    """Soft delete; the clock's listener then gives the punches behind the records the outcome *Attendance deleted*.

    docs/architecture.md, "What follows when a record is deleted". `seen` as of `decide`. All others or none. Raises
    NotFound, DayLocked.
    """
    records = _as_seen(await _held_many(db, ids), seen)
    await day_locks.refuse_locked(db, {record.workday for record in records})
    gone = [record.id for record in records]
    if not gone:
        return []
    values = {"deleted_by": actor.name, "deleted_at": func.now(), "updated_at": func.now()}
    await db.execute(update(AttendanceRecord).where(among(AttendanceRecord.id, gone)).values(values))
    changes = [
        AuditedChange(record.id, {**Hours.of(record).told(), "status": record.status}, {"deleted": True})
        for record in records
    ]
    await audit.record_many(db, actor, "attendance.delete", "attendance", changes)
    await events.tell(db, events.RecordsChanged(tuple(gone), "deleted"))
    return gone


def columns(hours: Hours) -> dict[str, Any]:
    """The hours as columns of a record."""
    return {
        "kind": hours.kind,
        "clock_in": hours.clock_in,
        "clock_out": hours.clock_out,
        "breaks": hours.ranges,
    }


def _checked(hours: Hours, note: str | None) -> Hours:
    found = problems(hours)
    if note is not None and len(note) > LONGEST_NOTE:
        found.append(FieldError("note", f"At most {LONGEST_NOTE} characters; this has {len(note)}."))
    if found:
        raise Invalid(" ".join(one.message for one in found), details=found)
    return in_order(hours)


async def _held(db: AsyncSession, record_id: int) -> Row[Any]:
    records = await _held_many(db, [record_id])
    return records[0]


async def _held_many(db: AsyncSession, ids: Iterable[int]) -> Sequence[Row[Any]]:
    """Locks the employees of the records. When an owner changes while we wait for the lock, it looks again."""
    wanted = set(ids)
    owners: set[int] = set()
    while True:
        statement = select(*RECORD).where(among(AttendanceRecord.id, wanted), AttendanceRecord.deleted_at.is_(None))
        records = (await db.execute(statement.order_by(AttendanceRecord.id))).all()
        if len(records) != len(wanted):
            one = "There is no such record, or it was deleted."
            raise NotFound(one if len(wanted) == 1 else "Some of these records were deleted. Reload the list.")
        missing = {record.employee_id for record in records} - owners
        if not missing:
            return records
        owners |= missing
        await hold(db, missing)


def _as_seen(records: Sequence[Row[Any]], seen: datetime | None) -> list[Row[Any]]:
    return [record for record in records if seen is None or record.updated_at <= seen]


async def _refuse_overlap(
    db: AsyncSession, employee_id: int, hours: Hours, where: ZoneInfo, *, except_id: int = 0
) -> None:
    """Deleted records don't count, rejected ones do."""
    values = {
        "employee_id": employee_id,
        "kind": hours.kind,
        "except_id": except_id,
        "clock_in": hours.clock_in,
        "covered_until": hours.covered_until,
    }
    other = (await db.execute(_NEXT_TO, values)).one_or_none()
    if other is not None:
        when, status = span_words(other.clock_in, other.clock_out, where, None), other.status.replace("_", "-")
        sentence = f"This overlaps record {other.id}, {when} ({status}, {other.kind})."
        raise Conflict(sentence, details=[FieldError("clock_in", sentence)])


def _marks(record: Row[Any], old: Hours, actor: Actor) -> dict[str, Any]:
    """Columns that say who changed the hours, what they were before the first change by hand, and that the new ones are
    not decided."""
    marks: dict[str, Any] = {"edited_by": actor.name, "edited_at": func.now()}
    if record.edited_from is None:
        marks["edited_from"] = {**old.told(), "workday": record.workday.isoformat()}
    if record.status != "pending":
        marks |= {"status": "pending", "decided_by": None, "decided_at": None}
    return marks


async def _tell_edit(db: AsyncSession, actor: Actor, record: Row[Any], hours: Hours, values: dict[str, Any]) -> None:
    was = {**Hours.of(record).told(), "note": record.note, "status": record.status}
    is_now = {**hours.told(), "note": values["note"], "status": values.get("status", record.status)}
    before, after = audit.changed_fields(was, is_now)
    await audit.record(db, actor, "attendance.edit", "attendance", record.id, before=before, after=after)
    await events.tell(db, events.RecordsChanged((record.id,), "edited"))
