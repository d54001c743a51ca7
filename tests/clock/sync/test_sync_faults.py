"""Every quirk and every failure of a real server, switched on in the simulator:
what is mirrored, and how the run ends."""

import asyncio
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from app.accounts.audit import COMMAND_LINE
from app.clock.connection import saved as connection
from app.clock.figures import completeness as progress
from app.clock.mirror.shortfalls import RUNS
from app.clock.problems.silence import is_silent
from app.clock.punches import queries
from app.clock.punches.punch_filter import PunchFilter
from app.clock.sync import backfill, punch_window, run_rows
from app.clock.sync import run as sync
from app.clock.sync import window_completeness as completeness
from app.errors import Conflict
from app.outbound import Limits
from app.problems import looking
from app.problems.models import Problem
from app.secrets import Secret
from app.simulator import PASSWORD
from tests.clock.syncing import ZONE, Site, site


@pytest.fixture(autouse=True)
def quick(parts):
    """The same limits in a shorter time."""
    parts.outbound.limits = Limits(connect_s=2.0, call_s=2.0, attempts=3, pause_s=0.001)


# Quirks that must not change what is mirrored.
IN_THE_BUILDING = [
    "page_cap_50", "unstable_paging", "page_beyond_404", "page_size_ignored", "filter_utc", "bounds_excluded", "next_null",
    "ninth_generation", "results_envelope", "token_dies", "iso_offset_dates",
]  # fmt: skip
READ = ["departments", "devices", "employees", "transactions"]  # one of each kind of row
HARMLESS = [
    "page_cap_50", "unstable_paging", "inserts_while_paging,times=3", "filter_utc",
    "bounds_excluded", "filter_ignored", "next_internal", "next_null", "double_rows", "clock_fast_34m",
    "clock_off_17h", "clock_wrong_year", "trailing_space_dates", "us_dates", "iso_offset_dates", "text_verify",
    "no_display", "token_dies", "parallel_signin", "refresh_refused,at=refresh",
    "opaque_token", "no_expires_in", "token_name", "http_500=2", "body_401,times=1",
]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "profile"), [*((fault, "cloud") for fault in HARMLESS), *((fault, "onprem") for fault in IN_THE_BUILDING)]
)
async def test_a_quirk_changes_nothing_of_what_is_mirrored(parts, profile, fault):
    async with site(parts, profile, [fault], days=8) as here:
        await here.set(page_size=60)
        end = await here.sync(**{"resources": READ, "import": False})
        assert (end.status, end.message) == ("succeeded", None)
        await here.holds_everything()


async def test_codes_keep_their_leading_zeros(parts):
    async with site(parts, faults=["leading_zeros"]) as here:
        await here.sync_punches()
        assert await here.scalar("SELECT bool_and(length(emp_code) = 9) FROM clock_transactions")
        assert await here.scalar("SELECT bool_and(absent_since IS NULL) FROM clock_employees")


@pytest.mark.parametrize("fault", ["late_upload", "lower_ids", "late_upload=60"])
async def test_punches_that_arrive_late_are_found_by_the_nightly_check(parts, fault):
    async with site(parts) as here:
        await here.sync_punches()
        here.faults(fault)
        await here.sync_punches()
        here.let_pass(hours=20)
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


async def test_a_day_older_than_the_check_is_found_by_the_total(parts):
    async with site(parts, days=60, employees=4) as here:
        await here.sync_punches()
        here.world.punch(0, 0, here.world.now - 45 * 86400, 0)
        here.let_pass(hours=20)
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


async def test_a_server_that_counts_differently_is_not_read_again_every_night(parts):
    async with site(parts, faults=["filter_utc"]) as here:
        await here.sync_punches()
        for _ in range(2):
            here.let_pass(hours=24)
            await here.sync_punches()
        before = here.simulator.call_count
        await here.sync_punches()
        quiet = here.simulator.call_count - before
        here.let_pass(hours=24)
        before = here.simulator.call_count
        await here.sync_punches()
        # a dozen days and the total are counted, and the days that are new to the check are read once
        assert here.simulator.call_count - before < quiet + 20


@pytest.mark.parametrize("fault", ["page_repeats", "total_off"])
async def test_a_window_that_never_becomes_complete_stays_open_and_the_run_says_so(parts, fault):
    async with site(parts) as here:
        await here.set(page_size=40)
        here.faults(f"{fault},at=transactions")
        end = await here.sync_punches()
        assert (end.status, end.code) == ("partial", "TC-TRUNCATED")
        assert "punches came" in (end.message or "")
        async with parts.database.transaction() as db:
            up_to, why = await progress.complete_up_to(db, here.now)
        assert up_to is None
        assert why
        here.faults()
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


