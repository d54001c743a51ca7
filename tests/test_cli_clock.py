"""The clock's commands against the simulator over HTTP: connect, sync, import, bind, retry, backfill, settings."""

import ast
import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app import demo, sealed
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import AuditEntry, Job
from app.clock.connection import lease
from app.clock.models import Binding, Connection, Device, Punch, Setting, SyncRun
from app.clock.sync import run_rows
from app.commands import clock_punches
from app.db.session import Database
from app.host.models import AttendanceRecord
from app.secrets import KeyRing, new_key_text
from app.simulator import PASSWORD, USERNAME, Simulator, build_world, create_simulator, serving
from tests.clock.mirrored import employ, punch
from tests.command_line import CommandLine
from tests.conftest import KEYS

PEOPLE, DAYS = 30, 4


@pytest.fixture
def simulator() -> Simulator:
    return create_simulator(build_world(7, PEOPLE, DAYS, 8, datetime.now(UTC), demo.ZONE), "cloud", [])


@pytest.fixture
async def server(simulator: Simulator) -> AsyncIterator[str]:
    async with serving(simulator, 0, "127.0.0.1") as address:
        yield address


@pytest.fixture
async def connected(muster: CommandLine, database: Database, server: str) -> str:
    async with database.transaction() as db:
        await demo.seed(db, demo.staff(PEOPLE, 7))
    ended = await muster(*connecting(server), "--json", stdin=f"{PASSWORD}\n")
    assert ended.code == 0, ended.err
    return server


def connecting(url: str, **changes: str) -> list[str]:
    options = {"--username": USERNAME, "--profile": "cloud", "--timezone": demo.ZONE, **changes}
    return ["clock:connect", url, *(word for pair in options.items() for word in pair), "--password-stdin"]


async def count(database: Database, table: Any, *which: Any) -> int:
    async with database.transaction() as db:
        return await db.scalar(select(func.count()).select_from(table).where(*which)) or 0


async def test_connecting_tests_every_step_and_seals_the_password(
    muster: CommandLine, database: Database, server: str
) -> None:
    ended = await muster(*connecting(server), "--json", stdin=f"{PASSWORD}\n")
    assert ended.json["ok"]
    assert all(step["ok"] for step in ended.json["steps"])
    async with database.transaction() as db:
        row = (await db.scalars(select(Connection))).one()
    assert row.status == "healthy"
    assert PASSWORD not in row.password


async def test_a_wrong_password_is_saved_and_refused_with_its_code(muster: CommandLine, server: str) -> None:
    ended = await muster(*connecting(server), stdin="not this one\n")
    assert ended.refusal.startswith("TC-AUTH")
    assert "not this one" not in ended.out + ended.err


async def test_a_server_that_policy_forbids_is_refused_with_its_code(muster: CommandLine, server: str) -> None:
    ended = await muster(*connecting(server), stdin="x\n", MUSTER_OUTBOUND_ALLOW="")
    assert ended.refusal.startswith("TC-POLICY")


async def test_saving_without_a_test_makes_no_call(muster: CommandLine, database: Database) -> None:
    ended = await muster(*connecting("http://127.0.0.1:1"), "--no-test", "--json", stdin="x\n")
    assert ended.json == {"url": "http://127.0.0.1:1", "tested": False, "ok": True, "steps": []}
    assert await count(database, Connection, Connection.status == "unverified") == 1


async def test_a_connection_that_makes_no_sense_is_refused(muster: CommandLine, database: Database) -> None:
    assert (await muster(*connecting("ftp://x"), stdin="x\n")).refusal
    assert (await muster(*connecting("http://127.0.0.1:1", **{"--timezone": "Mars/Base"}), stdin="x\n")).refusal
    assert await count(database, Connection) == 0


async def test_a_sync_without_a_connection_is_refused(muster: CommandLine) -> None:
    assert (await muster("clock:sync")).refusal


@pytest.mark.usefixtures("connected")
async def test_a_sync_mirrors_matches_and_imports_and_prints_its_run(muster: CommandLine, database: Database) -> None:
    ended = await muster("clock:sync", "--json")
    run = ended.json
    assert (ended.code, run["status"], run["trigger"]) in [(0, "succeeded", "command"), (0, "partial", "command")], run
    assert run["resources"]["employees"]["created"] == PEOPLE
    assert run["resources"]["transactions"]["created"] == await count(database, Punch) > 0
    assert await count(database, Binding, Binding.state == "auto_matched") > 0
    assert await count(database, AttendanceRecord) > 0
    told = await muster("clock:sync")
    assert told.code == 0
    assert told.out.startswith("Run 2: ")


