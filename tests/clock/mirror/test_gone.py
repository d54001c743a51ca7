"""Punches that are deleted on the server, over real HTTP: a few are believed, a mass asks a person,
and what comes back counts."""

from datetime import date, timedelta
from typing import Any

import pytest

from app.accounts.audit import COMMAND_LINE, Actor
from app.clock.mirror import gone
from app.clock.mirror.gone import Judged, Ours
from app.clock.models import Punch
from app.clock.review import decisions
from app.host.attendance import records as attendance
from app.host.attendance.hours import Hours
from tests.clock.mirror.test_punch_edits import Employed, employed

BOB = Actor(1, "Bob")
DAY = timedelta(days=1)
LAST_DAY = """
    SELECT id, remote_id::bigint AS number, local_date, host_attendance_id FROM clock_transactions
    WHERE local_date = :day AND gone_at_utc IS NULL ORDER BY id
"""


async def of_day(here: Employed, day: date) -> Any:
    return await here.site.rows(LAST_DAY, day=day)


async def decide(here: Employed, verb: Any, *more: Any) -> Any:
    async with here.site.parts.database.transaction() as db:
        asked = await gone.question(db)
        assert asked is not None
        return await verb(db, BOB, asked, *more)


async def gone_ids(here: Employed) -> set[int]:
    rows = await here.site.rows("SELECT id FROM clock_transactions WHERE gone_at_utc IS NOT NULL")
    return {row.id for row in rows}


def delete(here: Employed, rows: Any) -> None:
    assert here.site.world.delete_punches([row.number for row in rows]) == len(rows)


