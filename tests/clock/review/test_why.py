"""Why a punch shows what it shows: on a real database, for every rule, and without writing anything."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select, text, update

from app.accounts.audit import SYSTEM
from app.clock.models import Binding, Punch
from app.clock.review.why import why
from app.db.session import Database
from app.errors import NotFound
from app.host.attendance import day_locks
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from app.host.people import people
from tests.clock.mirror_store import FAR, when
from tests.clock.mirrored import connect, employ, everything_due, mirror_person, mirror_terminal, punch
from tests.clock.resolved import ada_works, import_all, record_id, then, why_of


def urls(found: object) -> list[str]:
    return [link.url for link in found.links]  # type: ignore[attr-defined]


async def test_an_imported_punch_names_its_record(database: Database) -> None:
    await ada_works(database, "I 08:00, bo 12:00, bi 13:00, O 17:00")
    found = await why_of(database, "Mon 08:00")
    number = await record_id(database)
    assert found.label == "Imported"
    assert f"record {number} (08:00–17:00)" in found.sentence
    assert urls(found) == [f"/attendance/{number}"]
    assert (found.pending, found.retry, found.use, found.keep) == (None, None, None, None)
    assert found.owner.name == "Ada Lovelace"


async def test_the_line_shows_the_days_taps_with_the_record_behind_them(database: Database) -> None:
    await ada_works(database, "I 08:00, I 08:04, bo 12:00, bi 13:00, O 17:00, x 18:00, I Tue 08:00")
    line = (await why_of(database, "Mon 08:04")).line
    assert [(tap["time"], tap["effect"], tap["current"]) for tap in line["taps"]] == [
        ("08:00:00", "opens", False),
        ("08:04:00", "folded", True),
        ("12:00:00", "break", False),
        ("13:00:00", "break", False),
        ("17:00:00", "closes", False),
        ("18:00:00", "refused", False),
    ]
    places = [float(tap["x"].removesuffix("%")) for tap in line["taps"]]
    assert places == sorted(places)
    assert 0 < places[0] < places[-1] < 100
    (band,) = line["records"]
    number = await record_id(database)
    assert (band["url"], band["label"]) == (f"/attendance/{number}", f"Record {number}, 08:00–17:00, pending")
    assert (ends(band), band["open"]) == (pytest.approx((places[0], places[4]), abs=0.02), False)
    assert [ends(pause) for pause in line["breaks"]] == [pytest.approx((places[2], places[3]), abs=0.02)]
    assert line["label"] == "Taps of 2 March"


def ends(band: dict[str, Any]) -> tuple[float, float]:
    """From where to where, in percent of the line."""
    x, width = (float(band[name].removesuffix("%")) for name in ("x", "width"))
    return x, x + width


async def test_each_tap_says_its_terminal_as_people_call_it_or_by_its_serial_number(database: Database) -> None:
    await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await punch(db, "100", "O 17:00", sn="T2")
    assert [tap["terminal"] for tap in (await why_of(database, "Mon 08:00")).line["taps"]] == ["Gate", "T2"]


async def test_a_night_shift_is_drawn_whole(database: Database) -> None:
    await ada_works(database, "I 22:00, O Tue 06:00")
    assert [tap["time"] for tap in (await why_of(database, "Mon 22:00")).line["taps"]] == ["22:00:00", "06:00:00"]
    assert [tap["time"] for tap in (await why_of(database, "Tue 06:00")).line["taps"]] == ["22:00:00", "06:00:00"]


@pytest.mark.parametrize(
    ("taps", "local", "label", "words", "place"),
    [
        ("I 08:00", "Mon 08:00", "Only one punch", "has no clock-out: none came within 24 h", "/attendance/add?employee=%23"),
        ("O 17:00", "Mon 17:00", "Only one punch", "has no clock-in", "/attendance/add?employee=%23"),
        ("I 08:00, O Tue 17:00", "Mon 08:00", "Shift over 24 hours", "33 h long", "/attendance/add?employee=%23"),
        ("x 08:00", "Mon 08:00", "No direction", "direction of terminal Gate is by code", "/clock_devices?serial=T1"),
        ("I 08:00:00, I 08:00:05, O 17:00", "Mon 08:00:05", "Repeat tap", "5 s before; up to 10 s counts", "/clock_settings"),
        ("I 08:00, I 08:04, O 17:00", "Mon 08:04", "Double tap", "4 min before; up to 5 min counts", "/clock_settings"),
    ],
)  # fmt: skip
async def test_a_rule_is_told_with_its_numbers_and_where_to_change_it(  # noqa: PLR0917 - the columns of the table above, and the fixtures
    database: Database, taps: str, local: str, label: str, words: str, place: str
) -> None:
    await ada_works(database, taps)
    found = await why_of(database, local)
    assert found.label == label
    assert words in found.sentence
    assert any(url.startswith(place) for url in urls(found))
    assert found.change


async def test_what_lies_outside_the_punch_is_told_and_linked(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00, I Fri 08:00, O Fri 17:00")
    number = await record_id(database)
    async with database.transaction() as db:
        await attendance.decide(db, SYSTEM, [number], "approved")
        await mirror_person(db, "7", state="conflict")
        await mirror_terminal(db, "DOOR", kind_mark="access")
        await punch(db, "7", "I 08:00")
        await punch(db, "100", "I Wed 08:00", sn="DOOR")
        await day_locks.lock(db, SYSTEM, when("Thu 08:00").date(), when("Thu 08:00").date())
    await then(database, "bo 12:00, I Thu 08:00, O Thu 17:00")
    approved = await why_of(database, "Mon 12:00")
    assert "which is approved" in approved.sentence
    assert urls(approved) == [f"/attendance/{number}"]
    unbound = await why_of(database, "Mon 08:00", "7")
    assert "Its binding: Conflict" in unbound.sentence
    assert urls(unbound) == ["/clock_employees?code=7"]
    door = await why_of(database, "Wed 08:00")
    assert "is a door reader" in door.sentence
    assert urls(door) == ["/clock_devices?serial=DOOR"]
    locked = await why_of(database, "Thu 08:00")
    assert "Thu 5 Mar 2026 is closed" in locked.sentence
    assert urls(locked) == ["/attendance/locks?from=2026-03-05&to=2026-03-05"]
    async with database.transaction() as db:
        await people.deactivate(db, SYSTEM, [ada])
        await punch(db, "100", "I Sat 08:00")
    inactive = await why_of(database, "Sat 08:00")
    assert "deactivated or deleted" in inactive.sentence
    assert urls(inactive) == [f"/people/{ada}", "/clock_employees?code=100"]


async def test_records_edited_overlapping_and_deleted_are_told(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, O 17:00, I Wed 08:00, O Wed 17:00")
    async with database.transaction() as db:
        await attendance.edit(db, SYSTEM, await record_id(database), Hours(when("08:00"), when("18:00")))
        await attendance.remove(db, SYSTEM, [await record_id(database, 1)])
        await attendance.add(db, SYSTEM, ada, Hours(when("Tue 09:00"), when("Tue 11:00")))
    await then(database, "bo 12:00, I Tue 10:00, O Tue 12:00")
    edited = await why_of(database, "Mon 12:00")
    assert edited.label == "Record edited by hand"
    assert "where the import wrote 08:00–17:00" in edited.sentence
    assert "covers part of 10:00–12:00" in (await why_of(database, "Tue 10:00")).sentence
    deleted = await why_of(database, "Wed 08:00")
    assert "was deleted" in deleted.sentence
    assert deleted.retry is not None
    assert deleted.retry.sentence == "Retry: it becomes Imported and a record is made."


async def test_a_punch_that_waits_says_until_when(database: Database) -> None:
    now = when("12:00")
    await ada_works(database, "I 08:00", now=now)
    found = await why_of(database, "Mon 08:00", now=now)
    assert found.label == "Awaiting"
    assert "Tue 3 Mar, 08:00" in found.change
    assert found.line["taps"][0]["effect"] == "waiting"
    assert found.line["now_x"] is not None
    later = await why_of(database, "Mon 08:00", now=FAR)
    assert later.pending == "The next import makes it: Only one punch."


async def test_no_retry_is_offered_for_what_the_next_import_does_by_itself(database: Database) -> None:
    ada = await ada_works(database, "I 08:00, I Tue 08:00")
    assert (await why_of(database, "Mon 08:00")).label == "Only one punch"
    async with database.transaction() as db:
        await attendance.add(db, SYSTEM, ada, Hours(when("08:00"), when("17:00")))
    marked = await why_of(database, "Mon 08:00")
    assert (marked.is_marked, marked.pending) == (True, "The next import makes it: Overlaps an existing record.")
    assert (marked.retry, marked.leads) == (None, "")
    # Where that import has not been asked for, a retry asks for it.
    async with database.transaction() as db:
        await db.execute(update(Punch).values(judge_at=None))
    quiet = await why_of(database, "Mon 08:00")
    assert (quiet.is_marked, quiet.pending, quiet.leads) == (False, marked.pending, "retry")


async def test_a_record_that_the_next_import_makes_is_drawn(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        await punch(db, "100", "I Tue 08:00, O Tue 17:00")
    found = await why_of(database, "Tue 08:00")
    assert (found.label, found.pending) == ("Awaiting", "The next import makes it: Imported.")
    assert [band["label"] for band in found.line["records"]] == ["A record that the next import makes, 08:00–17:00"]
    assert found.line["records"][0]["url"] is None


async def test_a_punch_behind_days_that_were_not_read_says_so(database: Database) -> None:
    await ada_works(database, "I Wed 08:00")
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00, O 17:00")
        await db.execute(
            text(
                'INSERT INTO clock_sync_cursors (resource, "window", kind, state, starts_on, ends_on)'
                " VALUES ('transactions', 'c', 'check', 'open', '2026-03-01', '2026-03-02')"
            )
        )
    found = await why_of(database, "Mon 08:00")
    assert "are not fully read" in found.sentence
    assert urls(found) == ["/clock_sync"]
    assert found.retry is not None
    assert [tap["effect_label"] for tap in found.line["taps"]] == ["not judged yet", "not judged yet"]


async def test_a_future_timestamp_names_both_times(database: Database) -> None:
    await ada_works(database, "I Fri 08:00", now=when("Tue 09:00"))
    found = await why_of(database, "Fri 08:00", now=when("Tue 09:00"))
    assert found.label == "Future timestamp"
    assert "ahead of now (Tue 3 Mar, 09:00)" in found.sentence


async def test_one_that_arrived_late_says_what_each_decision_would_do(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    found = await why_of(database, "Mon 10:00")
    number = await record_id(database)
    assert "is longer than the shift would be now, 10:00–17:00" in found.sentence
    assert found.use is not None
    assert found.use.sentence == (
        f"Use the punches: record {number} becomes 10:00–17:00; 1 tap outside this shift is judged again."
    )
    assert found.keep is not None
    assert found.keep.possible
    # It would stay as it is, so it is not offered.
    assert found.retry is None
    assert (found.fix, found.leads) == (None, "use")


async def test_a_refused_use_says_why(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    async with database.transaction() as db:
        day = when("08:00").date()
        await day_locks.lock(db, SYSTEM, day, day)
    found = await why_of(database, "Mon 10:00")
    assert found.use is not None
    assert not found.use.possible
    assert "Mon 2 Mar 2026 is closed" in found.use.sentence


async def test_a_rebound_punch_shows_the_record_of_the_other_employee(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    async with database.transaction() as db:
        bea = await employ(db, "Bea Byron")
        await db.execute(update(Binding).values(host_employee_id=bea))
        await everything_due(db)
    await import_all(database)
    found = await why_of(database, "Mon 08:00")
    assert found.label == "Arrived after import"
    assert "of another employee" in found.sentence
    assert found.owner.name == "Bea Byron"
    assert len(found.line["records"]) == 1
    assert found.use is not None
    assert "goes to the employee that the code is bound to now" in found.use.sentence


async def test_two_codes_of_one_person_stand_on_one_line(database: Database) -> None:
    ada = await ada_works(database, "I 08:00")
    async with database.transaction() as db:
        await mirror_person(db, "200", ada)
    await then(database, "O 17:00", "200")
    assert [tap["time"] for tap in (await why_of(database, "Mon 17:00", "200")).line["taps"]] == [
        "08:00:00",
        "17:00:00",
    ]


async def test_a_reader_gone_mad_is_drawn_around_the_punch(database: Database) -> None:
    taps = ", ".join(f"I {hour:02}:{minute:02}" for hour in range(8, 20) for minute in range(0, 60, 6))
    await ada_works(database, taps)
    line = (await why_of(database, "Mon 14:00")).line
    assert len(line["taps"]) == 40
    assert line["left_out"] == 80
    assert sum(tap["current"] for tap in line["taps"]) == 1


async def test_asking_writes_nothing(database: Database) -> None:
    await ada_works(database, "I 08:00, O 17:00")
    await then(database, "I 10:00")
    async with database.transaction() as db:
        await punch(db, "100", "I Tue 08:00, O Tue 17:00")
        before = (
            await db.execute(select(*Punch.__table__.c, text("clock_transactions.xmin::text")).order_by(Punch.id))
        ).all()
    for local in ("Mon 08:00", "Mon 10:00", "Tue 08:00"):
        await why_of(database, local)
    async with database.transaction() as db:
        after = (
            await db.execute(select(*Punch.__table__.c, text("clock_transactions.xmin::text")).order_by(Punch.id))
        ).all()
    assert after == before


async def test_what_was_just_imported_is_explained_by_the_same_word(database: Database) -> None:
    await ada_works(
        database,
        "I 08:00, I 08:00:05, bo 12:00, bi 12:30, O 17:00, I Tue 08:00, O Wed 18:00, x Thu 08:00, O Fri 17:00, I Sat 22:00, O Sun 06:00",
    )
    async with database.transaction() as db:
        rows = (await db.execute(select(Punch.id, Punch.import_outcome))).all()
        assert len({outcome for _, outcome in rows}) == 5
        for punch_id, _ in rows:
            assert (await why(db, punch_id, FAR)).pending is None


async def test_a_punch_that_does_not_exist_is_not_found(database: Database) -> None:
    async with database.transaction() as db:
        await connect(db)
        with pytest.raises(NotFound):
            await why(db, 1, datetime.now(UTC))
