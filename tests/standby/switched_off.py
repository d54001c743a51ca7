"""A portal over a primary that can lose its power, and a standby that then takes over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.config import read_settings
from app.db.migrate import migrate
from app.main import create_app
from app.parts import web_parts
from app.secrets import new_key_text
from tests.postgres15 import APP_ROLE
from tests.silent_line import SilentLine, silent_line
from tests.standby.servers import Pair, pair

BASE_URL = "http://testserver"


@dataclass(frozen=True, slots=True)
class Portal:
    servers: Pair
    line: SilentLine
    browser: httpx.AsyncClient

    async def status(self) -> int:
        """Of a page that reads the database."""
        return (await self.browser.get("/sign-in")).status_code

    async def switch_off(self) -> None:
        """The primary; its standby is promoted at once."""
        self.line.switch_off()
        await asyncio.to_thread(self.servers.standby.promote)


@asynccontextmanager
async def portal(folder: Path) -> AsyncIterator[Portal]:
    """Its address names the primary behind a line, and the standby.
    Raises NoServer where PostgreSQL 15 can't be had."""
    with pair() as servers:
        await migrate(servers.urls.owner, APP_ROLE)
        await asyncio.to_thread(servers.standby.follow, servers.primary)
        async with silent_line(servers.of(servers.primary)) as line:
            settings = {
                "MUSTER_DATA_DIR": str(folder),
                "MUSTER_SECRET_KEYS": new_key_text("t"),
                "MUSTER_BASE_URL": BASE_URL,
            }
            there = line.url.replace("/muster?", f",{servers.standby.place}/muster?")
            parts = web_parts(read_settings(settings), f"{there}&target_session_attrs=read-write")
            transport = httpx.ASGITransport(app=create_app(parts))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=None) as browser:
                yield Portal(servers, line, browser)
            await parts.close()
