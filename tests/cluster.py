"""The PostgreSQL under the test suite: one cluster, migrated template databases,
and a quick clone for each test that needs one.

Without further ado it is an embedded cluster with every safety off, shared by all workers and sessions of this checkout
(the last one stops it) and kept between runs, so that only a changed migration costs time. With
MUSTER_TEST_DATABASE_URL (the app's role) and MUSTER_TEST_OWNER_DATABASE_URL (a role that may create databases, end
sessions and set session_replication_role) it is that server, over whatever those URLs say.
The fixtures that use it live in conftest.py.
"""

import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from app.db import embedded

ROOT = Path(__file__).parents[1]
MIGRATION_SOURCES = (
    ROOT / "migrations",
    *(ROOT / "app" / "db" / f"{name}.py" for name in ("upgrading", "migrate", "rights", "steps")),
)
APP_URL = "MUSTER_TEST_DATABASE_URL"
OWNER_URL = "MUSTER_TEST_OWNER_DATABASE_URL"
_SETTINGS = {"max_connections": "300"}
_TEMPLATES_KEPT = 6
_PLENTY = 4 * 1024**3
# With fsync off the checkpoints that copying files asks for cost nothing: 15 ms a clone against 45 ms.
_STRATEGY = sql.SQL("FILE_COPY")


class DatabaseUrls(NamedTuple):
    """One database, as the app's role and as the owner of its tables sees it."""

    app: str
    owner: str


class TestCluster:
    """Databases to test in. Safe in several processes at once, not in several threads."""

    __test__ = False  # pytest takes it for a test by its name

    def __init__(self, app_url: str, owner_url: str) -> None:
        self._app_url, self._owner_url = app_url, owner_url
        self._session = secrets.token_hex(4)
        self._numbers = count(1)
        self._admin = psycopg.connect(
            owner_url, autocommit=True, connect_timeout=30, application_name=_session_name(self._session)
        )
        self._drop_orphans()

    @property
    def app_role(self) -> str:
        """Whom migrations grant rights."""
        return urlsplit(self._app_url).username or ""

    @property
    def owner_role(self) -> str:
        return urlsplit(self._owner_url).username or ""

    def make_template(
        self, name: str, migrate: Callable[[str], None], sources: Iterable[Path] = MIGRATION_SOURCES
    ) -> str:
        """The name of a database that `migrate(owner_url)` filled; made where `sources` (files, folders) changed since.

        `name` is a short lower-case word. Several processes that ask at once wait for the one that makes it.
        """
        template = f"tpl_{name}_{_fingerprint(sources)}"
        self._admin.execute("SELECT pg_advisory_lock(hashtext(%s))", [template])
        try:
            if not self._exists(template):
                self._build(template, migrate)
                self._drop_outdated(name)
        finally:
            self._admin.execute("SELECT pg_advisory_unlock(hashtext(%s))", [template])
        return template

    def clone(self, template: str) -> DatabaseUrls:
        """A database of the caller's own with everything the template holds."""
        name = f"t_{self._session}_{next(self._numbers)}"
        self._execute("CREATE DATABASE {} TEMPLATE {} STRATEGY {strategy}", name, template)
        return self._urls(name)

    def create_empty(self) -> DatabaseUrls:
        """A database without tables, for what tests the migrations themselves."""
        return self.clone("template0")

    def drop(self, urls: DatabaseUrls) -> None:
        """Drop a clone, even if somebody is still connected to it."""
        self._drop(urlsplit(urls.owner).path.removeprefix("/"))

    def close(self) -> None:
        """Drop what this session cloned and let go of the server."""
        for name in self._names(f"t_{self._session}_"):
            self._drop(name)
        self._admin.close()

    def _build(self, template: str, migrate: Callable[[str], None]) -> None:
        draft = f"{template}_new"
        self._drop(draft)
        self._execute("CREATE DATABASE {} TEMPLATE template0 STRATEGY {strategy}", draft)
        migrate(self._urls(draft).owner)
        self._admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [draft])
        self._execute("ALTER DATABASE {} RENAME TO {}", draft, template)
        # No client can connect, so it can always be copied.
        self._execute("ALTER DATABASE {} ALLOW_CONNECTIONS false", template)

    def _drop_outdated(self, name: str) -> None:
        for template in self._names(f"tpl_{name}_")[:-_TEMPLATES_KEPT]:
            self._drop(template)

    def _drop_orphans(self) -> None:
        """Clones of sessions that were killed: each living session has one connection that bears its name."""
        rows = self._admin.execute("SELECT application_name FROM pg_stat_activity").fetchall()
        alive = {name for (name,) in rows}
        for name in self._names("t_"):
            if _session_name(name.split("_")[1]) not in alive:
                self._drop(name)

    def _names(self, prefix: str) -> list[str]:
        found = self._admin.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid", [prefix]
        )
        return [name for (name,) in found]

    def _exists(self, name: str) -> bool:
        return self._admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is not None

    def _drop(self, name: str) -> None:
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def _execute(self, statement: str, *names: str) -> None:
        identifiers = [sql.Identifier(name) for name in names]
        self._admin.execute(sql.SQL(statement).format(*identifiers, strategy=_STRATEGY))

    def _urls(self, name: str) -> DatabaseUrls:
        return DatabaseUrls(_with_database(self._app_url, name), _with_database(self._owner_url, name))


