"""The connection: what saving asks for, what it changes, its states, and one sign-in for all workers."""

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select, text, update

from app import jobs
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.clock import settings
from app.clock.connection import lease
from app.clock.connection import saved as connection
from app.clock.connection.connection_form import ConnectionForm
from app.clock.connection.shared_session import LOCK_AFTER, SharedSession, password_place
from app.clock.mirror import cursors, rezoning
from app.clock.models import Connection
from app.clock.sync import run as sync
from app.clock.sync import run_rows, when_due
from app.db.session import Database
from app.errors import Conflict, Invalid
from app.outbound import OutboundError
from app.secrets import Secret
from app.simulator import PASSWORD
from tests.clock.mirrored import connect
from tests.clock.remotes import MemorySessionStore
from tests.clock.syncing import site


async def nowhere(_):
    """A log for tests that look at something else."""


ACCOUNTS = (b"one account",)


async def session_of(parts, workspace="main"):
    """What the workspace would ask its server with."""
    async with parts.database.transaction(workspace) as db:
        found = await connection.required(db)
    return await connection.session_of(parts, workspace, found).load()


def form(**changes):
    fields = {
        "base_url": "https://clock.example.com/", "username": "operator", "profile": "cloud", "timezone": "Asia/Manila",
        "password": Secret("s3cret-of-the-clock"),
    }  # fmt: skip
    return ConnectionForm(**{**fields, **changes})


async def test_a_saved_connection_is_unverified_and_its_password_sealed(parts):
    async with parts.database.transaction() as db:
        saved = await connection.save(db, parts.keys, COMMAND_LINE, form())
    assert (saved.status, saved.base_url) == ("unverified", "https://clock.example.com")
    assert "s3cret" not in saved.password
    assert parts.keys.open(saved.password, password_place("main")) == Secret("s3cret-of-the-clock")
    async with parts.database.transaction() as db:
        audit = await db.scalar(text("SELECT after::text FROM audit_entries WHERE act = 'clock.connection.save'"))
    assert "s3cret" not in audit
    assert "password_changed" in audit


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"base_url": "ftp://x"}, "base_url"),
        ({"base_url": "https://me:secret@clock.example.com"}, "base_url"),
        ({"username": "  "}, "username"),
        ({"profile": "other"}, "profile"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"password": None}, "password"),
        ({"password": Secret("")}, "password"),
        ({"overrides": {"paths.employees": "/api/employees"}}, "overrides"),
        ({"overrides": {"paths.sign_in": "/web/oauth/api/v2/sign_in/"}}, "overrides"),
    ],
)
async def test_what_cannot_be_used_is_refused_at_its_field(parts, change, field):
    async with parts.database.transaction() as db:
        with pytest.raises(Invalid) as refusal:
            await connection.save(db, parts.keys, COMMAND_LINE, form(**change))
    assert field in {error.field for error in refusal.value.details}


async def test_another_address_asks_for_the_password_again_and_another_user_does_not(parts):
    async with parts.database.transaction() as db:
        await connection.save(db, parts.keys, COMMAND_LINE, form())
    async with parts.database.transaction() as db:
        with pytest.raises(Invalid, match="another address"):
            await connection.save(
                db, parts.keys, COMMAND_LINE, form(base_url="https://evil.example.com", password=None)
            )
    async with parts.database.transaction() as db:
        saved = await connection.save(db, parts.keys, COMMAND_LINE, form(username="other", password=None))
    assert saved.username == "other"


@pytest.mark.parametrize("change", [{"username": "clock2"}, {"password": Secret("other")}, {"timezone": "Asia/Tokyo"}])
async def test_any_change_of_how_we_sign_in_comes_back_to_unverified(parts, change):
    async with site(parts) as here:
        await here.sync(resources=["areas"])
        assert (await here.connection()).status == "healthy"
        await here.save(**change)
        found = await here.connection()
        assert (found.status, found.tested_at) == ("unverified", None)
        assert (await session_of(parts) is None) is ("timezone" not in change)


