"""Migrating beside a program that runs: a transaction for each workspace and step, what a lock or a failure stops, and
what the next run finds."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from app.accounts import tenants
from app.db import index_waits, steps, upgrading
from app.db.migrate import LOCK, MigrationWatch, Unfinished, migrate
from app.db.session import Database
from app.db.standing import out_of_step
from app.errors import Conflict
from tests.cluster import ROOT, DatabaseUrls, TestCluster
from tests.command_line import CommandLine
from tests.db.more_steps import MoreSteps

OURS = steps.ROOT
SCHEMAS = ("main", "tenant_acme", "tenant_globex")
ADD_MARK = 'op.add_column("employees", sa.Column("mark", sa.Integer()))'


@dataclass
class Told:
    """What a migration told."""

    waits: list[str] = field(default_factory=list)
    held_up: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    index_waits: list[str] = field(default_factory=list)

    @property
    def watch(self) -> MigrationWatch:
        return MigrationWatch(
            waits_for=self.waits.append,
            is_held_up=lambda schema, reason: self.held_up.append(f"{schema}: {reason}"),
            ends=self.ended.append,
            index_waits=lambda schema, transaction: self.index_waits.append(f"{schema}: {transaction}"),
        )


@pytest.fixture
def urls(cluster: TestCluster, template: str) -> Iterator[DatabaseUrls]:
    """A database of its own: these tests change tables."""
    cloned = cluster.clone(template)
    yield cloned
    cluster.drop(cloned)


@pytest.fixture
async def database(urls: DatabaseUrls) -> AsyncIterator[Database]:
    opened = Database(urls.app, pool_size=2)
    yield opened
    await opened.close()


@pytest.fixture
def more(tmp_path: Path) -> Iterator[MoreSteps]:
    made = MoreSteps.copied(tmp_path / "migrations")
    made.use()
    yield made
    MoreSteps(OURS).use()


@pytest.fixture
def owner(urls: DatabaseUrls) -> Iterator[psycopg.Connection]:
    with psycopg.connect(urls.owner, autocommit=True) as connection:
        yield connection


def columns(owner: psycopg.Connection, column: str) -> set[str]:
    """The schemas in which a table has this column."""
    found = owner.execute("SELECT table_schema FROM information_schema.columns WHERE column_name = %s", [column])
    return {schema for (schema,) in found}


def at(owner: psycopg.Connection, module: str) -> dict[str, str]:
    found = {}
    for schema in SCHEMAS:
        table = sql.Identifier(schema, f"migrations_{module}")
        (found[schema],) = owner.execute(sql.SQL("SELECT version_num FROM {}").format(table)).fetchone() or ("",)
    return found


def valid(owner: psycopg.Connection, index: str) -> dict[str, bool]:
    """By schema."""
    query = (
        "SELECT n.nspname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = %s"
    )
    return dict(owner.execute(query, [index]).fetchall())


async def test_one_workspace_that_fails_stops_no_other_and_the_next_run_continues_with_it(
    more: MoreSteps, muster: CommandLine, owner: psycopg.Connection
) -> None:
    fine, last = more.add("host", "a_fine", ADD_MARK), more.add("clock", "b_last", "op.execute('SELECT 1')")
    owner.execute("ALTER TABLE tenant_acme.employees ADD COLUMN mark text")
    before = at(owner, "host")
    ended = await muster("migrate:modules", "--json")
    assert ended.code == 1
    assert "1 schema is not at the newest step: tenant_acme." in ended.err
    assert 'column "mark" of relation "employees" already exists' in ended.err
    assert at(owner, "host") == {"main": fine, "tenant_acme": before["tenant_acme"], "tenant_globex": fine}
    assert [one["schema"] for one in ended.json if one["error"]] == ["tenant_acme"]
    assert at(owner, "clock")["tenant_globex"] == last
    assert "tenant_acme.host: " in (again := await muster("migrate:modules")).out
    assert (again.code, "Nothing to do." in again.out) == (1, False)
    owner.execute("ALTER TABLE tenant_acme.employees DROP COLUMN mark")
    done = await muster("migrate:modules")
    assert done.code == 0, done.err
    assert f"tenant_acme.host: {before['tenant_acme']} → {fine}" in done.out
    assert "globex" not in done.out


async def test_a_step_that_fails_undoes_itself_and_none_before_it(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    first = more.add("host", "a_first", ADD_MARK)
    more.add("host", "b_second", 'op.add_column("employees", sa.Column("other", sa.Text()))\nraise RuntimeError("no")')
    with pytest.raises(Unfinished, match="b_second failed: no"):
        await migrate(urls.owner, cluster.app_role)
    assert (columns(owner, "mark"), columns(owner, "other")) == (set(SCHEMAS), set())
    assert set(at(owner, "host").values()) == {first}


async def test_where_the_shared_tables_fail_no_workspace_is_begun(
    more: MoreSteps, muster: CommandLine, owner: psycopg.Connection
) -> None:
    more.add("shared", "a_shared", "raise RuntimeError('no')")
    more.add("host", "a_host", ADD_MARK)
    ended = await muster("migrate:modules")
    assert (ended.code, "The shared tables are not at the newest step" in ended.err) == (1, True)
    assert columns(owner, "mark") == set()


async def test_tables_of_a_newer_program_are_refused_before_anything_is_changed(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    more.add("shared", "a_shared", 'op.add_column("tenants", sa.Column("mark", sa.Integer()))')
    owner.execute("UPDATE tenant_globex.migrations_clock SET version_num = '2036_01_01_more'")
    with pytest.raises(Conflict, match=r"tenant_globex\.clock are at 2036_01_01_more"):
        await migrate(urls.owner, cluster.app_role)
    assert columns(owner, "mark") == set()


async def test_a_step_that_waits_for_a_lock_stops_no_other_and_is_tried_again(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """Who comes behind the step would wait as long as the step does, and reads time after time."""
    more.add("host", "a_mark", ADD_MARK)
    told = Told()
    with psycopg.connect(urls.app) as reader, psycopg.connect(urls.app, autocommit=True) as passer_by:
        reader.execute("SELECT count(*) FROM tenant_acme.employees")
        passer_by.execute("SET lock_timeout = '5s'")
        migration = asyncio.create_task(migrate(urls.owner, cluster.app_role, watch=told.watch))
        while len(told.held_up) < 3:
            await asyncio.to_thread(passer_by.execute, "SELECT count(*) FROM tenant_acme.employees")
        assert columns(owner, "mark") == {"main", "tenant_globex"}, "one at a time, and the others are done"
    await migration
    assert "tenant_acme: a_mark failed: another session holds a table that it needs" in told.held_up
    assert columns(owner, "mark") == set(SCHEMAS)


async def test_the_patience_with_a_lock_ends(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrading, "PATIENCE_S", 0.3)
    more.add("host", "a_mark", ADD_MARK)
    with psycopg.connect(urls.app) as reader:
        reader.execute("SELECT count(*) FROM main.employees")
        with pytest.raises(Unfinished, match=r"not at the newest step: main.*another session holds a table"):
            await migrate(urls.owner, cluster.app_role, jobs=3)


async def test_several_workspaces_are_worked_on_at_a_time(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """Each says that it is there, and waits for another one. A sequence tells others at once, and keeps what it told:
    who leaves first is not missed."""
    owner.execute("CREATE SEQUENCE shared.arrivals")
    body = (
        "op.execute(\"SELECT nextval('shared.arrivals')\")\n"
        'while not op.get_bind().scalar(sa.text("SELECT last_value >= 2 FROM shared.arrivals")):\n'
        '    op.execute("SELECT pg_sleep(0.01)")\n'
    )
    more.add("host", "a_meeting", body)
    workspaces = ["acme", "globex"]
    async with asyncio.timeout(60):
        applied = await migrate(urls.owner, cluster.app_role, workspaces=workspaces, jobs=2)
    assert {one.schema for one in applied if one.changed} == {"tenant_acme", "tenant_globex"}


async def test_a_second_run_waits_for_the_first_and_holds_up_no_index_meanwhile(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """An index that is built concurrently waits for every statement that began before it."""
    more.add("host", "a_mark", ADD_MARK)
    told = Told()
    owner.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    owner.execute("SET statement_timeout = '20s'")
    second = asyncio.create_task(migrate(urls.owner, cluster.app_role, watch=told.watch))
    async with asyncio.timeout(60):
        while not told.waits:  # noqa: ASYNC110 - a thing of its own says so
            await asyncio.sleep(0.01)
    assert told.waits[0].startswith(f"PostgreSQL process {owner.info.backend_pid}, at work since ")
    await asyncio.to_thread(owner.execute, "CREATE INDEX CONCURRENTLY beside ON main.employees (name)")
    assert (second.done(), columns(owner, "mark")) == (False, set())
    owner.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    await second
    assert columns(owner, "mark") == set(SCHEMAS)


async def test_a_new_tenant_waits_for_a_migration_and_says_so(muster: CommandLine, owner: psycopg.Connection) -> None:
    owner.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    creating = asyncio.create_task(muster("tenant:create", "initech", "--name", "Initech"))
    tries = "SELECT query_start FROM pg_stat_activity WHERE application_name = 'muster-migrate' AND query LIKE '%try_advisory%'"
    seen: set[Any] = set()
    async with asyncio.timeout(60):
        while len(seen) < 2:  # before it tries again, it has told who holds the lock
            seen |= set(owner.execute(tries).fetchall())
            await asyncio.sleep(0.01)
    owner.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    ended = await creating
    assert (ended.code, f"PostgreSQL process {owner.info.backend_pid}" in ended.err) == (0, True)


INDEX = 'op.create_index("by_name", "employees", ["name"], unique=True, postgresql_concurrently=True)'


async def test_an_index_is_built_beside_who_writes_and_a_broken_one_is_dropped_first(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    twin = "INSERT INTO tenant_acme.employees (id_number, id_number_key, name) VALUES (%s, %s, 'Ada')"
    for number in ("1", "2"):
        owner.execute(twin, [number, number])
    with suppress(psycopg.errors.UniqueViolation):
        owner.execute("CREATE UNIQUE INDEX CONCURRENTLY by_name ON tenant_acme.employees (name)")
    owner.execute("DELETE FROM tenant_acme.employees WHERE id_number = '2'")
    assert valid(owner, "by_name") == {"tenant_acme": False}
    more.add("host", "a_index", INDEX, says="CONCURRENT = True")
    told = Told()
    with psycopg.connect(urls.app) as writer:
        writer.execute("INSERT INTO main.employees (id_number, id_number_key, name) VALUES ('3', '3', 'Eve')")
        migration = asyncio.create_task(migrate(urls.owner, cluster.app_role, jobs=3, watch=told.watch))
        waits = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE%%' AND now() - query_start > %s * interval '1 ms')"
        while owner.execute(waits, [upgrading.LOCK_MS * 2]).fetchone() != (True,):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        assert (told.held_up, migration.done()) == ([], False), "it waits for who wrote before, and others write on"
        with psycopg.connect(urls.app) as other:
            other.execute("SET lock_timeout = '5s'")
            other.execute("INSERT INTO main.employees (id_number, id_number_key, name) VALUES ('4', '4', 'Ada')")
    await migration
    assert valid(owner, "by_name") == dict.fromkeys(SCHEMAS, True)


@pytest.mark.parametrize("role", ["owner", "app"])
async def test_an_index_that_waits_for_a_transaction_elsewhere_says_at_once_which_one(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection, role: str
) -> None:
    more.add("host", "a_index", INDEX, says="CONCURRENT = True")
    told = Told()
    with psycopg.connect(getattr(urls, role), application_name="a backup") as backup:
        backup.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        backup.execute("SELECT count(*) FROM tenant_globex.clock_devices")
        migration = asyncio.create_task(migrate(urls.owner, cluster.app_role, jobs=3, watch=told.watch))
        async with asyncio.timeout(60):
            while not told.index_waits:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.01)
        assert not migration.done()
        process = f"PostgreSQL process {backup.info.backend_pid} (a backup)"
    await migration
    (said,) = told.index_waits
    schema, _, transaction = said.partition(": ")
    assert schema in SCHEMAS
    assert transaction.startswith(process)
    assert (", open since 20" in transaction) == (role == "owner")
    assert valid(owner, "by_name") == dict.fromkeys(SCHEMAS, True)


async def test_an_index_that_waited_too_long_names_the_transaction_in_its_failure(
    more: MoreSteps,
    urls: DatabaseUrls,
    cluster: TestCluster,
    owner: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_waits, "LOOK_S", 0.05)
    monkeypatch.setattr(upgrading, "CONCURRENT_LOCK_MS", 1500)
    monkeypatch.setattr(upgrading, "PATIENCE_S", 0.0)
    more.add("host", "a_index", INDEX, says="CONCURRENT = True")
    with psycopg.connect(urls.app, application_name="a backup") as backup:
        backup.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        backup.execute("SELECT count(*) FROM tenant_globex.clock_devices")
        named = rf"PostgreSQL process {backup.info.backend_pid} \(a backup\); end that first"
        with pytest.raises(Unfinished, match=f"its index waited for the transaction of {named}"):
            await migrate(urls.owner, cluster.app_role, jobs=3)
    await migrate(urls.owner, cluster.app_role)
    assert valid(owner, "by_name") == dict.fromkeys(SCHEMAS, True)


async def test_an_index_that_is_there_already_is_kept(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """A run was killed behind the index, before it noted the step."""
    owner.execute("CREATE UNIQUE INDEX by_name ON tenant_acme.employees (name)")
    (before,) = owner.execute("SELECT 'tenant_acme.by_name'::regclass::oid").fetchone() or (0,)
    more.add("host", "a_index", INDEX, says="CONCURRENT = True")
    await migrate(urls.owner, cluster.app_role)
    assert owner.execute("SELECT 'tenant_acme.by_name'::regclass::oid").fetchone() == (before,)
    assert valid(owner, "by_name") == dict.fromkeys(SCHEMAS, True)


SLICE = """
found = op.get_bind().execute(sa.text(
    "UPDATE employees SET mark = 1 WHERE id IN (SELECT id FROM employees WHERE mark IS NULL ORDER BY id LIMIT 2)"))
{}
return found.rowcount == 2
"""


async def test_slices_that_are_done_stay_done(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    owner.execute(
        "INSERT INTO tenant_acme.employees (id_number, id_number_key, name)"
        " SELECT n::text, n::text, 'Person ' || n FROM generate_series(1, 7) AS n"
    )
    owner.execute("CREATE TABLE shared.stop ()")
    stop = (
        "if op.get_bind().scalar(sa.text(\"SELECT count(mark) > 4 AND to_regclass('shared.stop') IS NOT NULL"
        ' FROM employees")): raise RuntimeError("stop")'
    )
    more.add("host", "a_mark", ADD_MARK)
    step = more.add("host", "b_fill", SLICE.format(stop), says="SLICED = True")
    with pytest.raises(Unfinished, match="b_fill failed: stop"):
        await migrate(urls.owner, cluster.app_role)
    marked = "SELECT count(mark), count(*) FROM tenant_acme.employees"
    assert owner.execute(marked).fetchone() == (4, 7)
    assert at(owner, "host")["tenant_acme"] == "a_mark"
    owner.execute("DROP TABLE shared.stop")
    await migrate(urls.owner, cluster.app_role)
    assert owner.execute(marked).fetchone() == (7, 7)
    assert at(owner, "host")["tenant_acme"] == step


async def test_the_patience_begins_again_with_each_step_and_each_slice(
    more: MoreSteps,
    urls: DatabaseUrls,
    cluster: TestCluster,
    owner: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is held up once, for longer than what is left of the patience with the one before."""
    monkeypatch.setattr(upgrading, "PATIENCE_S", 0.3)
    owner.execute(
        "INSERT INTO main.employees (id_number, id_number_key, name) SELECT n::text, n::text, 'Ada' FROM generate_series(1, 4) n"
    )
    lock = 'op.execute("SELECT pg_advisory_xact_lock(88, {})")\n'
    more.add("host", "a_mark", lock.format("1") + ADD_MARK)
    by_slice = lock.format("2 + (SELECT count(mark) FROM employees)::int")
    last = more.add("host", "b_fill", by_slice + SLICE.format(""), says="SLICED = True")
    locks = [1, 2, 4, 6]
    for key in locks:
        owner.execute("SELECT pg_advisory_lock(88, %s)", [key])

    def let_go(_schema: str, _reason: str) -> None:
        owner.execute("SELECT pg_advisory_unlock(88, %s)", [locks.pop(0)])

    await migrate(urls.owner, cluster.app_role, workspaces=["main"], watch=MigrationWatch(is_held_up=let_go))
    assert (at(owner, "host")["main"], locks) == (last, [])


