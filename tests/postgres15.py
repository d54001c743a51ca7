"""Runs a command against Debian's PostgreSQL 15: over TCP, with passwords, owner and app being separate plain roles.

    python -m tests.postgres15 make test

The oldest version that Muster supports, reached in the way that most installations reach theirs. Started by root it
installs the package where it is missing. It exits as the command does, 2 on wrong usage, 3 where there is no server.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from tests.cluster import APP_URL, OWNER_URL, quick_folder

BINARIES = Path("/usr/lib/postgresql/15/bin")
APP_ROLE = "portal_app"
OWNER_ROLE = "portal_owner"
SETTINGS = {
    "fsync": "off",
    "autovacuum": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
}


class NoServer(Exception):
    """PostgreSQL 15 can't be had here; the message says why."""


def main(command: Sequence[str]) -> int:
    if not command:
        sys.stderr.write("usage: python -m tests.postgres15 COMMAND [ARGUMENT…]\n")
        return 2
    try:
        with running_server() as urls:
            return subprocess.run(command, env={**os.environ, **urls}, check=False).returncode
    except NoServer as error:
        sys.stderr.write(f"PostgreSQL 15 can't be started: {error}\n")
        return 3


@contextmanager
def running_server() -> Iterator[dict[str, str]]:
    """A new server on a free port of 127.0.0.1, as the environment variables that point the tests at it."""
    _install_if_missing()
    with tempfile.TemporaryDirectory(prefix="muster-pg15-", dir=quick_folder()) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        port, password = _free_port(), secrets.token_urlsafe(12)
        _make_data(folder, password)
        options = " ".join(f"-c {key}={value or chr(39) * 2}" for key, value in {**SETTINGS, "port": port}.items())
        _pg_ctl(folder, "-l", str(folder / "log"), "-o", options, "-w", "-t", "60", "start")
        try:
            yield _make_roles(f"postgres:{password}@127.0.0.1:{port}")
        finally:
            _pg_ctl(folder, "-m", "immediate", "-w", "stop")


def _make_data(folder: Path, password: str) -> None:
    secret = folder / "password"
    secret.write_text(password)
    secret.chmod(0o600)
    if os.geteuid() == 0:
        shutil.chown(secret, "postgres", "postgres")
    _run(
        str(BINARIES / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "--auth=scram-sha-256",
        f"--pwfile={secret}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions",
    )  # fmt: skip


def _make_roles(superuser_at: str) -> dict[str, str]:
    """The owner may do what tests/cluster.py asks of it: create databases, end sessions, and pass over foreign keys."""
    with psycopg.connect(f"postgresql://{superuser_at}/postgres", autocommit=True) as connection:
        passwords = {role: secrets.token_urlsafe(12) for role in (APP_ROLE, OWNER_ROLE)}
        for role, password in passwords.items():
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(password))
            )
        connection.execute(sql.SQL("ALTER ROLE {} CREATEDB").format(sql.Identifier(OWNER_ROLE)))
        for right in ("pg_signal_backend", "SET ON PARAMETER session_replication_role"):
            connection.execute(sql.SQL("GRANT {} TO {}").format(sql.SQL(right), sql.Identifier(OWNER_ROLE)))
    _, _, place = superuser_at.partition("@")
    return {
        APP_URL: f"postgresql://{APP_ROLE}:{passwords[APP_ROLE]}@{place}/postgres",
        OWNER_URL: f"postgresql://{OWNER_ROLE}:{passwords[OWNER_ROLE]}@{place}/postgres",
    }


def _install_if_missing() -> None:
    if (BINARIES / "postgres").exists():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoServer(f"{BINARIES} is missing. Install the package postgresql-15, or run this as root on Debian 12.")
    # The package would otherwise make and start a cluster of its own, on the usual port.
    config = Path("/etc/postgresql-common/createcluster.conf")
    if not config.exists():
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("create_main_cluster = false\n")
    install("postgresql-15")


def install(package: str) -> None:
    """From Debian, by root. Raises NoServer."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoServer(f"the package {package} is missing, and only root on Debian may have it installed here")
    getting = ["apt-get", "install", "-y", "-q", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], [*getting, package]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoServer(f"{' '.join(command)}: {done.stderr.strip()[-1000:]}")


def _pg_ctl(folder: Path, *arguments: str) -> None:
    _run(str(BINARIES / "pg_ctl"), "-s", "-D", str(folder / "data"), *arguments)


def _run(*command: str) -> None:
    """As user postgres where we are root. Output goes to a file: the server would keep a pipe open."""
    account = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            command, cwd="/", env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, check=False,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            user=account.pw_uid if account else None, group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )  # fmt: skip
        output.seek(0)
        if done.returncode != 0:
            raise NoServer(f"{' '.join(command)}: {output.read().strip()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