@pytest.mark.parametrize(
    ("change", "is_forgotten"),
    [({"base_url": "https://other.example.com"}, True), ({"username": "another"}, False), ({"timezone": "UTC"}, False)],
)
async def test_another_address_clears_what_was_said_of_the_old_one(parts, change, is_forgotten):
    async with parts.database.transaction() as db:
        await connection.save(db, parts.keys, COMMAND_LINE, form())
        await connection.mark_working(db, datetime.now(UTC))
        await connection.mark_failed(db, "TC-NET", "It is down.", datetime.now(UTC))
        await connection.save(db, parts.keys, COMMAND_LINE, form(**change))
        saved = await connection.required(db)
    said = [saved.last_success_at, saved.last_error_at, saved.last_error_code, saved.last_error_message]
    assert ([one is None for one in said] == [True] * 4) == is_forgotten


async def test_saving_the_same_again_changes_nothing(parts):
    async with site(parts) as here:
        await here.sync(resources=["areas"])
        await here.save()
        assert (await here.connection()).status == "healthy"


async def test_a_test_shows_each_step_and_makes_the_connection_healthy(parts):
    async with site(parts) as here:
        steps = [step async for step in connection.test(parts, "main", COMMAND_LINE, nowhere)]
        assert [step.name for step in steps] == ["resolve", "connect", "tls", "sign_in", "list"]
        assert all(step.ok for step in steps)
        assert (await here.connection()).status == "healthy"


async def test_a_failed_test_ends_at_its_step_and_the_connection_fails(parts):
    async with site(parts, faults=["signin_401"]) as here:
        steps = [step async for step in connection.test(parts, "main", COMMAND_LINE, nowhere)]
        assert (steps[-1].name, steps[-1].ok, steps[-1].code) == ("sign_in", False, "TC-AUTH")
        found = await here.connection()
        assert (found.status, found.last_error_code, found.credential_failures) == ("failing", "TC-AUTH", 1)


@pytest.mark.parametrize("faults", [[], ["signin_401"]], ids=["it works", "it fails"])
@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:9"},
        {"username": "another"},
        {"password": Secret("another")},
        {"timezone": "Asia/Tokyo"},
    ],
    ids=["address", "account", "password", "zone"],
)
async def test_a_test_says_nothing_of_what_was_saved_while_it_ran(parts, change, faults):
    async with site(parts, faults=faults) as here:
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(awaits_test=True))
        steps = connection.test(parts, "main", COMMAND_LINE, nowhere)
        await anext(steps)
        async with parts.database.transaction() as db:
            now = await connection.required(db)
            await connection.save(db, parts.keys, COMMAND_LINE, kept(now, **change), test_comes_first=True)
        with pytest.raises(Conflict, match=r"was changed during the test\. Test it again"):
            [step async for step in steps]
        found = await here.connection()
        assert (found.status, found.tested_at, found.last_success_at, found.last_error_at) == (
            "unverified", None, None, None,
        )  # fmt: skip
        assert found.awaits_test


def kept(found, **changes):
    """The form as it stands, with the password typed again."""
    names = ("base_url", "username", "company", "profile", "timezone", "overrides")
    return ConnectionForm(**{**{name: getattr(found, name) for name in names}, "password": Secret(PASSWORD), **changes})


async def test_a_paused_connection_starts_nothing_until_it_is_resumed(parts):
    async with site(parts) as here:
        await here.sync(resources=["areas"])
        async with parts.database.transaction() as db:
            await connection.pause(db, COMMAND_LINE)
            assert not (await when_due.turn(db, here.now + timedelta(days=30))).is_due
            with pytest.raises(Conflict, match="paused"):
                await run_rows.start_run(db, "manual", {}, COMMAND_LINE)
            await connection.resume(db, COMMAND_LINE)
            with pytest.raises(Conflict):
                await connection.resume(db, COMMAND_LINE)
        assert (await here.connection()).status == "healthy"


async def test_many_workers_sign_in_once(parts):
    async with site(parts) as here:
        found = await here.connection()
        clients = [connection.open_remote(parts, "main", found, nowhere, now=lambda: here.now) for _ in range(3)]
        await asyncio.gather(*(client.fetch_page("areas", 1, 10) for client in clients))
        signed_in = [call for call in here.simulator.calls if call.resource == "sign_in"]
        assert len(signed_in) == 1


