from collections.abc import Iterator

import pytest

from tests.postgres15 import NoServer
from tests.standby.servers import Pair, pair


@pytest.fixture
def servers() -> Iterator[Pair]:
    """A primary and its synchronous standby, for one test."""
    try:
        with pair() as made:
            yield made
    except NoServer as reason:
        pytest.skip(f"PostgreSQL 15 can't be started: {reason}")
