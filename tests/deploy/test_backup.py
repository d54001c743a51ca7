"""Backup and restore to a moment with the scripts of `deploy/postgresql/`, on Debian's PostgreSQL 15: what came after
is gone, all before is there, the ledger verifies, and the address of the page *Backups* is called."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from app.db.migrate import migrate
from tests import postgres15
from tests.cluster import APP_URL, OWNER_URL, ROOT, DatabaseUrls, quick_folder
from tests.conftest import command_line
from tests.postgres15 import BINARIES, SETTINGS, NoServer
from tests.upgrade.kept import kept

pytestmark = pytest.mark.slow
SCRIPTS = ROOT / "deploy" / "postgresql"
HEAD = "SELECT count(*), max(encode(row_hash, 'hex')) FROM main.survey_responses"


class Server:
    """A server with an archive, below one folder that its user may read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.scripts = folder, folder / "scripts"
        self.archive, self.password = folder / "archive", "of-a-test"
        self.port = postgres15._free_port()
        shutil.copytree(SCRIPTS, self.scripts)
        self.archive.mkdir()
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, "postgres", "postgres")

    @property
    def place(self) -> str:
        return f"postgres:{self.password}@127.0.0.1:{self.port}"

    def begin(self) -> DatabaseUrls:
        postgres15._make_data(self.folder, self.password)
        self.start(archiving=True)
        urls = postgres15._make_roles(self.place)
        with psycopg.connect(f"postgresql://{self.place}/postgres", autocommit=True) as db:
            db.execute(f"CREATE DATABASE muster OWNER {postgres15.OWNER_ROLE}")
        return DatabaseUrls(*(f"{urls[name].rpartition('/')[0]}/muster" for name in (APP_URL, OWNER_URL)))

    def start(self, *, archiving: bool = False) -> None:
        """With the lines of archive.conf, less its paths."""
        given = {**SETTINGS, "fsync": "on", "full_page_writes": "on", "port": self.port}
        if archiving:
            lines = (SCRIPTS / "archive.conf").read_text().splitlines()
            given |= dict(line.partition("  #")[0].split(" = ") for line in lines if not line.startswith("#"))
            given["archive_command"] = f"'{self.scripts}/archive-wal.sh %p {self.archive}/%f'"
        config = self.folder / "data" / "postgresql.conf"
        quoted = (f"{key} = {value if str(value)[:1] == chr(39) else repr(str(value))}" for key, value in given.items())
        config.write_text("\n".join(quoted) + "\n")
        postgres15._pg_ctl(self.folder, "-l", str(self.folder / "log"), "-w", "-t", "120", "start")

    def stop(self, how: str = "fast") -> None:
        postgres15._pg_ctl(self.folder, "-m", how, "-w", "stop")

    def run(self, script: str, *arguments: str, **settings: str) -> None:
        given = {"PATH": f"{BINARIES}:{os.environ['PATH']}", **settings}
        postgres15._run(
            "env", *(f"{name}={value}" for name, value in given.items()), str(self.scripts / script), *arguments
        )


@pytest.fixture
def server() -> Iterator[Server]:
    try:
        postgres15._install_if_missing()
    except NoServer as error:
        pytest.skip(f"PostgreSQL 15 can't be started: {error}")
    with tempfile.TemporaryDirectory(prefix="muster-backup-", dir=quick_folder()) as name:
        made = Server(Path(name))
        try:
            yield made
        finally:
            if (made.folder / "data" / "postmaster.pid").exists():
                made.stop("immediate")