async def test_days_that_rest_until_tomorrow_are_read_at_once_where_a_person_asks(parts):
    """Three runs found them incomplete; asked for again on the same day, they were not read,
    and the old note came back."""
    first, last = date(2026, 10, 25), date(2026, 10, 31)

    async with site(parts, days=30, employees=4) as here:

        async def ask() -> None:
            async with parts.database.transaction() as db:
                await backfill.ask(db, COMMAND_LINE, first, last, today=here.now.date())

        await here.set(history_start="2026-11-10")
        await here.sync_punches()
        here.faults("total_off,at=transactions")
        await ask()
        for _ in range(RUNS + 1):
            assert (await here.sync_punches()).code == "TC-TRUNCATED"
        here.faults()
        await here.sync_punches()
        assert await here.scalar("SELECT state FROM clock_sync_cursors WHERE kind = 'asked'") == "open"
        await ask()
        await here.sync_punches()
        assert await here.scalar("SELECT state FROM clock_sync_cursors WHERE kind = 'asked'") == "complete"


async def test_what_earlier_runs_brought_counts_where_no_run_alone_gets_every_row(parts, monkeypatch):
    monkeypatch.setattr(completeness, "WALKS", 1)
    async with site(parts, faults=["unstable_paging,at=transactions"]) as here:
        await here.set(page_size=60)
        ends = [await here.sync_punches()]
        while ends[-1].status == "partial" and len(ends) < 10:
            ends.append(await here.sync_punches())
        assert (ends[0].code, ends[-1].status) == ("TC-TRUNCATED", "succeeded")
        await here.holds_everything()


async def test_a_run_with_several_things_wrong_says_all_of_them_under_the_first_code(parts):
    async with site(parts, faults=["total_off,at=transactions", "bad_row=code,at=employees,times=1"]) as here:
        end = await here.sync_punches()
        assert (end.status, end.code) == ("partial", "TC-SHAPE")
        assert "set aside" in (end.message or "")
        assert "punches came" in (end.message or "")


async def test_one_bad_row_is_set_aside_and_the_rest_is_mirrored(parts):
    async with site(parts, faults=["bad_row,at=transactions"]) as here:
        end = await here.sync_punches()
        assert (end.status, end.code) == ("partial", "TC-SHAPE")
        aside = await here.rows("SELECT raw, reason FROM clock_set_aside WHERE run_id = :run", run=end.run_id)
        assert len(aside) == end.resources["transactions"]["set_aside"] > 0
        assert all(row.reason and row.raw for row in aside)
        assert await here.punches() > 0
        assert (await here.connection()).status == "healthy"


async def test_a_listing_with_a_bad_row_marks_no_person_as_missing(parts):
    async with site(parts) as here:
        await here.sync_people()
        here.world.people[3].listed = False
        here.world.changed()
        here.faults("bad_row=code,at=employees")
        assert (await here.sync_people()).code == "TC-SHAPE"
        assert await here.scalar("SELECT count(*) FROM clock_employees WHERE absent_since IS NOT NULL") == 0
        here.faults()
        await here.sync_people()
        assert await here.scalar("SELECT count(*) FROM clock_employees WHERE absent_since IS NOT NULL") == 1


FAILURES = [
    ("http_500", "TC-REMOTE"), ("http_400", "TC-REMOTE"), ("body_code_failure", "TC-REMOTE"),
    ("licence_403", "TC-REMOTE"), ("nginx_405", "TC-REMOTE"), ("redirect,at=employees", "TC-SHAPE"),
    ("html_200", "TC-SHAPE"), ("spa_shell", "TC-SHAPE"), ("http_204", "TC-SHAPE"), ("not_json", "TC-SHAPE"),
    ("wrong_content_type", "TC-SHAPE"), ("nan", "TC-SHAPE"), ("duplicate_keys", "TC-SHAPE"),
    ("invalid_utf8", "TC-SHAPE"), ("missing_list", "TC-SHAPE"), ("wrong_types", "TC-SHAPE"), ("deep_json", "TC-SHAPE"),
    ("oversize=17", "TC-SHAPE"), ("reset", "TC-NET"), ("cut_body", "TC-NET"), ("cut_chunks", "TC-NET"),
    ("broken_chunking", "TC-NET"),
    ("signin_401", "TC-AUTH"), ("signin_403", "TC-AUTH"), ("signin_code", "TC-AUTH"), ("signin_no_token", "TC-SHAPE"),
    ("token_refused", "TC-TOKEN"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "code"), FAILURES)
async def test_a_failure_ends_the_run_with_its_code_and_is_logged(parts, fault, code):
    async with site(parts, faults=[fault], employees=5, days=5) as here:
        end = await here.sync_punches()
        assert (end.status, end.code) == ("failed", code)
        assert end.message
        found = await here.connection()
        assert (found.status, found.last_error_code) == ("failing", code)
        assert await here.scalar("SELECT count(*) FROM clock_api_logs WHERE tc_code = :code", code=code) > 0
        here.faults()
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


