"""A tenant moves: everything of it is there, what it was proves itself,
and nothing is left behind where something is wrong."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pyotp
import pytest
from sqlalchemy import select, text

from app import wiring
from app.accounts import second_factor, signing_in, tenants, tokens
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import User
from app.accounts.roles import BUILT_IN
from app.accounts.signing_in import Attempt
from app.moving import arriving, tables
from app.parts import Parts
from app.secrets import Secret
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import append as ledger
from app.surveys.ledger.changes import Agreement
from app.webhooks import endpoints
from app.webhooks.kinds import ATTENDANCE_CHANGED
from tests.cluster import TestCluster
from tests.command_line import Ended
from tests.moving.installations import PASSPHRASE, PASSWORD, TENANT, Installation, empty, lived_in
from tests.surveys.changing import AGREED, change
from tests.surveys.drafted import published
from tests.surveys.recording import entry
from tests.upgrade.kept import kept
from tests.upgrade.reading import everything
from workers import claims
from workers.settings import FUNCTIONS

IDA, JAN = f"ida@{TENANT}.example.org", f"jan@{TENANT}.example.org"


class Left(Installation):
    """The installation that the tenant leaves, with the second factor of Ida and the file of the export."""

    file: Path
    told: Any
    totp: str
    codes: list[str]
    read: dict[str, Any]
    head: str
    agreed: Agreement


@pytest.fixture(scope="module")
def left(cluster: TestCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    wiring.connect()
    folder = tmp_path_factory.mktemp("left")
    lived = lived_in(cluster, kept()[-1], folder)
    here = Left(lived.urls, lived.keys, lived.folder)
    asyncio.run(_prepare(here))
    here.run(
        "INSERT INTO api_app_ratings (application_id, user_id, rating, platform, rated_on)"
        " SELECT min(a.id), min(u.id), 4, 'ios', '2026-11-01' FROM applications a, users u WHERE u.email = %s",
        JAN,
        schema="main",
    )
    here.file = folder / "acme.muster"
    ended = asyncio.run(here.muster()("tenant:export", TENANT, here.file, "--json"))
    assert ended.code == 0, ended.err
    here.told = ended.json
    yield here
    cluster.drop(here.urls)


async def _prepare(here: Left) -> None:
    """What version 0.1.0 did not know: a second factor, a passkey, a saved view, a role of the tenant's own, and a run
    under way. The account of Mo, who was erased, is gone."""
    parts = here.parts()
    secret = Secret(pyotp.random_base32())
    async with parts.database.transaction(TENANT) as db:
        await tenants.prepare(db, TENANT)
        ida = (await db.scalars(select(User).where(User.email == IDA))).one()
        digits = pyotp.TOTP(secret.reveal()).at(datetime.now(UTC) - timedelta(seconds=30))
        here.codes = await second_factor.enable(db, COMMAND_LINE, ida.id, keys=parts.keys, secret=secret, code=digits)
        for statement in (
            (
                "INSERT INTO passkeys (user_id, name, site, credential_id, public_key, sign_count)"
                " SELECT id, 'Phone', 'muster.example', '\\x01', '\\x02', 3 FROM users WHERE email = :ida"
            ),
            "INSERT INTO saved_views (list, name, query, user_id) SELECT '/people', 'Mine', 'q=a', id FROM users WHERE email = :ida",
            (
                "INSERT INTO alert_settings (user_id, critical, critical_after, warning, warning_after, info, info_after, digest,"
                " digest_weekday, digest_hour, quiet_but_critical, zone) SELECT id, 'at_once', 0, 'digest', 30, 'never', 30,"
                " 'daily', 0, 8, true, 'UTC' FROM users WHERE email = :ida"
            ),
            (
                "INSERT INTO problems (kind, subject_type, subject_id, severity, title, since, assigned_to)"
                " SELECT 'silence', 'clock', 'all', 'warning', 'No punches come', now(), id FROM users WHERE email = :ida"
            ),
            (
                "INSERT INTO problem_changes (problem_id, what, user_id, note)"
                " SELECT p.id, 'assigned', p.assigned_to, p.assigned_to::text FROM problems p"
            ),
            "INSERT INTO problem_counts VALUES ('acme', 'silence', 1)",
            (
                "INSERT INTO alerts (user_id, problem_id, state, opened_at)"
                " SELECT p.assigned_to, p.id, 'told', now() FROM problems p"
            ),
            "INSERT INTO roles (workspace, name, permissions) VALUES ('acme', 'Guards', '{surveys.view}')",
            "INSERT INTO user_roles SELECT u.id, r.id FROM users u, roles r WHERE u.email = :ida AND r.name = 'Guards'",
            "UPDATE employees SET user_id = (SELECT id FROM users WHERE email = :ida) WHERE id = (SELECT min(id) FROM employees)",
            "INSERT INTO clock_sync_runs (trigger, status, started_at) VALUES ('schedule', 'running', now())",
            "INSERT INTO clock_sync_lease (id) VALUES (1) ON CONFLICT DO NOTHING",
            "UPDATE clock_sync_lease SET run_id = (SELECT max(id) FROM clock_sync_runs), expires_at = now() + interval '1 min'",
            "DELETE FROM users WHERE email = 'mo@acme.example.org'",
            "DELETE FROM jobs WHERE workspace = 'acme'",
            "INSERT INTO jobs (workspace, name, key, status, attempt) VALUES ('acme', 'clock_import', 'clock_import', 'running', 2)",
            "INSERT INTO jobs (workspace, name, key) VALUES ('acme', 'clock_sync', 'clock_sync:1')",
            "INSERT INTO clock_long_acts (kind, actor_name, emp_codes) VALUES ('users.deactivate', 'Ida', '{}'), ('people.deactivate', 'Ida', '{}')",
            (
                "INSERT INTO clock_long_act_items (act_id, item_id, became)"
                " SELECT id, 1, 'beyond' FROM clock_long_acts WHERE kind IN ('users.deactivate', 'people.deactivate')"
            ),
        ):
            values = {"ida": IDA} if ":ida" in statement else {}
            await db.execute(text(statement), values)
    async with parts.database.transaction(TENANT) as db:
        here.agreed = Agreement(*(await db.execute(AGREED)).one(), turns=0)
        await endpoints.add(db, parts.keys, COMMAND_LINE, "https://on.example/hook", [ATTENDANCE_CHANGED])
        off = await endpoints.add(db, parts.keys, COMMAND_LINE, "https://off.example/hook", [ATTENDANCE_CHANGED])
        await endpoints.switch_off(db, COMMAND_LINE, off.id)
    for turns in range(2):
        assert await change(parts.database, parts.keys, replace(here.agreed, turns=turns), workspace=TENANT)
    here.totp = secret.reveal()
    now = datetime.now(UTC)
    here.read = (await everything(parts, [TENANT], now))[TENANT]
    await parts.close()


@pytest.fixture
def there(cluster: TestCluster, tmp_path: Path) -> Iterator[Installation]:
    made = empty(cluster, tmp_path)
    yield made
    cluster.drop(made.urls)


@pytest.fixture(scope="module")
def arrived(cluster: TestCluster, left: Left, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = empty(cluster, tmp_path_factory.mktemp("arrived"))
    ended = asyncio.run(made.muster()("tenant:import", left.file, "--json"))
    assert ended.code == 0, ended.err
    assert ended.json["sha256"] == left.told["sha256"]
    assert ended.json["rows"] == left.told["rows"]
    assert ended.json["webhooks_off"] == 1
    assert asyncio.run(made_active(made)) == ([(False,)], [], [(True,)])
    yield made
    cluster.drop(made.urls)


async def made_active(here: Installation) -> tuple[Any, Any, Any]:
    """Activates the tenant: if it was active, which of its jobs were due, and if it is active."""
    told = "SELECT active FROM shared.tenants WHERE key = 'acme'"
    parts, was = here.parts(), here.rows(told)
    async with parts.database.transaction() as db:
        due = await claims.due(db, list(FUNCTIONS), timedelta(seconds=30), workspace=TENANT)
        await tenants.activate(db, COMMAND_LINE, TENANT)
    async with parts.database.transaction() as db:
        assert await claims.due(db, list(FUNCTIONS), timedelta(seconds=30), workspace=TENANT) != []
    await parts.close()
    return was, due, here.rows(told)


@pytest.fixture
async def parts_there(arrived: Installation) -> AsyncIterator[Parts]:
    made = arrived.parts()
    yield made
    await made.close()


# --- all of it is there


async def test_everything_reads_as_before(left: Left, parts_there: Parts) -> None:
    found = (await everything(parts_there, [TENANT], datetime.now(UTC)))[TENANT]
    assert found["ledger"] == left.read["ledger"]
    for part in ("attendance", "punches", "bindings", "settings", "locks", "policies", "answers", "ratings", "surveys"):
        assert found[part] == left.read[part], part
    for name in ("accounts", "audit"):
        assert len(found[name]) >= len(left.read[name])
    plain = [[{k: v for k, v in one.items() if k != "id"} for one in told["accounts"]] for told in (found, left.read)]
    assert sorted(plain[0], key=str) == sorted(plain[1], key=str)


@pytest.mark.parametrize("one", tables.TRAVELLING, ids=lambda one: one.name)
def test_each_table_has_the_same_rows(left: Left, arrived: Installation, one: tables.MovingTable) -> None:
    changed = {*one.refers, *one.instead, *([one.numbers] if one.is_shared else [])}
    if one.name in (
        "clock_sync_runs",
        "clock_sync_lease",
        "clock_long_acts",
        "clock_long_act_items",
        "jobs",
        "webhook_endpoints",
        tables.TOKENS,
    ):
        return  # below
    columns = [name for name in one.columns if name not in changed]
    where = "" if one.which is None else one.which.replace("$1", f"'{TENANT}'")
    selected = ", ".join(f'"{name}"' for name in columns) or "1"
    acts = " AND act NOT IN ('tenant.export', 'tenant.import')" if one.name == "audit_entries" else ""
    query = f'SELECT ROW({selected})::text FROM "{one.name}" WHERE {where or "true"}{acts} ORDER BY 1'
    assert arrived.rows(query) == left.rows(query)


def test_accounts_have_new_ids_and_what_points_at_them_follows(left: Left, arrived: Installation) -> None:
    for query in (
        "SELECT p.name, u.email FROM passkeys p JOIN users u ON u.id = p.user_id",
        "SELECT v.name, u.email FROM saved_views v JOIN users u ON u.id = v.user_id",
        "SELECT e.name, u.email FROM employees e JOIN users u ON u.id = e.user_id",
        "SELECT p.title, u.email FROM problems p JOIN users u ON u.id = p.assigned_to",
        "SELECT c.what, u.email FROM problem_changes c JOIN users u ON u.id = c.user_id AND u.id::text = c.note",
        "SELECT kind, open FROM problem_counts WHERE workspace = 'acme'",
        (
            "SELECT r.name, u.email FROM user_roles x JOIN users u ON u.id = x.user_id JOIN roles r ON r.id = x.role_id"
            " WHERE u.workspace = 'acme' ORDER BY 1, 2"
        ),
        "SELECT p.number, u.email FROM survey_people p JOIN users u ON u.id = p.user_id WHERE u.workspace = 'acme' ORDER BY 1",
        "SELECT s.version, s.impressions, u.email FROM survey_prompt_state s JOIN users u ON u.id = s.user_id ORDER BY 1, 2, 3",
        (
            "SELECT a.act, u.email FROM audit_entries a JOIN users u ON u.id::text = a.subject_id"
            " WHERE a.workspace = 'acme' AND a.subject_type = 'user' ORDER BY a.at, a.id"
        ),
    ):
        assert arrived.rows(query) == left.rows(query)
        assert arrived.rows(query), query
    emails = "SELECT email, id FROM users WHERE workspace = 'acme' ORDER BY 1"
    assert all(one != other for one, other in zip(arrived.rows(emails), left.rows(emails), strict=True))


def test_what_did_not_travel_means_nothing_else_here(left: Left, arrived: Installation) -> None:
    query = (
        "SELECT count(*) FROM audit_entries a JOIN users u ON u.id::text = a.subject_id AND u.workspace = 'main'"
        " WHERE a.workspace = 'acme' AND a.subject_type = 'user'"
    )
    assert arrived.rows(query) == [(0,)]
    gone = "SELECT count(*) FROM audit_entries WHERE workspace = 'acme' AND subject_type = 'token' AND subject_id LIKE 'gone %'"
    assert arrived.rows(gone)[0][0] > 0
    assert arrived.rows("SELECT count(*) FROM api_tokens") == [(0,)]
    for table in set(tables.STAYING) - {"workspace_looks"}:  # *Activate* asked for a look.
        assert arrived.rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert left.told["left_behind"]["answers"] > 0
    assert left.told["left_behind"]["ratings"] == 1


def test_a_run_that_was_under_way_is_over_and_work_that_waited_waits(left: Left, arrived: Installation) -> None:
    ended = "SELECT status, error_code, finished_at IS NOT NULL FROM clock_sync_runs ORDER BY id DESC LIMIT 1"
    assert arrived.rows(ended) == [("truncated", "TC-TRUNCATED", True)]
    assert left.rows(ended)[0][0] == "running"
    assert arrived.rows("SELECT run_id, expires_at FROM clock_sync_lease") == [(None, None)]
    # The look for problems was asked for by the webhook that was switched off.
    waited = [("clock_import", "queued", 0), ("problems_sweep", "queued", 0)]
    assert arrived.rows("SELECT name, status, attempt FROM jobs ORDER BY name") == waited
    assert arrived.rows("SELECT tokens FROM clock_connections") == [(None,)]


def test_an_act_over_accounts_is_over_and_names_no_account_of_here(left: Left, arrived: Installation) -> None:
    acts = (
        "SELECT kind, finished_at IS NOT NULL, problem, (SELECT count(*) FROM clock_long_act_items WHERE act_id = a.id)"
        " FROM clock_long_acts a WHERE actor_name = 'Ida' ORDER BY kind"
    )
    people = ("people.deactivate", False, None, 1)
    assert left.rows(acts) == [people, ("users.deactivate", False, None, 1)]
    moved = "The tenant was moved during this act."
    assert arrived.rows(acts) == [people, ("users.deactivate", True, moved, 0)]
    others = "SELECT ROW(id, kind, finished_at)::text FROM clock_long_acts WHERE kind NOT LIKE 'users.%' ORDER BY id"
    assert arrived.rows(others) == left.rows(others)


def test_webhooks_are_off_until_a_person_switches_them_on(left: Left, arrived: Installation) -> None:
    """Two installations must not tell the same program of the same tenant."""
    told = "SELECT url, active, off_reason IS NOT NULL FROM webhook_endpoints ORDER BY url DESC"
    assert left.rows(told) == [("https://on.example/hook", True, False), ("https://off.example/hook", False, False)]
    assert arrived.rows(told) == [("https://on.example/hook", False, True), ("https://off.example/hook", False, False)]


def test_ids_continue_where_they_were(left: Left, arrived: Installation) -> None:
    for table in ("attendance_records", "surveys", "clock_transactions"):
        last = f"SELECT pg_sequence_last_value(pg_get_serial_sequence('{table}', 'id')::regclass)"
        assert arrived.rows(last) == left.rows(last)


def test_both_installations_tell_of_it_in_two_audits(left: Left, arrived: Installation) -> None:
    query = "SELECT workspace, after ->> 'sha256' FROM audit_entries WHERE act = %s ORDER BY 1"
    both = [("acme", left.told["sha256"]), ("main", left.told["sha256"])]
    assert left.rows(query, "tenant.export")[:2] == both or set(both) <= set(left.rows(query, "tenant.export"))
    assert arrived.rows(query, "tenant.import") == both


async def test_what_names_an_account_or_is_of_the_installation_is_settled(
    left: Left, there: Installation, tmp_path: Path
) -> None:
    """One export of a tenant that has all of it, past a pooler that does not answer."""
    for statement in (
        (
            "INSERT INTO saved_views (list, name, query, user_id) SELECT 'responses', 'of ' || name, 'outcome=answered&user=' || id"
            " || '&sort=when', id FROM users WHERE workspace = 'acme'"
        ),
        (
            "INSERT INTO saved_views (list, name, query, user_id) SELECT 'responses', 'gone', 'user=987654', id FROM users"
            " WHERE email = 'ida@acme.example.org'"
        ),
        (
            "INSERT INTO audit_entries (workspace, actor_name, act, subject_type, subject_id, before, after)"
            " SELECT 'acme', 'Ida', 'view.save', 'saved_view', '1', '{\"query\": \"user=987654\"}',"
            " jsonb_build_object('query', 'user=' || id) FROM users WHERE email = 'ida@acme.example.org'"
        ),
        (
            "INSERT INTO webhook_events (endpoint_id, type, ids, number, message_id, asked)"
            " SELECT min(id), 'attendance.changed', '{1}', 1, 'asked', true FROM webhook_endpoints"
        ),
        "INSERT INTO outgoing_mails (workspace, kind, message_key, expires_at) VALUES ('acme', 'x', 'waits', now())",
        "UPDATE roles SET permissions = '{}' WHERE workspace = 'acme' AND name = 'Viewer'",
    ):
        left.run(statement)
    file = tmp_path / "settled.muster"
    ended = await left.muster(**past_pooler(left))("tenant:export", TENANT, file, "--json")
    left.run("DELETE FROM saved_views WHERE list = 'responses'")
    left.run("DELETE FROM audit_entries WHERE act = 'view.save'")
    left.run("DELETE FROM webhook_events WHERE message_id = 'asked'")
    left.run("DELETE FROM outgoing_mails")
    assert ended.code == 0, ended.err
    assert ended.json["left_behind"]["mails"] == 1
    brought = await there.muster(**past_pooler(there))("tenant:import", file)
    assert "Activate it on the page Tenants" in brought.out
    views = "SELECT v.name, replace(v.query, '=' || u.id || '&', '=ID&') FROM saved_views v JOIN users u ON u.id = v.user_id"
    found = there.rows(f"{views} WHERE v.list = 'responses'")
    assert {query for _, query in found} == {"outcome=answered&user=ID&sort=when"}
    assert len(found) == there.rows("SELECT count(*) FROM users WHERE workspace = 'acme'")[0][0]
    assert there.rows(
        "SELECT before ->> 'query', after ->> 'query' = 'user=' || u.id FROM audit_entries, users u"
        " WHERE act = 'view.save' AND u.email = 'ida@acme.example.org'"
    ) == [("user=gone+987654", True)]
    assert there.rows("SELECT asked, status FROM webhook_events WHERE message_id = 'asked'") == [(False, "waiting")]
    (viewer,) = there.rows("SELECT permissions FROM roles WHERE workspace = 'acme' AND name = 'Viewer'")[0]
    assert set(viewer) == BUILT_IN["Viewer"]


def past_pooler(here: Installation) -> dict[str, str]:
    """A pooler that does not answer, and the address past it."""
    user, name = (urlsplit(here.urls.app).username, urlsplit(here.urls.app).path)
    return {
        "MUSTER_POOLER": "session",
        "MUSTER_DATABASE_URL": f"postgresql://{user}@127.0.0.1:1{name}",
        "MUSTER_DIRECT_DATABASE_URL": here.urls.app,
    }


# --- it works


async def test_the_ledger_verifies_with_the_same_head(left: Left, arrived: Installation) -> None:
    found = [(await here.muster()("ledger:verify", "--workspace", TENANT, "--json")).json for here in (left, arrived)]
    assert found[0]["fits"]
    assert found[0] == found[1]


async def test_doctor_is_content(arrived: Installation) -> None:
    found = {one["name"]: one["level"] for one in (await arrived.muster()("doctor", "--json")).json}
    assert {found[name] for name in ("database", "roles", "migrations", "keys")} == {"ok"}


async def test_people_sign_in_with_their_passwords(parts_there: Parts) -> None:
    signed_in = await signing_in.authenticate(parts_there.database, parts_there.keys, Attempt(JAN, PASSWORD))
    async with parts_there.database.shared_transaction() as db:
        assert signed_in == await db.scalar(select(User.id).where(User.email == JAN))


async def test_the_second_factor_and_recovery_codes_work(left: Left, parts_there: Parts) -> None:
    digits = pyotp.TOTP(left.totp).now()
    assert await signing_in.authenticate(parts_there.database, parts_there.keys, Attempt(IDA, PASSWORD, digits))
    code = left.codes[0]
    assert await signing_in.authenticate(parts_there.database, parts_there.keys, Attempt(IDA, PASSWORD, code))
    with pytest.raises(signing_in.SecondFactorWrong):
        await signing_in.authenticate(parts_there.database, parts_there.keys, Attempt(IDA, PASSWORD, code))


async def test_who_answers_here_keeps_the_number_from_there(
    left: Left, arrived: Installation, parts_there: Parts
) -> None:
    async with parts_there.database.transaction(TENANT) as db:
        survey = await published(db, title="Here")
        ida = await db.scalar(select(User.id).where(User.email == IDA)) or 0
        recorded = await ledger.append(db, parts_there.keys, entry(survey, ida, ("Fine",)))
    ((number,),) = left.rows(
        "SELECT number FROM survey_people p JOIN users u ON u.id = p.user_id WHERE u.email = %s", IDA
    )
    assert number != ida
    assert arrived.rows("SELECT user_id FROM survey_responses WHERE number = %s", recorded.number) == [(number,)]
    assert (await arrived.muster()("ledger:verify", "--workspace", TENANT)).code == 0


async def test_an_agreement_that_came_along_is_withdrawn_here(
    left: Left, arrived: Installation, parts_there: Parts
) -> None:
    assert arrived.rows("SELECT count(*) FROM survey_changes") == [(2,)]
    assert await change(parts_there.database, parts_there.keys, replace(left.agreed, turns=2), workspace=TENANT)
    verified = (await arrived.muster()("ledger:verify", "--workspace", TENANT, "--json")).json
    assert verified["fits"], verified


async def test_an_erased_person_stays_erased_and_another_can_be(arrived: Installation, parts_there: Parts) -> None:
    (account,) = arrived.rows("SELECT id FROM users WHERE email = %s", JAN)[0]
    done = await erasing.erase(parts_there.database, COMMAND_LINE, EvidenceOwner(account, JAN, TENANT))
    assert done.keys >= 1
    verified = (await arrived.muster()("ledger:verify", "--workspace", TENANT, "--json")).json
    assert verified["fits"], verified


# --- one moment


async def test_what_changes_during_the_export_is_not_in_it(left: Left, there: Installation, tmp_path: Path) -> None:
    """A lock stops the export in the middle; what is written then lies in tables that it reads later."""
    file = tmp_path / "moment.muster"
    with psycopg.connect(left.urls.owner) as holder:
        holder.execute("LOCK TABLE tenant_acme.kiosk_enrolments IN ACCESS EXCLUSIVE MODE")
        exporting = asyncio.create_task(left.muster()("tenant:export", TENANT, file, "--json"))
        await until_waiting(holder, "tenant_acme.kiosk_enrolments")
        left.run("INSERT INTO clock_set_aside (run_id, resource, raw, reason) VALUES (1, 'punches', '{}', 'late')")
        holder.rollback()
        assert (await exporting).code == 0
    assert (await there.muster()("tenant:import", file)).code == 0
    late = "SELECT count(*) FROM clock_set_aside WHERE reason = 'late'"
    assert (left.rows(late), there.rows(late)) == ([(1,)], [(0,)])
    left.run("DELETE FROM clock_set_aside WHERE reason = 'late'")


async def until_waiting(holder: psycopg.Connection, table: str) -> None:
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    for _ in range(600):
        if holder.execute(waits, [table]).fetchall() != [(0,)]:
            return
        await asyncio.sleep(0.1)
    pytest.fail(f"nothing came to {table}")


# --- API tokens


async def test_api_tokens_come_along_where_that_is_asked_for(left: Left, there: Installation, tmp_path: Path) -> None:
    parts = left.parts()
    async with parts.database.transaction(TENANT) as db:
        jan = await db.scalar(select(User.id).where(User.email == JAN))
        made = await tokens.create(db, COMMAND_LINE, jan or 0, ["me"], name="Watch")
    await parts.close()
    file = tmp_path / "with.muster"
    assert (await left.muster()("tenant:export", TENANT, file, "--with-tokens")).code == 0
    assert (await there.muster()("tenant:import", file)).code == 0
    hashed = "SELECT u.email, t.name FROM api_tokens t JOIN users u ON u.id = t.user_id WHERE t.token_hash = sha256(%s::bytea)"
    assert there.rows(hashed, made.text.encode()) == [(JAN, "Watch")]
    left.run("DELETE FROM api_tokens WHERE name = 'Watch'")


# --- what is refused leaves nothing


async def refused(there: Installation, file: Path, *, passphrase: str = PASSPHRASE) -> str:
    before = there.everything()
    ended = await there.muster()("tenant:import", file, MUSTER_PASSPHRASE=passphrase)
    assert there.everything() == before
    return ended.refusal


async def test_every_clash_is_named_or_counted(
    left: Left, there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.run("INSERT INTO tenants (key, name) VALUES ('acme', 'Another')", schema="shared")
    for email in (IDA, JAN):
        there.run("INSERT INTO users (workspace, email, name) VALUES ('main', %s, 'X')", email, schema="shared")
    there.run(
        "INSERT INTO passkeys (user_id, name, site, credential_id, public_key, sign_count)"
        " SELECT max(id), 'X', 'x', '\\x01', '', 0 FROM users",
        schema="shared",
    )
    said = await refused(there, left.file)
    for taken in ("the key acme", f"the e-mail {IDA}", f"the e-mail {JAN}", f"the passkey Phone of {IDA}"):
        assert taken in said
    assert "Nothing was written" in said
    monkeypatch.setattr(arriving, "NAMED", 1)
    first, other = sorted((IDA, JAN))
    said = await refused(there, left.file)
    assert f"the e-mail {first}, the e-mail in 1 more case, the passkey" in said
    assert other not in said.split("the passkey")[0]


async def test_a_copy_that_is_removed_can_come_again(left: Left, there: Installation) -> None:
    assert (await there.muster()("tenant:import", left.file)).code == 0
    assert "the key acme" in await refused(there, left.file)
    assert (await there.muster()("tenant:remove", TENANT, "--yes", TENANT)).code == 0
    assert (await there.muster()("tenant:import", left.file)).code == 0
    found = [(await here.muster()("ledger:verify", "--workspace", TENANT, "--json")).json for here in (left, there)]
    assert found[0] == found[1]


async def test_a_schema_that_was_left_over_is_a_clash(left: Left, there: Installation) -> None:
    there.run("CREATE SCHEMA tenant_acme", schema="shared")
    assert "the schema tenant_acme" in await refused(there, left.file)


async def test_a_wrong_passphrase_is_refused(left: Left, there: Installation) -> None:
    assert "passphrase is wrong, or the header" in await refused(there, left.file, passphrase="another passphrase")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"check": "Ä"}, "header of the file was changed"),
        ({"salt": ""}, "header of the file was changed"),
        ({"salt": "Ä"}, "header can't be read"),
        ({"made_at": "yesterday"}, "header can't be read"),
        ({"tenant": b"\xff"}, "header can't be read"),
        ({"heads": {}}, "another version"),
        ({"format": "1"}, "another format"),
    ],
    ids=str,
)
async def test_a_changed_header_is_refused(
    left: Left, there: Installation, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    magic, line, frames = left.file.read_bytes().split(b"\n", 2)
    raw = {key: value.decode("latin-1") if isinstance(value, bytes) else value for key, value in change.items()}
    coding = "utf-8" if raw == change else "latin-1"
    header = json.dumps(json.loads(line) | raw, ensure_ascii=False).encode(coding)
    other = tmp_path / "other.muster"
    other.write_bytes(b"\n".join((magic, header, frames)))
    assert said in await refused(there, other)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.999])
async def test_a_file_that_was_cut_is_refused(left: Left, there: Installation, tmp_path: Path, share: float) -> None:
    whole = left.file.read_bytes()
    cut = tmp_path / "cut.muster"
    cut.write_bytes(whole[: max(600, int(len(whole) * share))])
    assert "changed, or cut off" in await refused(there, cut)


async def test_a_file_without_its_last_frame_is_refused(left: Left, there: Installation, tmp_path: Path) -> None:
    whole = left.file.read_bytes()
    at = whole.index(b"}\n") + 2
    while (following := at + 4 + int.from_bytes(whole[at : at + 4], "big")) < len(whole):
        at = following
    cut = tmp_path / "cut.muster"
    cut.write_bytes(whole[:at])
    assert "its end is missing" in await refused(there, cut)


@pytest.mark.parametrize("place", [0.1, 0.6, 1.0])
async def test_a_changed_byte_is_refused(left: Left, there: Installation, tmp_path: Path, place: float) -> None:
    whole = bytearray(left.file.read_bytes())
    whole[max(700, int((len(whole) - 1) * place))] ^= 1
    changed = tmp_path / "changed.muster"
    changed.write_bytes(whole)
    assert "changed, or cut off" in await refused(there, changed)


async def test_a_header_of_other_tables_is_refused(left: Left, there: Installation, tmp_path: Path) -> None:
    other = tmp_path / "other.muster"
    other.write_bytes(left.file.read_bytes().replace(b'"surveys":"2026_', b'"surveys":"2027_', 1))
    said = await refused(there, other)
    assert "surveys" in said
    assert "migrate:modules" in said


async def test_a_header_that_names_another_tenant_is_refused(left: Left, there: Installation, tmp_path: Path) -> None:
    other = tmp_path / "other.muster"
    other.write_bytes(left.file.read_bytes().replace(b'"tenant":"acme"', b'"tenant":"acma"', 1))
    assert "changed, or cut off" in await refused(there, other)


async def test_what_is_not_such_a_file_is_refused(there: Installation, tmp_path: Path) -> None:
    other = tmp_path / "other.muster"
    other.write_bytes(b"PK something else")
    assert "not a file of" in await refused(there, other)


async def test_an_import_that_is_killed_leaves_nothing(left: Left, there: Installation) -> None:
    """A lock that another session holds stops it near its end; then its process dies."""
    before = there.everything()
    with psycopg.connect(there.urls.owner) as holder:
        holder.execute("LOCK TABLE shared.audit_entries IN ACCESS EXCLUSIVE MODE")
        environment = {**os.environ, **there.muster().environment}
        killed = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app", "tenant:import", left.file, env=environment,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        await until_waiting(holder, "shared.audit_entries")
        killed.send_signal(signal.SIGKILL)
        await killed.wait()
    assert there.everything() == before
    assert (await there.muster()("tenant:import", left.file)).code == 0


# --- the commands


async def test_neither_command_works_without_the_owner(left: Left, there: Installation, tmp_path: Path) -> None:
    without = {"MUSTER_OWNER_DATABASE_URL": ""}
    assert (
        "MUSTER_OWNER_DATABASE_URL"
        in (await left.muster(**without)("tenant:export", TENANT, tmp_path / "x.muster")).refusal
    )
    assert "MUSTER_OWNER_DATABASE_URL" in (await there.muster(**without)("tenant:import", left.file)).refusal
    assert names_in(tmp_path) == [], "a refused export leaves no file"


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


async def export(left: Left, key: str, file: Path, *options: object, **environment: str) -> Ended:
    return await left.muster(**environment)("tenant:export", key, file, *options)


async def test_an_export_says_what_is_wrong_and_leaves_no_file(left: Left, tmp_path: Path) -> None:
    file = tmp_path / "x.muster"
    assert "no workspace initech" in (await export(left, "initech", file)).refusal
    assert "platform itself" in (await export(left, "main", file)).refusal
    assert "12 characters" in (await export(left, TENANT, file, MUSTER_PASSPHRASE="short")).refusal
    assert names_in(tmp_path) == []
    assert "MUSTER_PASSPHRASE" in (await export(left, TENANT, file, MUSTER_PASSPHRASE="")).refusal
    file.write_text("mine")
    assert "exists already" in (await export(left, TENANT, file)).refusal
    assert file.read_text() == "mine"


async def test_the_passphrase_comes_from_a_file_too_and_the_result_is_for_its_owner_alone(
    left: Left, there: Installation, tmp_path: Path
) -> None:
    words, file = tmp_path / "words", tmp_path / "x.muster"
    words.write_text("words of a file, enough\nand a second line\n")
    options = ("--passphrase-file", words)
    assert (await export(left, TENANT, file, *options, MUSTER_PASSPHRASE="")).code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert (await there.muster(MUSTER_PASSPHRASE="")("tenant:import", file, *options)).code == 0


async def test_a_file_holds_no_secret_and_no_name_in_the_clear(left: Left) -> None:
    whole = left.file.read_bytes()
    for text_ in (b"ida@acme", b"Nyman", left.totp.encode(), PASSPHRASE.encode()):
        assert text_ not in whole
