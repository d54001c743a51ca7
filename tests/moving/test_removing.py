"""A tenant is removed: nothing of it is left, nothing of others is touched, and what was cut off continues."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from app.accounts import tenants
from app.accounts.audit import COMMAND_LINE
from app.db.migrate import MigrationWatch
from app.errors import Conflict
from app.moving import removing
from app.moving.removing import KEPT, REMOVED
from app.surveys.results import of_version, tally_marks
from app.surveys.results.tallies import TallyScope
from tests.cluster import TestCluster
from tests.command_line import Ended
from tests.moving.installations import TENANT, Installation, lived_in
from tests.moving.test_moving import until_waiting
from tests.surveys.drafted import published
from tests.surveys.recording import record
from tests.upgrade.kept import kept

LEAVES = "UPDATE tenants SET active = false WHERE key = 'acme'"
INVITED = "INSERT INTO survey_invitations (survey_id, version, user_id, turn, asked_by, due_at) VALUES (%s, 1, %s, 0, 'Alice', now())"
SHOWN = "INSERT INTO survey_prompt_state (survey_id, version, user_id, first_shown_at) VALUES (%s, 1, %s, now() - %s)"
SHOWN_TO_OTHERS = f"""
SELECT p::text FROM survey_prompt_state p JOIN shared.users u ON u.id = p.user_id
WHERE u.workspace <> '{TENANT}' ORDER BY 1
"""
# Tables of `shared`, each with a column that names the workspace, or None.
SHARED = """
SELECT t.table_name, (
    SELECT c.column_name FROM information_schema.columns c
    WHERE c.table_schema = 'shared' AND c.table_name = t.table_name
        AND (c.column_name = 'workspace' OR (t.table_name = 'tenants' AND c.column_name = 'key')))
FROM information_schema.tables t WHERE t.table_schema = 'shared' AND t.table_type = 'BASE TABLE' ORDER BY 1
"""
# What goes with a row that is removed.
CASCADES = """
SELECT DISTINCT conrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND confdeltype = 'c' AND confrelid = ANY(%s::text[]::regclass[])
"""


@pytest.fixture(scope="module")
def lived(cluster: TestCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = lived_in(cluster, kept()[-1], tmp_path_factory.mktemp("lived"))
    made.run(LEAVES, schema="shared")
    made.run("UPDATE jobs SET status = 'queued', heartbeat_at = NULL WHERE status = 'running'", schema="shared")
    yield made
    cluster.drop(made.urls)


@pytest.fixture
def here(cluster: TestCluster, lived: Installation, tmp_path: Path) -> Iterator[Installation]:
    """An installation with a deactivated tenant that lived through a lot."""
    urls = cluster.clone(urlsplit(lived.urls.owner).path.removeprefix("/"))
    yield Installation(urls, lived.keys, tmp_path)
    cluster.drop(urls)


async def remove(here: Installation, *options: str, key: str = TENANT) -> Ended:
    return await here.muster()("tenant:remove", key, *options)


def number(here: Installation, query: str) -> int:
    ((found,),) = here.rows(query, schema="shared")
    return int(found)


def of_tenant(here: Installation) -> Mapping[str, int]:
    """How many rows of the tenant each shared table has that names the workspace."""
    tables = here.rows(SHARED, schema="shared")
    return {
        name: number(here, f"SELECT count(*) FROM shared.{name} WHERE {column} = '{TENANT}'")
        for name, column in tables
        if column
    }


def of_others(here: Installation) -> Mapping[str, list[tuple[str]]]:
    """Every row of other workspaces in shared tables, and the number of rows in each of their own tables. The audit of
    the platform, which grows, is left out, and so are impressions of the platform's surveys on people of the tenant."""
    shared = {
        name: here.rows(
            f"SELECT t::text FROM shared.{name} t WHERE t.{column} <> '{TENANT}' ORDER BY 1", schema="shared"
        )
        for name, column in here.rows(SHARED, schema="shared")
        if column and name != "audit_entries"
    }
    own = here.everything()
    there = {name: [(str(own[name]),)] for name in own if not name.startswith(("shared.", f"tenant_{TENANT}."))}
    return shared | there | {"main.survey_prompt_state": here.rows(SHOWN_TO_OTHERS, schema="main")}


