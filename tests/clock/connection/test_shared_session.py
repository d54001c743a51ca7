"""One session with an account of a time-clock server, for all workspaces that use it;
and that none learns of another."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update

from app import sealed
from app.accounts import housekeeping
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import ClockSignIn
from app.clock.connection import saved as connection
from app.clock.connection import shared_session
from app.clock.connection.connection_form import ConnectionForm
from app.clock.connection.shared_session import SharedSession, accounts_of, earlier_tokens_place, tokens_place
from app.clock.models import Connection
from app.clock.remote import ClockSession, Credentials
from app.clock.settings import write_settings
from app.clock.sync import run as sync
from app.clock.sync import run_rows
from app.db.session import Database
from app.outbound import Limits
from app.parts import JOB_WAITS_S, PAGE_WAITS_S
from app.secrets import KeyRing, Secret, SecretError, new_key_text
from app.simulator import PASSWORD, USERNAME
from tests.clock.clock_worker import until
from tests.clock.syncing import NOW, ZONE, site
from tests.conftest import KEYS

SESSION = ClockSession(Secret("token-of-the-clock"), None, NOW, NOW + timedelta(days=1))
ONE = Credentials("operator", Secret("its password"), "Acme Ltd")


async def nowhere(_):
    """A log that keeps nothing."""


async def save(here, workspace, **changes):
    fields = {"base_url": here.address, "username": USERNAME, "profile": "cloud", "timezone": ZONE}
    async with here.parts.database.transaction(workspace) as db:
        form = ConnectionForm(**{**fields, "password": Secret(PASSWORD), **changes})
        await connection.save(db, here.parts.keys, COMMAND_LINE, form)
        await write_settings(db, COMMAND_LINE, {"history_start": (NOW - timedelta(days=10)).date()}, NOW)


async def synced(here, workspace):
    async with here.parts.database.transaction(workspace) as db:
        run_id, _ = await run_rows.start_run(db, "manual", {"resources": ["employees", "transactions"]}, COMMAND_LINE)
    return await sync.run(here.parts, workspace, run_id, now=lambda: here.now)


def asked(here, resource):
    return [call for call in here.simulator.calls if call.resource == resource]


async def held(parts):
    async with parts.database.shared_transaction() as db:
        return (await db.scalars(select(ClockSignIn))).all()


async def store(parts, workspace="main", keys=None):
    async with parts.database.transaction(workspace) as db:
        found = await connection.required(db)
    return connection.session_of(replace(parts, keys=keys or parts.keys), workspace, found)


async def test_two_workspaces_with_one_account_sync_at_once_and_sign_in_once(parts):
    async with site(parts, faults=["page_cap_50=15"]) as here:
        await save(here, "acme")
        ends = await asyncio.gather(synced(here, "main"), synced(here, "acme"))
        assert [end.status for end in ends] == ["succeeded"] * 2
        assert len(asked(here, "transactions")) >= 40
        assert len(asked(here, "sign_in")) == 1
        assert {call.status for call in asked(here, "transactions")} == {200}


async def test_another_password_or_account_or_address_is_another_session(parts):
    def of(url="https://clock.example.com", **changes):
        return accounts_of(parts.keys, url, replace(ONE, **changes))[0]

    different = {
        of(), of(url="https://other.example.com"), of(username="other"), of(company=None), of(password=Secret("other"))
    }  # fmt: skip
    assert len(different) == 5
    assert of() == of()
    assert of() != accounts_of(KeyRing.from_text(new_key_text("k2")), "https://clock.example.com", ONE)[0]


async def test_a_workspace_with_a_wrong_password_is_locked_alone_and_ends_nobodys_session(parts):
    async with site(parts) as here:
        assert (await synced(here, "main")).status == "succeeded"
        await save(here, "acme", password=Secret("wrong"))
        for _ in range(5):
            assert (await synced(here, "acme")).code == "TC-AUTH"
        assert (await here.connection()).status == "healthy"
        assert (await here.connection()).credential_failures == 0
        assert (await synced(here, "main")).status == "succeeded"
        assert len([call for call in asked(here, "sign_in") if call.status == 200]) == 1


async def test_no_row_page_or_log_of_a_workspace_tells_of_the_other(parts):
    async with site(parts) as here:
        await synced(here, "main")
        before = await told(here)
        await save(here, "acme")
        await synced(here, "acme")
        assert await told(here) == before
        (row,) = await held(parts)
        assert not {USERNAME.encode(), PASSWORD.encode(), b"main", b"acme"} & {row.account}
        assert PASSWORD not in (row.tokens or "")


async def told(here):
    """What the workspace `main` holds about its connection and its calls."""
    seen = await here.rows("SELECT row_to_json(c)::text FROM clock_connections c")
    calls = await here.rows("SELECT count(*) FROM clock_api_logs")
    audit = await here.rows("SELECT count(*) FROM audit_entries WHERE workspace = 'main'")
    return [*map(str, seen), *map(str, calls), *map(str, audit)]


async def test_while_another_sign_in_gets_no_answer_a_test_says_so_and_is_kept(parts, urls, monkeypatch):
    """The other one is in a process of its own, and takes longer than a statement of a page may."""
    monkeypatch.setattr(shared_session, "PATIENCE_S", 0.5)
    page = replace(parts, database=Database(urls.app, pool_size=4, limit_s=0.3))
    async with site(parts) as here:
        await save(here, "acme")
        elsewhere = replace(parts, database=Database(urls.app, pool_size=2))
        other = await store(elsewhere)
        async with other.lock():
            steps = [step async for step in connection.test(page, "acme", COMMAND_LINE, nowhere)]
        assert (steps[-1].name, steps[-1].ok, steps[-1].code) == ("sign_in", False, "TC-NET")
        assert "did not answer the sign-in" in steps[-1].sentence
        async with parts.database.transaction("acme") as db:
            assert (await connection.required(db)).last_error_code == "TC-NET"
            tested = text(
                "SELECT count(*) FROM audit_entries WHERE act = 'clock.connection.test' AND workspace = 'acme'"
            )
            assert await db.scalar(tested) == 1
        again = [step async for step in connection.test(page, "acme", COMMAND_LINE, nowhere)]
        assert all(step.ok for step in again)
        await elsewhere.database.close()
    await page.database.close()


FROZEN = """
import asyncio, sys
from app.clock.connection import shared_session
from app.db.session import Database
from app.secrets import KeyRing, new_key_text
shared_session.HELD_S = 1
async def go():
    database = Database(sys.argv[1], pool_size=2)
    keys = KeyRing.from_text(new_key_text("k"))
    async with shared_session.SharedSession(database, "main", keys, (b"one account",)).lock():
        print("locked", flush=True)
        await asyncio.sleep(3600)
