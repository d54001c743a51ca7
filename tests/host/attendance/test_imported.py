"""What an import may write: many records at once, without audit or events."""

from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.host.attendance import imported
from app.host.attendance import queries as attendance_queries
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.attendance.imported import NewRecord
from app.host.models import AttendanceRecord
from tests.host.staff import ALICE, Ear, acts_on, at, hire, hours, record_of, work

DAY = at("00:00").date()


async def test_records_are_made_in_order_with_their_breaks(db: AsyncSession, ear: Ear) -> None:
    ada = await hire(db)
    ear.heard.clear()
    given = [
        hours("08:00", "12:00", ("10:00", "10:15"), ("11:00", "11:05")),
        hours("13:00"),
        hours("18:00", "20:00", kind="overtime"),
    ]
    await attendance.hold(db, [ada])
    ids = await imported.create_records(db, [NewRecord(ada, DAY, one) for one in given])
    kept = [await record_of(db, record_id) for record_id in ids]
    assert [Hours.of(one) for one in kept] == given
    assert {(one.status, one.source, one.workday) for one in kept} == {("pending", "clock", DAY)}
    assert ear.heard == []
    assert await acts_on(db, "attendance", ids[0]) == []
    assert await imported.create_records(db, []) == []


async def test_new_records_have_the_time_of_the_database(db: AsyncSession) -> None:
    """A program that follows `updated_since` never misses them, however wrong the clock of the worker is."""
    (record_id,) = await imported.create_records(db, [NewRecord(await hire(db), DAY, hours("08:00"))])
    kept, now = await record_of(db, record_id), await db.scalar(select(func.now()))
    assert (kept.created_at, kept.updated_at) == (now, now)


async def test_ids_stay_free_for_what_is_added_by_hand_afterwards(db: AsyncSession) -> None:
    ada = await hire(db)
    new = [NewRecord(ada, DAY, hours(f"{hour:02}:00", f"{hour:02}:30")) for hour in range(8, 18)]
    await imported.create_records(db, new)
    await work(db, ada, "20:00", "21:00")
    assert await db.scalar(select(func.count()).select_from(AttendanceRecord)) == 11


async def test_a_record_is_brought_up_to_date_given_away_and_deleted(db: AsyncSession) -> None:
    ada, grace = await hire(db), await hire(db, "Grace", "2")
    (record_id,) = await imported.create_records(db, [NewRecord(ada, DAY, hours("08:00"))])
    await imported.update_record(db, record_id, hours("08:00", "17:00", ("12:00", "13:00")), DAY)
    await imported.set_owner(db, [record_id], grace)
    kept = await record_of(db, record_id)
    assert Hours.of(kept) == hours("08:00", "17:00", ("12:00", "13:00"))
    assert (kept.employee_id, kept.edited_by, kept.edited_from) == (grace, None, None)
    await imported.delete_records(db, [record_id], "Alice Ahn")
    assert (await record_of(db, record_id)).deleted_by == "Alice Ahn"
    await work(db, grace, "08:00", "17:00")


async def test_a_hand_made_edit_of_an_imported_record_keeps_what_the_import_wrote(db: AsyncSession) -> None:
    (record_id,) = await imported.create_records(db, [NewRecord(await hire(db), DAY, hours("08:00", "17:00"))])
    await attendance.edit(db, ALICE, record_id, hours("08:00", "18:00"))
    kept = await record_of(db, record_id)
    assert kept.edited_from is not None
    assert Hours.heard(kept.edited_from) == hours("08:00", "17:00")
    assert kept.source == "clock"


async def test_the_export_names_every_column_and_keeps_to_its_days(db: AsyncSession) -> None:
    ada = await hire(db, department="Mill")
    await work(db, ada, "08:00 2026-11-19", "12:00 2026-11-19")
    gone = await work(db, ada, "20:00", "21:00")
    await attendance.remove(db, ALICE, [gone])
    given = hours("08:00", "17:00", ("12:00", "12:30"))
    (record_id,) = await imported.create_records(db, [NewRecord(ada, DAY, given)])
    rows = (await db.execute(attendance_queries.for_export(DAY, DAY))).all()
    (row,) = [attendance_queries.exported(one, ZoneInfo("America/Vancouver")) for one in rows]
    assert tuple(row) == attendance_queries.EXPORTED
    assert row == {
        "id": record_id,
        "id_number": "1",
        "name": "Ada Lovelace",
        "department": "Mill",
        "workday": "2026-11-20",
        "kind": "regular",
        "status": "pending",
        "source": "clock",
        "clock_in": "2026-11-20T00:00:00-08:00",
        "clock_out": "2026-11-20T09:00:00-08:00",
        "breaks": ["2026-11-20T04:00:00-08:00/2026-11-20T04:30:00-08:00"],
        "worked_hours": 8.5,
        "note": None,
    }
    assert len((await db.execute(attendance_queries.for_export())).all()) == 2
