"""Fixtures of the clock's tests."""

from collections.abc import AsyncIterator

import pytest

from app import wiring
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
