"""A sync from end to end, against the simulator over HTTP and real PostgreSQL."""

import asyncio
from contextlib import AsyncExitStack
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest
from sqlalchemy import func, update
from sqlalchemy.exc import ProgrammingError

from app.accounts.audit import COMMAND_LINE, Actor
from app.accounts.models import Job
from app.clock.connection import lease
from app.clock.mirror import missing_rows
from app.clock.sync import backfill, run_rows, when_due
from app.clock.sync import run as sync
from app.db.away import is_because_away
from app.errors import Conflict, Invalid, NotFound
from app.secrets import Secret
from tests.clock.syncing import site
from tests.surveys.api.test_lost_server import lost_after_a_statement

BOTH = pytest.mark.parametrize("profile", ["cloud", "onprem"])


@BOTH
async def test_a_first_sync_mirrors_everything_there_is(parts, profile):
    async with site(parts, profile, employees=20, days=12, history=90) as here:
        end = await here.sync()
        assert (end.status, end.code) == ("succeeded", None)
        await here.holds_everything()
        counts = await here.rows("SELECT count(*) FROM clock_employees WHERE absent_since IS NULL")
        assert counts[0][0] == here.listed_people()
        assert await here.scalar("SELECT count(*) FROM clock_employee_bindings") == len(here.world.people)
        assert await here.scalar("SELECT count(*) FROM clock_devices") == len(here.world.terminals)
        for table in ("departments", "positions", "areas"):
            assert await here.scalar(f"SELECT count(*) FROM clock_{table}") == len(getattr(here.world, table))
        assert end.resources["transactions"]["created"] == await here.punches()
        assert (await here.connection()).status == "healthy"


async def test_a_profile_without_locations_skips_them_and_one_with_them_does_not(parts):
    async with site(parts, "onprem") as here:
        assert "locations" not in (await here.sync()).resources
        await here.save(profile="cloud", base_url=here.address)
    async with site(parts, "cloud") as here:
        await here.save(profile="cloud", base_url=here.address, password=Secret("clock-demo"))
        assert (await here.sync()).resources["locations"]["fetched"] == len(here.world.locations)


@BOTH
async def test_a_second_sync_finds_nothing_new_and_changes_nothing(parts, profile):
    async with site(parts, profile) as here:
        await here.sync()
        before = await here.rows("SELECT id, updated_at FROM clock_transactions ORDER BY id")
        counts = (await here.sync(**{"import": False})).resources
        assert (counts["transactions"]["created"], counts["transactions"]["updated"]) == (0, 0)
        assert counts["transactions"]["unchanged"] == counts["transactions"]["fetched"] > 0
        assert (counts["employees"]["created"], counts["employees"]["updated"]) == (0, 0)
        assert await here.rows("SELECT id, updated_at FROM clock_transactions ORDER BY id") == before


@BOTH
async def test_units_that_name_their_parent_by_its_id_stand_in_their_tree_after_the_first_sync(parts, profile):
    async with site(parts, profile, ["parent_ids"]) as here:
        await here.set(page_size=2)
        counts = (await here.sync(resources=["departments", "positions", "areas"])).resources
        for table in ("departments", "positions", "areas"):
            units = getattr(here.world, table)
            tree = [(unit.code, units[unit.parent].code if unit.parent is not None else None) for unit in units]
            assert await here.rows(f"SELECT code, parent_code FROM clock_{table} ORDER BY 1") == sorted(tree)
            assert counts[table]["created"] == len(units)
        again = (await here.sync(resources=["departments", "positions", "areas"])).resources
        assert {(counts["created"], counts["updated"]) for counts in again.values()} == {(0, 0)}


async def test_what_comes_in_time_is_mirrored_by_later_runs(parts):
    async with site(parts) as here:
        await here.sync_punches()
        for _ in range(4):
            here.let_pass(hours=30)
            assert (await here.sync_punches()).status == "succeeded"
            await here.holds_everything()


