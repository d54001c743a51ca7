"""What a person decides about punches: Retry, Use the punches, Keep the record; what is written and what is refused."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest
from sqlalchemy import func, select, text, true, update

from app.accounts.audit import SYSTEM
from app.accounts.models import Job
from app.clock.importing import batch
from app.clock.models import Binding, Punch
from app.clock.review import decisions, settling
from app.clock.review.decisions import Resolved, Unusable
from app.db.session import Database
from app.errors import Conflict, NotFound
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import AttendanceRecord
from tests.clock.mirror_store import when
from tests.clock.mirrored import employ, everything_due, mirror_person, outcomes, punch
from tests.clock.resolved import ada_works, columns_of, id_of, import_all, record_id, records_of, then, why_of
from tests.cluster import DatabaseUrls
from tests.host.staff import ALICE, acts_on


async def use(database: Database, local: str, *, agreed: str | None = None) -> Resolved:
    punch_id = await id_of(database, local)
    async with database.transaction() as db:
        return await decisions.use_punches(db, ALICE, punch_id, agreed=agreed)


async def retry(database: Database, *locals_: str) -> Resolved:
    ids = [await id_of(database, one) for one in locals_]
    async with database.transaction() as db:
        return await decisions.retry(db, ALICE, Punch.id.in_(ids))


async def keep(database: Database, local: str) -> Resolved:
    punch_id = await id_of(database, local)
    async with database.transaction() as db:
        return await settling.keep_record(db, ALICE, Punch.id == punch_id)


async def words(database: Database, code: str = "100") -> list[tuple[str, str | None]]:
    async with database.transaction() as db:
        return await outcomes(db, code)


async def late_in(database: Database) -> int:
    """Case 22b of the page: a second clock-in, of a shift that its record reaches beyond."""
    ada = await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    assert (await words(database))[1] == ("10:00", "arrived_late")
    return ada


async def test_using_the_punches_makes_the_record_what_the_shift_is_now(database: Database) -> None:
    ada = await late_in(database)
    resolved = await use(database, "Mon 10:00")
    assert resolved == Resolved(3, {"imported": 2, "only_one_punch": 1})
    assert await words(database) == [("08:00", "only_one_punch"), ("10:00", "imported"), ("17:00", "imported")]
    assert await records_of(database) == [(ada, "Mon 10:00-17:00")]
    async with database.transaction() as db:
        await everything_due(db)
    await import_all(database)
    assert await records_of(database) == [(ada, "Mon 10:00-17:00")]


async def test_the_released_tap_forgets_its_record(database: Database) -> None:
    await late_in(database)
    await use(database, "Mon 10:00")
    released = await columns_of(database, await id_of(database, "Mon 08:00"))
    assert (released.host_attendance_id, released.imported_at_utc, released.imported_role) == (None, None, None)


async def test_two_records_become_one_and_the_audit_says_so(database: Database) -> None:
    ada = await ada_works(database, "a 08:00, a 12:00, a 21:00, a 23:00", direction="undirected")
    first, second = await record_id(database), await record_id(database, 1)
    await then(database, "a 16:00")
    assert ("16:00", "arrived_late") in await words(database)
    await use(database, "Mon 16:00")
    assert await records_of(database) == [(ada, "Mon 08:00-23:00")]
    assert {outcome for _, outcome in await words(database)} == {"imported"}
    async with database.transaction() as db:
        (entry,) = await acts_on(db, "attendance", first)
        assert entry.before is not None
        assert entry.after is not None
        assert (entry.before["clock_out"], entry.after["clock_out"]) == ("2026-03-02T12:00:00Z", "2026-03-02T23:00:00Z")
        (entry,) = await acts_on(db, "attendance", second)
        assert entry.after == {"deleted": True, "punch": await id_of(database, "Mon 16:00")}
        deleted = await db.scalar(select(AttendanceRecord).where(AttendanceRecord.id == second))
        assert deleted is not None
        assert deleted.deleted_by == ALICE.name
        assert len(await acts_on(db, "punch", await id_of(database, "Mon 16:00"))) == 1


async def test_after_a_rebinding_the_record_gets_the_new_owner(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        bea = await employ(db, "Bea")
        await db.execute(update(Binding).values(host_employee_id=bea))
        await everything_due(db)
    await import_all(database)
    assert {word for _, word in await words(database)} == {"arrived_late"}
    await use(database, "Mon 08:00")
    assert await records_of(database) == [(bea, "Mon 08:00-17:00")]
    assert {word for _, word in await words(database)} == {"imported"}


async def test_taps_of_another_code_that_stay_behind_are_judged_for_their_own_employee(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await mirror_person(db, "200", ada)
    await then(database, "bo 12:00, bi 13:00, O 17:00", "200")
    async with database.transaction() as db:
        await punch(db, "100", "O 18:00")
        bea = await employ(db, "Bea")
        await db.execute(update(Binding).where(Binding.emp_code == "100").values(host_employee_id=bea))
        await everything_due(db)
    await import_all(database)
    await use(database, "Mon 08:00")
    assert await records_of(database) == [(bea, "Mon 08:00-18:00")]
    assert await words(database, "200") == [
        ("12:00", "only_one_punch"),
        ("13:00", "only_one_punch"),
        ("17:00", "only_one_punch"),
    ]


@pytest.mark.parametrize(
    ("happened", "words_"),
    [
        ("approved", "which is approved"),
        ("edited", "a person set its times"),
        ("locked", "is closed for attendance edits"),
    ],
)
async def test_it_is_refused_with_the_reason_and_nothing_is_written(
    database: Database, happened: str, words_: str
) -> None:
    await late_in(database)
    number, day = await record_id(database), when("08:00").date()
    async with database.transaction() as db:
        if happened == "approved":
            await attendance.decide(db, SYSTEM, [number], "approved")
        elif happened == "edited":
            await attendance.edit(db, SYSTEM, number, Hours(when("08:00"), when("17:30")))
        else:
            await day_locks.lock(db, SYSTEM, day, day)
    before = await records_of(database)
    with pytest.raises(Conflict, match=words_):
        await use(database, "Mon 10:00")
    assert await records_of(database) == before


async def test_it_does_only_what_the_person_was_told(database: Database) -> None:
    await late_in(database)
    agreed = (await why_of(database, "Mon 10:00")).use
    assert agreed is not None
    await then(database, "bo 12:00, bi 13:00")
    with pytest.raises(Conflict, match="Something has changed"):
        await use(database, "Mon 10:00", agreed=agreed.agreed)
    again = (await why_of(database, "Mon 10:00")).use
    assert again is not None
    await use(database, "Mon 10:00", agreed=again.agreed)


async def test_a_punch_that_is_not_late_has_nothing_to_use(database: Database) -> None:
    await ada_works(database, "I 08:00")
    with pytest.raises(Conflict, match="no longer count as late arrivals"):
        await use(database, "Mon 08:00")
    async with database.transaction() as db:
        with pytest.raises(NotFound):
            await decisions.use_punches(db, ALICE, 987654321)


async def test_a_code_without_an_employee_has_nothing_to_use(database: Database) -> None:
    await late_in(database)
    async with database.transaction() as db:
        await db.execute(update(Binding).values(state="unbound", host_employee_id=None, method=None))
    with pytest.raises(Unusable, match="This code is no longer bound"):
        await use(database, "Mon 10:00")


async def test_of_two_who_decide_at_once_one_is_refused(database: Database) -> None:
    ada = await late_in(database)
    came = await asyncio.gather(use(database, "Mon 10:00"), use(database, "Mon 10:00"), return_exceptions=True)
    assert sorted(type(one).__name__ for one in came) == ["Resolved", "Unusable"]
    assert await records_of(database) == [(ada, "Mon 10:00-17:00")]


async def test_keeping_the_record_settles_the_punch_also_after_a_retry(database: Database) -> None:
    ada = await late_in(database)
    assert (await keep(database, "Mon 10:00")).punches == 1
    async with database.transaction() as db:
        await everything_due(db)
    await import_all(database)
    kept = await columns_of(database, await id_of(database, "Mon 10:00"))
    assert (kept.import_outcome, kept.settled_by) == ("arrived_late", ALICE.name)
    assert await records_of(database) == [(ada, "Mon 08:00-17:00")]
    assert (await keep(database, "Mon 10:00")).punches == 0
    assert (await why_of(database, "Mon 10:00")).keep is None
    await retry(database, "Mon 10:00")
    assert (await columns_of(database, await id_of(database, "Mon 10:00"))).settled_by == ALICE.name


async def test_only_what_arrived_late_can_be_kept(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00, I Tue 08:00")
    assert (await keep(database, "Mon 08:00")).punches == 0
    assert (await keep(database, "Tue 08:00")).punches == 0


async def test_a_retry_makes_a_deleted_record_again(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [await record_id(database)])
    assert await retry(database, "Mon 08:00") == Resolved(1, {"imported": 1})
    assert await records_of(database) == [(ada, "Mon 08:00-17:00")]
    async with database.transaction() as db:
        (entry,) = await acts_on(db, "punch", await id_of(database, "Mon 08:00"))
        assert (entry.act, entry.before) == ("clock.retry", {"outcomes": {"attendance_deleted": 1}})
        assert entry.after == {"outcomes": {"imported": 1}, "retry": True}


async def test_a_retry_leaves_what_stands(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    before = await columns_of(database, await id_of(database, "Mon 08:00"))
    assert await retry(database, "Mon 08:00", "Mon 17:00") == Resolved(0, None)
    assert await columns_of(database, before.id) == before


async def test_a_retry_of_many_people_is_left_to_the_import(database: Database) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        for number in range(batch.MOST_CODES):
            await mirror_person(db, f"9{number}", await employ(db, f"Person {number}"))
            await punch(db, f"9{number}", "I 08:00")
    await import_all(database)
    async with database.transaction() as db:
        await db.execute(update(Job).values(status="done"))
        assert await decisions.retry(db, ALICE, true()) == Resolved(batch.MOST_CODES + 1, None)
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Job).where(Job.status == "queued")) == 1
        due = select(func.count()).select_from(Punch).where(Punch.judge_at <= func.clock_timestamp())
        assert await db.scalar(due) == batch.MOST_CODES + 1


async def test_an_import_that_breaks_leaves_the_marks_to_the_next_one(database: Database, urls: DatabaseUrls) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [await record_id(database)])
    owner = Database(urls.owner)
    try:
        async with owner.transaction() as db:
            await db.execute(
                text("ALTER TABLE attendance_records ADD CONSTRAINT nothing_goes CHECK (source <> 'clock') NOT VALID")
            )
        assert await retry(database, "Mon 08:00") == Resolved(1, None)
    finally:
        async with owner.transaction() as db:
            await db.execute(text("ALTER TABLE attendance_records DROP CONSTRAINT IF EXISTS nothing_goes"))
        await owner.close()
    await import_all(database)
    assert len(await records_of(database)) == 1


async def test_acts_and_imports_at_the_same_time_do_not_block_each_other(database: Database) -> None:
    ada = await late_in(database)
    async with database.transaction() as db:
        await everything_due(db)
    together: list[Awaitable[Any]] = [import_all(database), import_all(database)]
    together += [retry(database, "Mon 10:00"), retry(database, "Mon 10:00")]
    came = await asyncio.wait_for(asyncio.gather(*together, return_exceptions=True), 30)
    assert [one for one in came if isinstance(one, BaseException)] == []
    await import_all(database)
    assert await records_of(database) == [(ada, "Mon 08:00-17:00")]
    assert (await words(database))[1] == ("10:00", "arrived_late")