@pytest.mark.usefixtures("connected")
async def test_some_resources_without_import_write_no_attendance(muster: CommandLine, database: Database) -> None:
    run = (
        await muster("clock:sync", "--resource", "employees", "--resource", "transactions", "--no-import", "--json")
    ).json
    assert set(run["resources"]) == {"employees", "transactions"}
    assert await count(database, AttendanceRecord) == 0
    dry = (await muster("clock:import", "--dry-run", "--json")).json
    assert dry["records_created"] == 0 or dry["dry_run"]
    assert await count(database, AttendanceRecord) == 0
    await muster("clock:sync", "--resource", "employees")
    real = (await muster("clock:import", "--json")).json
    assert not real["dry_run"]


async def test_a_sync_takes_up_the_run_of_a_command_that_was_killed(
    muster: CommandLine, database: Database, connected: str
) -> None:
    async with database.transaction() as db:
        dead, _ = await run_rows.start_run(db, "command", {}, COMMAND_LINE)
        await lease.take(db, dead, timedelta(seconds=3))
        await db.execute(update(SyncRun).values(status="running"))
    ended = await asyncio.wait_for(muster("clock:sync", "--json"), 30)
    assert ended.code == 0
    assert f"Run {dead} is already running" in ended.err
    assert ended.json["trigger"] == "resume"
    assert ended.json["resources"]["transactions"]["created"] == await count(database, Punch) > 0
    async with database.transaction() as db:
        assert (await run_rows.get_run(db, dead)).status == "truncated"


async def test_a_failed_sync_prints_the_run_and_exits_with_its_code(
    muster: CommandLine, database: Database, connected: str, simulator: Simulator
) -> None:
    run = await muster("clock:sync", "--json", MUSTER_OUTBOUND_ALLOW="")
    assert run.code == 1
    assert run.json["status"] == "failed"
    assert run.err.splitlines()[-1].startswith("Error: TC-POLICY")
    assert await count(database, SyncRun, SyncRun.error_code == "TC-POLICY") == 1


@pytest.mark.usefixtures("connected")
async def test_codes_are_bound_cleared_and_ignored_by_their_number(muster: CommandLine, database: Database) -> None:
    await muster("clock:sync", "--resource", "employees")
    async with database.transaction() as db:
        code = await db.scalar(select(Binding.emp_code).where(Binding.state == "not_found").limit(1))
    bound = (await muster("clock:bind", code, "10001", "--json")).json
    assert (bound["state"], bound["other_codes"]) == ("bound", ["10001"]), (
        "the script's bind continues, and says who else"
    )
    assert (await muster("clock:clear", code, "--json")).json["state"] == "unbound"
    assert (await muster("clock:ignore", code, "--json")).json["state"] == "ignored"
    assert await count(database, Binding, Binding.emp_code == code, Binding.state == "ignored") == 1
    assert (await muster("clock:bind", code, "10001")).refusal, "an ignored code is taken back first"
    assert (await muster("clock:clear", code)).refusal
    assert "99999" in (await muster("clock:bind", "99999", "10001")).refusal
    doubled = next(one.id_number for one in demo.staff(PEOPLE, 7) if one.gap == "doubled")
    assert "share" in (await muster("clock:bind", code, doubled)).refusal


@pytest.mark.usefixtures("connected")
async def test_records_are_moved_and_taken_back_with_the_link(muster: CommandLine, database: Database) -> None:
    await muster("clock:sync")
    async with database.transaction() as db:
        made = select(Punch.emp_code, func.count(Punch.host_attendance_id.distinct())).group_by(Punch.emp_code)
        code, records = next(row for row in await db.execute(made.order_by(Punch.emp_code)) if row[1])
        await employ(db, "Norman Else", "X-1")
    moved = (await muster("clock:bind", code, "X-1", "--move", "--json")).json
    assert moved["undone"] == {"records": records, "done": records, "left": {}, "finished": True}
    assert "were taken back." in (await muster("clock:clear", code, "--take-back")).out
    assert await count(database, Punch, Punch.emp_code == code, Punch.host_attendance_id.is_not(None)) == 0
    assert (await muster("clock:clear", code, "--take-back")).refusal


