"""What is judged again by itself after an act (docs/rules.md, "When a punch is judged again"): no *Retry* is needed."""

from datetime import timedelta

from sqlalchemy import select, update

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.models import ClockEmployee, Punch
from app.clock.review import decisions
from app.db.session import Database
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from tests.clock.mirror_store import when
from tests.clock.mirrored import employ, mirror_person, mirror_terminal, outcomes, punch
from tests.clock.resolved import ada_works, id_of, import_all, records_of, then

MONDAY = when("08:00").date()


async def words(database: Database) -> list[str | None]:
    async with database.transaction() as db:
        return [word for _, word in await outcomes(db)]


async def lock(database: Database, days_later: int) -> None:
    day = MONDAY + timedelta(days=days_later)
    async with database.transaction() as db:
        await day_locks.lock(db, SYSTEM, day, day)


async def unlock(database: Database, days_later: int) -> None:
    day = MONDAY + timedelta(days=days_later)
    async with database.transaction() as db:
        await day_locks.unlock(db, SYSTEM, day, day)
    await import_all(database)


async def person_of(database: Database, code: str) -> int:
    async with database.transaction() as db:
        return await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == code)) or 0


async def bind(database: Database, code: str, employee_id: int) -> None:
    person = await person_of(database, code)
    async with database.transaction() as db:
        await bindings.bind(db, SYSTEM, person, employee_id)
    await import_all(database)


async def clear(database: Database, code: str) -> None:
    person = await person_of(database, code)
    async with database.transaction() as db:
        await bindings.clear(db, SYSTEM, [person])
    await import_all(database)


async def test_unlocking_the_day_of_the_record_reaches_the_tap_of_the_day_before(database: Database) -> None:
    await ada_works(database, "a Tue 00:30, a Tue 08:00", direction="undirected")
    await lock(database, 1)
    await then(database, "a Mon 23:50")
    assert await words(database) == ["date_locked", "imported", "imported"]
    await unlock(database, 1)
    assert await words(database) == ["imported"] * 3


async def test_unlocking_the_day_of_the_first_tap_reaches_two_days_further(database: Database) -> None:
    ada = await ada_works(database, "I Mon 23:50, O Tue 23:45")
    await lock(database, 0)
    async with database.transaction() as db:
        await mirror_terminal(db, "T2", direction="undirected")
        await punch(db, "100", "a Wed 00:05", sn="T2")
    await import_all(database)
    assert await words(database) == ["imported", "imported", "date_locked"]
    await unlock(database, 0)
    assert await words(database) == ["imported"] * 3
    assert await records_of(database) == [(ada, "Mon 23:50-23:45")]


async def test_giving_a_record_to_another_employee_frees_the_hours_of_the_old_owner(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        bea = await employ(db, "Bea")
        await mirror_person(db, "200", ada)
    await bind(database, "100", bea)
    await then(database, "I 09:00, O 11:00", "200")
    assert await words(database) == ["arrived_late", "overlaps", "overlaps", "arrived_late"]
    late = await id_of(database, "Mon 08:00")
    async with database.transaction() as db:
        await decisions.use_punches(db, SYSTEM, late)
    await import_all(database)
    assert await words(database) == ["imported"] * 4
    assert await records_of(database) == [(bea, "Mon 08:00-17:00"), (ada, "Mon 09:00-11:00")]


async def test_a_fold_stands_for_itself_once_the_code_of_its_own_tap_is_cleared(database: Database) -> None:
    ada = await ada_works(database, "a 13:00", direction="undirected")
    async with database.transaction() as db:
        await mirror_person(db, "200", ada)
    await then(database, "a 12:29:59, a 13:00", "200")
    assert await words(database) == ["imported", "imported", "repeat_tap"]
    await clear(database, "100")
    assert await words(database) == ["imported"] * 3
    await then(database, "a Tue 02:24", "200")
    assert await words(database) == ["imported", "imported", "imported", "only_one_punch"]
    assert await records_of(database) == [(ada, "Mon 12:29-13:00")]


async def test_a_retry_before_the_record_was_deleted_does_not_bring_it_back(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await db.execute(update(Punch).values(retry=True))
        await attendance.remove(db, SYSTEM, [await db.scalar(select(AttendanceRecord.id)) or 0])
    await import_all(database)
    assert await words(database) == ["attendance_deleted"] * 2


async def test_nor_does_one_of_a_punch_that_left_the_record_when_the_server_edited_it(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        record = await db.scalar(select(AttendanceRecord.id)) or 0
        left = {"host_attendance_id": None, "edited_record_id": record, "edited_from_utc": Punch.punched_at_utc}
        await db.execute(update(Punch).where(Punch.punch_code == 1).values(**left, retry=True))
        await attendance.remove(db, SYSTEM, [record])
    await import_all(database)
    assert await words(database) == ["attendance_deleted"] * 2


async def test_a_fold_remembers_the_punch_that_it_repeats(database: Database) -> None:
    await ada_works(database, "I 08:00, I 08:03, O 17:00")
    async with database.transaction() as db:
        rows = {
            f"{at:%H:%M}": (own, repeats)
            for own, at, repeats in await db.execute(select(Punch.id, Punch.punched_at_local, Punch.repeats_id))
        }
    assert {at: repeats for at, (_, repeats) in rows.items()} == {
        "08:00": None,
        "08:03": rows["08:00"][0],
        "17:00": None,
    }


async def test_a_punch_inside_a_record_made_by_hand_says_so_until_the_record_changes(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    assert await words(database) == ["only_one_punch"]
    async with database.transaction() as db:
        record = await attendance.add(db, SYSTEM, ada, Hours(when("07:00"), when("15:00")))
    await import_all(database)
    assert await words(database) == ["overlaps"]
    async with database.transaction() as db:
        await attendance.edit(db, SYSTEM, record, Hours(when("09:00"), when("15:00")))
    await import_all(database)
    assert await words(database) == ["only_one_punch"]
    async with database.transaction() as db:
        await attendance.edit(db, SYSTEM, record, Hours(when("07:30"), when("15:00")))
    await import_all(database)
    assert await words(database) == ["overlaps"]
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [record])
    await import_all(database)
    assert await words(database) == ["only_one_punch"]