async def test_a_run_that_is_killed_continues_where_it_ended(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """It waits in the second step for a lock that the test holds."""
    first = more.add("host", "a_mark", ADD_MARK)
    last = more.add(
        "host",
        "b_wait",
        'op.execute("SET LOCAL lock_timeout = 0")\n'
        'op.execute("SELECT pg_advisory_xact_lock(88, hashtext(current_schema()))")',
    )
    owner.execute("SELECT pg_advisory_lock(88, hashtext('tenant_acme'))")
    command = [sys.executable, "-m", "tests.db.more_steps", str(more.folder), urls.owner, cluster.app_role]
    killed = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=os.environ)
    waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 88 AND NOT granted)"
    try:
        async with asyncio.timeout(60):
            while owner.execute(waits).fetchone() != (True,) or at(owner, "host")["tenant_globex"] != last:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
    finally:
        killed.kill()
        await killed.wait()
    owner.execute("SELECT pg_advisory_unlock(88, hashtext('tenant_acme'))")
    assert at(owner, "host") == {"main": last, "tenant_acme": first, "tenant_globex": last}
    applied = await migrate(urls.owner, cluster.app_role)
    assert [(one.schema, one.before, one.after) for one in applied if one.changed] == [("tenant_acme", first, last)]


async def test_a_new_tenant_has_what_every_kind_of_step_makes(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection, database: Database
) -> None:
    more.add("host", "a_mark", ADD_MARK)
    more.add("host", "b_index", INDEX, says="CONCURRENT = True")
    more.add("host", "c_fill", SLICE.format(""), says="SLICED = True")
    await migrate(urls.owner, cluster.app_role)
    await tenants.create_tenant(database, urls.owner, cluster.app_role, key="initech", name="Initech")
    assert valid(owner, "by_name")["tenant_initech"]
    assert columns(owner, "mark") == {*SCHEMAS, "tenant_initech"}


