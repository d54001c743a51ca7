"""The import on a real database: what it writes, when it judges again, and that no person's work is overwritten."""

import asyncio
import re
from datetime import date
from functools import partial
from typing import Any

import asyncpg
import pytest
from sqlalchemy import func, insert, select, text, update
from structlog.testing import capture_logs

from app.accounts.audit import SYSTEM
from app.clock.importing import batch, import_due
from app.clock.importing.owners import OwnersChangedError, owned_codes, read_owners
from app.clock.mirror import devices
from app.clock.models import Binding, Cursor, ImportedRecord, Punch, StaleDay
from app.clock.punches import marks
from app.clock.settings import write_settings
from app.db.session import Database
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from app.web.errors.refusals import as_refusal
from tests.clock.mirror_store import FAR, when
from tests.clock.mirrored import (
    connect,
    employ,
    everything_due,
    mirror_person,
    mirror_terminal,
    outcomes,
    punch,
    records,
)
from tests.cluster import DatabaseUrls


@pytest.fixture
async def ada(database: Database) -> int:
    """Ada, an employee bound to the code 100."""
    async with database.transaction() as db:
        await connect(db)
        employee_id = await employ(db, "Ada")
        await mirror_person(db, "100", employee_id)
    return employee_id


async def test_a_binding_that_changes_while_owners_are_read_makes_the_judging_begin_again(
    database: Database, ada: int
) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00")
        before = await read_owners(db, ["100"])
        punches = list(await db.scalars(select(Punch.id)))
        await db.execute(update(Binding).values(state="unbound", host_employee_id=None, method=None))
        with pytest.raises(OwnersChangedError, match="Reload the page") as changed:
            await owned_codes(db, before)
        assert as_refusal(changed.value).status == 409, "for the page of a punch"
        assert await batch.import_now(db, ["100"], punches, before) is None, "the queued import judges them"


async def import_all(database: Database, now: Any = FAR) -> import_due.ImportCounts:
    return await import_due.import_due(partial(database.transaction, "main"), now=now)


async def see(database: Database, read: Any, *args: Any) -> Any:
    async with database.transaction() as db:
        return await read(db, *args)


async def test_a_day_becomes_a_record(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, bo 12:00, bi 13:00, O 17:00")
    result = await import_all(database)
    assert (result.created, result.outcomes) == (1, {"imported": 4})
    async with database.transaction() as db:
        record = await db.scalar(select(AttendanceRecord))
        assert record is not None
        assert (record.employee_id, record.source, record.status) == (ada, "clock", "pending")
        assert Hours.of(record).breaks == ((when("12:00"), when("13:00")),)
        punches = (await db.scalars(select(Punch))).all()
        assert {one.host_attendance_id for one in punches} == {record.id}
        assert all(one.imported_at_utc and one.judge_at is None for one in punches)
        assert await db.scalar(select(func.count()).select_from(ImportedRecord)) == 1
        assert await db.scalar(select(func.count()).select_from(StaleDay)) == 1


async def test_importing_again_judges_nothing(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
    await import_all(database)
    assert (await import_all(database)).judged == 0


async def test_judging_everything_again_changes_nothing(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, bo 12:00, bi 13:00, O 17:00, I Tue 08:00, O Wed 18:00, x Thu 08:00")
    await import_all(database)
    before = await see(database, outcomes)
    async with database.transaction() as db:
        await everything_due(db)
    again = await import_all(database)
    assert (again.outcomes, again.created, again.updated) == ({}, 0, 0)
    assert await see(database, outcomes) == before


async def test_a_late_punch_joins_the_record_it_belongs_to(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
    await import_all(database)
    async with database.transaction() as db:
        await punch(db, "100", "bo 12:00, bi 13:00")
    result = await import_all(database)
    assert (result.created, result.updated) == (0, 1)
    async with database.transaction() as db:
        (record,) = (await db.scalars(select(AttendanceRecord))).all()
        assert len(record.breaks) == 1


async def test_an_unbound_code_waits_for_its_binding(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "7")
        await punch(db, "7", "I 08:00, O 17:00")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"not_bound"}
    async with database.transaction() as db:
        employee_id = await employ(db, "Bea")
        await db.execute(update(Binding).values(state="bound", method="manual", host_employee_id=employee_id))
        await marks.mark(db, Punch.emp_code == "7")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"imported"}


async def test_two_codes_of_one_employee_are_judged_together(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await mirror_person(db, "200", ada)
        await punch(db, "100", "I 08:00")
        await punch(db, "200", "O 17:00")
    assert (await import_all(database)).created == 1
    assert await see(database, records) == [(when("08:00"), when("17:00"))]


async def test_a_deleted_record_turns_its_taps_at_once_and_is_not_made_again(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00, O 17:00:05")
    await import_all(database)
    async with database.transaction() as db:
        record_id = await db.scalar(select(AttendanceRecord.id))
        await attendance.remove(db, SYSTEM, [record_id or 0])
        words = [word for _, word in await outcomes(db)]
        assert words == ["attendance_deleted", "attendance_deleted", "repeat_tap"]
    await import_all(database)
    assert await see(database, records) == []
    async with database.transaction() as db:
        await db.execute(update(Punch).values(retry=True, judge_at=func.clock_timestamp()))
    await import_all(database)
    assert await see(database, records) == [(when("08:00"), when("17:00"))]


async def test_a_locked_day_waits_until_it_is_unlocked(database: Database, ada: int) -> None:
    day = when("08:00").date()
    async with database.transaction() as db:
        await day_locks.lock(db, SYSTEM, day, day)
        await punch(db, "100", "I 08:00, O 17:00")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"date_locked"}
    async with database.transaction() as db:
        await day_locks.unlock(db, SYSTEM, day, day)
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"imported"}


async def test_a_correction_by_hand_stands(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
    await import_all(database)
    async with database.transaction() as db:
        record_id = await db.scalar(select(AttendanceRecord.id))
        await attendance.edit(db, SYSTEM, record_id or 0, Hours(when("08:00"), when("18:00")))
        await punch(db, "100", "bo 12:00")
    await import_all(database)
    assert await see(database, outcomes) == [("08:00", "imported"), ("12:00", "record_edited"), ("17:00", "imported")]
    assert await see(database, records) == [(when("08:00"), when("18:00"))]


async def test_hours_are_free_again_when_the_record_that_covered_them_is_moved_by_days(
    database: Database, ada: int
) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
        record_id = await attendance.add(db, SYSTEM, ada, Hours(when("09:00"), when("10:00")))
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"overlaps"}
    async with database.transaction() as db:
        await attendance.edit(db, SYSTEM, record_id, Hours(when("Sat 09:00"), when("Sat 10:00")))
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"imported"}


async def test_a_door_reader_does_not_count_until_its_kind_is_changed(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await mirror_terminal(db, "T1", remote_attendance=False)
        await punch(db, "100", "I 08:00, O 17:00")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"access_terminal"}
    async with database.transaction() as db:
        await db.execute(text("UPDATE clock_devices SET kind_mark = 'attendance'"))
        await marks.mark_terminal(db, "T1")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"imported"}


