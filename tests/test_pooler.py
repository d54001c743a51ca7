"""Muster behind PgBouncer: nothing is set while connecting, and what one transaction sets is gone in the next."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import make_url, text

from app import jobs
from app.config import ConfigError, Settings, read_settings
from app.db import pool, pooler
from app.db.session import Database
from app.parts import Parts, web_parts, worker_parts
from tests.clock.syncing import site as clock_site
from tests.cluster import DatabaseUrls
from tests.command_line import CommandLine
from tests.conftest import Browser
from tests.pgbouncer import pgbouncer
from tests.postgres15 import NoServer
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.calling import App
from workers.settings import work

__all__ = ["nora"]
SETTINGS = text(
    "SELECT current_setting('search_path'), current_setting('jit'), current_setting('statement_timeout'),"
    " current_setting('idle_in_transaction_session_timeout')"
)


@contextmanager
def before(url: str, mode: str, size: int = 5) -> Iterator[str]:
    try:
        with pgbouncer(url, mode, size) as behind:
            yield behind
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture
def pooled(urls: DatabaseUrls) -> Iterator[str]:
    # A worker of one job holds up to eleven: its pool, those of the queue, and the one that listens.
    with before(urls.app, "session", size=20) as url:
        yield url


@pytest.fixture
async def parts(pooled: str, settings: Settings) -> AsyncIterator[Parts]:
    made = web_parts(replace(settings, pooler="session", web_pool=4), pooled)
    yield made
    await made.close()


async def test_pages_apis_and_exports_answer_through_a_pooler_of_sessions(
    alice: Browser, parts: Parts, token: Any
) -> None:
    bearer = {"Authorization": f"Bearer {await token('alice', 'clock:read')}"}
    assert (await alice.get("/people")).status_code == 200
    assert (await alice.submit("/people/add", {"name": "Ada Byron", "id_number": "7"})).status_code == 303
    assert "Ada Byron" in (await alice.get("/people?export=csv")).text
    assert (await alice.get("/api/v1/clock/status", headers=bearer)).status_code in (200, 404)
    assert (await alice.get("/health/ready")).json()["status"] == "ready"
    async with parts.database.transaction("acme") as db:
        assert tuple((await db.execute(SETTINGS)).one()) == ("tenant_acme, shared", "off", "10s", "30s")


async def test_answers_and_a_sync_come_through_it(nora: App, parts: Parts) -> None:
    survey = await publish(parts.database, "Lunch")
    recorded = await nora.recorded(survey.uid, "opt_out")
    assert recorded["receipt"]
    async with clock_site(parts) as here:
        assert (await here.sync()).status == "succeeded"


async def test_a_worker_runs_jobs_through_it(pooled: str, settings: Settings) -> None:
    parts = worker_parts(replace(settings, pooler="session"), pooled, concurrency=1)
    ran = asyncio.Event()

    async def job(*_: Any) -> None:
        ran.set()

    working = asyncio.create_task(work(parts, functions=dict.fromkeys(jobs.KINDS, job), concurrency=1))
    try:
        async with parts.database.transaction() as db:
            await jobs.request(db, "clock_sync")
        async with asyncio.timeout(60):
            await ran.wait()
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await parts.close()


async def test_where_connections_are_handed_on_nothing_that_was_set_stays(
    urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PgBouncer 1.18 keeps no prepared statements by name, so none are kept here;
    everything else is as with a newer one."""
    monkeypatch.setattr(pool, "DIALECT", f"{pool.DIALECT}?prepared_statement_cache_size=0")
    with before(urls.app, "transaction", size=1) as url:
        database = Database(url, pool_size=3, limit_s=7, idle_s=9, pooled=True)
        async with database.transaction("acme") as db:
            assert tuple((await db.execute(SETTINGS)).one()) == ("tenant_acme, shared", "off", "7s", "9s")
        async with database.shared_transaction() as db:
            assert tuple((await db.execute(SETTINGS)).one()) == ("shared", "off", "7s", "9s")
        plain = Database(url, pool_size=1, pooled=True)
        async with plain.engine.connect() as bare:
            assert "tenant_acme" not in (await bare.execute(SETTINGS)).one()[0]
        await plain.close()
        await database.close()


async def test_an_old_pooler_of_transactions_is_refused_where_it_tells_its_version(urls: DatabaseUrls) -> None:
    with before(urls.app, "transaction") as url:
        told = pooler.version(url)
        assert told is not None
        if told < pooler.OLDEST:
            with pytest.raises(ConfigError, match=r"needs PgBouncer 1\.21 or newer"):
                pooler.refuse_old(url)
    assert pooler.version(urls.app) is None, "PostgreSQL itself is no pooler"
    pooler.refuse_old(urls.app)


def test_transaction_needs_an_address_past_the_pooler() -> None:
    with pytest.raises(ConfigError, match="needs MUSTER_DIRECT_DATABASE_URL"):
        read_settings({"MUSTER_POOLER": "transaction"})
    told = {"MUSTER_POOLER": "transaction", "MUSTER_DIRECT_DATABASE_URL": "postgresql://a@db/m"}
    assert not read_settings(told).goes_through_pooler("postgresql://a@db/m")
    assert read_settings(told).goes_through_pooler("postgresql://a@pooler/m")


async def test_commands_go_past_the_pooler(muster: CommandLine, urls: DatabaseUrls) -> None:
    muster.environment |= {
        "MUSTER_POOLER": "transaction",
        "MUSTER_DIRECT_DATABASE_URL": urls.app,
        # The same role, which migrations give its rights, at an address where nothing answers.
        "MUSTER_DATABASE_URL": make_url(urls.app)
        .set(host="127.0.0.1", port=1, query={})
        .render_as_string(hide_password=False),
    }
    assert (await muster("migrate:modules")).code == 0
    told = await muster("doctor", "--json")
    levels = {one["name"]: one["level"] for one in told.json}
    assert (levels["connections"], levels["pooler"]) == ("ok", "warning")