async def test_a_pause_longer_than_the_live_window_leaves_no_gap(parts):
    async with site(parts) as here:
        await here.sync_punches()
        here.let_pass(days=11)
        end = await here.sync_punches()
        assert end.status == "succeeded"
        await here.holds_everything()


async def test_new_punches_wait_to_be_judged_and_their_days_to_be_counted(parts):
    async with site(parts) as here:
        await here.sync_punches(**{"import": False})
        assert await here.scalar("SELECT bool_and(judge_at IS NOT NULL) FROM clock_transactions")
        assert await here.scalar("SELECT count(*) FROM clock_stale_days") == 0
        total = "SELECT sum(total) FROM clock_analytics_daily WHERE dimension = :dimension"
        for dimension in ("all", "terminal", "department", "outcome"):
            assert await here.scalar(total, dimension=dimension) == await here.punches()


async def test_only_the_asked_resources_are_read(parts):
    async with site(parts) as here:
        end = await here.sync(resources=["departments", "areas"])
        assert set(end.resources) == {"departments", "areas"}
        assert await here.punches() == 0


async def test_an_unknown_resource_is_refused(parts):
    async with site(parts) as here:
        with pytest.raises(Invalid, match="weather"):
            await here.start(resources=["weather"])


async def test_without_a_connection_nothing_starts(database):
    async with database.transaction() as db:
        with pytest.raises(NotFound, match="save one first"):
            await run_rows.start_run(db, "manual", {}, COMMAND_LINE)


async def test_a_second_start_joins_the_first(parts):
    async with site(parts) as here:
        first = await here.start(resources=["areas"])
        async with parts.database.transaction() as db:
            second, joined = await run_rows.start_run(db, "manual", {"resources": ["positions"]}, COMMAND_LINE)
        assert (second, joined) == (first, True)
        end = await here.run_of(first)
        assert set(end.resources) == {"areas", "positions"}


async def test_a_finished_run_does_not_run_again(parts):
    async with site(parts) as here:
        end = await here.sync(resources=["areas"])
        calls = here.simulator.call_count
        again = await here.run_of(end.run_id)
        assert (again.run_id, again.status) == (end.run_id, "succeeded")
        assert here.simulator.call_count == calls


async def test_punches_of_strangers_make_people_and_terminals_that_can_be_bound(parts):
    async with site(parts) as here:
        await here.sync()
        world = here.world
        stranger = world.add_person("X-007")
        world.people[stranger].listed = False
        terminal = world.add_terminal("UNSEEN-1")
        world.terminals[terminal].listed = False
        world.punch(stranger, terminal, world.now - 60, 0)
        await here.sync()
        found = await here.rows(
            "SELECT e.absent_since IS NOT NULL, b.state FROM clock_employees e"
            " JOIN clock_employee_bindings b ON b.clock_employee_id = e.id WHERE e.emp_code = 'X-007'"
        )
        assert found[0][0] is True
        assert len(found) == 1
        assert await here.scalar("SELECT count(*) FROM clock_devices WHERE sn = 'UNSEEN-1'") == 1
        await here.holds_everything()


async def test_somebody_who_leaves_is_marked_and_unmarked_on_return(parts):
    async with site(parts) as here:
        await here.sync_people()
        person = here.world.people[0]
        person.listed = False
        here.world.changed()
        end = await here.sync_people()
        absent = "SELECT emp_code FROM clock_employees WHERE absent_since IS NOT NULL"
        assert end.resources["employees"]["missing"] == 1
        assert await here.scalar(absent) == person.code
        person.listed = True
        here.world.changed()
        assert (await here.sync_people()).resources["employees"]["updated"] == 1
        assert await here.scalar(absent) is None


