"""Commands about people and attendance: the verbs of the pages, all or nothing, times of the workspace's zone."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import Range

from app import demo
from app.accounts.audit import SYSTEM
from app.accounts.models import AuditEntry
from app.db.session import Database
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord, DayLock, Employee, KioskEnrolment
from app.host.people import people
from tests.clock.mirrored import connect
from tests.command_line import CommandLine

STAFF = "id_number,name,department,active,kiosk_code\n7,Ada Lovelace,Engines,true,0007\n8,Grace Hopper,Navy,false,\n"


@pytest.fixture
async def ada(database: Database) -> int:
    async with database.transaction() as db:
        return await people.add(db, SYSTEM, people.EmployeeDetails("7", "Ada Lovelace"))


async def count(database: Database, table: Any, workspace: str = "main") -> int:
    async with database.transaction(workspace) as db:
        return await db.scalar(select(func.count()).select_from(table)) or 0


async def test_employees_come_from_a_file_and_once_more_changes_nothing(
    muster: CommandLine, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "staff.csv"
    file.write_text(STAFF)
    ended = await muster("employees:import", file, "--json", "--workspace", "globex")
    assert ended.json == {"added": 2, "updated": 0, "unchanged": 0, "kiosk_codes": 1}
    assert await count(database, Employee, "globex") == 2
    assert await count(database, Employee) == 0
    again = await muster("employees:import", file, "--workspace", "globex")
    assert again.out == "0 added, 0 updated, 2 unchanged.\n"


async def test_a_file_with_bad_lines_names_each_of_them_and_imports_none(
    muster: CommandLine, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "staff.csv"
    file.write_text(STAFF + ",No Number,,,\n9,,,,\n")
    ended = await muster("employees:import", file)
    assert ended.code == 1
    *details, last = ended.err.splitlines()
    assert [line.split(":")[0] for line in details] == ["line 4", "line 5"]
    assert last == "Error: 2 bad lines; nothing was imported."
    assert await count(database, Employee) == 0


async def test_a_record_is_added_edited_decided_exported_and_deleted(
    muster: CommandLine, database: Database, ada: int
) -> None:
    async with database.transaction() as db:
        await connect(db, "Asia/Manila")
    added = await muster("attendance:add", "7", "2026-11-20T08:00", "2026-11-20T17:00", "--json")
    record_id = added.json["id"]
    edited = await muster("attendance:edit", record_id, "--out", "2026-11-20T18:30+08:00", "--json")
    assert edited.json["changed"]
    assert (await muster("attendance:edit", record_id, "--out", "2026-11-20T18:30")).out == "Nothing changed.\n"
    assert (await muster("attendance:decide", record_id, "approved", "--json")).json["changed"]
    async with database.transaction() as db:
        record = (await db.scalars(select(AttendanceRecord))).one()
        assert record.employee_id == ada
        assert (record.clock_in, record.clock_out) == (
            datetime(2026, 11, 20, 0, tzinfo=UTC),
            datetime(2026, 11, 20, 10, 30, tzinfo=UTC),
        )
        assert (record.status, record.source, record.edited_by) == ("approved", "manual", "Command line")
    noon = datetime(2026, 11, 20, 4, tzinfo=UTC)
    async with database.transaction() as db:
        pauses = [
            Range(noon, noon + timedelta(minutes=30)),
            Range(noon + timedelta(hours=2), noon + timedelta(hours=3)),
        ]
        await db.execute(update(AttendanceRecord).values(breaks=pauses))
    exported = (await muster("attendance:export", "--from", "2026-11-20", "--to", "2026-11-20")).out
    (row,) = csv.DictReader(io.StringIO(exported))
    assert (row["name"], row["clock_in"], row["status"]) == ("Ada Lovelace", "2026-11-20T08:00:00+08:00", "approved")
    assert row["breaks"] == (
        "2026-11-20T12:00:00+08:00/2026-11-20T12:30:00+08:00, 2026-11-20T14:00:00+08:00/2026-11-20T15:00:00+08:00"
    )
    lines = (await muster("attendance:export", "--format", "jsonl")).out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [record_id]
    assert (await muster("attendance:export", "--json")).json == [json.loads(line) for line in lines]
    assert (await muster("attendance:export", "--to", "2026-11-19", "--format", "jsonl")).out == ""
    assert (await muster("attendance:delete", record_id)).code == 0
    assert (await muster("attendance:export", "--format", "jsonl")).out == ""
    async with database.shared_transaction() as db:
        acts = list(await db.scalars(select(AuditEntry.act).where(AuditEntry.subject_type == "attendance")))
    assert acts == ["attendance.add", "attendance.edit", "attendance.decide", "attendance.delete"]


async def test_a_cell_that_a_spreadsheet_would_run_is_guarded_in_the_export(
    muster: CommandLine, database: Database, ada: int
) -> None:
    await muster("attendance:add", "7", "2026-11-20T08:00", "2026-11-20T17:00", "--note", "=cmd|' /C calc'!A0")
    (row,) = csv.DictReader(io.StringIO((await muster("attendance:export")).out))
    assert row["note"].startswith("'=")


@pytest.mark.usefixtures("ada")
async def test_refused_attendance_is_one_line(muster: CommandLine, database: Database) -> None:
    assert "99" in (await muster("attendance:add", "99", "2026-11-20T08:00", "2026-11-20T17:00")).refusal
    assert (await muster("attendance:add", "7", "2026-11-20T17:00", "2026-11-20T08:00")).refusal
    assert (await muster("attendance:add", "7", "2026-11-20T08:00", "2026-11-20T17:00")).code == 0
    assert (await muster("attendance:add", "7", "2026-11-20T09:00", "2026-11-20T10:00")).refusal
    assert (await muster("attendance:edit", 4711, "--note", "x")).refusal
    assert (await muster("attendance:decide", 4711, "approved")).refusal
    assert (await muster("attendance:delete", 4711)).refusal
    assert await count(database, AttendanceRecord) == 1


async def test_a_time_in_the_future_is_refused_unless_the_record_has_it_already(
    muster: CommandLine, database: Database, ada: int
) -> None:
    now = datetime.now(UTC)
    tomorrow, later = (now + timedelta(days=days) for days in (1, 2))
    refused = "This time is in the future. Check the date."
    assert (await muster("attendance:add", "7", now - timedelta(hours=1), tomorrow)).refusal == refused
    assert await count(database, AttendanceRecord) == 0
    async with database.transaction() as db:
        record = await attendance.add(db, SYSTEM, ada, Hours(now - timedelta(hours=1), tomorrow))
    assert (await muster("attendance:edit", record, "--out", later)).refusal == refused
    # A change of other values is no reason to refuse a time that stands.
    assert (await muster("attendance:edit", record, "--note", "On call", "--json")).json["changed"]


async def test_an_id_number_that_two_people_share_is_refused(muster: CommandLine, database: Database, ada: int) -> None:
    async with database.transaction() as db:
        await people.add(db, SYSTEM, people.EmployeeDetails(" 7 ", "Ada Twice"))
    assert "share" in (await muster("attendance:add", "7", "2026-11-20T08:00", "2026-11-20T17:00")).refusal


@pytest.mark.usefixtures("ada")
async def test_locked_days_refuse_edits_until_they_are_unlocked(muster: CommandLine, database: Database) -> None:
    locked = await muster("attendance:lock", "2026-11-19", "2026-11-20", "--json")
    assert locked.json == {"locked": ["2026-11-19", "2026-11-20"]}
    assert "locked" in (await muster("attendance:add", "7", "2026-11-20T08:00", "2026-11-20T17:00")).refusal
    assert (await muster("attendance:lock", "2026-11-20", "2026-11-21")).out == "1 day was locked.\n"
    assert (await muster("attendance:unlock", "2026-11-19", "2026-11-21")).out == "3 days were unlocked.\n"
    assert await count(database, DayLock) == 0
    assert (await muster("attendance:lock", "2026-11-20", "2026-11-19")).refusal


def test_the_demo_staff_has_every_gap_and_the_same_people_for_the_same_seed() -> None:
    wanted = demo.staff(200, 7)
    assert wanted == demo.staff(200, 7)
    assert wanted[:20] == demo.staff(25, 7)[:20]
    assert {one.gap for one in wanted} == {"", "renamed", "doubled", "kiosk", "inactive"}
    doubled = [one for one in wanted if one.gap == "doubled"]
    assert len({one.id_number for one in doubled}) * 2 == len(doubled) > 0
    assert all(one.kiosk_code for one in wanted if one.gap == "kiosk")


async def test_seeding_can_be_rehearsed_done_twice_and_taken_back_exactly(
    muster: CommandLine, database: Database, ada: int
) -> None:
    rehearsed = await muster("db:seed", "ClockDemo", "--dry-run", "--json")
    assert await count(database, Employee) == 1
    made = await muster("db:seed", "ClockDemo", "--json")
    assert made.json["employees"] == rehearsed.json["employees"]
    assert await count(database, Employee) == 1 + len(made.json["employees"])
    assert (await muster("db:seed", "ClockDemo")).out == "0 employees were added.\n"
    removed = await muster("db:seed", "ClockDemo", "--remove", "--json")
    assert removed.json["removed"] == len(made.json["employees"])
    async with database.transaction() as db:
        assert list(await db.scalars(select(Employee.id).where(Employee.deleted_at.is_(None)))) == [ada]
        assert await db.scalar(select(func.count()).select_from(KioskEnrolment)) == 0
    assert (await muster("db:seed", "ClockDemo", "--remove", "--json")).json["removed"] == 0
    assert (await muster("db:seed", "ClockDemo", "--remove", "--workspace", "acme")).code == 0


async def test_a_seeded_person_that_somebody_edited_is_left_as_they_are(
    muster: CommandLine, database: Database
) -> None:
    await muster("db:seed", "ClockDemo")
    async with database.transaction() as db:
        first = (await db.scalars(select(Employee).order_by(Employee.id).limit(1))).one()
        changed = people.EmployeeDetails(first.id_number, first.name, department="Moved")
        await people.edit(db, SYSTEM, first.id, changed)
    assert (await muster("db:seed", "ClockDemo")).out == "0 employees were added.\n"
    async with database.transaction() as db:
        assert await db.scalar(select(Employee.department).where(Employee.id == first.id)) == "Moved"