async def test_nothing_of_the_tenant_is_left_and_others_keep_everything(here: Installation) -> None:
    there, others = of_tenant(here), of_others(here)
    assert there["users"], "it had accounts"
    assert there["jobs"], "it had jobs"
    punches = here.rows("SELECT count(*) FROM clock_transactions")[0][0]
    verified = (await here.muster()("ledger:verify", "--workspace", TENANT, "--json")).json

    ended = await remove(here, "--yes", TENANT, "--json")

    assert ended.code == 0, ended.err
    assert (ended.json["users"], ended.json["punches"]) == (there["users"], punches)
    assert ended.json["ledger_head"] == verified["head"]
    assert verified["head"] in ended.err, "it is told before anything is removed"
    assert number(here, f"SELECT count(*) FROM pg_namespace WHERE nspname = 'tenant_{TENANT}'") == 0
    left = {name: rows for name, rows in of_tenant(here).items() if rows}
    assert left == {"audit_entries": there["audit_entries"]}
    assert of_others(here) == others
    acts = here.rows(
        "SELECT act, before ->> 'ledger_head' FROM audit_entries WHERE workspace = 'main' ORDER BY id DESC LIMIT 2",
        schema="shared",
    )
    assert acts == [("tenant.remove", verified["head"]), ("tenant.remove_begin", verified["head"])]


ENTRIES = "SELECT to_jsonb(a) - 'workspace' FROM audit_entries a WHERE workspace {} ORDER BY id"
OF_OLD = "LIKE 'acme (until entry %%'"
OF_KEY = "= 'acme'"


async def test_a_new_tenant_of_the_same_key_begins_with_an_audit_and_a_ledger_of_its_own(here: Installation) -> None:
    """Its administrators read the audit of the removed one, and the rows of its ledger were missed."""
    audit = here.rows(ENTRIES.format(OF_KEY), schema="shared")
    for turn in (1, 2):
        assert (await remove(here, "--yes", TENANT)).code == 0
        assert (await here.muster()("tenant:create", TENANT, "--name", "Another")).code == 0
        assert here.rows(ENTRIES.format(OF_KEY), schema="shared") == []
        assert here.rows(ENTRIES.format(OF_OLD), schema="shared") == audit, "all of it, and only its workspace differs"
        aside = f"SELECT count(DISTINCT workspace) FROM audit_entries WHERE workspace {OF_OLD}"
        assert here.rows(aside, schema="shared") == [(turn,)]
        verified = await here.muster()("ledger:verify", "--workspace", TENANT)
        assert verified.code == 0, verified.err
        here.run(LEAVES, schema="shared")
        act = "INSERT INTO audit_entries (workspace, actor_name, act, subject_type, subject_id) VALUES ('acme', 'Eve', 'x', 'y', '1')"
        here.run(act, schema="shared")
        audit += here.rows(ENTRIES.format(OF_KEY), schema="shared")


async def test_a_tenant_that_comes_back_has_each_entry_of_its_audit_once(here: Installation) -> None:
    file = here.folder / "acme.muster"
    entries = f"SELECT at, act FROM audit_entries WHERE workspace {OF_KEY} AND act NOT IN ('tenant.export', 'tenant.import') ORDER BY id"
    audit = here.rows(entries, schema="shared")
    assert (await here.muster()("tenant:export", TENANT, file)).code == 0
    assert (await remove(here, "--yes", TENANT)).code == 0
    ended = await here.muster()("tenant:import", file)
    assert ended.code == 0, ended.err
    assert here.rows(entries, schema="shared") == audit
    assert (await here.muster()("ledger:verify", "--workspace", TENANT)).code == 0


def test_every_shared_table_has_a_rule(here: Installation) -> None:
    """A new table of `shared` goes with a tenant, or it says why not."""
    removed = {*REMOVED, "tenants"}
    with_them = {name for (name,) in here.rows(CASCADES, [f"shared.{one}" for one in removed], schema="shared")}
    tables = {name for name, _ in here.rows(SHARED, schema="shared")} - {"migrations_shared"}
    assert tables - removed - with_them == KEPT.keys(), "say in app/moving/removing.py what happens to it"


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("UPDATE tenants SET active = true WHERE key = 'acme'", "is active"),
        (
            (
                "INSERT INTO jobs (workspace, name, key, status, attempt, heartbeat_at)"
                " VALUES ('acme', 'clock_purge', 'x', 'running', 1, now())"
            ),
            "still runs (clock_purge)",
        ),
    ],
)
async def test_a_tenant_that_is_in_use_is_not_removed(here: Installation, before: str, said: str) -> None:
    here.run(before, schema="shared")
    there = here.everything()
    assert said in (await remove(here, "--yes", TENANT)).refusal
    assert here.everything() == there


@pytest.mark.parametrize(("key", "said"), [("main", "platform itself"), ("initech", "no workspace initech")])
async def test_only_a_tenant_is_removed(here: Installation, key: str, said: str) -> None:
    assert said in (await remove(here, "--yes", key, key=key)).refusal


async def test_without_its_key_once_more_nothing_is_removed(here: Installation) -> None:
    there = here.everything()
    for options, said in ((("--yes", "globex"), "not the key acme"), ((), "--yes acme")):
        ended = await remove(here, *options)
        assert ended.code == 1
        assert said in ended.err
        assert "Nothing was removed" in ended.err
    assert here.everything() == there


