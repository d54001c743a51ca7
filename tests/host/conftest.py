"""Fixtures of the host's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.host import events, zone
from tests.host.staff import Ear


@pytest.fixture
async def db(database: Database) -> AsyncIterator[AsyncSession]:
    """A transaction on the platform."""
    async with database.transaction() as session:
        yield session


@pytest.fixture
def ear() -> Iterator[Ear]:
    """Hears what the host tells during the test."""
    listening = Ear()
    before = list(events._listeners)
    events.listen(listening)
    yield listening
    events._listeners[:] = before


@pytest.fixture
def in_vancouver() -> Iterator[None]:
    """The workspace's zone is America/Vancouver during the test."""

    async def vancouver(_: AsyncSession) -> str:
        return "America/Vancouver"

    before = list(zone._providers)
    zone.provide(vancouver)
    yield
    zone._providers[:] = before
