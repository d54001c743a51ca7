"""Fixtures of the whole suite: real PostgreSQL, one database of its own per test, the cast,
and browsers without a browser.

The cast: on the platform Alice the administrator, Bob the operator and Vera the viewer; Eve is the
administrator of the tenant Globex; Acme is a tenant beside it.
"""

import asyncio
import gc
import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import psycopg
import pytest
import structlog
from litestar import Litestar
from sqlalchemy import insert, select

from app import wiring
from app.accounts.models import ApiToken, Role, Session, Tenant, User, UserRole
from app.accounts.roles import BUILT_IN
from app.config import Settings, read_settings
from app.db.migrate import migrate
from app.db.session import PLATFORM, Database
from app.main import build_site, open_site
from app.parts import Parts, make_parts
from app.secrets import new_key_text
from app.web import csrf, sessions
from tests.cluster import DatabaseUrls, TestCluster, open_cluster
from tests.command_line import CommandLine
from tests.compiled import compile_a_share_of_the_tests, keep_compiled_templates
from tests.order import (
    InFiles,
    asks_the_database,
    is_left_out,
    keep_those_with_a_database,
    long_ones_first,
    processes,
    stays,
)
from tests.reset import KEPT, forget, open_eraser, remember
from tests.statements import FOLDER, Notes, clear

BASE_URL = "http://testserver"
KEYS = new_key_text("test")
CAST = {
    "alice": ("Alice Ahn", PLATFORM, "Administrator", "admin"),
    "bob": ("Bob Brandt", PLATFORM, "Operator", "staff"),
    "vera": ("Vera Voss", PLATFORM, "Viewer", "staff"),
    "nora": ("Nora Nemo", PLATFORM, None, "employee"),
    "eve": ("Eve Egger", "globex", "Administrator", "admin"),
}


def pytest_configure(config: pytest.Config) -> None:
    # Left to itself it draws each traceback in colours and boxes:
    # more work than all the rest of a test that meets an error.
    structlog.get_config()["processors"][-1].exception_formatter = structlog.dev.plain_traceback
    keep_compiled_templates()
    # How long an example takes says how busy the machine is.
    patient = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
    hypothesis.settings.register_profile("patient", hypothesis.settings.default, **patient)
    hypothesis.settings.load_profile("patient")
    if config.getoption("write_statements"):
        _write_statements(config)


