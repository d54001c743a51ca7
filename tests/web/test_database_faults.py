"""What stops the database for some stops no one else, and is 503 with a time to come back,
in words that say what became of a form."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.commands.web_server import share_with_tenants
from app.config import ConfigError, Settings
from app.db import embedded, pool, session
from app.db.direct import driver
from app.db.migrate import migrate
from app.db.pool import ShareTaken
from app.db.session import Database
from app.errors import Busy
from app.host.pages import health
from app.main import open_site
from app.parts import PAGES_S, Parts, web_parts, worker_parts
from app.web.errors.refusals import NOT_SAVED, PERHAPS_SAVED, as_refusal, told_what_became_of_it
from tests.cluster import DatabaseUrls
from tests.conftest import BASE_URL, Browser
from tests.db.test_embedded import folder_for_clusters
from tests.host.signing_in import give_password, submit_sign_in
from tests.silent_line import silent_line

PEOPLE, QUEUE = "/people", "/v1/api/me/surveys"
CLOCK = "/api/v1/clock/status"
HTMX = {"HX-Request": "true", "HX-Target": "drawer"}
CONNECTIONS, SHARE, LIMIT_S = 4, 2, 1.5
A_PERSON = {"name": "Ada Byron", "id_number": "7"}
Token = Callable[..., Awaitable[str]]


@pytest.fixture
async def parts(urls: DatabaseUrls, settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[Parts]:
    """As a web process has them, with fewer connections. A parameter is the limit of statements."""
    limit_s = getattr(request, "param", LIMIT_S)
    made = web_parts(replace(settings, web_pool=CONNECTIONS), urls.app)
    quick = Database(urls.app, pool_size=CONNECTIONS, limit_s=limit_s, share=SHARE)
    await made.database.close()
    made = replace(made, database=quick)
    yield made
    assert not checked_out(made), "a refused request keeps no connection"
    await made.close()


def checked_out(parts: Parts) -> int:
    return parts.database.engine.pool.checkedout()  # type: ignore[attr-defined,no-any-return]


@contextmanager
def locked(urls: DatabaseUrls, *tables: str) -> Iterator[None]:
    """Another session holds them, as a long migration or a forgotten transaction does."""
    with psycopg.connect(urls.owner) as owner:
        owner.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        yield
        owner.rollback()


@asynccontextmanager
async def all_taken(database: Database) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for _ in range(CONNECTIONS):
            await stack.enter_async_context(database.shared_transaction())
        yield


def kill_others(urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.app) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'muster'"
        )


def assert_busy(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) > 0


@pytest.fixture
def _much_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 60)


@pytest.mark.usefixtures("_much_patience")
@pytest.mark.parametrize("parts", [60], indirect=True)
async def test_a_tenant_whose_tables_are_locked_stops_no_other(
    alice: Browser, eve: Browser, parts: Parts, token: Token, urls: DatabaseUrls
) -> None:
    """Its requests would wait for a minute here: that the others are answered does not hang
    on how fast this machine is."""
    hers = {"Authorization": f"Bearer {await token('eve', 'clock:read')}"}
    theirs = {"Authorization": f"Bearer {await token('alice', 'clock:read')}"}
    with locked(urls, "tenant_globex.employees", "tenant_globex.clock_connections"):
        asked = [asyncio.create_task(eve.get(PEOPLE)) for _ in range(15)]
        asked += [asyncio.create_task(eve.get(CLOCK, headers=hers)) for _ in range(15)]
        while checked_out(parts) < SHARE:  # noqa: ASYNC110 - until some of them are stuck
            await asyncio.sleep(0.01)
        for _ in range(5):
            assert (await alice.get(PEOPLE)).status_code == 200
            assert (await alice.get(CLOCK, headers=theirs)).status_code == 200
            assert (await alice.get("/health/ready")).status_code == 200
        await asyncio.sleep(0.2)
        assert checked_out(parts) == SHARE, "who waits for the share holds nothing"
        assert not any(one.done() for one in asked)
    for answer in await asyncio.gather(*asked):
        assert answer.status_code in (200, 404), answer.text


@pytest.mark.usefixtures("_much_patience")
async def test_a_person_who_waits_for_the_share_holds_no_connection_and_gets_in_when_there_is_room(
    eve: Browser, parts: Parts, token: Token
) -> None:
    hers = {"Authorization": f"Bearer {await token('eve', 'clock:read')}"}
    async with AsyncExitStack() as held:
        for _ in range(SHARE):
            await held.enter_async_context(parts.database.transaction("globex"))
        asked = [asyncio.create_task(one) for one in (eve.get(PEOPLE), eve.get(CLOCK, headers=hers))]
        await asyncio.sleep(0.5)
        assert checked_out(parts) == SHARE
        assert not any(one.done() for one in asked)
    for answer in await asyncio.gather(*asked):
        assert answer.status_code in (200, 404), answer.text


async def test_the_wait_for_the_share_ends(eve: Browser, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 0.1)
    async with parts.database.transaction("globex"), parts.database.transaction("globex"):
        answer = await eve.get(PEOPLE)
        with pytest.raises(ShareTaken):
            await parts.database.transaction("globex").__aenter__()
        async with parts.database.transaction("acme"):
            pass
    assert_busy(answer)
    assert "Too many requests of your workspace" in answer.text
    assert (await eve.get(PEOPLE)).status_code == 200


async def test_a_statement_over_its_limit_is_a_busy_page_fragment_and_envelope(
    alice: Browser, token: Token, urls: DatabaseUrls
) -> None:
    bearer = {"Authorization": f"Bearer {await token('alice', 'clock:read')}"}
    with locked(urls, "main.employees", "main.clock_connections"):
        page, part = await alice.get(PEOPLE), await alice.get(PEOPLE, headers=HTMX)
        told = await alice.get(CLOCK, headers=bearer)
        sent = await alice.submit("/people/add", A_PERSON)
    for answer in (page, part, told, sent):
        assert_busy(answer)
        assert "did not answer in time" in answer.text
    assert 'class="shell-workspace"' in page.text
    assert "<html" not in part.text
    assert part.headers["x-refusal"] == "503"
    assert told.json()["error"]["code"] == "unavailable"
    assert NOT_SAVED in sent.text
    assert NOT_SAVED not in page.text


@pytest.mark.parametrize("code", ["40P01", "40001"])
async def test_a_change_that_the_database_took_back_for_another_one_may_be_sent_again(
    database: Database, code: str
) -> None:
    with pytest.raises(DBAPIError) as crossed:
        async with database.transaction() as db:
            await db.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'crossed' USING ERRCODE = '{code}'; END $$"))
    refusal = as_refusal(crossed.value)
    assert isinstance(refusal, Busy)
    assert refusal.retry_after_s
    assert NOT_SAVED in told_what_became_of_it(refusal, "POST", kept=False).message


async def test_the_limit_of_pages_holds_in_every_transaction_and_another_can_be_set(
    urls: DatabaseUrls, settings: Settings
) -> None:
    made = web_parts(settings, urls.app)
    for database, limit in ((made.database, f"{PAGES_S}s"), (made.exports, "5min"), (made.database.limited(90), "90s")):
        for opened in (database.shared_transaction(), database.transaction("acme"), database.snapshot("acme")):
            async with opened as db:
                shown = await db.connection()
                assert (await shown.exec_driver_sql("SHOW statement_timeout")).scalar() in (limit, "1min 30s")
    await made.close()


async def test_each_process_says_how_long_a_transaction_may_wait_between_two_statements(
    urls: DatabaseUrls, settings: Settings
) -> None:
    web, worker = web_parts(settings, urls.app), worker_parts(settings, urls.app, concurrency=1)
    shown = text("SELECT current_setting('idle_in_transaction_session_timeout')")
    for database, longest in (
        (web.database, "30s"),
        (web.exports, "5min"),
        (web.limits, "30s"),
        (worker.database, "4min"),
        (worker.database.limited(5), "4min"),
    ):
        async with database.transaction("acme") as db:
            assert await db.scalar(shown) == longest
    await web.close()
    await worker.close()


async def test_a_transaction_that_waits_too_long_between_two_statements_lets_its_locks_go(urls: DatabaseUrls) -> None:
    forgetful, other = Database(urls.app, pool_size=1, idle_s=0.2), Database(urls.app, pool_size=1, limit_s=20)
    locks = text("SELECT pg_advisory_xact_lock(1)")

    async def waits_too_long() -> None:
        async with forgetful.transaction("acme") as db:
            await db.execute(locks)
            async with other.transaction("globex") as waiting:
                await waiting.execute(locks)
            await db.execute(text("SELECT 1"))

    with pytest.raises((ConnectionError, DBAPIError)):
        await waits_too_long()
    async with forgetful.transaction("acme") as db:
        assert await db.scalar(text("SELECT 1")) == 1, "the next transaction has a new connection"
    await forgetful.close()
    await other.close()


async def test_a_workspace_gets_half_of_the_connections_for_pages_exports_and_jobs(
    urls: DatabaseUrls, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 0.1)
    few = replace(settings, web_pool=4, export_pool=2, worker_pool=6)
    web, worker = web_parts(few, urls.app), worker_parts(few, urls.app, concurrency=2)
    for database, half in ((web.database, 2), (web.exports, 1), (worker.database, 3), (worker.database.limited(5), 3)):
        async with AsyncExitStack() as held:
            for _ in range(half):
                await held.enter_async_context(database.transaction("globex"))
            with pytest.raises(ShareTaken):
                await database.transaction("globex").__aenter__()
            await held.enter_async_context(database.transaction("acme"))
    with pytest.raises(ConfigError, match="MUSTER_WORKER_POOL is 6"):
        worker_parts(few, urls.app, concurrency=4)
    await web.close()
    await worker.close()


async def test_the_platform_may_have_all_connections_as_long_as_there_is_no_tenant(
    parts: Parts, urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 0.1)
    with psycopg.connect(urls.owner, autocommit=True) as owner:
        kept = owner.execute("SELECT json_agg(t)::text FROM shared.tenants AS t").fetchone()
        owner.execute("DELETE FROM shared.tenants")
        try:
            await share_with_tenants(parts.database)
            async with AsyncExitStack() as held:
                for _ in range(CONNECTIONS):
                    await held.enter_async_context(parts.database.transaction())
        finally:
            owner.execute(
                "INSERT INTO shared.tenants SELECT * FROM json_populate_recordset(NULL::shared.tenants, %s)", kept
            )
    await share_with_tenants(parts.database)
    async with AsyncExitStack() as held:
        for _ in range(SHARE):
            await held.enter_async_context(parts.database.transaction())
        with pytest.raises(ShareTaken):
            await parts.database.transaction().__aenter__()


async def test_a_pool_without_a_free_place_is_busy_everywhere(
    alice: Browser, visitor: Browser, parts: Parts, token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    bearer = {"Authorization": f"Bearer {await token('alice', 'clock:read')}"}
    monkeypatch.setattr(session, "PATIENCE_S", 0.1)
    async with all_taken(parts.database):
        page, part = await alice.get(PEOPLE), await alice.get(PEOPLE, headers=HTMX)
        sent = await alice.submit("/people/add", A_PERSON)
        apis = [await alice.get(url, headers=bearer) for url in (CLOCK, QUEUE)]
        ready, live = await visitor.get("/health/ready"), await visitor.get("/health/live")
    for answer in (page, part, sent, *apis):
        assert_busy(answer)
        assert "All connections to the database are in use" in answer.text
    assert ["<html" in one.text for one in (page, part, sent)] == [True, False, True]
    assert part.headers["x-refusal"] == "503"
    assert [NOT_SAVED in one.text for one in (page, sent)] == [False, True]
    assert [one.json()["error"]["code"] for one in apis] == ["unavailable"] * 2
    assert_busy(ready)
    assert "All connections" in ready.json()["status"]
    assert live.status_code == 200


@pytest.mark.parametrize("when", ["before the end", "at the end"])
async def test_a_killed_backend_says_truly_whether_a_form_was_saved(
    alice: Browser, parts: Parts, urls: DatabaseUrls, when: str
) -> None:
    engine, moment = parts.database.engine.sync_engine, "commit" if when == "at the end" else "after_cursor_execute"
    assert (await alice.get(PEOPLE)).status_code == 200
    event.listen(engine, moment, lambda *_: kill_others(urls), once=True)
    answer = await alice.submit("/people/add", A_PERSON)
    assert_busy(answer)
    assert (NOT_SAVED in answer.text, PERHAPS_SAVED in answer.text) == (when != "at the end", when == "at the end")
    assert (await alice.get(PEOPLE)).status_code == 200


async def test_a_line_that_falls_silent_ends_requests_and_is_left(
    urls: DatabaseUrls, settings: Settings, site: Any
) -> None:
    """The server's own limit can't reach us then."""
    async with silent_line(urls.app) as line:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "SILENCE_S", 0.2)
            database = Database(line.url, pool_size=2, limit_s=0.3)
        made = replace(web_parts(settings, line.url), database=database)
        async with browser_of(open_site(site, made)) as visitor:
            assert (await visitor.get("/sign-in")).status_code == 200
            assert (await visitor.get("/health/ready")).json() == {"status": "ready", "workers": 0}
            line.silent = True
            assert_busy(await visitor.get("/sign-in"))
            line.silent = False
            assert (await visitor.get("/sign-in")).status_code == 200
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(health, "PATIENCE_S", 0.2)
                line.silent = True
                answer = await visitor.get("/health/ready")
            assert_busy(answer)
            assert answer.json() == {"status": "The database did not answer in time"}
            line.silent = False
            assert (await visitor.get("/health/ready")).status_code == 200
        await made.close()


def browser_of(app: Any) -> Browser:
    return Browser(transport=httpx.ASGITransport(app=app), base_url=BASE_URL, headers={"user-agent": "tests"})


async def test_the_database_may_stop_and_start_while_the_process_runs(settings: Settings, site: Any) -> None:
    with folder_for_clusters() as folder:
        await stop_and_start(folder, settings, site)


async def stop_and_start(folder: Path, settings: Settings, site: Any) -> None:
    cluster = await asyncio.to_thread(embedded.start, folder, durable=False)
    made = web_parts(settings, cluster.app_url)
    try:
        await migrate(cluster.owner_url, embedded.APP_ROLE)
        async with browser_of(open_site(site, made)) as person:
            assert (await person.get("/health/ready")).json() == {"status": "ready", "workers": 0}
            assert (await person.get("/sign-in")).status_code == 200
            await asyncio.to_thread(cluster.stop)
            for _ in range(2):
                assert_busy(await person.get("/sign-in"))
                answer = await person.get("/health/ready")
                assert_busy(answer)
                assert answer.json() == {"status": "The database can't be reached"}
                assert (await person.get("/health/live")).status_code == 200
            cluster = await asyncio.to_thread(embedded.start, folder, durable=False)
            assert (await person.get("/sign-in")).status_code == 200
            assert (await person.get("/health/ready")).json() == {"status": "ready", "workers": 0}
    finally:
        await made.close()
        await asyncio.to_thread(cluster.stop)


async def test_signing_in_under_a_lock_is_busy_and_not_a_wrong_password(
    visitor: Browser, parts: Parts, urls: DatabaseUrls
) -> None:
    await give_password(parts.database, "bob")
    with locked(urls, "shared.users"):
        answer = await submit_sign_in(visitor, "bob")
    assert_busy(answer)


class Translated(Exception):
    """As SQLAlchemy hands on what the driver raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.sqlstate = error.sqlstate  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.ConnectionDoesNotExistError("x"),
        asyncpg.ConnectionFailureError("x"),
        asyncpg.ProtocolViolationError("x"),
        asyncpg.AdminShutdownError("x"),
        asyncpg.CrashShutdownError("x"),
        asyncpg.CannotConnectNowError("x"),
        asyncpg.QueryCanceledError("x"),
    ],
)
def test_what_passes_by_itself_is_busy_by_its_code(error: Exception) -> None:
    for met in (error, DBAPIError("SELECT 1", {}, Translated(error))):
        assert isinstance(as_refusal(met), Busy)