async def test_a_punch_that_only_opened_a_door_counts_once_a_person_says_that_the_terminal_is_a_clock(
    database: Database, ada: int
) -> None:
    async with database.transaction() as db:
        await mirror_terminal(db, "T1")
        await punch(db, "100", "I 08:00, O 12:00, O 17:00")
        await punch(db, "stranger", "I 08:00")
        await db.execute(
            text(
                "UPDATE clock_transactions SET remote_attendance = false WHERE punch_code = 1 OR emp_code = 'stranger'"
            )
        )
    await import_all(database)
    assert await see(database, outcomes) == [
        ("08:00", "only_one_punch"), ("08:00", "access_terminal"), ("12:00", "access_terminal"), ("17:00", "access_terminal"),
    ]  # fmt: skip
    async with database.transaction() as db:
        await devices.set_kind(db, SYSTEM, "T1", "attendance")
    await import_all(database)
    assert {word for _, word in await see(database, outcomes)} == {"imported", "only_one_punch", "not_bound"}


async def test_history_that_was_not_reached_keeps_what_follows_it_unjudged(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await write_settings(db, SYSTEM, {"history_start": "2026-03-01"}, FAR)
        await punch(db, "100", "I Mon 08:00, O Mon 17:00, I Fri 08:00, O Fri 17:00")
        await db.execute(
            insert(Cursor),
            [
                {"resource": "transactions", "window": "live", "kind": "live", "state": "complete",
                 "starts_on": date(2026, 12, 29), "covered_until": FAR},
                {"resource": "transactions", "window": "backfill:1", "kind": "backfill", "state": "open",
                 "starts_on": date(2026, 3, 3), "ends_on": date(2026, 12, 28), "done_until": date(2026, 12, 29)},
            ],
        )  # fmt: skip
    await import_all(database)
    assert [word for _, word in await see(database, outcomes)] == [None, None, "imported", "imported"]


async def test_a_rehearsal_says_what_would_happen_and_writes_nothing(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
    planned = await import_due.rehearse(partial(database.transaction, "main"), now=FAR)
    assert (planned.created, planned.outcomes) == (1, {"imported": 2})
    assert await see(database, records) == []
    assert {word for _, word in await see(database, outcomes)} == {None}


async def test_two_imports_at_once_write_each_record_once(database: Database, ada: int) -> None:
    async with database.transaction() as db:
        for number in range(1, 6):
            other = await employ(db, f"Person {number}")
            await mirror_person(db, f"9{number}", other)
            await punch(db, f"9{number}", "I 08:00, O 17:00, I Tue 08:00, O Tue 17:00")
    await asyncio.gather(*(import_all(database) for _ in range(3)))
    assert len(await see(database, records)) == 10


async def test_a_batch_that_fails_three_times_ends_the_import(database: Database, ada: int, urls: DatabaseUrls) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
    owner_says_no = text("ALTER TABLE attendance_records ADD CONSTRAINT nothing_goes CHECK (source <> 'clock')")
    owner = Database(urls.owner)
    try:
        async with owner.transaction() as db:
            await db.execute(owner_says_no)
        with capture_logs() as lines, pytest.raises(import_due.ImportFailedError) as failed:
            await import_all(database)
        place = r"CheckViolationError in app/(clock|host|db)/[\w/]+\.py, line \d+"
        assert [line["attempt"] for line in lines if re.fullmatch(place, line["error"])] == [1, 2, 3]
        assert re.fullmatch(rf"The attendance import failed 3 times \({place}\)\.", str(failed.value))
        assert "Ada" not in f"{lines} {failed.value}"
        assert isinstance(failed.value.__cause__, asyncpg.CheckViolationError)
        assert {word for _, word in await see(database, outcomes)} == {None}
    finally:
        async with owner.transaction() as db:
            await db.execute(text("ALTER TABLE attendance_records DROP CONSTRAINT IF EXISTS nothing_goes"))
        await owner.close()
