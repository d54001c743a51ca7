"""A person settles punches, a record made by hand settles those inside it,
and the mark ends when the outcome changes."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update

from app.accounts.audit import SYSTEM, Actor
from app.accounts.models import AuditEntry
from app.clock.bindings import actions as bindings
from app.clock.importing import rows as import_rows
from app.clock.importing.rows import JudgedPunch
from app.clock.mirror import gone
from app.clock.models import ClockEmployee, Punch, StaleDay
from app.clock.outcomes import SETTLEABLE, Outcome
from app.clock.punches.forgetting_records import forget_record
from app.clock.review import decisions, settling
from app.clock.review.decisions import Resolved
from app.db.session import Database
from app.errors import Invalid
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from tests.clock.mirror_store import when
from tests.clock.mirrored import employ, everything_due, mirror_person, outcomes, punch
from tests.clock.resolved import ada_works, columns_of, id_of, import_all, record_id, then, why_of
from tests.host.staff import ALICE

BOB = Actor(2, "Bob Brandt")

NOTHING = (None, None, None, None)


async def settle(database: Database, local: str, note: str | None = None) -> Resolved:
    punch_id = await id_of(database, local)
    async with database.transaction() as db:
        return await settling.settle(db, ALICE, Punch.id == punch_id, note)


async def unsettle(database: Database, local: str) -> Resolved:
    punch_id = await id_of(database, local)
    async with database.transaction() as db:
        return await settling.unsettle(db, BOB, Punch.id == punch_id)


async def mark_of(database: Database, local: str) -> tuple[Any, ...]:
    """Whether it has a time, then who, the note and the record."""
    row = await columns_of(database, await id_of(database, local))
    return (row.settled_at_utc is not None or None, row.settled_by, row.settled_note, row.covered_by_id)


async def judge_all(database: Database) -> None:
    async with database.transaction() as db:
        await everything_due(db)
    await import_all(database)


async def by_hand(database: Database, person: int, start: str, end: str) -> int:
    async with database.transaction() as db:
        record = await attendance.add(db, SYSTEM, person, Hours(when(start), when(end)))
    await import_all(database)
    return record


@pytest.mark.parametrize("outcome", [None, *Outcome])
async def test_exactly_what_may_need_a_person_can_be_settled(database: Database, outcome: Outcome | None) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await db.execute(update(Punch).values(import_outcome=outcome))
    assert (await settle(database, "Mon 08:00")).punches == (outcome in SETTLEABLE)


async def test_settling_notes_who_when_and_why_and_tells_the_audit_and_those_who_follow(database: Database) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await db.execute(update(Punch).values(updated_at=when("09:00")))
        await db.execute(delete(StaleDay))
    assert await settle(database, "Mon 08:00", "Sent home") == Resolved(1, {"only_one_punch": 1})
    row = await columns_of(database, await id_of(database, "Mon 08:00"))
    assert (row.import_outcome, row.settled_by, row.settled_note) == ("only_one_punch", ALICE.name, "Sent home")
    assert row.updated_at == row.settled_at_utc > when("09:00")
    async with database.transaction() as db:
        assert list(await db.scalars(select(StaleDay.local_date))) == [when("08:00").date()]
        entry = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "clock.settle"))).one()
    assert (entry.actor_name, entry.subject_id) == (ALICE.name, str(row.id))
    assert entry.before == {"settled": False}
    assert entry.after == {"settled": True, "outcomes": {"only_one_punch": 1}, "note": "Sent home"}
    assert (await settle(database, "Mon 08:00", "Again")).punches == 0


async def test_not_settled_undoes_it(database: Database) -> None:
    await ada_works(database, "I 08:00")
    assert (await unsettle(database, "Mon 08:00")).punches == 0
    await settle(database, "Mon 08:00", "Sent home")
    async with database.transaction() as db:
        await db.execute(update(Punch).values(updated_at=when("09:00")))
    assert await unsettle(database, "Mon 08:00") == Resolved(1, {"only_one_punch": 1})
    assert await mark_of(database, "Mon 08:00") == NOTHING
    row = await columns_of(database, await id_of(database, "Mon 08:00"))
    assert row.updated_at > when("09:00")
    async with database.transaction() as db:
        entry = (await db.scalars(select(AuditEntry).where(AuditEntry.act == "clock.unsettle"))).one()
    assert (entry.actor_name, entry.before, entry.after) == (
        BOB.name,
        {"settled": True},
        {"settled": False, "outcomes": {"only_one_punch": 1}},
    )


async def test_a_note_that_cannot_be_kept_is_refused(database: Database) -> None:
    await ada_works(database, "I 08:00")
    with pytest.raises(Invalid, match="at most 1,000 characters"):
        await settle(database, "Mon 08:00", "x" * 1001)
    with pytest.raises(Invalid, match="can't be stored"):
        await settle(database, "Mon 08:00", "a\x00b")
    assert (await settle(database, "Mon 08:00", f" {'x' * 1000} ")).punches == 1


async def test_judging_again_and_a_retry_keep_the_mark_while_the_outcome_stays(database: Database) -> None:
    await ada_works(database, "I 08:00")
    await settle(database, "Mon 08:00", "Sent home")
    await judge_all(database)
    punch_id = await id_of(database, "Mon 08:00")
    async with database.transaction() as db:
        assert (await decisions.retry(db, ALICE, Punch.id == punch_id)).outcomes == {"only_one_punch": 1}
    assert await mark_of(database, "Mon 08:00") == (True, ALICE.name, "Sent home", None)


async def test_another_outcome_ends_the_mark(database: Database) -> None:
    await ada_works(database, "I 08:00")
    await settle(database, "Mon 08:00")
    await then(database, "O 17:00")
    async with database.transaction() as db:
        assert await outcomes(db) == [("08:00", "imported"), ("17:00", "imported")]
    assert await mark_of(database, "Mon 08:00") == NOTHING


async def test_what_a_person_settles_while_the_import_judges_stays_settled(database: Database) -> None:
    await ada_works(database, "I 08:00")
    punch_id = await id_of(database, "Mon 08:00")
    judged = JudgedPunch(punch_id, "only_one_punch", None, None, None, False, False, None, None, None, False)
    await settle(database, "Mon 08:00", "Sent home")
    async with database.transaction() as db:
        await import_rows.store_verdicts(db, [judged])
    assert await mark_of(database, "Mon 08:00") == (True, ALICE.name, "Sent home", None)


# What is judged without the pairing core, and what turns at once.


async def test_an_unbound_code_keeps_its_mark_until_it_is_bound(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await mirror_person(db, "200")
        await punch(db, "200", "I Fri 08:00")
    await import_all(database)
    friday = await id_of(database, "Fri 08:00", "200")
    async with database.transaction() as db:
        await settling.settle(db, ALICE, Punch.id == friday, "A test card")
    await judge_all(database)
    row = await columns_of(database, friday)
    assert (row.import_outcome, row.settled_note) == ("not_bound", "A test card")
    async with database.transaction() as db:
        person = await db.scalar(select(ClockEmployee.id).where(ClockEmployee.emp_code == "200")) or 0
        await bindings.bind(db, SYSTEM, person, ada)
    await import_all(database)
    row = await columns_of(database, friday)
    assert (row.import_outcome, row.settled_at_utc, row.settled_by, row.settled_note) == (
        "only_one_punch",
        None,
        None,
        None,
    )


async def test_a_code_that_is_cleared_ends_the_mark_of_another_outcome(database: Database) -> None:
    await ada_works(database, "I 08:00")
    await settle(database, "Mon 08:00")
    async with database.transaction() as db:
        await bindings.clear(db, SYSTEM, [await db.scalar(select(ClockEmployee.id)) or 0])
    await import_all(database)
    async with database.transaction() as db:
        assert await outcomes(db) == [("08:00", "not_bound")]
    assert await mark_of(database, "Mon 08:00") == NOTHING


async def test_a_code_that_goes_to_another_employee_begins_without_a_mark(database: Database) -> None:
    await ada_works(database, "I 08:00")
    await settle(database, "Mon 08:00")
    async with database.transaction() as db:
        person = await db.scalar(select(ClockEmployee.id)) or 0
        await bindings.bind(db, SYSTEM, person, await employ(db, "Bea"))
        assert (await db.execute(select(Punch.import_outcome, Punch.settled_by))).all() == [(None, None)]


async def late(database: Database) -> int:
    """A record of Ada's, and a punch that arrived after it; the record."""
    await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    return await record_id(database)


