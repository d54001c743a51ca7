"""Which punches the import judges again, and why: marks on `judge_at`, and the listeners that set them.

Marking is cheap and may reach too far: judging a punch that nothing changed for changes nothing. A statement of another
room that writes punches anyway marks them in the same go, with DUE. Marks after a code changed its owner: rebinding.py.
"""

from collections.abc import Sequence
from datetime import date, timedelta

from sqlalchemy import ColumnElement, and_, case, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.clock.models import Binding, Connection, Punch
from app.clock.outcomes import Outcome
from app.clock.pairing.inputs import FOLDS
from app.clock.pairing.shifts import REACH
from app.clock.punches import rejudging, settled
from app.clock.punches.daily_totals import mark_outcomes
from app.db.among import among
from app.db.rows import affected
from app.host.events import DaysChanged, Event, RecordsChanged
from app.host.models import AttendanceRecord
from app.webhooks import noting
from app.webhooks.kinds import OUTCOME_CHANGED

# A punch affects other punches only as far as pairing reaches.
NEAR = REACH
NEAR_SQL = f"interval '{NEAR // timedelta(hours=1)} hours'"
# A new moment each time: an import that is judging a punch just now sees that it was marked again, and leaves the mark.
DUE = "clock_timestamp()"
NOW = func.clock_timestamp()
DELETED = Outcome.ATTENDANCE_DELETED.value
EDITED = "The record was edited."
_UNSETTLED = Punch.host_attendance_id.is_(None)
# Follows `WITH places (emp_code, at) AS (…),`: marks the waiting punches within 48 h of the places, over all codes of
# the employees whose codes those are; and folds with a record, because each counts on its own once its own tap is gone.
NEAR_PLACES = f"""near AS (
    SELECT p.id FROM places
    LEFT JOIN clock_employee_bindings own ON own.emp_code = places.emp_code
    LEFT JOIN clock_employee_bindings other ON other.host_employee_id = own.host_employee_id
    JOIN clock_transactions p ON p.emp_code = coalesce(other.emp_code, places.emp_code)
        AND p.punched_at_utc BETWEEN places.at - {NEAR_SQL} AND places.at + {NEAR_SQL}
    WHERE p.host_attendance_id IS NULL OR p.import_outcome = ANY('{{{",".join(sorted(FOLDS))}}}')
    ORDER BY p.id FOR UPDATE OF p
)
UPDATE clock_transactions p SET judge_at = {DUE} FROM near WHERE p.id = near.id"""

_CHANGED_READERS = text(
    """
    SELECT d.sn FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS g (sn text, remote_attendance boolean)
    JOIN clock_devices d ON d.sn = g.sn
    WHERE d.kind_mark IS NULL AND coalesce(d.remote_attendance, true) <> coalesce(g.remote_attendance, true)
    """
)


async def mark(db: AsyncSession, which: ColumnElement[bool]) -> int:
    """Marks punches to be judged by the next import, and asks for one soon. Returns how many were marked."""
    return await _mark(db, in_order(which))


async def _mark(db: AsyncSession, which: ColumnElement[bool]) -> int:
    done = await db.execute(update(Punch).where(which).values(judge_at=NOW))
    marked = affected(done)
    if marked:
        await ask_for_import(db)
    return marked


def in_order(which: ColumnElement[bool]) -> ColumnElement[bool]:
    """The same punches for an UPDATE, which locks them in the order of their ids, so that two acts on many punches do
    not deadlock."""
    held = select(Punch.id).where(which).order_by(Punch.id).with_for_update().cte("held")
    return Punch.id.in_(select(held.c.id))


async def ask_for_import(db: AsyncSession) -> None:
    """One waiting import for each workspace is enough: it takes all that is due when it runs. A running import does not
    count, because it may have read already."""
    await jobs.request_after(db, "clock_import")


async def mark_waiting(db: AsyncSession) -> None:
    """After a rule changed: everything without a record, slice by slice (rejudging.py)."""
    await _judge_again(db, [None])


async def mark_changed_readers(db: AsyncSession, rows: str) -> None:
    """Before a listing of terminals is written, JSON rows with `sn` and `remote_attendance`: a reader that becomes a
    clock, or a clock a reader, changes what its punches are. Where a person marked the terminal, nothing changes."""
    await _judge_again(db, (await db.scalars(_CHANGED_READERS, {"rows": rows})).all())


async def mark_terminal(db: AsyncSession, serial: str) -> None:
    """After a terminal's direction or kind changed: what it sent and has no record, slice by slice (rejudging.py)."""
    await _judge_again(db, [serial])


async def _judge_again(db: AsyncSession, terminals: Sequence[str | None]) -> None:
    await rejudging.begin(db, terminals)
    if terminals:
        await ask_for_import(db)