@pytest.mark.parametrize("fault", ["empty_list,at=employees", "half_list,at=employees"])
async def test_a_mass_disappearance_is_not_believed_and_waits_for_a_person(parts, fault):
    async with site(parts, employees=24, days=3) as here:
        await here.sync_people()
        here.faults(fault)
        end = await here.sync_people()
        assert (end.status, end.code) == ("partial", "TC-SHAPE")
        assert (await here.connection()).status == "healthy"
        assert await here.scalar("SELECT count(*) FROM clock_employees WHERE absent_since IS NOT NULL") == 0
        async with parts.database.transaction() as db:
            waiting = await missing_rows.pending(db)
            assert [row.resource for row in waiting] == ["employees"]
            gone = await missing_rows.confirm_disappearance(db, COMMAND_LINE, "employees", here.now)
        assert gone == waiting[0].pending["missing"] >= 12
        assert await here.scalar("SELECT count(*) FROM clock_employees WHERE absent_since IS NOT NULL") == gone


async def test_a_refused_disappearance_does_not_ask_again_for_the_same_list(parts):
    async with site(parts, employees=24, days=3) as here:
        await here.sync_people()
        here.faults("half_list,at=employees")
        await here.sync_people()
        async with parts.database.transaction() as db:
            await missing_rows.refuse_disappearance(db, Actor(1, "Bob"), "employees")
        assert (await here.sync_people()).status == "partial"
        async with parts.database.transaction() as db:
            assert await missing_rows.pending(db) == []
            await missing_rows.confirm_disappearance(db, COMMAND_LINE, "employees", here.now)
            with pytest.raises(Conflict):
                await missing_rows.confirm_disappearance(db, COMMAND_LINE, "employees", here.now)
        here.faults()
        assert (await here.sync_people()).status == "succeeded"
        assert await here.scalar("SELECT count(*) FROM clock_employees WHERE absent_since IS NOT NULL") == 0


async def test_remarks_and_marks_of_operators_survive_every_sync(parts):
    async with site(parts) as here:
        await here.sync()
        async with parts.database.transaction() as db:
            from sqlalchemy import text

            for table in ("clock_employees", "clock_departments", "clock_positions", "clock_areas", "clock_locations"):
                await db.execute(text(f"UPDATE {table} SET remarks = 'kept'"))
            await db.execute(text("UPDATE clock_devices SET remarks = 'kept', kind_mark = 'access', direction = 'in'"))
        here.world.people[0].first_name = "Changed"
        here.world.changed()
        assert (await here.sync()).resources["employees"]["updated"] == 1
        for table in ("clock_employees", "clock_departments", "clock_positions", "clock_areas", "clock_locations"):
            assert await here.scalar(f"SELECT bool_and(remarks = 'kept') FROM {table}")
        assert await here.scalar("SELECT bool_and(kind_mark = 'access' AND direction = 'in') FROM clock_devices")


async def test_secrets_that_the_server_leaks_are_stored_nowhere(parts):
    async with site(parts, "onprem") as here:
        await here.sync()
        leaked = {f"{person.number * 7919 % 1_000_000:06d}" for person in here.world.people}
        excerpts = await here.rows("SELECT excerpt FROM clock_api_logs WHERE path LIKE '%employees%'")
        assert excerpts
        assert not [secret for secret in leaked for (excerpt,) in excerpts if f'"{secret}"' in excerpt]
        people = await here.rows("SELECT e::text FROM clock_employees e")
        assert not [row for (row,) in people if "pbkdf2" in row]


async def test_every_call_is_logged_with_its_run(parts):
    async with site(parts) as here:
        end = await here.sync()
        row = await here.row(end.run_id)
        assert await here.scalar("SELECT count(*) FROM clock_api_logs WHERE run_id = :run", run=end.run_id) == row.calls
        assert row.calls == here.simulator.call_count