async def test_a_tenant_that_is_activated_meanwhile_stays(here: Installation) -> None:
    found = await removing.counted(here.urls.owner, TENANT)
    here.run("UPDATE tenants SET active = true WHERE key = 'acme'", schema="shared")
    there = here.everything()
    with pytest.raises(Conflict, match="is active"):
        await removing.remove_tenant(here.urls.owner, TENANT, found, MigrationWatch())
    assert here.everything() == there


async def test_a_removal_that_was_killed_is_continued_by_the_next_one(here: Installation) -> None:
    """A lock that another session holds stops it between two tables; then its process dies."""
    others, users = of_others(here), of_tenant(here)["users"]
    with psycopg.connect(here.urls.owner) as holder:
        holder.execute("LOCK TABLE shared.roles IN ACCESS EXCLUSIVE MODE")
        killed = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app", "tenant:remove", TENANT, "--yes", TENANT,
            env={**os.environ, **here.muster().environment},
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        await until_waiting(holder, "shared.roles")
        killed.send_signal(signal.SIGKILL)
        await killed.wait()
    half = of_tenant(here)
    assert (half["users"], half["tenants"]) == (0, 1)
    assert half["roles"]
    assert here.rows("SELECT count(*) FROM clock_transactions") != [(0,)]
    parts = here.parts()
    with pytest.raises(Conflict, match="has begun"):
        async with parts.database.transaction() as db:
            await tenants.activate(db, COMMAND_LINE, TENANT)
    await parts.close()

    ended = await remove(here, "--yes", TENANT)

    assert ended.code == 0, ended.err
    assert {name for name, rows in of_tenant(here).items() if rows} == {"audit_entries"}
    assert of_others(here) == others
    told = here.rows(
        "SELECT act, (before ->> 'users')::int FROM audit_entries WHERE act LIKE 'tenant.remove%%' ORDER BY id",
        schema="shared",
    )
    assert told == [("tenant.remove_begin", users), ("tenant.remove", users)], "what went in both runs"


async def test_mails_about_surveys_of_the_platform_no_longer_wait_for_its_people(here: Installation) -> None:
    """A mail without an account would never leave, and each look would ask for the job that sends it."""
    parts = here.parts()
    async with parts.database.transaction() as db:
        survey = await published(db, title="Lunch")
    await parts.close()
    ((user,),) = here.rows("SELECT min(id) FROM users WHERE workspace = 'acme'", schema="shared")
    here.run(INVITED, survey.id, user, schema="main")
    assert (await remove(here, "--yes", TENANT)).code == 0
    waiting = "SELECT count(*) FROM survey_invitations WHERE sent_at IS NULL AND dropped_at IS NULL"
    assert here.rows(waiting, schema="main") == [(0,)]


async def test_who_did_not_answer_the_platform_no_longer_counts_as_asked(here: Installation) -> None:
    """Of three users of the tenant one answered. Two impressions were counted for good, the third one not yet."""
    parts = here.parts()
    users = here.rows("SELECT id FROM users WHERE workspace = 'acme' ORDER BY id LIMIT 3", schema="shared")
    staff = here.rows("SELECT id FROM users WHERE workspace = 'main' ORDER BY id LIMIT 1", schema="shared")
    async with parts.database.transaction() as db:
        lunch = await published(db, title="Lunch")
    for (user,), hours in zip([*users, *staff], (2, 2, 0, 2), strict=True):
        here.run(SHOWN, lunch.id, user, timedelta(hours=hours), schema="main")
    await record(parts.database, parts.keys, lunch, users[0][0])
    async with parts.database.transaction() as db:
        await tally_marks.count_up(db)
    whole = TallyScope(lunch.id, 1)

    async def counted() -> tuple[int, int]:
        async with parts.database.transaction() as db:
            found = await of_version.read(db, scope=whole, questions=())
        return found.counters.asked, found.counters.responded

    ledger = here.rows("SELECT t::text FROM survey_responses t ORDER BY number", schema="main")
    assert await counted() == (4, 1)
    assert (await remove(here, "--yes", TENANT)).code == 0
    assert await counted() == (2, 1)
    assert here.rows("SELECT t::text FROM survey_responses t ORDER BY number", schema="main") == ledger
    async with parts.database.transaction() as db:
        await tally_marks.recount(db, [lunch.id])
    assert await counted() == (2, 1), "counted again it is the same"
    await parts.close()


async def test_a_table_that_another_process_holds_is_told(here: Installation) -> None:
    there = here.everything()
    with psycopg.connect(here.urls.owner) as holder:
        holder.execute(f"LOCK TABLE tenant_{TENANT}.employees IN ACCESS SHARE MODE")
        ended = await remove(here, "--yes", TENANT)
    assert "Another process holds a lock" in ended.err
    assert here.everything() == there, "nothing went"
    assert (await remove(here, "--yes", TENANT)).code == 0
