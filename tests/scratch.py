"""Runs a command against a migrated scratch database: `python -m tests.scratch COMMAND…`;
the word OWNER_URL is its address.

For `make migration`: the models are compared with what the migrations make, and no real database takes part.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.db import embedded
from app.db.migrate import migrate


def main(command: Sequence[str]) -> int:
    if not command:
        sys.stderr.write("usage: python -m tests.scratch COMMAND [ARGUMENT…]\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="muster-scratch-") as folder:
        cluster = embedded.start(Path(folder), durable=False)
        try:
            asyncio.run(migrate(cluster.owner_url, embedded.APP_ROLE))
            filled = [cluster.owner_url if word == "OWNER_URL" else word for word in command]
            return subprocess.run(filled, check=False).returncode
        finally:
            cluster.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