@pytest.mark.usefixtures("connected")
async def test_retrying_judges_what_a_filter_names(muster: CommandLine, database: Database) -> None:
    await muster("clock:sync")
    async with database.transaction() as db:
        loose = select(Punch.emp_code).where(Punch.host_attendance_id.is_(None)).limit(1)
        code = await db.scalar(loose)
    expected = await count(database, Punch, Punch.emp_code == code, Punch.host_attendance_id.is_(None))
    assert (await muster("clock:retry", "--emp-code", code, "--json")).json["punches"] == expected
    assert (await muster("clock:retry", "--from", "1999-01-01", "--to", "1999-01-02", "--json")).json["punches"] == 0
    assert (await muster("clock:retry", "--outcome", "nonsense")).code == 2


@pytest.mark.usefixtures("connected")
async def test_settling_takes_the_filters_of_a_retry(
    muster: CommandLine, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await muster("clock:sync")
    lone = (Punch.import_outcome == "only_one_punch",)
    async with database.transaction() as db:
        code = await db.scalar(select(Punch.emp_code).where(*lone).limit(1))
    those = (*lone, Punch.emp_code == code)
    every, expected = await count(database, Punch, *lone), await count(database, Punch, *those)
    chosen = ("clock:settle", "--emp-code", code, "--outcome", "only_one_punch")
    done = (await muster(*chosen, "--note", "Sent home", "--json")).json
    assert done == {"punches": expected, "outcomes": {"only_one_punch": expected}}
    noted = (Punch.settled_by == "Command line", Punch.settled_note == "Sent home")
    assert await count(database, Punch, *noted) == await count(database, Punch, *those, *noted) == expected
    assert "0 punches are settled." in (await muster(*chosen)).out
    assert "a person again." in (await muster(*chosen, "--undo")).out
    assert await count(database, Punch, Punch.settled_by.is_not(None)) == 0
    assert (await muster("clock:settle", "--outcome", "only_one_punch", "--json")).json["punches"] == every
    assert (await muster("clock:settle", "--from", "1999-01-01", "--to", "1999-01-02", "--undo", "--json")).json == {
        "punches": 0,
        "outcomes": {},
    }
    in_parts = await count(database, AuditEntry, AuditEntry.act == "clock.unsettle")
    monkeypatch.setattr(clock_punches, "PART", 2)
    assert (await muster("clock:settle", "--undo", "--json")).json["punches"] == every
    parts = await count(database, AuditEntry, AuditEntry.act == "clock.unsettle") - in_parts
    assert parts == -(-every // 2) > 1
    assert (await muster("clock:settle", "--outcome", "nonsense")).code == 2
    assert (await muster("clock:settle", "--undo", "--note", "x")).code == 2
    assert "at most 1,000 characters" in (await muster("clock:settle", "--note", "x" * 1001)).refusal


@pytest.mark.usefixtures("connected")
async def test_using_the_punches_takes_the_filters_of_a_retry(muster: CommandLine, database: Database) -> None:
    """A re-bound code's punches all arrived late: their records go to the new person, unless the day is locked."""
    await muster("clock:sync")
    async with database.transaction() as db:
        made = select(Punch.emp_code, func.min(Punch.local_date)).where(Punch.host_attendance_id.is_not(None))
        code, day = (await db.execute(made.group_by(Punch.emp_code).order_by(Punch.emp_code).limit(1))).one()
        await employ(db, "Norman Else", "X-1")
    await muster("clock:bind", code, "X-1")
    await muster("clock:import")
    late = (Punch.emp_code == code, Punch.import_outcome == "arrived_late")
    before, first = await count(database, Punch, *late), await count(database, Punch, *late, Punch.local_date == day)
    assert (await muster("clock:use", "--emp-code", "stranger's", "--json")).json["punches"] == 0
    await muster("attendance:lock", str(day), str(day))
    locked = (await muster("clock:use", "--emp-code", code, "--to", str(day), "--json")).json
    assert locked == {"punches": first, "used": 0, "left": {"date_locked": first}, "finished": True}
    await muster("attendance:unlock", str(day), str(day))
    assert "were used." in (await muster("clock:use", "--emp-code", code, "--outcome", "arrived_late")).out
    assert (before > first > 0, await count(database, Punch, *late)) == (True, 0)
    assert (await muster("clock:use", "--outcome", "nonsense")).code == 2


@pytest.mark.usefixtures("connected")
async def test_a_past_range_is_read_again_and_finds_nothing_new(muster: CommandLine, database: Database) -> None:
    await muster("clock:sync")
    before = await count(database, Punch)
    today = datetime.now(UTC).date()
    ended = await muster("clock:backfill", today.replace(day=1), today, "--json")
    assert ended.code == 0, ended.err
    assert await count(database, Punch) >= before
    assert (await muster("clock:backfill", "2026-11-20", "2026-11-19")).refusal


@pytest.mark.usefixtures("connected")
async def test_a_terminal_is_marked_and_its_waiting_punches_are_judged_again(
    muster: CommandLine, database: Database
) -> None:
    await muster("clock:sync")
    async with database.transaction() as db:
        serial = await db.scalar(select(Device.sn).where(Device.remote_attendance).order_by(Device.sn).limit(1))
    marked = await muster("clock:device", serial, "--direction", "in", "--kind", "access", "--json")
    assert marked.json["changed"]
    again = await muster("clock:device", serial, "--kind", "access", "--json")
    assert (again.json["changed"], again.json["judged_again"]) == (False, 0)
    assert await count(database, Device, Device.kind_mark == "access", Device.direction == "in") == 1
    assert (await muster("clock:device", "nowhere", "--kind", "access")).refusal
    assert (await muster("clock:device", serial)).code == 2


async def test_settings_are_shown_set_and_refused(muster: CommandLine, database: Database) -> None:
    assert (await muster("clock:settings", "--json")).json["sync_interval_minutes"] == 15
    ended = await muster("clock:settings", "sync_interval_minutes=0", "show_photos=yes", "--json")
    assert (ended.json["sync_interval_minutes"], ended.json["show_photos"]) == (0, True)
    assert "page_size" in (await muster("clock:settings", "page_size=0", "show_photos=no")).refusal
    assert "no_such" in (await muster("clock:settings", "no_such=1")).refusal
    assert await count(database, Setting) == 2, "all or none"
    assert "show_photos" in (await muster("clock:settings")).out


async def test_another_rule_asks_for_an_import_of_what_waits(muster: CommandLine, database: Database) -> None:
    async with database.transaction() as db:
        await punch(db, "100", "I 08:00")
    await muster("clock:settings", "sync_interval_minutes=0")
    assert await count(database, Job, Job.name == "clock_import") == 0
    await muster("clock:settings", "shift_gap_hours=6")
    assert await count(database, Job, Job.name == "clock_import") == 1
    assert await count(database, Punch, Punch.judge_at.is_not(None)) == 1


@pytest.mark.usefixtures("connected")
async def test_rotation_seals_everything_with_the_first_key_and_can_be_run_again(
    muster: CommandLine, database: Database
) -> None:
    old, new = KEYS, new_key_text("next")
    both = {"MUSTER_SECRET_KEYS": f"{new},{old}"}
    done = await muster("secrets:rotate", "--json", **both)
    assert done.json["rotated"] >= 1
    assert (await muster("secrets:rotate", "--json", **both)).json["rotated"] == 0
    assert (await muster("clock:sync", "--resource", "areas", MUSTER_SECRET_KEYS=new)).code == 0
    found = await sealed.examine(database, KeyRing.from_text(old))
    assert found.broken, "the old key no longer opens anything"


@pytest.mark.usefixtures("connected")
async def test_a_secret_that_no_key_opens_is_named_and_the_others_are_rotated(
    muster: CommandLine, database: Database
) -> None:
    ended = await muster("secrets:rotate", MUSTER_SECRET_KEYS=new_key_text("other"))
    assert "clock_connections.password" in ended.refusal
    assert "Add the key that they were sealed with" in ended.refusal


def test_every_sealed_column_is_known_to_the_rotation() -> None:
    """Code that seals something names its place; the places in the source are compared with the list."""

    root = Path(__file__).parents[1] / "app"
    places = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Place":
                words = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
                places |= {".".join(map(str, words))} if len(words) == 2 else set()
    # The secret of an authenticator being set up and what stands for a password live in a form alone; evidence is
    # sealed under its person's own key, a ballot under that of its version; answers that are carried over a sign-in
    # live for an hour, and a secret that is shown once for minutes.
    assert places - {
        "sessions.carried",
        "sessions.flash",
        "users.totp_setup",
        "users.password_passed",
        "survey_responses.sealed",
        "survey_changes.sealed",
        "survey_ballots.sealed",
    } == {one.name for one in (*sealed.SEALED, *sealed.OF_ALL)}