@pytest.mark.parametrize("fault", ["slow=2,at=employees", "drip=1,at=employees"])
async def test_an_answer_that_takes_too_long_as_a_whole_is_no_answer(parts, fault):
    parts.outbound.limits = Limits(connect_s=2.0, call_s=0.6, attempts=2, pause_s=0.001)
    async with site(parts, faults=[fault], employees=5, days=5) as here:
        end = await here.sync(resources=["employees"])
        assert (end.status, end.code) == ("failed", "TC-NET")


async def test_what_was_written_before_a_failure_stays_and_the_next_run_continues(parts):
    async with site(parts) as here:
        await here.set(page_size=20)
        here.faults("http_400,at=transactions,after=4")
        end = await here.sync_punches()
        assert end.status == "failed"
        assert await here.punches() == 80
        here.faults()
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


async def test_an_address_outside_the_allowed_networks_is_never_dialled(parts):
    async with site(parts) as here:
        await here.save(base_url="http://10.1.2.3:80", password=Secret(PASSWORD))
        end = await here.sync()
        assert (end.status, end.code) == ("failed", "TC-POLICY")


@pytest.mark.parametrize("fault", ["http_429", "http_503_retry_after=45"])
async def test_a_server_that_asks_us_to_wait_is_not_asked_before(parts, fault):
    async with site(parts, faults=[f"{fault},at=transactions,times=1"]) as here:
        end = await here.sync_punches()
        assert (end.status, end.code) == ("truncated", "TC-RATE")
        found = await here.connection()
        assert found.status == "unverified"
        assert here.now < found.not_before <= here.now + timedelta(hours=1)
        due = await here.scalar("SELECT due_at FROM jobs WHERE name = 'clock_sync' AND status = 'queued'")
        assert due == found.not_before
        calls = here.simulator.call_count
        again = await here.sync_punches()
        assert (again.code, again.message) == (
            "TC-RATE",
            f"The server asked us to wait until {_there(found.not_before)} ({ZONE}); nothing was asked.",
        )
        assert here.simulator.call_count == calls
        here.let_pass(seconds=61)
        assert (await here.sync_punches()).status == "succeeded"


async def test_a_server_that_limits_us_and_names_no_wait_is_not_asked_by_run_after_run(parts):
    async with site(parts, faults=["http_429=0"]) as here:
        end = await here.sync_punches()
        assert (end.status, end.code) == ("truncated", "TC-RATE")
        due = await here.scalar("SELECT due_at FROM jobs WHERE name = 'clock_sync' AND status = 'queued'")
        assert due >= here.now + timedelta(minutes=1)
        here.faults()
        assert (await here.sync_punches()).status == "succeeded"


async def test_the_fifth_refused_sign_in_locks_and_the_right_password_unlocks(parts):
    async with site(parts) as here:
        await here.save(password=Secret("wrong"))
        for _ in range(5):
            assert (await here.sync_punches()).code == "TC-AUTH"
        assert (await here.connection()).status == "locked"
        calls = here.simulator.call_count
        refused = await here.sync_punches()
        until = (await here.connection()).locked_until
        assert refused.code == "TC-LOCKED"
        assert refused.message.endswith(f", or try again from {_there(until)} ({ZONE}) on.")
        assert here.simulator.call_count == calls
        await _cannot_unlock(here)
        await here.save(password=Secret(PASSWORD))
        assert (await here.connection()).status == "unverified"
        assert (await here.sync_punches()).status == "succeeded"
        found = await here.connection()
        assert (found.status, found.credential_failures) == ("healthy", 0)


def _there(instant: datetime) -> str:
    """As a person in the clock's zone reads it, with its year: the sentence is stored."""
    here = instant.astimezone(ZoneInfo(ZONE))
    return f"{here:%a} {here.day} {here:%b %Y, %H:%M:%S}".removesuffix(":00")


async def _cannot_unlock(here: Site) -> None:
    async with here.parts.database.transaction() as db:
        with pytest.raises(Conflict, match="can be tried again"):
            await connection.unlock(db, COMMAND_LINE, here.now)


async def test_after_the_lock_ran_out_one_try_with_the_old_password_is_allowed(parts):
    async with site(parts, faults=["signin_401"]) as here:
        for _ in range(5):
            await here.sync()
        here.now += timedelta(minutes=16)
        assert (await here.sync()).code == "TC-LOCKED"
        async with parts.database.transaction() as db:
            await connection.unlock(db, COMMAND_LINE, here.now)
        calls = here.simulator.call_count
        assert (await here.sync()).code == "TC-AUTH"
        assert here.simulator.call_count == calls + 1
        assert (await here.connection()).status == "locked"


