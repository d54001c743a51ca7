"""Fixtures of the host's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import event
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


@pytest.fixture
def selects(database: Database) -> Iterator[list[str]]:
    """The SELECTs on the workspace's tables, without the look-up of the session."""
    seen: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        if (
            statement.lstrip().upper().startswith("SELECT")
            and "sessions" not in statement
            and "set_config" not in statement
        ):
            seen.append(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)