@contextmanager
def open_cluster() -> Iterator[TestCluster]:
    """The cluster for one process of the test run. Under xdist every worker opens it, and all get the same server."""
    given = os.environ.get(APP_URL), os.environ.get(OWNER_URL)
    if given[0] and given[1]:
        cluster = TestCluster(given[0], given[1])
        try:
            yield cluster
        finally:
            cluster.close()
        return
    if given[0] or given[1]:
        raise RuntimeError(f"Set both {APP_URL} and {OWNER_URL}, or neither.")
    with _embedded() as server:
        cluster = TestCluster(server.app_url, _with_database(server.owner_url, "postgres"))
        try:
            yield cluster
        finally:
            cluster.close()


@contextmanager
def _embedded() -> Iterator[embedded.EmbeddedCluster]:
    folder = _shared_folder()
    # One process at a time: another one must not meet the roles half made, or a folder that is being cleared.
    with (folder / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = _start_even_if_damaged(folder)
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute(f"ALTER ROLE {embedded.OWNER_ROLE} CREATEDB")
            connection.execute(f"GRANT pg_signal_backend TO {embedded.OWNER_ROLE}")
            connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {embedded.OWNER_ROLE}")
    try:
        yield server
    finally:
        server.stop()


def _start_even_if_damaged(folder: Path) -> embedded.EmbeddedCluster:
    """With fsync off, a machine that loses power may leave a cluster that never starts again; nothing in it matters."""
    try:
        return embedded.start(folder, durable=False, extra_settings=_SETTINGS)
    except embedded.EmbeddedError:
        shutil.rmtree(folder / "postgres", ignore_errors=True)
        return embedded.start(folder, durable=False, extra_settings=_SETTINGS)


def quick_folder() -> Path:
    """Where temporary clusters lie: in memory where there is plenty,
    which makes a clone take 15 ms instead of 20 to 400.

    Not below pytest's own folder: when root runs the tests, PostgreSQL's user must get there.
    """
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _PLENTY:
        return memory
    return Path(tempfile.gettempdir())


def _shared_folder() -> Path:
    key = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    folder = quick_folder() / f"muster-tests-{os.geteuid()}-{key}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise RuntimeError(f"{folder} was put there by somebody else. Remove it.")
    return folder


def _fingerprint(sources: Iterable[Path]) -> str:
    files = sorted(file for source in sources for file in (source.rglob("*.py") if source.is_dir() else [source]))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _session_name(session: str) -> str:
    return f"muster-tests-{session}"


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
