"""As which system user the embedded cluster runs, and programs and folders of that user.

PostgreSQL refuses to run as root. Started by root, the cluster therefore belongs to the owner of existing data, else
to the system user `muster-db`.
"""

import os
import pwd
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SYSTEM_USER = "muster-db"


class EmbeddedError(RuntimeError):
    """The embedded PostgreSQL can't do what was asked; the message says why and what to do, fit for the terminal."""


@dataclass(frozen=True)
class SystemUser:
    """A system user that root lends to PostgreSQL."""

    name: str
    uid: int
    gid: int


def run_as(account: SystemUser | None, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program as the account (None: as ourselves), output collected by way of a file.

    A pipe would stay open in the server that pg_ctl leaves behind, and reading it would never end.
    """
    with tempfile.TemporaryFile("w+") as output:
        code = spawn_as(account, command, output).wait()
        output.seek(0)
        return subprocess.CompletedProcess(command, code, stdout=output.read())


def spawn_as(
    account: SystemUser | None, command: Sequence[str], output: IO[str] | None = None, folder: Path = Path("/")
) -> "subprocess.Popen[bytes]":
    """Set a program going in the folder, without our environment and, as the account, without our groups."""
    return subprocess.Popen(  # noqa: S603 - a list of our own making, no shell
        command,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        stdout=output or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )


def plain_environment() -> Mapping[str, str]:
    """PG* variables of the caller must not steer the server, and its log must be English for us to read."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def give_folder(folder: Path, account: SystemUser | None) -> None:
    """Make a private folder (0700) that belongs to the account.
    Its parent is ours alone, so nothing can be slipped in."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if account and folder.stat().st_uid != account.uid:
        os.chown(folder, account.uid, account.gid)


def ensure_account() -> SystemUser:
    """The system user for clusters that root starts; made where it is missing. Raises EmbeddedError."""
    answer = ""
    for _ in range(20):
        try:
            entry = pwd.getpwnam(SYSTEM_USER)
        except KeyError:
            answer = _make_account()
            time.sleep(0.1)  # two first starts at once: one of them finds the list of users locked
            continue
        return SystemUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(
        f"PostgreSQL refuses to run as root, and the system user {SYSTEM_USER} could not be made ({answer.strip()}). "
        "Start Muster as another user, or set MUSTER_DATABASE_URL."
    )


def _make_account() -> str:
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false"]
    try:
        return run_as(None, ["useradd", *options, SYSTEM_USER]).stdout
    except FileNotFoundError:
        return "the program useradd is missing"
