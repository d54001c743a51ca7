"""Debian's PgBouncer before a database of the tests, on loopback, with a configuration of its own.
Root installs it where it is missing."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from tests.postgres15 import NoServer, _free_port, install

PROGRAM = Path("/usr/sbin/pgbouncer")
PATIENCE_S = 30


@contextmanager
def pgbouncer(url: str, mode: str, size: int = 5) -> Iterator[str]:
    """The address of the database behind it. Raises NoServer where it can't be had."""
    if not PROGRAM.exists():
        install("pgbouncer")
    server, port = conninfo_to_dict(url), _free_port()
    with tempfile.TemporaryDirectory(prefix="muster-pgbouncer-") as name:
        folder = Path(name)
        account = _account(server)
        (folder / "ini").write_text(_configuration(server, port, mode, size))
        for path in (folder, folder / "ini"):
            shutil.chown(path, account.pw_uid, account.pw_gid)
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [PROGRAM, str(folder / "ini")],
                stdout=log, stderr=log, cwd="/", **_as(account),
            )  # fmt: skip
        try:
            _await(process, port, folder / "log")
            yield f"postgresql://{server['user']}@127.0.0.1:{port}/{server['dbname']}"
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _configuration(server: dict[str, object], port: int, mode: str, size: int) -> str:
    named = {key: server[key] for key in ("host", "port", "dbname", "user", "password") if server.get(key)}
    to = " ".join(f"{key}={value}" for key, value in named.items())
    return f"""
[databases]
{server["dbname"]} = {to}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
"""


def _account(server: dict[str, object]) -> pwd.struct_passwd:
    """It refuses to run as root. Who owns the socket of the embedded cluster may use it."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    host = str(server.get("host") or "")
    return pwd.getpwuid(Path(host).stat().st_uid) if host.startswith("/") else pwd.getpwnam("nobody")


def _as(account: pwd.struct_passwd) -> dict[str, object]:
    if os.geteuid() != 0:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _await(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise NoServer(f"pgbouncer did not start: {log.read_text()[-1000:]}")
