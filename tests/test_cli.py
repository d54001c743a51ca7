"""The command line: exit codes, one line for a refusal, JSON; and the commands about accounts, tenants and tables."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from sqlalchemy import func, select, update

from app.accounts import one_time_links, signing_in
from app.accounts.models import ApiToken, OneTimeLink, Role, Tenant, User, UserRole
from app.clock.profiles import RESOURCES
from app.commands import clock_runs, frame
from app.commands import database as database_commands
from app.db.session import PLATFORM, Database
from app.db.steps import MODULES, SHARED
from tests.cluster import DatabaseUrls, TestCluster
from tests.command_line import CommandLine
from tests.conftest import command_line


@pytest.fixture
def empty(cluster: TestCluster) -> Iterator[DatabaseUrls]:
    made = cluster.create_empty()
    yield made
    cluster.drop(made)


async def test_a_user_without_password_gets_a_link_that_sets_one(muster: CommandLine, database: Database) -> None:
    ended = await muster(
        "user:create",
        "Ada@Example.org",
        "--name",
        "Ada",
        "--type",
        "admin",
        "--role",
        "Operator",
        "--role",
        "Viewer",
        "--json",
    )
    assert ended.code == 0
    assert ended.json["email"] == "ada@example.org"
    secret = ended.json["link"].removeprefix("https://muster.example/welcome/")
    async with database.transaction() as db:
        assert await one_time_links.link_owner(db, secret) == ended.json["id"]
        roles = (
            select(Role.name).join(UserRole, UserRole.role_id == Role.id).where(UserRole.user_id == ended.json["id"])
        )
        assert set(await db.scalars(roles)) == {"Operator", "Viewer"}


async def test_a_user_with_a_password_from_standard_input_can_sign_in(muster: CommandLine, database: Database) -> None:
    ended = await muster(
        "user:create", "ada@example.org", "--name", "Ada", "--password-stdin", stdin="a long enough sentence\n"
    )
    assert ended.code == 0
    assert "welcome" not in ended.out
    async with database.shared_transaction() as db:
        ada = (await db.scalars(select(User).where(User.email == "ada@example.org"))).one()
        assert await db.scalar(select(func.count()).select_from(OneTimeLink)) == 0
    assert await signing_in.verify_password(ada.password_hash, "a long enough sentence")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("alice@example.org", "--name", "Alice"), "address"),
        (("no address", "--name", "Ada"), "e-mail"),
        (("ada@example.org", "--name", " "), "name"),
        (("ada@example.org", "--name", "Ada", "--role", "King"), "no role King; there are Administrator, "),
        (("ada@example.org", "--name", "Ada", "--type", "king"), "no user type king; there are admin, "),
        (("ada@example.org", "--name", "Ada", "--workspace", "initech"), "initech"),
        (("ada@example.org", "--name", "Ada", "--password-stdin"), "password"),
    ],
)
async def test_a_refused_user_is_one_line_and_nothing_is_written(
    muster: CommandLine, database: Database, arguments: tuple[str, ...], said: str
) -> None:
    ended = await muster("user:create", *arguments)
    assert said in ended.refusal
    assert ended.out == ""
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).where(User.email.like("ada%"))) == 0


async def test_a_short_password_is_refused_and_not_repeated(muster: CommandLine) -> None:
    ended = await muster("user:create", "ada@example.org", "--name", "Ada", "--password-stdin", stdin="hunter2\n")
    assert "12" in ended.refusal
    assert "hunter2" not in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("user:create", "ada@example.org"),
        ("no:such",),
        ("tenant:export", "acme"),
        ("tenant:export", "acme", "acme.muster", "--passphrase", "on the command line"),
        ("tenant:import", "no-such-file.muster"),
        ("serve", "--port", "70000"),
        ("attendance:lock", "21.11.2026", "2026-11-22"),
        ("migrate:modules", "--workspace", "acme", "--all-workspaces"),
        ("clock:settings", "sync_interval_minutes"),
        ("module:test", "Payroll"),
        ("db:seed", "ClockDemo", "--dry-run", "--remove"),
    ],
)
async def test_wrong_usage_exits_with_two(muster: CommandLine, arguments: tuple[str, ...]) -> None:
    ended = await muster(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Usage:" in ended.err


@pytest.mark.parametrize("absent", ["pytest", "hypothesis"])
async def test_the_tests_of_a_module_say_which_dependencies_they_need(
    muster: CommandLine, monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)  # as where it is not installed
    refusal = (await muster("module:test", "Surveys")).refusal
    assert f"need the development dependencies; these are missing: {absent}." in refusal
    assert "requirements-dev.lock" in refusal


async def test_a_token_is_printed_once_and_kept_as_a_hash(muster: CommandLine, database: Database) -> None:
    ended = await muster(
        "token:create", "alice@example.org", "--scope", "clock:read", "--scope", "me", "--days", 3, "--json"
    )
    assert ended.code == 0
    assert ended.json["scopes"] == ["clock:read", "me"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", ended.json["expires_at"])
    async with database.shared_transaction() as db:
        row = (await db.scalars(select(ApiToken))).one()
    assert ended.json["token"].encode() not in row.token_hash
    assert row.hint == ended.json["token"][-4:]
    plain = await muster("token:create", "alice@example.org", "--scope", "me")
    assert len(plain.out.splitlines()) == 1


async def test_a_token_for_an_unknown_person_is_refused(muster: CommandLine) -> None:
    assert "stranger@example.org" in (await muster("token:create", "stranger@example.org", "--scope", "me")).refusal
    assert (await muster("token:create", "eve@example.org", "--scope", "me")).code == 1, "Eve is Globex's"
    ended = await muster("token:create", "eve@example.org", "--scope", "me", "--workspace", "globex")
    assert ended.code == 0


async def test_a_tenant_is_made_with_its_tables_roles_and_types(muster: CommandLine, database: Database) -> None:
    ended = await muster("tenant:create", "initech", "--name", "Initech", "--ceiling", "full", "--json")
    assert ended.code == 0
    async with database.transaction("initech") as db:
        assert (await db.scalars(select(Tenant.ceiling).where(Tenant.key == "initech"))).one() == "full"
        assert await db.scalar(select(func.count()).where(Role.workspace == "initech")) == 4
    assert (await muster("employees:import", "/dev/null", "--workspace", "initech")).code == 1, (
        "an empty file, but tables"
    )
    ended = await muster(
        "user:create", "peter@example.org", "--name", "Peter", "--role", "Viewer", "--workspace", "initech"
    )
    assert ended.code == 0
    assert "initech" in (await muster("tenant:create", "initech", "--name", "Initech")).refusal


@pytest.mark.parametrize("key", ["main", "shared", "Big", "1st", "a-b", "x" * 41, "a; drop schema main"])
async def test_a_tenant_key_that_is_no_key_is_refused(muster: CommandLine, key: str) -> None:
    assert (await muster("tenant:create", key, "--name", "X")).refusal


async def test_making_a_tenant_needs_the_owner(muster: CommandLine, database: Database) -> None:
    ended = await muster("tenant:create", "initech", "--name", "Initech", MUSTER_OWNER_DATABASE_URL="")
    assert "MUSTER_OWNER_DATABASE_URL" in ended.refusal
    async with database.shared_transaction() as db:
        assert await db.scalar(select(Tenant.key).where(Tenant.key == "initech")) is None


async def test_migrating_twice_changes_nothing_and_refreshes_the_administrator(
    muster: CommandLine, database: Database
) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Role).where(Role.name == "Administrator").values(permissions=["admin.users"]))
    ended = await muster("migrate:modules", "--json")
    assert ended.code == 0
    assert {one["schema"] for one in ended.json} == {"shared", "main", "tenant_acme", "tenant_globex"}
    assert not any(one["changed"] for one in ended.json)
    async with database.shared_transaction() as db:
        found = await db.scalars(select(Role.permissions).where(Role.name == "Administrator"))
        assert all("clock.dashboard" in permissions for permissions in found)


async def test_every_command_takes_an_address_that_says_how_to_encrypt(muster: CommandLine, urls: DatabaseUrls) -> None:
    addresses = {"MUSTER_DATABASE_URL": urls.app, "MUSTER_OWNER_DATABASE_URL": urls.owner}
    plain = {name: f"{url}{'&' if '?' in url else '?'}sslmode=disable" for name, url in addresses.items()}
    assert "Nothing to do." in (await muster("migrate:modules", **plain)).out
    assert "ok    migrations" in (await muster("doctor", **plain)).out


@pytest.mark.slow
async def test_two_first_migrations_at_once_both_succeed(empty: DatabaseUrls, tmp_path: Path) -> None:
    muster = command_line(empty, tmp_path)
    command = [sys.executable, "-m", "app", "migrate:modules"]
    pair = [
        await asyncio.create_subprocess_exec(
            *command, env={"PATH": "", **muster.environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    ended = [await process.communicate() for process in pair]
    assert [process.returncode for process in pair] == [0, 0], ended
    assert sorted("Nothing to do." in out.decode() for out, _ in ended) == [False, True]
    assert "Nothing to do." in (await muster("migrate:modules")).out


async def test_a_database_without_tables_says_which_command_makes_them(empty: DatabaseUrls, tmp_path: Path) -> None:
    ended = await command_line(empty, tmp_path)("user:create", "ada@example.org", "--name", "Ada")
    assert "migrate:modules" in ended.refusal


async def test_a_worker_without_tables_says_so_at_once(empty: DatabaseUrls, tmp_path: Path) -> None:
    assert "run `muster migrate:modules`" in (await command_line(empty, tmp_path)("worker")).refusal


async def test_a_worker_whose_sign_in_is_refused_waits_for_nothing(muster: CommandLine, urls: DatabaseUrls) -> None:
    nowhere = urlsplit(urls.app)._replace(path="/nowhere").geturl()
    assert "does not exist" in (await muster("worker", MUSTER_DATABASE_URL=nowhere)).refusal


async def test_a_worker_waits_for_a_database_that_starts_later(
    muster: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.settings.START_PATIENCE_S", 1.0)
    ended = await muster("worker", MUSTER_DATABASE_URL="postgresql://u:p@127.0.0.1:1/x")
    lines = ended.err.splitlines()
    assert (ended.code, "can't be reached yet" in lines[0], "can't be reached: " in lines[-1]) == (1, True, True)


async def test_a_role_that_may_not_make_tables_is_one_line(empty: DatabaseUrls, tmp_path: Path) -> None:
    muster = command_line(empty, tmp_path)
    assert "permission denied" in (await muster("migrate:modules", MUSTER_OWNER_DATABASE_URL=empty.app)).refusal


async def test_an_app_role_that_there_is_not_is_one_line(empty: DatabaseUrls, tmp_path: Path) -> None:
    muster = command_line(empty, tmp_path)
    stranger = re.sub("//[^@]*@", "//stranger:x@", empty.app)
    assert 'role "stranger" does not exist' in (await muster("migrate:modules", MUSTER_DATABASE_URL=stranger)).refusal


async def test_an_address_that_asks_for_what_there_is_not_is_one_line(muster: CommandLine) -> None:
    url = "postgresql://u:hunter2@127.0.0.1:1/x?sslmode=maybe"
    assert "sslmode" in (await muster("doctor", MUSTER_DATABASE_URL=url)).refusal


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_finds_no_space_is_not_told_as_a_database_that_is_away() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "app", "api:generate-spec"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, "no space is left" in ended.stderr) == (1, True)


async def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    ended = await CommandLine({"MUSTER_DATA_DIR": str(file / "data")})("doctor")
    assert ended.refusal == f"{file / 'data'} can't be used: Not a directory."


async def test_a_worker_without_the_queues_schema_says_what_makes_it(muster: CommandLine, urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.owner) as owner:
        owner.execute("ALTER SCHEMA saq RENAME TO was_saq")
    try:
        assert "run `muster migrate:modules`" in (await muster("worker")).refusal
    finally:
        with psycopg.connect(urls.owner) as owner:
            owner.execute("ALTER SCHEMA was_saq RENAME TO saq")


async def test_a_database_that_cannot_be_reached_is_one_line(muster: CommandLine) -> None:
    ended = await muster(
        "token:create", "a@b.cc", "--scope", "me", MUSTER_DATABASE_URL="postgresql://u:hunter2@127.0.0.1:1/x"
    )
    assert "can't be reached" in ended.refusal
    assert "hunter2" not in ended.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MUSTER_ENV", "staging"),
        ("MUSTER_DATABASE_URL", "mysql://x"),
        ("MUSTER_SECRET_KEYS", "k1:short"),
        ("MUSTER_OUTBOUND_ALLOW", "everything"),
    ],
)
async def test_an_environment_that_makes_no_sense_is_one_line(muster: CommandLine, name: str, value: str) -> None:
    assert (await muster("token:create", "alice@example.org", "--scope", "me", **{name: value})).refusal


async def test_production_names_what_is_missing(tmp_path: Path) -> None:
    muster = CommandLine({"MUSTER_ENV": "production", "MUSTER_DATA_DIR": str(tmp_path)})
    assert "MUSTER_SECRET_KEYS" in (await muster("serve")).refusal


def test_help_names_every_command_and_loads_no_database() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "app", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in ("serve", "worker", "demo", "migrate:modules", "clock:sync", "attendance:export", "doctor"):
        assert name in shown.stdout
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "app.cli" in loaded
    assert not {"alembic", "sqlalchemy", "uvicorn", "rich", "structlog"} & loaded


def test_a_worker_and_a_command_load_no_pages() -> None:
    """They cost as much as all else: a worker took half as long again to start, and a command twice as long."""
    # What app.commands.frame.acting loads, and app.commands.serve._work.
    begun = "import sys, app.wiring, app.parts, app.accounts.tenants, workers.settings; app.wiring.connect(); "
    tell = "print({'litestar', 'jinja2', 'app.host.pages', 'app.web.context'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", begun + tell], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


async def test_a_command_loads_what_hears_of_changes_only_once_something_changed(muster: CommandLine) -> None:
    """Listeners of all modules were half of what a command without them loads."""
    loaded = await _loaded_by(muster, "user:create", "ada@example.org", "--name", "Ada", "--type", "admin")
    assert "app.accounts.accounts" in loaded
    assert not {"app.clock.models", "app.clock.bindings.actions", "app.alerts.news", "rapidfuzz"} & loaded


async def test_acts_list_loads_no_pages_where_there_is_no_act(muster: CommandLine) -> None:
    """It took three times as long."""
    loaded = await _loaded_by(muster, "acts:list")
    assert "app.long_acts.progress" in loaded
    assert not {"litestar", "jinja2", "app.host.pages"} & loaded


def test_a_command_that_tells_of_an_act_of_the_clock_loads_no_pages() -> None:
    begun = "import sys, app.clock.review.long_act_words; "
    tell = "print({'litestar', 'jinja2', 'app.clock.pages'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", begun + tell], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"


async def _loaded_by(muster: CommandLine, *arguments: str) -> set[str]:
    """The modules that a command loads, in a process of its own."""
    command = [sys.executable, "-X", "importtime", "-m", "app", *arguments]
    environment = {**os.environ, **muster.environment}
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True, env=environment)
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}


def test_words_that_commands_repeat_for_a_quick_help_are_those_of_the_modules() -> None:
    assert set(database_commands.MODULES) == set(MODULES) - {SHARED}
    assert set(clock_runs.RESOURCES) == set(RESOURCES)
    assert frame.PLATFORM == PLATFORM