async def test_a_range_is_read_again_on_request_and_the_live_cursor_stays(parts):
    async with site(parts, days=30, employees=20) as here:
        await here.set(history_start="2026-11-10")
        await here.sync_punches()
        before = await here.scalar("SELECT covered_until FROM clock_sync_cursors WHERE \"window\" = 'live'")
        held = await here.punches()
        async with parts.database.transaction() as db:
            first, last = date(2026, 10, 25), date(2026, 10, 31)
            await backfill.ask(db, COMMAND_LINE, first, last, today=here.now.date())
        await here.sync_punches()
        counted = "SELECT count(*) FROM clock_transactions WHERE local_date BETWEEN '2026-10-25' AND '2026-10-31'"
        assert await here.scalar(counted) > 0
        assert await here.scalar("SELECT min(local_date) FROM clock_transactions") == date(2026, 10, 25)
        assert await here.punches() > held
        assert await here.scalar("SELECT state FROM clock_sync_cursors WHERE kind = 'asked'") == "complete"
        live = await here.scalar("SELECT covered_until FROM clock_sync_cursors WHERE \"window\" = 'live'")
        assert live >= before


async def test_a_history_that_was_let_begin_in_the_future_is_read_as_far_as_the_last_days(parts):
    """Every punch lay before it: all were let go, and the run had succeeded."""
    async with site(parts) as here:
        await here.store("history_start", "2062-11-01")
        end = await here.sync_punches()
        assert end.status == "succeeded"
        since = datetime(2026, 11, 17, tzinfo=ZoneInfo("Europe/Berlin"))
        assert await here.punches() > 0
        await here.holds_everything(since)
        here.let_pass(days=2)
        await here.sync_punches()
        await here.holds_everything(since)


async def test_a_later_start_of_the_history_has_no_punch_purged(parts):
    from app.clock.purge import purge

    async with site(parts) as here:
        await here.sync_punches(**{"import": False})
        await here.rows("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'not_bound' RETURNING 1")
        held = await here.punches()
        await here.set(retain_transactions_days=62, history_start="2026-11-19")
        assert (await purge(parts.database, "main", here.now))["transactions"] == 0
        await here.store("history_start", "2062-11-01")
        assert (await purge(parts.database, "main", here.now))["transactions"] == 0
        assert await here.punches() == held > 0


async def test_a_range_of_one_person_brings_that_person_alone(parts):
    async with site(parts, days=30) as here:
        await here.set(history_start="2026-11-10")
        await here.sync_punches()
        code = here.world.people[3].code
        async with parts.database.transaction() as db:
            await backfill.ask(db, COMMAND_LINE, date(2026, 10, 25), date(2026, 11, 5), [code], today=here.now.date())
        await here.sync_punches()
        old = await here.rows("SELECT DISTINCT emp_code FROM clock_transactions WHERE local_date < '2026-11-06'")
        assert [tuple(row) for row in old] == [(code,)]


async def test_a_range_that_is_none_is_refused(database):
    async with database.transaction() as db:
        for first, last in ((date(2026, 2, 2), date(2026, 2, 1)), (date(2030, 1, 1), date(2030, 1, 2))):
            with pytest.raises(Invalid):
                await backfill.ask(db, COMMAND_LINE, first, last, today=date(2026, 11, 20))


@BOTH
async def test_a_restored_database_is_noticed_and_started_over_without_a_punch_twice(parts, profile):
    async with site(parts, profile) as here:
        await here.sync_punches()
        await here.holds_everything()
        here.faults("ids_restart")
        end = await here.sync_punches()
        assert (end.status, end.code) == ("failed", "TC-SHAPE")
        assert "Start over" in (end.message or "")
        await here.holds_everything()
        async with parts.database.transaction() as db:
            await backfill.start_over(db, COMMAND_LINE, date(2026, 10, 1), here.now)
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()
        assert await here.scalar("SELECT min(id_generation) FROM clock_transactions") == 2


async def test_a_code_that_the_server_changed_is_no_restored_database(parts):
    async with site(parts) as here:
        await here.sync_punches()
        here.world.people[2].code = "RENUMBERED"
        here.world.changed()
        assert (await here.sync_punches()).status == "succeeded"
        live = "SELECT count(*) FROM clock_transactions WHERE emp_code = 'RENUMBERED'"
        assert await here.scalar(live) > 0