asyncio.run(go())
"""


async def test_a_process_that_is_frozen_during_its_sign_in_stops_no_other(parts, urls):
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", FROZEN, urls.app, stdout=PIPE)
    try:
        assert await child.stdout.readline() == b"locked\n"
        os.kill(child.pid, signal.SIGSTOP)
        async with SharedSession(parts.database, "acme", parts.keys, (b"one account",)).lock():
            pass
    finally:
        child.kill()
        await child.wait()


def test_the_lock_outlasts_the_calls_and_the_waits_of_others():
    limits = Limits()
    # The longest pause is 1.5 times 2 seconds.
    one_call = limits.attempts * (limits.connect_s + limits.call_s) + (limits.attempts - 1) * 3 * limits.pause_s
    assert 2 * one_call < shared_session.HELD_S
    assert shared_session.HELD_S > JOB_WAITS_S > PAGE_WAITS_S


@pytest.mark.parametrize(
    ("change", "refusals", "sessions"),
    [(SharedSession.sign_in_rejected, 1, 0), (lambda one: one.save(SESSION), 0, 1)],
    ids=["refused", "in"],
)
async def test_a_sign_in_that_ends_while_a_password_is_saved_waits_and_neither_fails(parts, change, refusals, sessions):
    """Both lock the connection first, then the session."""
    waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
    async with site(parts) as here:
        one = await store(parts)
        await one.save(SESSION)
        async with parts.database.transaction() as db:
            await db.execute(select(Connection).with_for_update())
            ending = asyncio.create_task(change(one))
            await until(lambda: db.scalar(waits))
            form = ConnectionForm(
                base_url=here.address, username=USERNAME, profile="cloud", timezone=ZONE, password=Secret(PASSWORD)
            )
            await connection.save(db, here.parts.keys, COMMAND_LINE, form)
        await ending
        assert (await here.connection()).credential_failures == refusals
        assert len(await held(parts)) == sessions


async def test_a_sign_in_with_an_account_that_was_replaced_meanwhile_does_not_end_the_count_of_the_new_one(parts):
    async with site(parts) as here:
        before = await store(parts)
        await save(here, "main", password=Secret("wrong"))
        await (await store(parts)).sign_in_rejected()
        await before.save(SESSION)
        assert (await here.connection()).credential_failures == 1
        assert (await before.load()).access == SESSION.access
        await (await store(parts)).save(SESSION)
        assert (await here.connection()).credential_failures == 0


async def test_a_session_of_before_is_moved_and_costs_no_sign_in(parts):
    async with site(parts) as here:
        await synced(here, "main")
        session = await (await store(parts)).load()
        old = parts.keys.seal(session.to_text(), earlier_tokens_place("main"))
        async with parts.database.transaction() as db:
            await db.execute(text("DELETE FROM clock_sign_ins"))
            await db.execute(update(Connection).values(tokens=old))
        assert (await synced(here, "main")).status == "succeeded"
        assert len(asked(here, "sign_in")) == 1
        assert (await here.connection()).tokens is None
        assert len(await held(parts)) == 1


async def test_a_session_of_before_that_does_not_open_is_dropped(parts):
    async with site(parts) as here:
        async with parts.database.transaction() as db:
            await db.execute(update(Connection).values(tokens="k1.AAAA.BBBB"))
        assert await (await store(parts)).load() is None
        assert (await here.connection()).tokens is None


async def test_a_session_opens_in_its_row_alone(parts):
    for account in (b"one", b"two"):
        await SharedSession(parts.database, "main", parts.keys, (account,)).save(SESSION)
    one, two = sorted(await held(parts), key=lambda row: row.id)
    assert parts.keys.open(one.tokens, tokens_place(one.id)) == SESSION.to_text()
    with pytest.raises(SecretError):
        parts.keys.open(two.tokens, tokens_place(one.id))


async def test_after_a_new_key_the_session_is_found_again_and_stays_after_the_old_one_left(parts):
    new = new_key_text("k2")
    both, alone = KeyRing.from_text(f"{new},{KEYS}"), KeyRing.from_text(new)
    async with site(parts) as here:
        await synced(here, "main")
        await sealed.rotate(parts.database, both)
        during = await store(parts, keys=both)
        session = await during.load()
        assert session is not None
        await during.save(session)
        (row,) = await held(parts)
        assert row.account == accounts_of(both, here.address, Credentials(USERNAME, Secret(PASSWORD)))[0]
        assert (await (await store(parts, keys=alone)).load()).access == session.access


async def test_rotation_seals_the_sessions_of_all_workspaces_once(parts):
    await SharedSession(parts.database, "main", parts.keys, (b"one",)).save(SESSION)
    new = new_key_text("k2")
    both = KeyRing.from_text(f"{new},{KEYS}")
    assert (await sealed.examine(parts.database, both)).rotated == 1
    assert (await sealed.rotate(parts.database, both)).rotated == 1
    alone = await sealed.examine(parts.database, KeyRing.from_text(new))
    assert (alone.unchanged, alone.broken) == (1, [])


async def test_a_session_that_was_not_renewed_for_a_week_is_removed(parts):
    for account in (b"one", b"two"):
        await SharedSession(parts.database, "main", parts.keys, (account,)).save(SESSION)
    async with parts.database.shared_transaction() as db:
        past = func.now() - housekeeping.CLOCK_SIGN_INS_KEPT - timedelta(minutes=1)
        await db.execute(update(ClockSignIn).where(ClockSignIn.account == b"one").values(saved_at=past))
    await housekeeping.tidy(parts.database.shared_transaction)
    assert [row.account for row in await held(parts)] == [b"two"]