async def test_those_who_wait_for_the_turn_to_sign_in_hold_no_connection(parts, urls):
    narrow, turns = Database(urls.app, pool_size=2), []

    async def sign_in(number):
        store = SharedSession(narrow, "main", parts.keys, ACCOUNTS)
        async with store.lock():
            await store.load()
            turns.append(number)

    async with asyncio.timeout(5):
        await asyncio.gather(*(sign_in(number) for number in range(4)))
    await narrow.close()
    assert sorted(turns) == [0, 1, 2, 3]


async def test_a_session_that_cannot_be_opened_costs_a_sign_in_and_no_more(parts):
    async with site(parts) as here:
        await here.sync(resources=["areas"])
        async with parts.database.transaction() as db:
            await db.execute(text("UPDATE clock_sign_ins SET tokens = 'k1.AAAA.BBBB'"))
        assert await session_of(parts) is None
        assert (await here.sync(resources=["areas"])).status == "succeeded"


async def test_every_session_store_refuses_nothing_that_the_protocol_asks(parts):
    async with site(parts):
        for store in (MemorySessionStore(), SharedSession(parts.database, "main", parts.keys, ACCOUNTS)):
            async with store.lock():
                await store.before_sign_in()
                await store.sign_in_rejected()
            assert await store.load() is None


async def test_a_locked_connection_is_not_even_tested(parts):
    async with site(parts, faults=["signin_401"]) as here:
        for _ in range(5):
            await here.sync(resources=["areas"])
        with pytest.raises(Conflict, match="locked"):
            async for _ in connection.test(parts, "main", COMMAND_LINE, nowhere):
                pass


@pytest.mark.parametrize(
    ("change", "left"),
    [({"base_url": "https://other.example.com"}, 0), ({"password": Secret("another")}, LOCK_AFTER - 1)],
    ids=["another address", "the same address"],
)
async def test_another_address_does_not_inherit_the_lock_of_the_old_one(parts, change, left):
    async with parts.database.transaction() as db:
        await connection.save(db, parts.keys, COMMAND_LINE, form())
        until = datetime.now(UTC) + timedelta(minutes=15)
        locked = {"status": "locked", "credential_failures": LOCK_AFTER, "locked_until": until}
        await db.execute(update(Connection).values(locked))
        saved = await connection.save(db, parts.keys, COMMAND_LINE, form(**change))
    assert (saved.status, saved.credential_failures, saved.locked_until) == ("unverified", left, None)


async def test_a_change_of_zone_moves_the_instants_of_a_server_in_the_building(parts):
    async with site(parts, "onprem") as here:
        await here.sync_punches(**{"import": False})
        before = await here.rows("SELECT punched_at_local, punched_at_utc FROM clock_transactions ORDER BY id")
        await here.save(timezone="America/New_York")
        unchanged = await here.rows("SELECT punched_at_local, punched_at_utc FROM clock_transactions ORDER BY id")
        assert unchanged == before
        assert await here.scalar("SELECT count(*) FROM shared.jobs WHERE name = 'clock_import'") == 1
        async with parts.database.transaction() as db:
            assert await rezoning.rewrite_slice(db)
        after = await here.rows("SELECT punched_at_local, punched_at_utc FROM clock_transactions ORDER BY id")
        assert [row[0] for row in after] == [row[0] for row in before]
        assert {new[1] - old[1] for new, old in zip(after, before, strict=True)} == {timedelta(hours=6)}
        assert await here.scalar("SELECT bool_and(judge_at IS NOT NULL) FROM clock_transactions")
        held = await here.punches()
        counts = (await here.sync_punches()).resources["transactions"]
        assert (counts["created"], counts["updated"]) == (0, 0)
        assert await here.punches() == held