async def test_a_purge_takes_old_settled_punches_and_leaves_their_totals(parts):
    from app.clock.purge import purge

    async with site(parts, days=80, employees=4) as here:
        await here.set(history_start="2026-09-01")
        await here.sync_punches(**{"import": False})
        async with parts.database.transaction() as db:
            from sqlalchemy import text

            await db.execute(text("UPDATE clock_transactions SET judge_at = NULL, import_outcome = 'not_bound'"))
            await db.execute(
                text(
                    "UPDATE clock_transactions SET judge_at = now() WHERE id ="
                    " (SELECT id FROM clock_transactions ORDER BY local_date LIMIT 1)"
                )
            )
        days = await here.rows("SELECT local_date, total FROM clock_analytics_daily WHERE dimension = 'all' ORDER BY 1")
        await here.set(retain_transactions_days=62)
        gone = await purge(parts.database, "main", here.now)
        horizon = date(2026, 11, 20) - timedelta(days=61)
        assert gone["transactions"] > 0
        left = await here.rows("SELECT judge_at FROM clock_transactions WHERE local_date < :day", day=horizon)
        assert len(left) == 1
        assert days == await here.rows(
            "SELECT local_date, total FROM clock_analytics_daily WHERE dimension = 'all' ORDER BY 1"
        )
        held = await here.punches()
        await here.set(page_size=100)
        end = await here.sync_punches()
        assert end.status == "succeeded"
        assert await here.punches() == held
        async with parts.database.transaction() as db:
            await backfill.ask(db, COMMAND_LINE, date(2026, 9, 1), date(2026, 11, 20), today=here.now.date())
        assert (await here.sync_punches(**{"import": False})).status == "succeeded"
        assert await here.punches() == held
        async with parts.database.transaction() as db:
            with pytest.raises(Invalid, match="before 2026-09-20 are not kept"):
                await backfill.ask(db, COMMAND_LINE, date(2026, 9, 1), date(2026, 9, 19), today=here.now.date())


async def test_the_schedule_waits_for_its_interval_and_for_the_person_who_asked_us_to_wait(parts):
    async with site(parts) as here:
        async with parts.database.transaction() as db:
            assert (await when_due.turn(db, here.now)).is_due
        await here.sync(resources=["areas"])
        queued = await here.scalar("SELECT max(queued_at) FROM clock_sync_runs")
        async with parts.database.transaction() as db:
            assert not (await when_due.turn(db, queued + timedelta(minutes=14))).is_due
            assert (await when_due.turn(db, queued + timedelta(minutes=15))).is_due
        await here.set(sync_interval_minutes=0)
        async with parts.database.transaction() as db:
            assert not (await when_due.turn(db, queued + timedelta(days=1))).is_due


async def test_the_schedule_does_not_wait_for_the_lease_while_no_run_is_under_way(parts):
    async with site(parts) as here:
        await here.sync(resources=["areas"])
        async with parts.database.transaction() as holding, parts.database.transaction() as db:
            await lease.holder(holding)
            async with asyncio.timeout(10):
                assert not (await when_due.turn(db, here.now)).is_due


async def test_a_run_that_resumes_a_dead_one_and_dies_as_well_is_taken_up_by_the_same_job(parts):
    async with site(parts) as here:
        run_id = await here.start(resources=["areas"])
        for _ in range(2):
            async with parts.database.transaction() as db:
                await run_rows.begin(db, run_id, timedelta(0), here.now)
        assert (await here.run_of(run_id)).status == "succeeded"
        found = await here.rows('SELECT status, "trigger" FROM clock_sync_runs ORDER BY id')
        assert found == [("truncated", "manual"), ("truncated", "resume"), ("succeeded", "resume")]


