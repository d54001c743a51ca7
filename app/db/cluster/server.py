"""One PostgreSQL data directory: making it, starting, stopping and asking its server, with the bundled programs.

Who uses the server, and for how long, lives in app/db/embedded.py; where it lies, in home.py; as whom it runs, in
system_user.py.
"""

import os
import re
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType

import psutil

from app.counting import nearest
from app.db.cluster.home import POSTGRES_MAJOR, SOCKET_FILE, Home
from app.db.cluster.system_user import EmbeddedError, run_as, spawn_as

Progress = Callable[[str], None]

# Written into postgresql.conf once, when the cluster is made: the host's administrator may tune them there.
FIRST_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "max_connections": "100",
        "shared_buffers": "128MB",
        "work_mem": "8MB",
        "maintenance_work_mem": "64MB",
        "effective_cache_size": "512MB",
        "random_page_cost": "1.1",
        "max_wal_size": "512MB",
        # Parallel queries share memory in /dev/shm, and a container has only 64 MB of it.
        "max_parallel_workers_per_gather": "0",
        "max_parallel_maintenance_workers": "0",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] %u@%d ",
        "log_lock_waits": "on",
        # DETAIL lines quote rows, and rows hold people.
        "log_error_verbosity": "terse",
    }
)
NOT_DURABLE: Mapping[str, str] = MappingProxyType(
    {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal",
     "max_wal_senders": "0", "autovacuum": "off"}
)  # fmt: skip
DURABLE: Mapping[str, str] = MappingProxyType({"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"})

_LARGEST_LOG = 10 * 1024 * 1024
# A killed postmaster's children notice within moments, and hold its shared memory until then.
_ORPHANS_S = 30.0
# Lines of postmaster.pid, as PostgreSQL numbers them.
_SOCKET_LINE, _STATUS_LINE = 5, 8
# A person who waits longer than this is told why, again and again.
_SILENCE_S = 2.0
_ORPHANS_REMAIN = "pre-existing shared memory block"


class ClusterState(Enum):
    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STALE = "stale"


@dataclass(frozen=True)
class Postmaster:
    """What postmaster.pid says. `status` is empty until the server has written its last line."""

    pid: int
    socket_folder: Path | None
    status: str


def make_data(home: Home, settings: Mapping[str, str]) -> None:
    """Make the data directory where there is none yet. Raises EmbeddedError; caller holds the start lock.

    It is made under another name and then renamed: an initdb killed half-way leaves nothing that looks like a database.
    """
    for leftover in home.folder.glob("init-*"):
        shutil.rmtree(leftover, ignore_errors=True)  # its initdb may be alive still; it ends when it misses a file
    if home.data.exists() and any(home.data.iterdir()):
        _check_version(home.data)
        return
    draft = Path(tempfile.mkdtemp(prefix="init-", dir=home.folder))
    if home.account:
        os.chown(draft, home.account.uid, home.account.gid)
    options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
    # The locale is PostgreSQL's own, the same on every machine: an upgrade of the system can't reorder an index.
    made = run_as(
        home.account,
        [str(home.binaries / "initdb"), "-D", str(draft), "-U", "postgres", "--auth-local=trust", "--auth-host=reject",
         "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C", "--no-instructions",
         *(["--no-sync"] if settings.get("fsync") == "off" else []), *options],
    )  # fmt: skip
    if made.returncode != 0:
        raise EmbeddedError(
            f"PostgreSQL could not make its data directory in {home.folder}:\n{_what_was_wrong(made.stdout)}"
        )
    draft.rename(home.data)