async def test_a_step_that_takes_away_tells_which_programs_still_fit(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, database: Database, tmp_path: Path
) -> None:
    given_up = more.add("host", "a_given_up", "op.execute('SELECT 1')")
    release_before = MoreSteps.copied(tmp_path / "release_before")
    more.add("host", "b_taken", "op.execute('SELECT 1')", says=f"CONTRACTS = {given_up!r}")
    await migrate(urls.owner, cluster.app_role)
    for steps_of, standing in ((more, {}), (release_before, "ahead"), (MoreSteps(OURS), "outgrown")):
        steps_of.use()
        async with database.shared_transaction() as db:
            found = await out_of_step(db, "main", "globex")
        assert found == (standing and {(schema, "host"): standing for schema in ("main", "tenant_globex")})


async def test_a_later_contraction_of_something_older_lets_no_older_program_in(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, database: Database, tmp_path: Path
) -> None:
    first = more.add("host", "a_given_up", "op.execute('SELECT 1')")
    knows_the_first = MoreSteps.copied(tmp_path / "knows_the_first")
    second = more.add("host", "b_given_up", "op.execute('SELECT 1')")
    knows_both = MoreSteps.copied(tmp_path / "knows_both")
    more.add("host", "c_taken", "op.execute('SELECT 1')", says=f"CONTRACTS = {second!r}")
    more.add("host", "d_taken", "op.execute('SELECT 1')", says=f"CONTRACTS = {first!r}")
    await migrate(urls.owner, cluster.app_role)
    for steps_of, standing in ((knows_both, "ahead"), (knows_the_first, "outgrown")):
        steps_of.use()
        async with database.shared_transaction() as db:
            assert await out_of_step(db, "main") == {("main", "host"): standing}


