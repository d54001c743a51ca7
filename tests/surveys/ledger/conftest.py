"""Fixtures of the tests of the ledger."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.cluster import DatabaseUrls
from tests.surveys.owner import Owner


@pytest.fixture
def owner(urls: DatabaseUrls) -> Iterator[Owner]:
    with psycopg.connect(urls.owner, autocommit=True) as connection:
        owner = Owner(connection)
        yield owner
        owner.restore_guards()
