"""Steps that tests add to those of the program, in a copy of the folder; and a process that migrates with such a
folder: `python -m tests.db.more_steps FOLDER OWNER_URL APP_ROLE`."""

import asyncio
import shutil
import sys
from pathlib import Path

from app.db import steps
from app.db.migrate import migrate


class MoreSteps:
    """A copy of the migrations, to which a test adds. `use` lets this process take it for the program's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def copied(cls, folder: Path) -> "MoreSteps":
        shutil.copytree(steps.ROOT, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return cls(folder)

    def use(self) -> None:
        steps.ROOT = self.folder
        steps.revisions.cache_clear()

    def add(self, module: str, name: str, body: str, says: str = "") -> str:
        """A step behind the newest one. Returns its revision."""
        before = steps.newest()[module]
        lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
        (self.folder / "versions" / module / f"{name}.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\n\n"
            f"{says}\nrevision = {name!r}\ndown_revision = {before!r}\n\ndef upgrade():\n{lines}\n"
        )
        steps.revisions.cache_clear()
        return name


if __name__ == "__main__":
    MoreSteps(Path(sys.argv[1])).use()
    asyncio.run(migrate(sys.argv[2], sys.argv[3], jobs=2))