def rights(owner: psycopg.Connection, role: str) -> Any:
    query = (
        "SELECT has_table_privilege(%(r)s, 'tenant_acme.employees', 'UPDATE'), has_table_privilege(%(r)s,"
        " 'tenant_acme.survey_responses', 'UPDATE'), has_table_privilege(%(r)s, 'tenant_acme.survey_ledger_head', 'INSERT'),"
        " has_sequence_privilege(%(r)s, pg_get_serial_sequence('tenant_acme.employees', 'id'), 'USAGE'),"
        " has_schema_privilege(%(r)s, 'tenant_acme', 'USAGE'), has_table_privilege(%(r)s, 'shared.audit_entries', 'DELETE'),"
        " has_function_privilege('public', 'tenant_acme.survey_person_known()', 'EXECUTE')"
    )
    return owner.execute(query, {"r": role}).fetchone()


async def test_rights_that_are_missing_are_given_and_others_taken(
    more: MoreSteps, urls: DatabaseUrls, cluster: TestCluster, owner: psycopg.Connection
) -> None:
    """As after a restore that left them out, also where a step waits that makes nothing with rights of its own."""
    more.add("host", "a_mark", ADD_MARK)
    more.add("host", "b_index", INDEX, says="CONCURRENT = True")
    role = cluster.app_role
    right = (True, False, False, True, True, False, False)
    assert rights(owner, role) == right
    named = sql.Identifier(role)
    for statement in (
        "REVOKE ALL ON ALL TABLES IN SCHEMA tenant_acme FROM {}",
        "REVOKE ALL ON ALL SEQUENCES IN SCHEMA tenant_acme FROM {}",
        "REVOKE ALL ON SCHEMA tenant_acme FROM {}",
        "GRANT ALL ON tenant_acme.survey_responses, tenant_acme.survey_ledger_head, shared.audit_entries TO {}",
    ):
        owner.execute(sql.SQL(statement).format(named))
    owner.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA tenant_acme TO PUBLIC")
    assert rights(owner, role) == tuple(not one for one in right)
    told = Told()
    applied = await migrate(urls.owner, role, watch=told.watch)
    assert rights(owner, role) == right
    assert {one.module for one in applied if one.changed} == {"host"}
    told.ended.clear()
    owner.execute(sql.SQL("REVOKE ALL ON tenant_globex.employees FROM {}").format(named))
    for _ in range(2):
        await migrate(urls.owner, role, watch=told.watch)
        assert told.ended == ["tenant_globex"], "the second one has nothing to do"