async def test_deleting_the_record_ends_the_mark_of_its_late_punches(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        person = await db.scalar(select(ClockEmployee.id)) or 0
        await bindings.bind(db, SYSTEM, person, await employ(db, "Bea"))
    await import_all(database)
    assert (await settle(database, "Mon 08:00")).punches == 1
    record = await record_id(database)
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [record])
    assert await mark_of(database, "Mon 08:00") == NOTHING


async def test_using_the_punches_ends_the_mark(database: Database) -> None:
    await late(database)
    await settle(database, "Mon 10:00")
    punch_id = await id_of(database, "Mon 10:00")
    async with database.transaction() as db:
        await decisions.use_punches(db, ALICE, punch_id)
    assert await mark_of(database, "Mon 10:00") == NOTHING


async def test_a_released_punch_has_no_mark(database: Database) -> None:
    await late(database)
    await settle(database, "Mon 10:00")
    async with database.transaction() as db:
        await forget_record(db, Punch.emp_code == "100")
    assert await mark_of(database, "Mon 10:00") == NOTHING


async def test_a_punch_that_goes_needs_a_person_only_where_it_has_a_record(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00, I Tue 08:00")
    await settle(database, "Tue 08:00")
    async with database.transaction() as db:
        await db.execute(update(Punch).where(Punch.host_attendance_id.is_not(None)).values(settled_at_utc=func.now()))
        await gone.mark(db, list(await db.scalars(select(Punch.id))), when("Wed 08:00"))
    assert await mark_of(database, "Mon 08:00") == NOTHING
    assert await mark_of(database, "Tue 08:00") == (True, ALICE.name, None, None)
    assert (await settle(database, "Mon 08:00")).punches == 1
    assert (await settle(database, "Tue 08:00")).punches == 0


async def test_an_edit_of_the_record_settles_its_gone_punch_in_the_name_of_the_editor(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    out = await id_of(database, "Mon 17:00")
    record = await record_id(database)
    async with database.transaction() as db:
        await gone.mark(db, [out], when("Tue 08:00"))
        await attendance.edit(db, BOB, record, Hours(when("08:00"), when("16:00")))
    assert await mark_of(database, "Mon 17:00") == (True, BOB.name, "The record was edited.", None)


# Inside a record made by hand.


async def test_a_punch_inside_a_record_made_by_hand_is_settled_from_the_start(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    record = await by_hand(database, ada, "07:00", "15:00")
    assert await mark_of(database, "Mon 08:00") == (True, None, None, record)
    since = (await columns_of(database, await id_of(database, "Mon 08:00"))).settled_at_utc
    await judge_all(database)
    row = await columns_of(database, await id_of(database, "Mon 08:00"))
    assert (row.settled_at_utc, row.covered_by_id) == (since, record)
    assert (await settle(database, "Mon 08:00")).punches == 0
    assert (await unsettle(database, "Mon 08:00")).punches == 0
    found = await why_of(database, "Mon 08:00")
    assert (found.settle, found.unsettle) == (None, None)


async def test_it_needs_a_person_again_without_the_record(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    record = await by_hand(database, ada, "07:00", "15:00")
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [record])
    await import_all(database)
    assert await mark_of(database, "Mon 08:00") == NOTHING


async def test_a_whole_shift_in_the_same_record_is_not_settled_though_the_outcome_is_the_same(
    database: Database,
) -> None:
    ada = await ada_works(database, "I 08:00")
    await by_hand(database, ada, "07:00", "15:00")
    await then(database, "O 14:00")
    async with database.transaction() as db:
        assert await outcomes(db) == [("08:00", "overlaps"), ("14:00", "overlaps")]
    assert await mark_of(database, "Mon 08:00") == NOTHING


async def test_a_persons_mark_stays_while_a_record_made_by_hand_comes_to_hold_the_punch(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    await by_hand(database, ada, "07:00", "15:00")
    await then(database, "O 14:00")
    await settle(database, "Mon 08:00", "Paid by hand")
    out = await id_of(database, "Mon 14:00")
    async with database.transaction() as db:
        await gone.mark(db, [out], when("Tue 08:00"))
    await import_all(database)
    mark = await mark_of(database, "Mon 08:00")
    assert mark[1:3] == (ALICE.name, "Paid by hand")
    assert mark[3] is not None
    await unsettle(database, "Mon 08:00")
    assert await mark_of(database, "Mon 08:00") == (True, None, None, mark[3])


async def test_many_are_settled_at_once_with_one_row_in_the_audit(database: Database) -> None:
    await ada_works(database, "I 08:00, I Tue 08:00, I Wed 08:00, O Wed 17:00")
    async with database.transaction() as db:
        done = await settling.settle(db, ALICE, Punch.punched_at_utc < when("Fri 08:00"), "Checked")
    assert done == Resolved(2, {"only_one_punch": 2})
    assert [await mark_of(database, at) for at in ("Mon 08:00", "Tue 08:00")] == [
        (True, ALICE.name, "Checked", None)
    ] * 2
    async with database.transaction() as db:
        assert await db.scalar(select(AuditEntry.subject_id).where(AuditEntry.act == "clock.settle")) == "2 punches"
        days = set(await db.scalars(select(StaleDay.local_date)))
    assert days >= {when("08:00").date(), when("08:00").date() + timedelta(days=1)}
