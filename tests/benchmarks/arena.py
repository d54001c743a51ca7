"""A database to measure in: durable like a real one, empty, and gone afterwards;
and the settings of a portal over it."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app import garbage
from app.config import Settings, read_settings
from app.db import embedded
from app.db.migrate import migrate
from app.db.session import Database
from app.main import create_app
from app.parts import Parts
from app.secrets import new_key_text
from app.web.gate import Gate

BASE_URL = "http://testserver"


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


def settings_in(folder: str) -> Settings:
    """With keys of its own and no limit on calls of an API."""
    return read_settings(
        {
            "MUSTER_DATA_DIR": folder,
            "MUSTER_SECRET_KEYS": new_key_text("bench"),
            "MUSTER_BASE_URL": BASE_URL,
            "MUSTER_API_RATE": "0",
        }
    )


def site_of(parts: Parts) -> Gate:
    """The portal as `muster serve` has it: what stays is not looked through for garbage,
    which takes 0.1 to 0.2 s each time."""
    site = create_app(parts)
    garbage.spare_what_stays()
    return site
