"""Writing pages: what counts as created, updated, unchanged and missing, and what refuses to be written."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.clock.mirror.counts import Counts
from app.clock.mirror.listing_rows import code_of, write_listing
from app.clock.mirror.missing_rows import is_believable
from app.clock.mirror.punch_edits import RestoredError, is_restore
from app.clock.mirror.punch_rows import Mirrored, Target, write_punches
from app.clock.parsing import ParsedPunch, Parser, Ref, Unit
from app.clock.profiles import ONPREM
from app.outbound import Redactor

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def punch(remote_id, emp_code="A", seconds=0, **changes):
    at = NOON + timedelta(seconds=seconds)
    fields = {
        "remote_id": remote_id, "emp_code": emp_code, "punched_at_raw": f"{at:%Y-%m-%d %H:%M:%S}",
        "punched_at_local": at.replace(tzinfo=None), "punched_at_utc": at, "code": 0, "verify": 1,
        "terminal_sn": "T1", "terminal_alias": "Gate", "temperature": None, "uploaded_at_utc": None,
        "photo_ref": None,
    }  # fmt: skip
    return ParsedPunch(**{**fields, **changes})


async def write(database, punches, **more):
    return (await mirrored(database, punches, **more)).counts


async def mirrored(database, punches, *, generation=1, by_instant=False) -> Mirrored:
    async with database.transaction() as db:
        return await write_punches(db, Target(7, generation, by_instant=by_instant), punches)


async def held(database, columns="remote_id"):
    async with database.transaction() as db:
        rows = await db.execute(text(f"SELECT {columns} FROM clock_transactions ORDER BY id"))
        return [tuple(row) for row in rows]


async def test_new_known_and_changed_punches_are_counted_apart(database):
    assert await write(database, [punch("1"), punch("2")]) == Counts(created=2)
    changed = punch("2", terminal_alias="Other gate")
    assert await write(database, [punch("1"), changed, punch("3")]) == Counts(created=1, updated=1, unchanged=1)
    assert await held(database, "remote_id, terminal_alias") == [("1", "Gate"), ("2", "Other gate"), ("3", "Gate")]


async def test_a_row_that_stands_on_a_page_twice_is_one_punch(database):
    assert await write(database, [punch("1"), punch("1")]) == Counts(created=1, unchanged=1)


async def test_the_same_second_under_two_ids_is_two_punches(database):
    assert await write(database, [punch("1"), punch("2")]) == Counts(created=2)


async def test_an_alias_does_not_make_a_punch_judged_again_and_a_code_does(database):
    await write(database, [punch("1"), punch("2", "B")])
    async with database.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'not_bound'"))
    await write(database, [punch("1", terminal_alias="New"), punch("2", "B", code=1)])
    assert await held(database, "judge_at IS NULL") == [(True,), (False,)]


async def test_an_edited_punch_is_judged_again_and_so_is_what_waits_within_48_hours_of_where_it_was(database):
    """What waits where it is now is judged with it (punches/test_marks_in_stories.py)."""
    day = 86400
    await write(
        database, [punch("1"), punch("2", seconds=2 * day), punch("3", seconds=9 * day), punch("4", seconds=5 * day)]
    )
    async with database.transaction() as db:
        await db.execute(text("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'only_one_punch'"))
    await write(database, [punch("1", seconds=11 * day)])
    assert await held(database, "judge_at IS NULL") == [(False,), (False,), (True,), (True,)]


@pytest.mark.parametrize("other", [punch("1", "B"), punch("1", seconds=7200)], ids=["person", "time"])
async def test_another_person_or_another_time_is_an_edit_and_written(database, other):
    await write(database, [punch("1")])
    assert await write(database, [punch("2"), other]) == Counts(created=1, updated=1)
    (written, _) = await held(database, "emp_code, punched_at_utc, import_outcome, judge_at > 'epoch'")
    assert written == (other.emp_code, other.punched_at_utc, None, True)


async def test_what_an_edited_punch_was_is_kept_and_only_that(database):
    await write(database, [punch("1"), punch("2")])
    await write(database, [punch("1", terminal_alias="New"), punch("2", "B", code=1)])
    async with database.transaction() as db:
        rows = await db.execute(text("SELECT run_id, before, after FROM clock_punch_changes"))
        kept = [tuple(row) for row in rows]
    assert kept == [(7, {"emp_code": "A", "punch_code": 0}, {"emp_code": "B", "punch_code": 1})]


async def test_two_rows_that_mean_another_punch_are_set_aside_and_the_rest_is_written(database):
    await write(database, [punch(str(number)) for number in range(500)])
    others = [punch("1", "B", seconds=7), punch("2", "B", seconds=7)]
    found = await mirrored(database, [*others, punch("3", code=1), punch("900")])
    assert (found.counts, found.others) == (Counts(created=1, updated=1, set_aside=2), ["1", "2"])
    assert set(await held(database, "emp_code")) == {("A",)}


async def test_three_of_three_hundred_are_a_restore_and_nothing_is_written(database):
    known = [punch(str(number)) for number in range(300)]
    await write(database, known)
    others = [punch(number, "B", seconds=7) for number in ("1", "2", "3")]
    with pytest.raises(RestoredError, match="1"):
        await write(database, [*known[4:], *others, punch("900")])
    assert len(await held(database)) == 300
    assert set(await held(database, "emp_code")) == {("A",)}


@pytest.mark.parametrize(
    ("known", "others", "believed"),
    [
        (300, 2, False),
        (300, 3, True),
        (301, 3, False),
        (3, 3, True),
        (2, 2, False),
        (5000, 49, False),
        (5000, 50, True),
    ],
)
def test_a_restore_is_believed_from_three_rows_and_one_in_a_hundred(known, others, believed):
    assert is_restore(known, others) is believed


async def test_an_hour_and_another_person_are_no_restore_where_the_server_tells_instants(database):
    await write(database, [punch(number) for number in "123"])
    hour = [punch(number, "B", seconds=3600) for number in "123"]
    assert await write(database, hour, by_instant=True) == Counts(updated=3)


async def test_a_person_whose_code_was_changed_keeps_their_punches(database):
    async with database.transaction() as db:
        await db.execute(text("INSERT INTO clock_employees (emp_code, remote_id) VALUES ('A', '77'), ('B', '77')"))
    await write(database, [punch("1")])
    assert await write(database, [punch("1", "B")]) == Counts(updated=1)
    assert await held(database, "emp_code") == [("B",)]


async def test_a_changed_zone_is_no_other_time(database):
    await write(database, [punch("1")])
    moved = punch("1", punched_at_utc=NOON + timedelta(hours=5))
    assert await write(database, [moved]) == Counts(updated=1)
    elsewhere = punch("1", punched_at_utc=NOON + timedelta(hours=5), punched_at_local=datetime(2026, 11, 20, 3))
    assert await write(database, [elsewhere]) == Counts(updated=1)


async def test_after_the_ids_began_again_known_punches_only_get_their_new_id(database):
    await write(database, [punch("1"), punch("2"), punch("3", "B"), punch("4", "C")])
    fresh = [punch("901"), punch("902"), punch("903", "B"), punch("904", "D")]
    assert await write(database, fresh, generation=2) == Counts(created=1, unchanged=3)
    assert sorted(await held(database, "id_generation, remote_id, emp_code")) == [
        (1, "4", "C"), (2, "901", "A"), (2, "902", "A"), (2, "903", "B"), (2, "904", "D")
    ]  # fmt: skip
    assert await write(database, fresh, generation=2) == Counts(unchanged=4)


async def test_days_whose_punches_change_are_noted(database):
    await write(database, [punch("1"), punch("2", seconds=86400)])
    async with database.transaction() as db:
        days = (await db.scalars(text("SELECT local_date::text FROM clock_stale_days ORDER BY 1"))).all()
    assert days == ["2026-11-20", "2026-11-21"]


LISTS = st.lists(st.tuples(st.sampled_from("ABCDE"), st.sampled_from(["x", "y"])), max_size=8)


@settings(max_examples=25, deadline=None)
@given(before=LISTS, after=LISTS)
async def test_counts_of_a_listing_add_up_and_the_last_word_stands(worker_urls, before, after):
    from app.db.session import Database

    database = Database(worker_urls.app, pool_size=2)
    try:
        async with database.transaction() as db:
            await db.execute(text("DELETE FROM clock_areas"))
            for generation, rows in enumerate((before, after), 1):
                known = dict((await db.execute(text("SELECT code, name FROM clock_areas"))).all())
                units = [Unit(code, code, name, None) for code, name in rows]
                counts = await write_listing(db, "areas", generation, units, {})
                last = dict(rows)
                assert counts.created == len(last.keys() - known.keys())
                assert counts.updated == sum(known.get(code, name) != name for code, name in last.items())
                assert counts.created + counts.updated + counts.unchanged == len(rows)
            found = dict((await db.execute(text("SELECT code, name FROM clock_areas"))).all())
            assert found == {**dict(before), **dict(after)}
            await db.execute(text("DELETE FROM clock_areas"))
    finally:
        await database.close()


async def test_a_person_that_names_a_department_by_its_id_alone_gets_its_code(database):
    parser = Parser(ONPREM, ZoneInfo("Europe/Berlin"), Redactor())
    rows = [{"id": 5, "emp_code": "007", "first_name": "Ada", "last_name": "", "department": 12, "area": [{"id": 3}]}]
    known = {"departments": {"12": "SALES"}, "areas": {"3": "HALL"}}
    async with database.transaction() as db:
        await write_listing(db, "employees", 1, parser.employees(rows).rows, known)
        found = (
            await db.execute(text("SELECT department_code, area_codes, full_name, emp_code FROM clock_employees"))
        ).one()
        bound = await db.scalar(text("SELECT state FROM clock_employee_bindings WHERE emp_code = '007'"))
        why = await db.scalar(text("SELECT why FROM clock_binding_history"))
    assert tuple(found) == ("SALES", ["HALL"], "Ada", "007")
    assert (bound, why) == ("unbound", "First mirrored.")


def test_a_reference_without_a_code_and_unknown_is_none():
    assert code_of(None, {}) is None
    assert code_of(Ref("9", None), {}) is None
    assert code_of(Ref("9", "S"), {"9": "T"}) == "S"


async def test_a_terminal_that_becomes_a_door_reader_has_its_punches_judged_again(database):
    parser = Parser(ONPREM, ZoneInfo("Europe/Berlin"), Redactor())
    async with database.transaction() as db:
        for generation, (serial, attendance) in enumerate((("T1", True), ("T2", True), ("T1", False), ("T2", True))):
            rows = parser.devices([{"id": serial, "sn": serial, "state": "1", "is_attendance": attendance}]).rows
            await write_listing(db, "devices", generation, rows, {})
        changes = await db.scalars(text("SELECT terminal_sn FROM clock_rejudgings WHERE finished_at IS NULL"))
        assert changes.all() == ["T1"]


@pytest.mark.parametrize(
    ("known", "missing", "listed", "believed"),
    [
        (5, 5, 0, False), (5, 1, 4, True), (20, 10, 10, True), (20, 11, 9, False), (100, 20, 80, True),
        (100, 21, 79, False), (55, 11, 44, True), (54, 11, 43, False), (0, 0, 0, True),
    ],
)  # fmt: skip
def test_more_than_ten_and_more_than_a_fifth_at_once_is_not_believed(known, missing, listed, believed):
    assert is_believable(known, missing, listed) is believed
