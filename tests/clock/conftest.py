"""Fixtures of the clock's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import event

from app import wiring
from app.db.session import Database
from tests.fakes.liar import Liar, lying
from tests.host.conftest import selects

__all__ = ["liar", "listeners", "selects"]


@pytest.fixture(autouse=True)
def listeners() -> None:
    wiring.connect()


@pytest.fixture
async def liar() -> AsyncIterator[Liar]:
    async with lying() as liar:
        yield liar


@pytest.fixture
def executed(database: Database) -> Iterator[list[tuple[str, str]]]:
    """Every statement and the text of its parameters, from when the fixtures named before this one are done."""
    seen: list[tuple[str, str]] = []

    def note(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
        seen.append((statement, str(parameters)))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)
