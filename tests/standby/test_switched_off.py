"""The primary's machine loses its power: nothing says that it is gone, not even its system.
Pages come back at the standby."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.db import connecting, session
from tests.postgres15 import NoServer
from tests.standby import switched_off
from tests.standby.switched_off import Portal

pytestmark = pytest.mark.slow


@pytest.fixture
async def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Portal]:
    """Here only the system's word that the other side confirms nothing ends a request,
    after a second and not after eight."""
    monkeypatch.setitem(connecting._SILENCE, "TCP_USER_TIMEOUT", 1000)
    monkeypatch.setattr(session, "SILENCE_S", 3600)
    try:
        async with switched_off.portal(tmp_path) as made:
            yield made
    except NoServer as reason:
        pytest.skip(f"PostgreSQL 15 can't be started: {reason}")


async def test_pages_come_back_at_the_standby_when_the_primary_loses_its_power(portal: Portal) -> None:
    assert await portal.status() == 200
    await portal.switch_off()
    async with asyncio.timeout(60):
        while (status := await portal.status()) != 200:
            assert status == 503
    assert await portal.status() == 200