async def on_host_event(db: AsyncSession, event: Event) -> None:
    """The listener for records and day locks; app.clock.bindings.actions listens for people and kiosk codes."""
    match event:
        case RecordsChanged(record_ids=ids, change="deleted"):
            await _turn_deleted(db, ids)
            await mark_records(db, ids)
        case RecordsChanged(record_ids=ids, change="edited"):
            await _settle_gone(db, ids)
            await mark_records(db, ids)
            await _mark_overlapping(db, ids)
        case RecordsChanged(record_ids=ids):
            await mark_records(db, ids)
        case DaysChanged(days=days):
            await _mark_days(db, days)
        case _:
            return


async def _turn_deleted(db: AsyncSession, record_ids: Sequence[int]) -> None:
    """Deleting a record turns its taps at once; they remember it by `imported_role` and are judged by the next import.
    A Retry that was asked before does not undo the deletion;
    nor does one of a tap that left the record when the server edited it."""
    turned = (
        update(Punch)
        .where(among(Punch.host_attendance_id, record_ids))
        .values(
            import_outcome=case((Punch.import_outcome.in_(sorted(FOLDS)), Punch.import_outcome), else_=DELETED),
            host_attendance_id=None,
            imported_at_utc=None,
            retry=False,
            lifted=False,
            judge_at=NOW,
            updated_at=func.now(),
            **settled.ENDED,
        )
        .returning(Punch.id, Punch.local_date)
    )
    rows = (await db.execute(turned)).all()
    days = {row.local_date for row in rows}
    await noting.note(db, OUTCOME_CHANGED, [row.id for row in rows])
    left = among(Punch.edited_record_id, record_ids)
    await db.execute(update(Punch).where(left, Punch.retry | Punch.lifted).values(retry=False, lifted=False))
    await mark_outcomes(db, days)
    if days:
        await ask_for_import(db)


async def _settle_gone(db: AsyncSession, record_ids: Sequence[int]) -> None:
    """Who set the times of a record by hand has decided about its punches that are gone from the server, too."""
    gone = and_(among(Punch.host_attendance_id, record_ids), Punch.gone_at_utc.is_not(None), settled.OPEN)
    by = select(AttendanceRecord.edited_by).where(AttendanceRecord.id == Punch.host_attendance_id).scalar_subquery()
    mark = {"settled_at_utc": func.now(), "settled_by": func.coalesce(by, settled.SOMEBODY)}
    await db.execute(update(Punch).where(gone).values(**mark, settled_note=EDITED, updated_at=func.now()))


async def mark_records(db: AsyncSession, record_ids: Sequence[int]) -> None:
    """Punches that belong to the records or left them when they were edited on the server, and their owners' waiting
    ones near them."""
    theirs = or_(among(Punch.host_attendance_id, record_ids), among(Punch.edited_record_id, record_ids))
    await mark(db, or_(theirs, _waiting_near(record_ids)))


async def mark_waiting_near(db: AsyncSession, record_ids: Sequence[int]) -> None:
    """The waiting punches of the records' owners near them. Call it before a record changes its hours or its owner."""
    await mark(db, _waiting_near(record_ids))


def _waiting_near(record_ids: Sequence[int]) -> ColumnElement[bool]:
    return Punch.id.in_(
        select(Punch.id)
        .join(Binding, Binding.emp_code == Punch.emp_code)
        .join(AttendanceRecord, AttendanceRecord.employee_id == Binding.host_employee_id)
        .where(
            among(AttendanceRecord.id, record_ids),
            _UNSETTLED,
            Punch.punched_at_utc >= AttendanceRecord.clock_in - NEAR,
            Punch.punched_at_utc <= func.coalesce(AttendanceRecord.clock_out, AttendanceRecord.clock_in) + NEAR,
        )
    )


async def _mark_overlapping(db: AsyncSession, record_ids: Sequence[int]) -> None:
    """The hours that an edited record had before are lost, and it may have been moved by days: whatever its employee
    has that overlaps a record is judged again."""
    blocked = (
        select(Punch.id)
        .join(Binding, Binding.emp_code == Punch.emp_code)
        .join(AttendanceRecord, AttendanceRecord.employee_id == Binding.host_employee_id)
        .where(among(AttendanceRecord.id, record_ids), Punch.import_outcome == Outcome.OVERLAPS.value)
    )
    await mark(db, Punch.id.in_(blocked))


async def _mark_days(db: AsyncSession, days: Sequence[date]) -> None:
    """A shift reaches over three dates, and its record may have the date of any of them. A punch that was edited on the
    server may lie far from the record that it left.

    These may be very many, and to lock them in order takes twice as long. Who locks or opens days keeps off imports and
    the acts that mark the punches of an employee."""
    if not days or not await db.scalar(select(Connection.id)):
        return
    reach = {one + timedelta(days=away) for one in days for away in range(-NEAR.days, NEAR.days + 1)}
    left = select(AttendanceRecord.id).where(AttendanceRecord.workday.in_(days))
    await _mark(db, or_(and_(Punch.local_date.in_(reach), _UNSETTLED), Punch.edited_record_id.in_(left)))
