"""The dumps that versions before this one wrote, what was read of them then, and how one is written and restored."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.db.cluster.home import bundled_binaries
from tests.cluster import DatabaseUrls

DUMPS = Path(__file__).with_name("dumps")
# The wheel of the embedded PostgreSQL brings the programs of version 16 too.
# Those of 18 send a setting that 15 refuses.
PG_RESTORE = bundled_binaries().parents[1] / "pginstall" / "bin" / "pg_restore"
PG_DUMP = Path("/usr/lib/postgresql/15/bin/pg_dump")


@dataclass(frozen=True)
class Dump:
    """What one version wrote: `NAME.dump`, and `NAME.json` with the keys, the workspaces, the time,
    and what that version read."""

    name: str

    @property
    def file(self) -> Path:
        return DUMPS / f"{self.name}.dump"

    @cached_property
    def notes(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._notes.read_text(encoding="utf-8"))
        return found

    def write(self, owner_url: str, notes: dict[str, Any]) -> None:
        """As docs/operate.md backs a database up."""
        _run(PG_DUMP, "--format=custom", "--exclude-schema=saq", f"--file={self.file}", f"--dbname={owner_url}")
        self._notes.write_text(json.dumps(notes, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")

    def restore(self, urls: DatabaseUrls) -> None:
        """Into an empty database, as docs/operate.md restores one.
        The roles may have other names than when it was written."""
        renamed = () if self._roles == _roles(urls) else ("--no-owner", "--no-privileges")
        _run(PG_RESTORE, "--exit-on-error", *renamed, f"--dbname={urls.owner}", self.file)

    @property
    def _notes(self) -> Path:
        return DUMPS / f"{self.name}.json"

    @property
    def _roles(self) -> list[str]:
        roles: list[str] = self.notes["roles"]
        return roles


def kept() -> Sequence[Dump]:
    """Oldest first."""
    return [Dump(path.stem) for path in sorted(DUMPS.glob("*.dump"))]


def _roles(urls: DatabaseUrls) -> list[str]:
    return [urlsplit(url).username or "" for url in (urls.app, urls.owner)]


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name}: {done.stderr.strip()[-2000:]}")
