"""*Why?* leads with the one thing that changes the outcome, named with its effect, and does it only as it was named."""

import asyncio
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import select, text, update

from app.accounts.audit import SYSTEM
from app.clock.bindings import actions as bindings
from app.clock.importing import facts
from app.clock.models import Binding, Device, Punch
from app.clock.review import fixes
from app.clock.review.fixes import Fix
from app.db.session import Database
from app.errors import Conflict
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.models import Employee
from app.host.people import people
from tests.clock.clock_worker import until
from tests.clock.mirror_store import when
from tests.clock.mirrored import connect, employ, mirror_person, mirror_terminal, punch
from tests.clock.resolved import ada_works, id_of, import_all, record_id, then, why_of

_WAITS_FOR_A_LOCK = text(
    "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


async def suggested(database: Database) -> None:
    """Code 7 is suggested to be Ben Okri's, and three of its punches wait."""
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T1")
        await employ(db, "Ben Okri", "200")
        await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
        await bindings.match_all(db)
    await then(database, "I 08:00, O 17:00, I Tue 08:00", "7")


async def test_a_suggestion_is_accepted_from_the_punch(database: Database) -> None:
    await suggested(database)
    found = (await why_of(database, "Mon 08:00", "7")).fix
    assert found == Fix("Accept Ben Okri: 3 punches", fixes.BINDS, act="accept")
    async with database.transaction() as db:
        said = await fixes.accept(db, SYSTEM, await id_of(database, "Mon 08:00", "7"), found.label)
    assert said == "7 was bound. Its punches are judged by the next import."
    await import_all(database)
    after = await why_of(database, "Mon 08:00", "7")
    assert (after.label, after.fix) == ("Imported", None)


async def test_what_the_button_said_is_what_is_agreed_to(database: Database) -> None:
    await suggested(database)
    punch_id = await id_of(database, "Mon 08:00", "7")
    await then(database, "O Tue 17:00", "7")
    for verb in (fixes.accept, fixes.set_terminal):
        with pytest.raises(Conflict, match="Look at the punch again"):
            async with database.transaction() as db:
                await verb(db, SYSTEM, punch_id, "Accept Ben Okri: 3 punches")
    async with database.transaction() as db:
        assert await db.scalar(select(Binding.state)) == "suggested"


@pytest.mark.parametrize("name", ["Ben Okri", "Benn Okri"])
async def test_accept_waits_for_a_pass_and_binds_only_whom_the_button_named(database: Database, name: str) -> None:
    """The pass suggests somebody else, perhaps of the same name."""
    async with database.transaction() as db:
        await connect(db)
        await mirror_terminal(db, "T1")
        await employ(db, name, "200")
        await mirror_person(db, "7", full_name="Okri, Ben", seen=1)
        await bindings.match_all(db)
    await then(database, "I 08:00, O 17:00", "7")
    found, punch_id = (await why_of(database, "Mon 08:00", "7")).fix, await id_of(database, "Mon 08:00", "7")
    assert found is not None

    async def press() -> str:
        async with database.transaction() as db:
            return await fixes.accept(db, SYSTEM, punch_id, found.label, found.host_employee_id)

    async with database.transaction() as db:
        await bindings.match_all(db)
        pressed = asyncio.create_task(press())
        await until(lambda: db.scalar(_WAITS_FOR_A_LOCK))
        if name == "Ben Okri":
            await db.execute(update(Employee).values(active=False))
        await employ(db, "Ben Okri", "300")
        await bindings.match_all(db)
    with pytest.raises(Conflict, match="Look at the punch again"):
        await pressed
    async with database.transaction() as db:
        assert await db.scalar(select(Binding.state)) == "suggested"


async def test_a_code_that_no_suggestion_names_is_bound_in_its_drawer(database: Database) -> None:
    await suggested(database)
    async with database.transaction() as db:
        await mirror_person(db, "8", full_name="Cleo Marsh", state="not_found", seen=1)
        await mirror_person(db, "9", full_name="Test card", state="ignored", seen=1)
    await then(database, "I 09:00", "8")
    await then(database, "I 10:00", "9")
    bind, ignored = (await why_of(database, "Mon 09:00", "8")).fix, (await why_of(database, "Mon 10:00", "9")).fix
    assert bind is not None
    assert ignored is not None
    assert (bind.label, bind.act, bind.permission) == ("Bind code 8: 1 punch", "", fixes.BINDS)
    assert bind.url.startswith("/clock_employees/")
    assert ignored.label == "Stop ignoring code 9: 1 punch"


async def test_a_suggested_employee_who_has_a_code_is_not_accepted_at_once(database: Database) -> None:
    await suggested(database)
    async with database.transaction() as db:
        ben = await db.scalar(select(Binding.candidates))
        await mirror_person(db, "70", ben[0]["host_employee_id"], full_name="Other card", seen=1)
    found = (await why_of(database, "Mon 08:00", "7")).fix
    assert found is not None
    assert (found.label, found.act) == ("Bind code 7: 3 punches", "")


@pytest.mark.parametrize("marks", ["direction", "kind"])
async def test_a_terminal_is_set_from_the_punch_with_the_number_of_its_punches(database: Database, marks: str) -> None:
    await ada_works(database, "x 08:00, x 17:00")
    if marks == "kind":
        async with database.transaction() as db:
            await db.execute(update(Device).values(kind_mark="access"))
        await then(database, "x Tue 08:00")
        await import_all(database)
    found = (await why_of(database, "Tue 08:00" if marks == "kind" else "Mon 08:00")).fix
    assert found is not None
    words = {"direction": "Read as undirected", "kind": "Mark this terminal as attendance"}
    number = {"direction": "2 punches", "kind": "3 punches"}
    assert found == Fix(f"{words[marks]}: {number[marks]}", fixes.SETS_TERMINALS, act="terminal")
    async with database.transaction() as db:
        punch_id = await id_of(database, "Tue 08:00" if marks == "kind" else "Mon 08:00")
        said = await fixes.set_terminal(db, SYSTEM, punch_id, found.label)
        row = (await db.execute(select(Device.direction, Device.kind_mark))).one()
    assert said.startswith("The terminal was set.")
    assert row == (("undirected", None) if marks == "direction" else (None, "attendance"))
    if marks == "direction":
        await import_all(database)
        assert (await why_of(database, "Mon 08:00")).label == "Imported"


async def test_a_missing_punch_is_added_by_hand_with_the_hours_that_are_known(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, bo 12:00, bi 13:00, O Fri 17:00")
    first, last = (await why_of(database, "Mon 08:00")).fix, (await why_of(database, "Fri 17:00")).fix
    assert first is not None
    assert last is not None
    start = f"/attendance/add?employee=%23{ada}&stay=1&both=1"
    day = when("08:00").date()
    assert first.label == "Add the clock-out"
    assert first.url == (
        f"{start}&clock_in={day}T08%3A00%3A00%2B00%3A00&break_1_out={day}T12%3A00%3A00%2B00%3A00&break_1_back={day}T13%3A00%3A00%2B00%3A00"
    )
    assert (last.label, last.permission) == ("Add the clock-in", "host.attendance.decide")
    assert last.url == f"{start}&clock_out={when('Fri 08:00').date()}T17%3A00%3A00%2B00%3A00"


async def test_the_second_of_two_equal_hours_in_autumn_is_filled_in_as_that(database: Database) -> None:
    """The record began an hour before the punch."""
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    async with database.transaction() as db:
        await connect(db, "Europe/Zurich")
        await mirror_terminal(db, "T1")
        await mirror_person(db, "100", await employ(db, "Ada Lovelace", "100"))
        await punch(db, "100", "I 2026-10-25 02:30", zone="Europe/Zurich")
        await db.execute(update(Punch).values(punched_at_utc=second))
    await import_all(database)
    async with database.transaction() as db:
        punch_id = await db.scalar(select(Punch.id))
        seen = await facts.around(db, punch_id or 0, datetime.now(UTC))
        verdict = facts.verdict_on(seen.punch_id, seen.judged())
        (found,) = await fixes.fixes(db, seen, verdict.because if verdict else None)
    assert dict(parse_qsl(urlsplit(found.url).query))["clock_in"] == "2026-10-25T02:30:00+01:00"


@pytest.mark.parametrize(
    ("taps", "at", "told"),
    [
        ("I 08:00, I 17:03:21", "Mon 08:00", {"clock_in": "08:00:00", "clock_out": "17:03:21"}),
        ("I 08:00, I 17:03:21", "Mon 17:03:21", {"clock_in": "17:03:21"}),
        ("I 08:00, I 12:00, I 17:00", "Mon 08:00", {"clock_in": "08:00:00", "clock_out": "17:00:00"}),
        ("I 08:00, x 17:00", "Mon 08:00", {"clock_in": "08:00:00", "clock_out": "17:00:00"}),
        ("O 08:00:05, O 17:00", "Mon 17:00", {"clock_in": "08:00:05", "clock_out": "17:00:00"}),
        # What has a record is no end, and what comes behind a record belongs to another shift.
        ("I 08:00, I 13:00, O 17:00, I 20:00", "Mon 08:00", {"clock_in": "08:00:00"}),
        ("O 06:00, I 08:00, O 12:00, O 17:00", "Mon 17:00", {"clock_out": "17:00:00"}),
        # Another day, overtime and a break say nothing about this end.
        ("I 08:00, I Tue 00:30", "Mon 08:00", {"clock_in": "08:00:00"}),
        ("I 08:00, oi 17:00", "Mon 08:00", {"clock_in": "08:00:00"}),
        ("bo 12:00, O 17:00", "Mon 17:00", {"clock_out": "17:00:00"}),
    ],
)
async def test_the_missing_end_is_filled_in_where_the_days_punches_tell_it(
    database: Database, taps: str, at: str, told: dict[str, str]
) -> None:
    await ada_works(database, taps)
    found = (await why_of(database, at)).fixes[-1]
    times = {name: moment for name, moment in parse_qsl(urlsplit(found.url).query) if name.startswith("clock_")}
    assert times == {name: f"{when('08:00').date()}T{time}+00:00" for name, time in told.items()}


async def test_over_24_hours_leads_to_the_first_hours_and_then_to_settling(database: Database) -> None:
    """The clock-out is of another day, and a record by hand changes nothing about the outcome."""
    ada = await ada_works(database, "I 08:00, bo 12:00, bi 13:00, O Tue 17:00")
    before = await why_of(database, "Mon 08:00")
    assert before.fix is not None
    assert before.fix.label == "Add a record by hand"
    start = f"/attendance/add?employee=%23{ada}&stay=1&both=1"
    assert before.fix.url == f"{start}&clock_in={when('08:00').date()}T08%3A00%3A00%2B00%3A00"
    assert "then mark the punches as settled." in before.change
    async with database.transaction() as db:
        await attendance.add(db, SYSTEM, ada, Hours(when("08:00"), when("17:00")))
    await import_all(database)
    for at in ("Mon 08:00", "Tue 17:00"):
        after = await why_of(database, at)
        assert (after.label, after.fix, after.leads) == ("Shift over 24 hours", None, "settle")
        assert "Add a record by hand" in [one.label for one in after.links]
    await then(database, "I Sat 08:00, O Sun 17:00")
    another = await why_of(database, "Sat 08:00")
    assert another.fix is not None, "the record by hand lies in another shift"


async def test_the_other_places_that_change_an_outcome(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00")
    number = await record_id(database)
    async with database.transaction() as db:
        await attendance.decide(db, SYSTEM, [number], "approved")
        await day_locks.lock(db, SYSTEM, when("Thu 08:00").date(), when("Thu 08:00").date())
    await then(database, "bo 12:00, I Thu 08:00, O Thu 17:00")
    decided, locked = (await why_of(database, "Mon 12:00")).fix, (await why_of(database, "Thu 08:00")).fix
    asks = f"/attendance/{number}/set_back"
    assert decided == Fix(f"Set record {number} back to pending", "host.attendance.decide", asks, opens="dialog")
    assert locked is not None
    assert (locked.label, locked.opens) == ("Unlock Thu 5 Mar 2026", "dialog")
    async with database.transaction() as db:
        await people.deactivate(db, SYSTEM, [ada])
        await punch(db, "100", "I Sat 08:00")
    await import_all(database)
    inactive = (await why_of(database, "Sat 08:00")).fix
    assert inactive == Fix("Open the person, to activate", "host.people", f"/people/{ada}")


async def test_an_edited_and_an_overlapping_record_say_what_to_do_with_them(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00")
    number = await record_id(database)
    async with database.transaction() as db:
        await attendance.edit(db, SYSTEM, number, Hours(when("08:00"), when("18:00")))
        by_hand = await attendance.add(db, SYSTEM, ada, Hours(when("Tue 08:00"), when("Tue 12:00")))
    await then(database, "bo 12:00, I Tue 10:00, O Tue 17:00")
    edited, overlapping = (await why_of(database, "Mon 12:00")).fix, (await why_of(database, "Tue 17:00")).fix
    assert edited == Fix(f"Open record {number}, to set its times back", "host.attendance", f"/attendance/{number}")
    over = f"Open record {by_hand}, to change or delete it"
    assert overlapping == Fix(over, "host.attendance", f"/attendance/{by_hand}")


async def test_an_obstacle_behind_another_is_named_too(database: Database) -> None:
    await suggested(database)
    async with database.transaction() as db:
        await mirror_terminal(db, "DOOR", kind_mark="access")
        await punch(db, "7", "x 12:00")
        await punch(db, "7", "x 13:00", sn="DOOR")
    await import_all(database)
    assert (await why_of(database, "Mon 08:00", "7")).also == []
    unbound, door = await why_of(database, "Mon 12:00", "7"), await why_of(database, "Mon 13:00", "7")
    (direction,) = unbound.also
    assert "does not say in or out" in direction
    assert [words.split(".")[0] for words in door.also] == [
        "Code 7 has no host employee",
        "Unknown (255) does not say in or out, and the direction of terminal DOOR is by code",
    ]


async def test_nothing_leads_where_time_alone_or_nothing_changes_the_outcome(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    now = datetime(when("Tue 08:00").year, 3, 3, 9, tzinfo=UTC)
    await then(database, "I Tue 08:00", now=now)
    waits = await why_of(database, "Tue 08:00", now=now)
    assert (waits.fix, waits.leads, waits.retry) == (None, "", None)
    stands = await why_of(database, "Mon 08:00")
    assert (stands.fix, stands.leads) == (None, "")


async def test_a_deleted_record_leads_with_retry(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await attendance.remove(db, SYSTEM, [await record_id(database)])
    await import_all(database)
    found = await why_of(database, "Mon 08:00")
    assert (found.fix, found.leads) == (None, "retry")