def _check_version(data: Path) -> None:
    try:
        found = (data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise EmbeddedError(f"{data} is not a PostgreSQL data directory. Move it away, and start again.") from None
    if found != str(POSTGRES_MAJOR):
        raise EmbeddedError(
            f"{data} was made by PostgreSQL {found}; this Muster brings PostgreSQL {POSTGRES_MAJOR}. "
            "Dump it with the old version and load it into a new data directory, or run the old Muster."
        )


def read_postmaster(data: Path) -> Postmaster | None:
    """What the server wrote about itself, or None: no server, or the file is not whole enough to tell."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        pid = abs(int(lines[0]))
    except (FileNotFoundError, ValueError, IndexError):
        return None
    by_number = dict(enumerate(lines, start=1))
    folder, status = by_number.get(_SOCKET_LINE, ""), by_number.get(_STATUS_LINE, "")
    return Postmaster(pid, Path(folder) if folder else None, status.strip())


def state_of(data: Path) -> ClusterState:
    """What the server of this data directory does now.

    STALE: the file of a server that is gone; its pid is free, a zombie's, or by now some other program's.
    """
    if not (data / "postmaster.pid").exists():
        return ClusterState.STOPPED
    postmaster = read_postmaster(data)
    if postmaster is None or not (_is_server(postmaster.pid, data) or _answers(postmaster)):
        return ClusterState.STALE
    match postmaster.status:
        case "ready" | "standby":
            return ClusterState.READY
        case "stopping":
            return ClusterState.STOPPING
        case _:
            return ClusterState.STARTING


def _is_server(pid: int, data: Path) -> bool:
    try:
        process = psutil.Process(pid)
        # A server has its data directory as working directory, even when the directory was renamed. No other program
        # works there, and a zombie has no working directory.
        return bool(process.name() == "postgres" and Path(process.cwd()) == data)
    except psutil.Error:
        return False


def _answers(postmaster: Postmaster) -> bool:
    """True when somebody listens: the server may run in another container, where its pid means nothing to us."""
    if postmaster.socket_folder is None:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(postmaster.socket_folder / SOCKET_FILE))
        except OSError:
            return False
    return True


def launch(home: Home, sockets: Path, settings: Mapping[str, str], wait_s: float, progress: Progress) -> None:
    """Start the server and wait until it takes connections, also through a crash recovery. Raises EmbeddedError."""
    _turn_log_over(home.log)
    deadline = time.monotonic() + min(_ORPHANS_S, wait_s)
    while True:
        _remove_stale_locks(home, sockets)
        heard_from = home.log.stat().st_size if home.log.exists() else 0
        if _launch_once(home, sockets, settings, wait_s, progress):
            return
        heard = _read_from(home.log, heard_from)
        if _ORPHANS_REMAIN not in heard or time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL did not start. Its log, {home.log}, says:\n{_what_was_wrong(heard)}")
        progress("Waiting for the processes of a killed PostgreSQL to end")
        time.sleep(0.2)


def _launch_once(home: Home, sockets: Path, settings: Mapping[str, str], wait_s: float, progress: Progress) -> bool:
    always = {
        "listen_addresses": "",
        "port": "5432",
        "unix_socket_directories": '"{}"'.format(str(sockets).replace('"', '""')),
        "unix_socket_permissions": "0700",
        **settings,
    }
    options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in always.items())
    # Relative paths: pg_ctl passes them through a shell, in which a quote or dollar of an absolute one would count.
    pg_ctl = spawn_as(
        home.account,
        [str(home.binaries / "pg_ctl"), "-D", str(home.data.relative_to(home.folder)), "-o", options, "-s", "-w",
         "-l", str(home.log.relative_to(home.folder)), "-t", str(max(1, nearest(wait_s))), "start"],
        folder=home.folder,
    )  # fmt: skip
    started = told = time.monotonic()
    while (code := pg_ctl.poll()) is None:
        if time.monotonic() - told >= _SILENCE_S:
            told = time.monotonic()
            progress(_what_takes_so_long(home, told - started))
        time.sleep(0.02)
    if code != 0 and state_of(home.data) is ClusterState.STARTING:
        raise _too_slow(home, wait_s)
    return bool(code == 0)


def await_ready(home: Home, wait_s: float, progress: Progress) -> ClusterState:
    """Wait for a server that somebody else started, or that is stopping, to settle: READY, STOPPED or STALE."""
    started = told = time.monotonic()
    while (state := state_of(home.data)) in {ClusterState.STARTING, ClusterState.STOPPING}:
        now = time.monotonic()
        if now - started > wait_s:
            raise _too_slow(home, wait_s)
        if now - told >= _SILENCE_S:
            told = now
            progress(_what_takes_so_long(home, now - started))
        time.sleep(0.02)
    return state


def stop_command(home: Home) -> list[str]:
    """Ends sessions, writes everything down, and waits for that; does nothing where no server runs."""
    return [str(home.binaries / "pg_ctl"), "-D", str(home.data), "-s", "-m", "fast", "-w", "-t", "600", "stop"]


def _too_slow(home: Home, wait_s: float) -> EmbeddedError:
    return EmbeddedError(
        f"PostgreSQL is still not ready after {wait_s:.0f} s. Its log, {home.log}, ends with:\n{_tail(_read_from(home.log, 0))}"
    )


def _what_takes_so_long(home: Home, elapsed_s: float) -> str:
    return f"Waiting for PostgreSQL, {elapsed_s:.0f} s so far: {_tail(_read_from(home.log, 0), lines=1)}"


def _remove_stale_locks(home: Home, sockets: Path) -> None:
    """PostgreSQL itself gives up when another program of the same user has got the pid of its dead server."""
    if state_of(home.data) is not ClusterState.STALE:
        return
    (home.data / "postmaster.pid").unlink(missing_ok=True)
    for leftover in (sockets / SOCKET_FILE, sockets / f"{SOCKET_FILE}.lock"):
        leftover.unlink(missing_ok=True)


def _turn_log_over(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.rename(log.with_suffix(".old"))


def _read_from(log: Path, offset: int) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(offset, log.stat().st_size - 20_000))
        return file.read().decode(errors="replace")


def _what_was_wrong(text: str) -> str:
    """The lines in which PostgreSQL says why it stops, if there are any: its log has much before and after them."""
    grave = [line for line in text.splitlines() if _GRAVE.search(line)]
    return "\n".join(grave) or _tail(text)


_GRAVE = re.compile(r"\b(FATAL|PANIC|error):")


def _tail(text: str, lines: int = 12) -> str:
    return "\n".join(text.splitlines()[-lines:])
