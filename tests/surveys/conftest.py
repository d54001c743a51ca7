"""Fixtures of the tests of surveys."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from sqlalchemy import event

from app.db.session import Database
from tests.direct import heard
from tests.host.conftest import selects
from tests.host.library import publish_app

__all__ = ["planner", "selects", "statements"]


@pytest.fixture
async def planner(database: Database) -> UUID:
    """A published app."""
    async with database.transaction() as db:
        return await publish_app(db)


@pytest.fixture
def statements(database: Database) -> Iterator[list[str]]:
    """Every statement but the transaction's own."""
    seen: list[str] = []

    def note(statement: str) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    def executed(_: object, __: object, statement: str, *___: object) -> None:
        note(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", executed)
    with heard(database, note):
        yield seen
    event.remove(database.engine.sync_engine, "before_cursor_execute", executed)