async def test_a_change_of_zone_moves_the_local_times_of_the_cloud_and_reads_it_again(parts):
    async with site(parts, "cloud") as here:
        await here.sync_punches(**{"import": False})
        before = await here.rows("SELECT punched_at_local, punched_at_utc FROM clock_transactions ORDER BY id")
        await here.save(timezone="Asia/Manila")
        end = await here.sync_punches()
        assert end.status == "succeeded"
        after = await here.rows("SELECT punched_at_local, punched_at_utc FROM clock_transactions ORDER BY id")
        assert [row[1] for row in after] == [row[1] for row in before]
        assert {new[0] - old[0] for new, old in zip(after, before, strict=True)} == {timedelta(hours=7)}
        raw = await here.scalar("SELECT bool_and(punched_at_raw = to_char(punched_at_local, 'YYYY-MM-DD HH24:MI:SS'))"
                                " FROM clock_transactions")  # fmt: skip
        assert raw
        await here.holds_everything()


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2026-10-25 02:30:00", "2026-10-25 00:30:00+00"),  # the first of the repeated hour
        ("2026-03-29 02:30:00", "2026-03-29 01:30:00+00"),  # in the missing hour: the offset before the gap
        ("2026-07-01 12:00:00", "2026-07-01 10:00:00+00"),
    ],
)
async def test_instants_follow_the_rules_for_hours_that_are_there_twice_or_not_at_all(parts, local, utc):
    async with parts.database.transaction() as db:
        await db.execute(
            text(
                "INSERT INTO clock_transactions (id_generation, remote_id, emp_code, punched_at_raw, punched_at_local,"
                " punched_at_utc, local_date) VALUES (1, '1', 'A', CAST(:local AS text), CAST(CAST(:local AS text) AS timestamp),"
                " now(), CAST(CAST(:local AS text) AS date))"
            ),
            {"local": local},
        )
        await connect(db, "Europe/Berlin")
        await rezoning.begin(db, "Asia/Tokyo", "Europe/Berlin", "local_times")
        assert await rezoning.rewrite_slice(db)
        found = await db.scalar(text("SELECT punched_at_utc FROM clock_transactions"))
    assert found == datetime.fromisoformat(utc)


async def test_another_profile_of_the_same_server_doubles_nothing(parts):
    async with site(parts, "cloud") as here:
        await here.sync_punches()
        await here.holds_everything()
    async with site(parts, "onprem") as here:
        await here.save(profile="onprem", base_url=here.address, password=Secret(PASSWORD))
        assert (await here.sync_punches()).status == "succeeded"
        await here.holds_everything()


async def test_a_run_under_way_stops_when_the_address_changes(parts):
    async with site(parts) as here:
        await here.set(page_size=15)
        run_id = await here.start()
        third = asyncio.Event()

        def watch(seen):
            if seen.get("resource") == "transactions" and seen.get("page") == 3:
                third.set()

        async def change():
            await third.wait()
            await here.save(username="somebody-else")

        changing = asyncio.create_task(change())
        end = await sync.run(parts, "main", run_id, now=lambda: here.now, watch=watch)
        await changing
        assert end.status == "truncated"
        held = await here.punches()
        assert 0 < held < len(here.world.punches)
        assert (await here.row(run_id)).status == "truncated"


async def test_a_worker_that_was_taken_for_dead_writes_nothing(parts):
    async with site(parts) as here:
        await here.set(page_size=15)
        first = await here.start()
        third, taken_over = asyncio.Event(), asyncio.Event()

        def watch(seen):
            if seen.get("resource") == "transactions" and seen.get("page") == 3:
                third.set()

        async def take_over():
            await third.wait()
            async with parts.database.transaction() as db:
                await db.execute(text("UPDATE clock_sync_lease SET expires_at = now() - interval '1 second'"))
                run_id, joined = await run_rows.start_run(db, "manual", {}, COMMAND_LINE)
                assert not joined
            taken_over.set()
            return await here.run_of(run_id)

        second = asyncio.create_task(take_over())
        end = await sync.run(parts, "main", first, now=lambda: here.now, watch=watch)
        other = await second
        assert taken_over.is_set()
        assert (end.status, other.status) == ("truncated", "succeeded")
        assert (await here.row(first)).status == "truncated"
        await here.holds_everything()
        created = await here.scalar("SELECT sum((resources->'transactions'->>'created')::int) FROM clock_sync_runs")
        assert created == await here.punches()


