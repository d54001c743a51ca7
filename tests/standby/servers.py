"""Two PostgreSQL 15 on loopback: a primary, and a standby that it waits for at each commit.
Either may be killed or promoted."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg

from tests import postgres15
from tests.cluster import APP_URL, OWNER_URL, ROOT, DatabaseUrls, quick_folder
from tests.postgres15 import BINARIES, SETTINGS

DATABASE = "muster"
PATIENCE_S = 120
# Each waits for its own disk too. Shared memory lies below the data folder,
# so that a server that is killed leaves none behind.
SAFE = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "64MB", "dynamic_shared_memory_type": "mmap"}


class Server:
    """One of the two, in a folder and on a port of its own. `name` is what the other one knows it by."""

    def __init__(self, folder: Path, name: str, password: str) -> None:
        self.name, self.folder, self.password = name, folder / name, password
        self.port = postgres15._free_port()

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def superuser(self) -> str:
        return f"postgresql://postgres:{self.password}@{self.place}/postgres"

    def begin(self) -> None:
        """As the first, with an empty cluster."""
        self._make_folder()
        postgres15._make_data(self.folder, self.password)
        self.start()

    def follow(self, primary: "Server") -> None:
        """As a standby, with all that the primary has."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._make_folder()
        source = (
            f"host=127.0.0.1 port={primary.port} user=postgres password={self.password} application_name={self.name}"
        )
        postgres15._run(
            str(BINARIES / "pg_basebackup"), f"--dbname={source}", f"--pgdata={self.folder / 'data'}", "--write-recovery-conf",
            "--wal-method=stream", "--checkpoint=fast", "--no-sync",
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        self.wait_for("")
        postgres15._pg_ctl(self.folder, "-l", str(self.folder / "log"), "-w", "-t", str(PATIENCE_S), "start")

    def stop(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            postgres15._pg_ctl(self.folder, "-m", "immediate", "-w", "stop")

    def promote(self) -> None:
        postgres15._pg_ctl(self.folder, "-w", "-t", str(PATIENCE_S), "promote")

    def kill(self) -> None:
        """With SIGKILL, postmaster and children alike: the machine continues,
        so those who are connected learn of it."""
        family = self._family()
        for one in family:
            one.kill()
        psutil.wait_procs(family, PATIENCE_S)
        (self.folder / "data" / "postmaster.pid").unlink()

    def wait_for(self, standby: str) -> None:
        """Each commit waits for the standby of that name from now on; "": for none."""
        given = {**SETTINGS, **SAFE, **_replicating(), "port": self.port, "synchronous_standby_names": standby}
        lines = [f"{name} = '{value}'" for name, value in given.items()]
        (self.folder / "data" / "postgresql.conf").write_text("\n".join(lines) + "\n")
        if (self.folder / "data" / "postmaster.pid").exists():
            postgres15._pg_ctl(self.folder, "reload")

    def scalar(self, statement: str) -> Any:
        with psycopg.connect(self.superuser, autocommit=True) as db:
            return (db.execute(statement).fetchone() or (None,))[0]

    def until(self, statement: str) -> None:
        """Waits until the statement is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.scalar(statement):
            assert time.monotonic() < deadline, f"{statement}: {(self.folder / 'log').read_text()[-2000:]}"
            time.sleep(0.05)

    def _family(self) -> list[psutil.Process]:
        first = psutil.Process(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]))
        return [first, *first.children(recursive=True)]

    def _make_folder(self) -> None:
        self.folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")


def _replicating() -> dict[str, str]:
    """What `deploy/` gives both servers."""
    lines = (ROOT / "deploy" / "postgresql" / "standby.conf").read_text().splitlines()
    pairs = (line.partition("  #")[0].split(" = ") for line in lines if not line.startswith("#"))
    return {name: value.strip("'") for name, value in pairs}


class Pair:
    """`primary` and `standby` change places at a failover. `urls` name both, in the order in which they were made."""

    def __init__(self, folder: Path) -> None:
        self.primary, self.standby = (Server(folder, name, "of-a-test") for name in ("one", "other"))
        self.places = f"{self.primary.place},{self.standby.place}"

    def begin(self) -> None:
        self.primary.begin()
        made = postgres15._make_roles(f"postgres:{self.primary.password}@{self.primary.place}")
        with psycopg.connect(self.primary.superuser, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {DATABASE} OWNER {postgres15.OWNER_ROLE}")
        self.urls = DatabaseUrls(*(self._named(made[one]) for one in (APP_URL, OWNER_URL)))

    def join(self) -> None:
        """The standby begins with all that is there, and is waited for."""
        self.standby.follow(self.primary)
        self.primary.wait_for(self.standby.name)
        self.primary.until(
            f"SELECT sync_state = 'sync' FROM pg_stat_replication WHERE application_name = '{self.standby.name}'"
        )

    def fail_over(self) -> None:
        """The primary dies at once, and the standby takes its place. It waits for none until another one follows it."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()

    def of(self, server: Server) -> str:
        """The address of one of them alone, for the application's role."""
        return self.urls.app.replace(self.places, server.place).partition("?")[0]

    def stop(self) -> None:
        for one in (self.primary, self.standby):
            if one.folder.exists():
                one.stop()

    def _named(self, url: str) -> str:
        who = url.partition("@")[0]
        return f"{who}@{self.places}/{DATABASE}?target_session_attrs=read-write"


@contextmanager
def pair() -> Iterator[Pair]:
    """A primary with an empty database; the standby has not joined.
    Raises NoServer where PostgreSQL 15 can't be had."""
    postgres15._install_if_missing()
    with tempfile.TemporaryDirectory(prefix="muster-standby-", dir=quick_folder()) as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = Pair(folder)
        try:
            made.begin()
            yield made
        finally:
            made.stop()
