"""The life of the embedded PostgreSQL: who uses it, who starts it, who stops it,
and the two addresses it is reached at.

Three files are locked with flock, which the kernel undoes for a process that ends, even by kill -9:

* `postgres.lock` in the data directory: held while starting, so that one process at a time starts the server.
* `users.lock`: every user holds it shared for as long as it needs the server. The process that can lock it alone is the
  last user, and stops the server.
* `watch.lock`: held by the one background process (watch.py) that waits to have `users.lock` alone. So the server also
  stops when its last user was killed, or ended without calling `stop`.

The programs that run are in cluster.py.
"""

import fcntl
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import psycopg
from psycopg import sql

from app.db import watch
from app.db.cluster.home import Home, find_home, socket_folder
from app.db.cluster.server import (
    DURABLE,
    FIRST_SETTINGS,
    NOT_DURABLE,
    ClusterState,
    Progress,
    await_ready,
    launch,
    make_data,
    read_postmaster,
    state_of,
    stop_command,
)
from app.db.cluster.system_user import EmbeddedError, plain_environment, run_as

__all__ = ["APP_ROLE", "DATABASE", "OWNER_ROLE", "EmbeddedCluster", "EmbeddedError", "EmbeddedUrls", "start"]

DATABASE = "muster"
APP_ROLE = "muster_app"
OWNER_ROLE = "muster_owner"
_SUPERUSER = "postgres"
_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
_log = logging.getLogger("muster.db.embedded")


@dataclass(frozen=True)
class EmbeddedUrls:
    """Addresses of the database in the form that libpq, psycopg, asyncpg and (with `+asyncpg`) SQLAlchemy
    understand."""

    app: str
    owner: str


@dataclass
class EmbeddedCluster:
    """This process's use of the running server.
    The server lives at least until `stop` is called or the process ends."""

    urls: EmbeddedUrls
    superuser_url: str
    _home: Home = field(repr=False)
    _users: int | None = field(repr=False)
    _once: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def app_url(self) -> str:
        return self.urls.app

    @property
    def owner_url(self) -> str:
        return self.urls.owner

    def is_running(self) -> bool:
        """True when the server accepts connections, no matter which process started it."""
        return state_of(self._home.data) is ClusterState.READY

    def stop(self) -> None:
        """Give the server up; the last user's call returns when it has stopped. A second call does nothing."""
        with self._once:
            users, self._users = self._users, None
        if users is None:
            return
        # Closed, not unlocked, because a forked child shares our lock and may still need the server.
        os.close(users)
        _stop_if_unused(self._home)


def start(
    data_dir: Path,
    *,
    durable: bool = True,
    extra_settings: Mapping[str, str] = _NO_SETTINGS,
    progress: Progress = _log.info,
    wait_s: float = 3600,
) -> EmbeddedCluster:
    """Start the embedded PostgreSQL of this data directory, or join it where it runs already.

    Blocks, so call it before the event loop. Any number of processes may call it at once. `durable=False` is for
    tests: a crash of the machine may lose everything. `extra_settings` reach a server that is started, not one that is
    joined. `progress` is told what takes longer than two seconds. Raises EmbeddedError with a reason for the terminal,
    among others when the server is still recovering `wait_s` seconds later.
    """
    data_dir = data_dir.resolve()
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        with _locked(data_dir / "postgres.lock", progress):
            return _start(find_home(data_dir), DURABLE if durable else NOT_DURABLE, extra_settings, progress, wait_s)
    except PermissionError as error:
        raise EmbeddedError(f"{data_dir} can't be used by this user: {error}.") from error


def _start(
    home: Home, safety: Mapping[str, str], extra_settings: Mapping[str, str], progress: Progress, wait_s: float
) -> EmbeddedCluster:
    users = _open_lock(home.folder / "users.lock")
    try:
        fcntl.flock(users, fcntl.LOCK_SH)
        make_data(home, {**FIRST_SETTINGS, **safety})
        sockets = socket_folder(home)
        _ensure_watcher(home)
        if await_ready(home, wait_s, progress) is not ClusterState.READY:
            launch(home, sockets, {**safety, **extra_settings}, wait_s, progress)
        cluster = _describe(home, sockets, users)
        _ensure_roles(cluster.superuser_url)
    except BaseException:
        os.close(users)  # the watcher sees to the rest, so that Ctrl-C in a long recovery is obeyed at once
        raise
    return cluster


def _describe(home: Home, sockets: Path, users: int) -> EmbeddedCluster:
    postmaster = read_postmaster(home.data)
    folder = (postmaster and postmaster.socket_folder) or sockets
    # The port is named, because otherwise PGPORT in the environment would be taken.
    place = f"host={quote(str(folder), safe='/')}&port=5432"
    return EmbeddedCluster(
        urls=EmbeddedUrls(
            app=f"postgresql://{APP_ROLE}@/{DATABASE}?{place}", owner=f"postgresql://{OWNER_ROLE}@/{DATABASE}?{place}"
        ),
        superuser_url=f"postgresql://{_SUPERUSER}@/postgres?{place}",
        _home=home,
        _users=users,
    )


def _ensure_roles(superuser_url: str) -> None:
    """Make the two roles and the database; at every start, since the first one may have been killed before
    or midway."""
    with psycopg.connect(superuser_url, autocommit=True, connect_timeout=30) as connection:
        roles = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        for role in {APP_ROLE, OWNER_ROLE} - roles:
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(sql.Identifier(role))
            )
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER_ROLE))
            )


def _ensure_watcher(home: Home) -> None:
    """Starts the process that stops the server once it is no longer used, unless one is already running."""
    lock = _open_lock(home.folder / "watch.lock")
    try:
        if not _try_lock(lock, fcntl.LOCK_EX):
            return
        account = (str(home.account.uid), str(home.account.gid)) if home.account else ("-1", "-1")
        subprocess.run(  # noqa: S603 - a list of our own making, no shell
            [sys.executable, "-I", "-S", watch.__file__, str(home.folder / "users.lock"), str(lock), *account,
             *stop_command(home)],
            pass_fds=[lock], cwd="/", env=plain_environment(), check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    finally:
        os.close(lock)


def _stop_if_unused(home: Home) -> None:
    users = _open_lock(home.folder / "users.lock")
    try:
        if _try_lock(users, fcntl.LOCK_EX):
            if state_of(home.data) not in {ClusterState.STOPPED, ClusterState.STALE}:
                run_as(home.account, stop_command(home))
        elif not _try_lock(users, fcntl.LOCK_SH):
            # The watcher was quicker and is stopping it: to have the lock is to know that it is done.
            fcntl.flock(users, fcntl.LOCK_SH)
    finally:
        os.close(users)


@contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[None]:
    lock = _open_lock(path)
    try:
        if not _try_lock(lock, fcntl.LOCK_EX):
            progress("Another process is starting PostgreSQL; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _open_lock(path: Path) -> int:
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    owner = path.parent.stat()
    if os.geteuid() == 0 and os.fstat(lock).st_uid != owner.st_uid:
        # Root helps out in somebody's data directory: they must be able to lock it again without root.
        os.fchown(lock, owner.st_uid, owner.st_gid)
    return lock


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