def _write_statements(config: pytest.Config) -> None:
    process = getattr(config, "workerinput", None)
    if process is None:
        clear(FOLDER)
    if process or not config.getoption("numprocesses"):
        file = FOLDER / f"{process['workerid'] if process else 'alone'}.jsonl"
        config.pluginmanager.register(Notes(file, asks_the_database, stays))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-statements", action="store_true", help="write down what each test sends, for --database-only"
    )
    parser.addoption(
        "--database-only",
        action="store_true",
        help="leave out what needs no database, or brings its own, or sends only what others were seen to send",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return (config.getoption("database_only") and is_left_out(collection_path)) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    compile_a_share_of_the_tests(session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("database_only"):
        keep_those_with_a_database(config, items)
    long_ones_first(items)


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay: looked through at every full collection,
    they cost a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` means."""
    return processes()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> InFiles | None:
    """For `--dist loadfile`."""
    return InFiles(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def cluster() -> Iterator[TestCluster]:
    with open_cluster() as opened:
        yield opened


@pytest.fixture(scope="session")
def template(cluster: TestCluster) -> str:
    """A migrated database with two tenants and the cast."""
    sources = [
        Path(__file__),
        Path(__file__).with_name("reset.py"),
        *(
            Path(__file__).parents[1] / part
            for part in ("migrations", "app/db", "app/accounts/roles.py", "app/registry.py")
        ),
        *sorted((Path(__file__).parents[1] / "app").glob("*/module.py")),
    ]
    return cluster.make_template("cast", lambda owner_url: _fill(owner_url, cluster.app_role), sources)


def _fill(owner_url: str, app_role: str) -> None:
    import threading

    # A thread of its own: the suite's event loop may already run here.
    thread = threading.Thread(target=lambda: asyncio.run(_make_cast(owner_url, app_role)))
    thread.start()
    thread.join()


async def _make_cast(owner_url: str, app_role: str) -> None:
    await migrate(owner_url, app_role, workspaces=[PLATFORM, "acme", "globex"])
    database = Database(owner_url)
    async with database.shared_transaction() as db:
        await db.execute(insert(Tenant), [{"key": "acme", "name": "Acme"}, {"key": "globex", "name": "Globex"}])
        for workspace in (PLATFORM, "acme", "globex"):
            for name, permissions in BUILT_IN.items():
                await db.execute(
                    insert(Role).values(workspace=workspace, name=name, permissions=sorted(permissions), builtin=True)
                )
        for short, (name, workspace, role, kind) in CAST.items():
            user_id = await db.scalar(
                insert(User)
                .values(workspace=workspace, email=f"{short}@example.org", name=name, type=kind)
                .returning(User.id)
            )
            if role:
                role_id = await db.scalar(select(Role.id).where(Role.workspace == workspace, Role.name == role))
                await db.execute(insert(UserRole).values(user_id=user_id, role_id=role_id))
    await database.close()
    remember(owner_url)


@pytest.fixture(scope="session")
def worker_urls(cluster: TestCluster, template: str) -> Iterator[DatabaseUrls]:
    """The one database of this test process."""
    cloned = cluster.clone(template)
    yield cloned
    cluster.drop(cloned)


@pytest.fixture(scope="session")
def eraser(worker_urls: DatabaseUrls) -> Iterator[psycopg.Connection]:
    with open_eraser(worker_urls.owner) as connection:
        yield connection


@pytest.fixture
def urls(worker_urls: DatabaseUrls, eraser: psycopg.Connection) -> Iterator[DatabaseUrls]:
    """A database that holds the cast and nothing else, whatever the test before left in it."""
    yield worker_urls
    forget(eraser)


@pytest.fixture(scope="session")
async def kept_database(worker_urls: DatabaseUrls) -> AsyncIterator[Database]:
    """Kept from test to test: new connections would cost each of them more than its statements."""
    opened = Database(worker_urls.app, pool_size=6, application_name=KEPT)
    yield opened
    await opened.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return read_settings(
        {
            "MUSTER_DATA_DIR": str(tmp_path),
            "MUSTER_SECRET_KEYS": KEYS,
            "MUSTER_BASE_URL": BASE_URL,
            "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32",
            "MUSTER_API_RATE": "0",
        }
    )


@pytest.fixture
async def parts(urls: DatabaseUrls, settings: Settings, kept_database: Database) -> AsyncIterator[Parts]:
    # For every test, so that none depends on one before it. Those that listen for themselves put the listeners back to
    # what was there before them.
    wiring.connect()
    made = replace(make_parts(settings, urls.app), database=kept_database)
    yield made
    await made.outbound.aclose()
    await made.exports.close()
    await made.limits.close()
    held = kept_database.engine.pool.checkedout()  # type: ignore[attr-defined]
    assert not held, f"{held} transactions were left open: the tests after this one would lack those connections"


@pytest.fixture
def database(parts: Parts) -> Database:
    return parts.database


class Browser(httpx.AsyncClient):
    """A client that keeps cookies, follows nothing by itself, and knows the CSRF token of its session."""

    csrf_token = ""

    async def submit(self, url: str, data: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
        """Posts a form as a page of ours would."""
        return await self.post(url, data={**(data or {}), csrf.FIELD: self.csrf_token}, **options)

    async def fragment(self, url: str, **options: Any) -> httpx.Response:
        """Asks as htmx does."""
        return await self.get(url, headers={"HX-Request": "true"}, **options)


@pytest.fixture(scope="session")
def site() -> Litestar:
    """Every route, built once for the process."""
    return build_site()


@pytest.fixture
def app(site: Litestar, parts: Parts) -> Any:
    return open_site(site, parts)


@pytest.fixture
async def visitor(app: Any) -> AsyncIterator[Browser]:
    """Somebody who is not signed in."""
    async with _browser(app) as browser:
        yield browser


SignIn = Callable[[str], Awaitable[Browser]]


@pytest.fixture
async def sign_in(app: Any, parts: Parts) -> AsyncIterator[SignIn]:
    """`await sign_in("alice")`: a browser in which that person of the cast is signed in."""
    opened: list[Browser] = []

    async def open_browser(short: str) -> Browser:
        session_id = secrets.token_urlsafe(16)
        key = hashlib.sha256(session_id.encode()).digest()
        async with parts.database.shared_transaction() as db:
            user_id = await db.scalar(select(User.id).where(User.email == f"{short}@example.org"))
            await db.execute(
                insert(Session).values(
                    id_hash=key,
                    user_id=user_id,
                    ip="127.0.0.1",
                    user_agent="tests",
                    expires_at=datetime.now(UTC) + timedelta(hours=1),
                )
            )
        browser = _browser(app)
        browser.cookies.set(sessions.cookie_name(parts.settings), session_id)
        browser.csrf_token = csrf.masked(csrf.sign(parts.keys, key), b"m" * csrf.SIZE)
        opened.append(browser)
        return browser

    yield open_browser
    for browser in opened:
        await browser.aclose()


@pytest.fixture
async def alice(sign_in: SignIn) -> Browser:
    return await sign_in("alice")


@pytest.fixture
async def bob(sign_in: SignIn) -> Browser:
    return await sign_in("bob")


@pytest.fixture
async def vera(sign_in: SignIn) -> Browser:
    return await sign_in("vera")


@pytest.fixture
async def eve(sign_in: SignIn) -> Browser:
    return await sign_in("eve")


@pytest.fixture
async def token(parts: Parts) -> Callable[..., Awaitable[str]]:
    """`await token("alice", "clock:read")`: a bearer token of that person."""

    async def make(short: str, *scopes: str) -> str:
        text = secrets.token_urlsafe(16)
        async with parts.database.shared_transaction() as db:
            user_id = await db.scalar(select(User.id).where(User.email == f"{short}@example.org"))
            await db.execute(
                insert(ApiToken).values(
                    user_id=user_id,
                    name="test",
                    token_hash=hashlib.sha256(text.encode()).digest(),
                    hint=text[-4:],
                    scopes=list(scopes),
                )
            )
        return text

    return make


@pytest.fixture
def muster(urls: DatabaseUrls, tmp_path: Path) -> CommandLine:
    return command_line(urls, tmp_path)


def command_line(urls: DatabaseUrls, folder: Path) -> CommandLine:
    return CommandLine(
        {
            "MUSTER_ENV": "development",
            "MUSTER_DATABASE_URL": urls.app,
            "MUSTER_OWNER_DATABASE_URL": urls.owner,
            "MUSTER_SECRET_KEYS": KEYS,
            "MUSTER_DATA_DIR": str(folder),
            "MUSTER_BASE_URL": "https://muster.example",
            "MUSTER_OUTBOUND_ALLOW": "127.0.0.1/32",
            "MUSTER_DRAIN_S": "0",
        }
    )


def _browser(app: Any) -> Browser:
    # Packing takes a sixteenth of what a page does; what is packed, and how, is asked in tests/web/transport.
    headers = {"user-agent": "tests", "accept-encoding": "identity"}
    return Browser(transport=httpx.ASGITransport(app=app), base_url=BASE_URL, headers=headers)