async def test_two_workers_with_one_run_run_it_once(parts):
    async with site(parts) as here:
        run_id = await here.start()
        ends = await asyncio.gather(here.run_of(run_id), here.run_of(run_id))
        assert sorted(end.status for end in ends) == ["running", "succeeded"]
        await here.holds_everything()


async def test_a_worker_that_is_told_to_end_leaves_the_run_to_the_next_at_once(parts):
    async with site(parts, faults=["slow=1,at=employees"]) as here:
        first = await here.start(resources=["employees", "transactions"])
        running = asyncio.create_task(here.run_of(first))
        await asyncio.sleep(0.8)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        here.faults()
        end = await here.run_of(first)
        assert (end.status, (await here.row(end.run_id)).trigger) == ("succeeded", "resume")
        assert (await here.row(first)).status == "truncated"
        await here.holds_everything()


async def test_the_lease_is_kept_while_a_call_takes_its_time(parts):
    async with site(parts, faults=["slow=2.5,at=departments"]) as here:
        run_id = await here.start(resources=["departments"])
        running = asyncio.create_task(here.run_of(run_id, term=timedelta(seconds=2)))
        await asyncio.sleep(2.3)
        async with parts.database.transaction() as db:
            assert await lease.holder(db) == (run_id, True)
        assert (await running).status == "succeeded"


async def test_settings_have_the_contracts_defaults_and_are_stored_only_when_they_differ(parts):
    async with parts.database.transaction() as db:
        await connection.save(db, parts.keys, COMMAND_LINE, form())
        await db.execute(text("UPDATE clock_connections SET created_at = '2026-06-30T20:00:00Z'"))
        found = await settings.read_settings(db)
        assert found.history_start == date(2026, 7, 1) - timedelta(days=90)
        assert (found.page_size, found.shift_gap_hours, found.default_direction) == (500, 8, "by_code")
        await settings.write_settings(db, COMMAND_LINE, {"page_size": "100", "double_tap_fix": "false"})
        assert await db.scalar(text("SELECT count(*) FROM clock_settings")) == 2
        await settings.write_settings(db, COMMAND_LINE, {"page_size": 500})
        assert (await settings.read_settings(db)).page_size == 500
        assert await db.scalar(text("SELECT count(*) FROM clock_settings")) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("page_size", "0"), ("page_size", "many"), ("page_size", True), ("sync_interval_minutes", "-1"),
        ("retain_transactions_days", "30"), ("double_tap_fix", "maybe"), ("default_direction", "up"),
        ("history_start", "yesterday"), ("history_start", "2199-12-31"), ("no_such_setting", "1"), ("run_budget_seconds", "1e3"),
    ],
)  # fmt: skip
async def test_a_setting_that_cannot_be_is_refused_by_name(parts, name, value):
    async with parts.database.transaction() as db:
        with pytest.raises(Invalid) as refusal:
            await settings.write_settings(db, COMMAND_LINE, {name: value})
    assert [error.field for error in refusal.value.details] == [name]