async def test_a_new_wrong_password_gets_one_try_and_locks_again(parts):
    async with site(parts, faults=["signin_401"]) as here:
        for _ in range(5):
            await here.sync()
        await here.save(password=Secret("another"))
        assert (await here.sync()).code == "TC-AUTH"
        assert (await here.connection()).status == "locked"


async def test_a_run_without_budget_ends_truncated_and_queues_the_next_which_continues(parts):
    async with site(parts) as here:
        await here.set(page_size=10, run_budget_calls=12)
        ends = await here.sync_until_done()
        assert len(ends) > 3
        assert {(end.status, end.code) for end in ends[:-1]} == {("truncated", "TC-TRUNCATED")}
        await here.holds_everything()
        created = sum(end.resources.get("transactions", {}).get("created", 0) for end in ends)
        assert created == await here.punches()
        rows = [await here.row(end.run_id) for end in ends]
        assert [row.trigger for row in rows] == ["manual"] + ["resume"] * (len(ends) - 1)
        assert all(row.calls <= 14 for row in rows)


async def test_a_run_without_time_ends_truncated(parts):
    async with site(parts) as here:
        end = await here.sync(budget_seconds=0)
        assert (end.status, end.code) == ("truncated", "TC-TRUNCATED")
        assert (await here.connection()).status == "unverified"


async def test_a_stopped_run_ends_after_its_page_and_queues_nothing(parts):
    async with site(parts) as here:
        await here.set(page_size=20)
        run_id = await here.start()
        third_page = asyncio.Event()

        def watch(seen):
            if seen.get("resource") == "transactions" and seen.get("page") == 3:
                third_page.set()

        async def stop():
            await third_page.wait()
            async with parts.database.transaction() as db:
                await run_rows.stop_run(db, COMMAND_LINE, run_id)

        stopping = asyncio.create_task(stop())
        end = await sync.run(parts, "main", run_id, now=lambda: here.now, watch=watch)
        await stopping
        assert (end.status, end.code) == ("truncated", "TC-TRUNCATED")
        assert await here.scalar("SELECT count(*) FROM clock_sync_runs WHERE status = 'queued'") == 0
        assert 0 < await here.punches() < len(here.world.punches)
        assert (await here.sync()).status == "succeeded"
        await here.holds_everything()


async def test_a_run_of_many_punches_counts_their_days_meanwhile(parts, monkeypatch):
    monkeypatch.setattr(punch_window, "MANY", 60)
    async with site(parts, employees=20) as here:
        await here.set(page_size=20)
        run_id = await here.start()
        stopping = []

        async def stop():
            async with parts.database.transaction() as db:
                await run_rows.stop_run(db, COMMAND_LINE, run_id)

        def watch(seen):
            if seen.get("resource") == "transactions" and seen.get("page") == 6:
                stopping.append(asyncio.create_task(stop()))

        assert (await sync.run(parts, "main", run_id, now=lambda: here.now, watch=watch)).status == "truncated"
        await asyncio.gather(*stopping)
        # A run that was stopped counts nothing at its end.
        counted = await here.scalar("SELECT sum(total) FROM clock_transaction_counts")
        assert (punches := await here.punches()) >= 120
        assert 0 <= punches - counted < 60 + 20
        async with parts.database.transaction() as db:
            assert (await queries.counted_by_day(db, PunchFilter())).total == punches


async def test_silence_and_a_wrong_clock_are_warned_of(parts):
    async with site(parts, days=30, faults=["clock_fast_34m"]) as here:
        await here.sync()
        async with parts.database.transaction() as db:
            await looking.look(db)
            wrong = await db.scalars(select(Problem.subject_id).where(Problem.kind == "terminal_skew"))
        assert here.world.terminals[0].serial in wrong
        skew = await here.scalar("SELECT clock_skew_seconds FROM clock_devices ORDER BY id LIMIT 1")
        assert -2040 <= skew < -1900
        here.faults("silent_feed")
        here.let_pass(days=4)
        await here.sync()
        last = await here.scalar("SELECT max(punched_at_utc) FROM clock_transactions")
        assert is_silent(last, here.now, ZoneInfo("Europe/Zagreb"), 24)


async def test_a_server_that_ignores_the_window_is_read_once_and_not_once_a_day(parts):
    async with site(parts, days=60, employees=8, faults=["filter_ignored"]) as here:
        await here.set(history_start="2026-09-01", page_size=50)
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()
        asked = [call for call in here.simulator.calls if call.resource == "transactions" and call.size > 2000]
        once = len(here.world.punches) / 50 + 2
        assert len(asked) <= once
        here.let_pass(hours=20)
        before = here.simulator.call_count
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()
        assert here.simulator.call_count - before <= once + 15