async def test_the_job_of_a_run_that_ended_by_itself_takes_up_no_other(parts):
    async with site(parts) as here:
        first = await here.sync(resources=["areas"])
        async with parts.database.transaction() as db:
            other = await here.start(resources=["areas"])
            await run_rows.begin(db, other, timedelta(0), here.now)
        assert (await here.run_of(first.run_id)).run_id == first.run_id
        assert (await here.row(other)).status == "running"


async def test_a_fault_of_our_own_closes_the_run_and_the_next_one_continues(parts, urls):
    async with site(parts) as here:
        with psycopg.connect(urls.owner, autocommit=True) as owner:
            owner.execute("ALTER TABLE main.clock_analytics_daily RENAME TO gone")
            try:
                with pytest.raises(ProgrammingError):
                    await here.sync_punches()
            finally:
                owner.execute("ALTER TABLE main.gone RENAME TO clock_analytics_daily")
        (broken,) = await here.rows("SELECT status, error_code, error_message FROM clock_sync_runs")
        assert (broken.status, broken.error_code) == ("failed", "TC-IMPORT")
        assert broken.error_message.startswith("Muster itself failed (ProgrammingError)")
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


@pytest.mark.parametrize("pages", [0, 3], ids=["at its beginning", "among its pages"])
async def test_a_run_whose_database_left_stays_open_and_is_resumed_by_its_own_job(parts, urls, pages):
    """It frees its lease. Otherwise the next attempt would wait until that expires."""
    async with site(parts) as here, AsyncExitStack() as stack:
        run_id, told = await here.start(), 0

        def lose(_):
            nonlocal told
            told += 1
            if told == pages + 1:
                stack.enter_context(lost_after_a_statement(parts.database, urls))

        with pytest.raises(Exception) as lost:  # noqa: PT011 - it may be any of many errors
            await sync.run(parts, "main", run_id, now=lambda: here.now, watch=lose)
        assert is_because_away(lost.value)
        assert (await here.row(run_id)).status == "running"
        assert await here.scalar("SELECT run_id IS NULL FROM clock_sync_lease")
        end = await here.run_of(run_id)
        assert (end.status, end.message) == ("succeeded", None)
        found = await here.rows('SELECT status, "trigger" FROM clock_sync_runs ORDER BY id')
        assert found == [("truncated", "manual"), ("succeeded", "resume")]
        await here.holds_everything()


async def test_a_run_that_a_person_starts_joins_the_one_whose_job_waits_after_a_lost_database(parts):
    """Only while the job waits: without it no worker would resume the run."""
    async with site(parts) as here:
        async with parts.database.transaction() as db:
            run_id, _ = await run_rows.queue_run(db, "manual", {"resources": ["areas"]}, COMMAND_LINE)
            _, fence = await run_rows.begin(db, run_id, timedelta(minutes=1), here.now)
            await lease.give_back(db, fence)
            await db.execute(update(Job).values(attempt=1, due_at=func.now() + timedelta(minutes=1)))
        async with parts.database.transaction() as db:
            assert await run_rows.queue_run(db, "manual", {}, COMMAND_LINE) == (run_id, True)
            assert not (await when_due.turn(db, here.now)).is_due
        assert (await here.row(run_id)).status == "running"
        async with parts.database.transaction() as db:
            await db.execute(update(Job).values(status="failed", finished_at=func.now()))
        async with parts.database.transaction() as db:
            other, joined = await run_rows.start_run(db, "manual", {}, COMMAND_LINE)
        assert (other == run_id, joined) == (False, False)
        assert (await here.row(run_id)).status == "truncated"


async def test_the_first_check_counts_each_day_once_though_more_of_them_are_read_from_run_to_run(parts):
    async with site(parts) as here:
        for _ in range(2):
            await here.sync_punches()
        asked = await here.rows(
            "SELECT substring(query FROM 'page_size=1&start_time=(.{10}).*end_time') FROM clock_api_logs"
        )
        assert sorted(day for (day,) in asked if day) == [f"2026-11-{day}" for day in range(10, 20)]
