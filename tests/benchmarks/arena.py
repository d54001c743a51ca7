"""A database to measure in: durable like a real one, empty, and gone afterwards."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database


@asynccontextmanager
async def arena() -> AsyncIterator[Database]:
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        cluster = embedded.start(Path(folder))
        try:
            await migrate(cluster.owner_url, embedded.APP_ROLE)
            database = Database(cluster.app_url)
            yield database
            await database.close()
        finally:
            cluster.stop()