def test_the_database_is_restored_to_a_moment_and_the_ledger_verifies(server: Server, tmp_path: Path) -> None:
    urls = server.begin()
    dump = kept()[0]
    dump.restore(urls)
    asyncio.run(migrate(urls.owner, urlsplit(urls.app).username or ""))
    with psycopg.connect(f"postgresql://{server.place}/postgres", autocommit=True) as db:
        db.execute("ALTER SYSTEM SET synchronous_standby_names = 'db2'")  # without a reload: the backup alone has it
    with _asked() as (address, paths):
        to = f"--dbname=postgresql://{server.place}/postgres"
        server.run("base-backup.sh", str(server.folder / "base"), to, MUSTER_BACKUP_PING=f"{address}/ping/secret")
    assert paths == ["/ping/secret"], "the address of the page Backups was not called once"

    with psycopg.connect(urls.owner, autocommit=True) as db:
        _note(db, "before the moment")
        head = db.execute(HEAD).fetchone()
        moment = (db.execute("SELECT clock_timestamp()").fetchone() or (datetime.now(UTC),))[0]
        time.sleep(0.1)
        _note(db, "after the moment")
        db.execute("DROP TABLE main.attendance_records CASCADE")
    with psycopg.connect(f"postgresql://{server.place}/postgres", autocommit=True) as db:
        (last,) = db.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ("",)
    _comes(server.archive / last)
    server.stop("immediate")
    (server.folder / "data").rename(server.folder / "lost")

    (base,) = (server.folder / "base").iterdir()
    server.run("restore.sh", str(base), str(server.archive), str(server.folder / "data"), moment.isoformat())
    server.start()
    with psycopg.connect(urls.owner, autocommit=True) as db:
        deadline = time.monotonic() + 60
        while (db.execute("SELECT pg_is_in_recovery()").fetchone() or (True,))[0]:
            assert time.monotonic() < deadline, (server.folder / "log").read_text()[-2000:]
            time.sleep(0.1)
        noted = db.execute("SELECT act FROM shared.audit_entries WHERE actor_name = 'backup' ORDER BY id").fetchall()
        assert noted == [("before the moment",)]
        assert db.execute("SHOW synchronous_standby_names").fetchone() == ("",), "its first commit would wait for ever"
        assert db.execute("SELECT to_regclass('main.attendance_records') IS NOT NULL").fetchone() == (True,)
        assert db.execute(HEAD).fetchone() == head
        assert head
        assert head[0] > 0
        _note(db, "written again")
    muster = command_line(urls, tmp_path)
    for workspace in dump.notes["workspaces"]:
        told = asyncio.run(muster("ledger:verify", "--workspace", workspace, MUSTER_SECRET_KEYS=dump.notes["keys"]))
        assert told.code == 0, told.err


@contextmanager
def _asked() -> Iterator[tuple[str, list[str]]]:
    """A server that answers 204, and what it is asked for."""
    paths: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(HTTPStatus.NO_CONTENT)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}", paths
        listening.shutdown()


def _note(db: "psycopg.Connection[tuple[datetime, ...]]", act: str) -> None:
    db.execute(
        "INSERT INTO shared.audit_entries (workspace, actor_name, act, subject_type, subject_id)"
        " VALUES ('main', 'backup', %s, 'test', '1')",
        [act],
    )


def _comes(file: Path) -> None:
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline, f"{file.name} was not archived"
        time.sleep(0.1)


def test_a_piece_of_the_wal_is_never_replaced(tmp_path: Path) -> None:
    def keep(content: str) -> int:
        (tmp_path / "piece").write_text(content)
        command = [str(SCRIPTS / "archive-wal.sh"), str(tmp_path / "piece"), str(tmp_path / "kept")]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert [keep("one"), keep("one"), keep("two")] == [0, 0, 1]
    assert (tmp_path / "kept").read_text() == "one"


def test_nothing_is_restored_over_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "PG_VERSION").write_text("15")
    command = [str(SCRIPTS / "restore.sh"), str(tmp_path / "base"), str(tmp_path), str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "is not empty" in done.stderr) == (1, True)


def test_a_restore_without_a_moment_passes_the_moment_of_an_earlier_restore(tmp_path: Path) -> None:
    """The base backup of a restored server has the settings of that restore. Of two lines PostgreSQL takes the last."""
    made, base = tmp_path / "made", tmp_path / "base"
    for folder in (made / "pg_wal", base):
        folder.mkdir(parents=True)
    (made / "postgresql.auto.conf").write_text("recovery_target_time = '2026-11-24 14:30:00+00'\n")
    for name, inside in (("base", made), ("pg_wal", made / "pg_wal")):
        subprocess.run(["tar", "-czf", str(base / f"{name}.tar.gz"), "-C", str(inside), "."], check=True)
    command = [str(SCRIPTS / "restore.sh"), str(base), str(tmp_path / "archive"), str(tmp_path / "data")]
    subprocess.run(command, check=True)
    lines = (tmp_path / "data" / "postgresql.auto.conf").read_text().splitlines()
    assert [line for line in lines if line.startswith("recovery_target_time")][-1] == "recovery_target_time = ''"