async def test_a_policy_of_the_host_is_over_the_operators_address(parts):
    async with parts.database.transaction() as db:
        found = await connection.save(db, parts.keys, COMMAND_LINE, form(base_url="http://169.254.169.254"))
    client = connection.open_remote(parts, "main", found, nowhere, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(OutboundError) as refusal:
        await client.fetch_page("areas", 1, 1)
    assert refusal.value.code == "TC-POLICY"


@pytest.mark.parametrize("stored", ["http://xn--", "http://00.00.00.01", "http://０.０.０.０"])
async def test_an_address_that_was_stored_before_it_was_refused_is_a_failure_of_the_network(parts, stored):
    async with parts.database.transaction() as db:
        found = await connection.save(db, parts.keys, COMMAND_LINE, form())
        found.base_url = stored
        client = connection.open_remote(parts, "main", found, nowhere)
    with pytest.raises(OutboundError) as refusal:
        await client.fetch_page("areas", 1, 1)
    assert (refusal.value.code, "not an address that can be called" in refusal.value.message) == ("TC-NET", True)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Manila"])
def test_segments_say_what_the_reader_of_rows_says(zone):
    from zoneinfo import ZoneInfo

    from app.clock.mirror.rezoning import by_instant, by_local_time
    from app.clock.parsing import LocalTimes

    first, last = datetime(2025, 1, 1), datetime(2026, 12, 31)
    read = LocalTimes(ZoneInfo(zone)).read
    local, instant = (found(ZoneInfo(zone), first, last) for found in (by_local_time, by_instant))
    assert len(local) <= 5
    moment = first
    while moment < last:
        shown, at = read(f"{moment:%Y-%m-%d %H:%M:%S}")
        offset = [shift for since, shift in local if since <= shown][-1]
        assert shown - offset == at.replace(tzinfo=None)
        utc = moment.replace(tzinfo=UTC)
        shift = [shift for since, shift in instant if since <= moment][-1]
        assert shift == utc.astimezone(ZoneInfo(zone)).utcoffset()
        around = {
            (utc + days).astimezone(ZoneInfo(zone)).utcoffset() for days in (-timedelta(days=2), timedelta(days=2))
        }
        # every half hour of the days around a change of the clocks, and of the rest every hour of the day in turn
        moment += timedelta(minutes=30) if len(around) > 1 else timedelta(hours=11)


async def test_beginning_again_forgets_what_was_read_and_not_what_a_person_asked_for(database: Database) -> None:
    async with database.transaction() as db:
        for window, kind in (("live", "live"), ("backfill:1", "backfill"), ("check:1", "check"), ("asked:1", "asked")):
            await cursors.write(db, cursors.PUNCHES, window, kind=kind, page=3)
        for resource in ("devices", "employees"):
            await cursors.write(db, resource, "", kind="listing", state="refused", pending={}, note="x", generation=5)
        await cursors.move(db, "devices", "", cursors.WalkPosition(page=4, received=200))
        found = text(
            'SELECT resource, "window", page, rows_seen, state, pending, note, generation'
            " FROM clock_sync_cursors ORDER BY 1, 2"
        )
        assert [(row.resource, row.page, row.rows_seen) for row in await db.execute(found)][:2] == [
            ("devices", 4, 200),
            ("employees", 0, 0),
        ]
        kinds = [row.kind for row in await cursors.read_all(db)]
        assert kinds == ["asked", "backfill", "check", "live"]
        await cursors.start_over(db)
        assert (await db.execute(found)).all() == [
            ("devices", "", 0, 0, "open", None, None, 5),
            ("employees", "", 0, 0, "open", None, None, 5),
            (cursors.PUNCHES, "asked:1", 3, 0, "open", None, None, 0),
        ]


async def test_a_lease_that_was_taken_over_is_kept_by_its_new_holder_alone(database: Database) -> None:
    async with database.transaction() as db:
        assert await lease.holder(db) == (None, False)
        old = await lease.take(db, 1)
        await lease.keep(db, old)
        new = await lease.take(db, 2)
        await lease.keep(db, new)
        with pytest.raises(lease.LeaseLostError):
            await lease.keep(db, old)
        await lease.give_back(db, old)
        assert await lease.holder(db) == (2, True)
        await lease.break_off(db)
        with pytest.raises(lease.LeaseLostError):
            await lease.keep(db, new)


async def test_a_setting_of_the_match_asks_for_a_pass_behind_one_that_runs(database: Database) -> None:
    """The one that runs may have read the setting already."""
    async with database.transaction() as db:
        await jobs.request(db, "clock_match")
        await db.execute(update(Job).values(status="running"))
    async with database.transaction() as db:
        await settings.write_settings(db, COMMAND_LINE, {"ignore_leading_zeros": "true"})
        asked = await db.scalars(select(Job.key).where(Job.name == "clock_match").order_by(Job.id))
        assert list(asked) == ["clock_match", "clock_match:next"]