async def test_a_deleted_punch_with_a_record_is_marked_and_keeps_its_word(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        delete(here, [out])
        end = await here.site.sync_punches()
        assert (end.status, end.resources["transactions"]["missing"]) == ("succeeded", 1)
        punch = await here.punch(out.id)
        assert punch.gone_at_utc == here.site.now
        assert (punch.import_outcome, punch.host_attendance_id) == ("imported", out.record_id)
        found = await here.why(out.id)
        assert found.sentence.startswith("The server no longer has this punch.")
        assert (found.retry, found.keep.possible) == (None, True)
        again = await here.site.sync_punches()
        assert (again.status, again.resources["transactions"]["missing"]) == ("succeeded", 0)


async def test_one_without_a_record_no_longer_takes_part_and_counts_nowhere(parts):
    async with employed(parts) as here:
        extra = here.site.world.punch(0, 0, int((here.site.now - 30 * timedelta(hours=1)).timestamp()), 9)
        await here.site.sync_punches()
        total = "SELECT sum(total) FROM clock_analytics_daily WHERE dimension = 'all'"
        before, shown = await here.site.scalar(total), await here.site.punches()
        here.site.world.delete_punches([extra])
        await here.site.sync_punches()
        (punch,) = await here.site.rows("SELECT * FROM clock_transactions WHERE remote_id = :id", id=str(extra))
        assert punch.gone_at_utc is not None
        assert (punch.import_outcome, punch.judge_at) == ("no_direction", None)
        assert await here.site.scalar(total) == before - 1
        assert await here.site.scalar("SELECT sum(gone) FROM clock_analytics_daily") == 1
        assert await here.site.punches() == shown


async def test_what_comes_back_counts_again_and_is_judged(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        extra = here.site.world.punch(0, 0, int((here.site.now - 30 * timedelta(hours=1)).timestamp()), 9)
        await here.site.sync_punches()
        numbers = [out.number, extra]
        here.site.world.delete_punches(numbers)
        await here.site.sync_punches()
        assert len(await gone_ids(here)) == 2
        here.site.world.bring_back(numbers)
        assert (await here.site.sync_punches()).status == "succeeded"
        assert await gone_ids(here) == set()
        words = await here.site.rows(
            "SELECT import_outcome FROM clock_transactions WHERE remote_id::bigint = ANY(:numbers) ORDER BY 1",
            numbers=numbers,
        )
        assert [row.import_outcome for row in words] == ["imported", "no_direction"]
        await here.site.holds_everything()


async def test_the_nightly_check_finds_what_went_from_an_older_day(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[-1]
        await here.site.sync_punches()
        delete(here, [out])
        await here.site.sync_punches()
        assert await gone_ids(here) == set()
        here.site.let_pass(days=1)
        assert (await here.site.sync_punches()).status == "succeeded"
        assert await gone_ids(here) == {out.id}
        here.site.let_pass(days=1)
        assert (await here.site.sync_punches()).status == "succeeded"
        days_to_read = "SELECT count(*) FROM clock_sync_cursors WHERE kind = 'check' AND \"window\" <> 'check'"
        assert await here.site.scalar(days_to_read) == 0


async def test_a_punch_that_moved_to_another_day_is_an_edit_in_the_end(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        here.move(out, -6 * DAY)
        for _ in range(2):
            await here.site.sync_punches()
            here.site.let_pass(days=1)
        await here.site.sync_punches()
        punch = await here.punch(out.id)
        assert (punch.gone_at_utc, punch.punched_at_utc) == (None, out.at - 6 * DAY)


async def test_a_mass_is_not_believed_until_a_person_confirms_it(parts):
    async with employed(parts, employees=12) as here:
        day = (here.site.now - 2 * DAY).date()
        rows = await of_day(here, day)
        delete(here, rows[:15])
        end = await here.site.sync_punches()
        assert (end.status, end.code) == ("partial", "TC-SHAPE")
        assert await gone_ids(here) == set()
        async with parts.database.transaction() as db:
            asked = await gone.undecided(db)
            assert asked is not None
            assert asked.pending["missing"] == 15
            assert asked.pending["days"] == [[day.isoformat(), 15]]
        assert (await here.site.sync_punches()).status == "partial"
        assert await decide(here, gone.confirm, here.site.now) == 15
        assert await gone_ids(here) == {row.id for row in rows[:15]}
        assert (await here.site.sync_punches()).status == "succeeded"
        async with parts.database.transaction() as db:
            assert await gone.question(db) is None


async def test_what_a_person_refused_is_kept_and_asks_no_more_and_another_mass_does(parts):
    async with employed(parts, employees=12) as here:
        day = (here.site.now - 2 * DAY).date()
        delete(here, (await of_day(here, day))[:15])
        await here.site.sync_punches()
        await decide(here, gone.refuse)
        for _ in range(2):
            assert (await here.site.sync_punches()).status == "succeeded"
            here.site.let_pass(days=1)
        assert await gone_ids(here) == set()
        other = (here.site.now - 2 * DAY).date()
        delete(here, (await of_day(here, other))[:15])
        assert (await here.site.sync_punches()).status == "partial"
        async with parts.database.transaction() as db:
            asked = await gone.undecided(db)
            assert asked is not None
            assert asked.pending["missing"] == 15


async def test_a_question_is_over_when_everything_came_again(parts):
    async with employed(parts, employees=12) as here:
        rows = (await of_day(here, (here.site.now - 2 * DAY).date()))[:15]
        delete(here, rows)
        await here.site.sync_punches()
        here.site.world.bring_back([row.number for row in rows])
        assert (await here.site.sync_punches()).status == "succeeded"
        async with parts.database.transaction() as db:
            assert await gone.question(db) is None
        await here.site.holds_everything()


@pytest.mark.parametrize("fault", ["empty_list", "half_list", "filter_ignored", "bad_row", "silent_feed=48"])
async def test_a_server_that_says_too_little_costs_no_punch(parts, fault):
    async with employed(parts, employees=12) as here:
        here.site.faults(fault)
        await here.site.sync_punches()
        assert await gone_ids(here) == set()


@pytest.mark.parametrize("fault", ["filter_utc", "bounds_excluded", "unstable_paging", "page_cap_50"])
async def test_a_server_that_reads_its_filter_in_its_own_way_costs_no_punch(parts, fault):
    async with employed(parts, employees=12) as here:
        here.site.faults(fault)
        for _ in range(3):
            await here.site.sync_punches()
            here.site.let_pass(days=1)
        assert await gone_ids(here) == set()
        async with parts.database.transaction() as db:
            assert await gone.question(db) is None


async def test_a_record_that_a_person_edits_settles_its_gone_punch(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        delete(here, [out])
        await here.site.sync_punches()
        waiting = "SELECT count(*) FROM clock_transactions WHERE gone_at_utc IS NOT NULL AND settled_at_utc IS NULL"
        assert await here.site.scalar(waiting) == 1
        async with parts.database.transaction() as db:
            await attendance.edit(db, COMMAND_LINE, out.record_id, Hours(out.clock_in, out.at - timedelta(hours=1)))
        await here.site.sync_punches()
        assert await here.site.scalar(waiting) == 0


async def test_a_record_that_a_person_deletes_is_made_again_by_retry_without_its_gone_punch(parts):
    async with employed(parts) as here:
        out = (await here.clock_outs())[0]
        delete(here, [out])
        await here.site.sync_punches()
        async with parts.database.transaction() as db:
            await attendance.remove(db, COMMAND_LINE, [out.record_id])
        await here.site.sync_punches()
        punch = await here.punch(out.id)
        assert (punch.import_outcome, punch.host_attendance_id) == ("attendance_deleted", None)
        async with parts.database.transaction() as db:
            await decisions.retry(db, BOB, Punch.emp_code == out.emp_code)
        await here.site.sync_punches()
        assert (await here.punch(out.id)).host_attendance_id is None
        ends = "SELECT count(*) FROM attendance_records WHERE clock_out = :at AND deleted_at IS NULL"
        assert await here.site.scalar(ends, at=out.at) == 0


MONDAY = date(2026, 3, 2)


def ours(number: int, day: date = MONDAY, question: int | None = None) -> list[Ours]:
    return [Ours(index, f"{day}:{index}", day, question) for index in range(number)]


@pytest.mark.parametrize(
    ("known", "came", "gone_", "doubted"),
    [(12, 0, 0, 12), (12, 1, 0, 11), (12, 2, 10, 0), (100, 80, 20, 0), (100, 79, 0, 21), (55, 44, 11, 0), (1, 0, 0, 1)],
)
def test_more_than_ten_and_more_than_a_fifth_of_a_day_are_not_believed(known, came, gone_, doubted):
    here = {f"{MONDAY}:{index}" for index in range(came)}
    judged = gone.judge(ours(known), here.__contains__, came, ())
    assert (len(judged.gone), len(judged.doubted)) == (gone_, doubted)


def test_days_are_believed_one_by_one_and_the_whole_is_looked_at_too():
    tuesday = MONDAY + DAY
    rows = [*ours(400), *ours(30, tuesday)]
    there = {one.remote_id for one in ours(400)[:395]} | {one.remote_id for one in ours(30, tuesday)[:10]}
    judged = gone.judge(rows, there.__contains__, len(there), ())
    assert (len(judged.gone), len(judged.doubted)) == (5, 20)
    few = [one for day in range(7) for one in ours(8, MONDAY + day * DAY)]
    half = {one.remote_id for one in few[::2]}
    assert gone.judge(few, half.__contains__, len(half), ()) == Judged(doubted=[one.id for one in few[1::2]])


def test_what_a_person_kept_is_not_missing_again():
    assert gone.judge(ours(3, question=7), lambda _: False, 5, {7}) == Judged([], [])