@pytest.mark.parametrize("error", [PoolTimeoutError("x"), ShareTaken("x"), ConnectionRefusedError("x"), TimeoutError()])
def test_what_passes_by_itself_is_busy_by_its_kind(error: Exception) -> None:
    assert isinstance(as_refusal(error), Busy)


@pytest.mark.parametrize("waits_s", [0, 0.1], ids=["unheard", "heard"])
@pytest.mark.parametrize("statement", ["SELECT 1", "SELECT set_config('muster.seen', $1, true)"])
async def test_a_server_that_left_before_a_direct_statement_is_503(
    parts: Parts, urls: DatabaseUrls, statement: str, waits_s: float
) -> None:
    """The driver has errors of its own for it."""
    given = ["yes"] if "$1" in statement else []
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)) as met:  # noqa: PT012 - the transaction's own end is part of it
        async with parts.database.transaction() as db:
            await driver(db).fetch(statement, *given)
            kill_others(urls)
            await asyncio.sleep(waits_s)
            await driver(db).fetch(statement, *given)
    assert isinstance(as_refusal(met.value), Busy)


def test_the_driver_s_own_error_for_a_server_that_left_is_503() -> None:
    """As it came of a direct statement while a server was killed. SQLAlchemy's statements have it as a cause."""
    error = asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress")
    assert isinstance(as_refusal(error), Busy)
