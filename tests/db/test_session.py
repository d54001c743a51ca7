"""The seam to PostgreSQL: statements that are transactions of their own leave nothing behind on their connection."""

import pytest
from sqlalchemy import text

from app.db.session import Database, workspace_of
from tests.cluster import DatabaseUrls

PATH = text("SELECT current_setting('search_path')")
WAITS = text("SELECT current_setting('synchronous_commit')")
MARK = text("UPDATE survey_tally_mark SET number = number + 1")
MARKED = text("SELECT number FROM survey_tally_mark")


@pytest.fixture
async def narrow(urls: DatabaseUrls):
    """A database with one connection, so that everybody here gets the same."""
    database = Database(urls.app, pool_size=1)
    yield database
    await database.close()


async def test_each_statement_alone_is_kept_at_once(narrow: Database, database: Database) -> None:
    async with narrow.alone("acme") as db:
        assert workspace_of(db) == "acme"
        await db.execute(MARK)
        async with database.transaction("acme") as other:
            assert await other.scalar(MARKED) == 1
    async with database.transaction("main") as other:
        assert await other.scalar(MARKED) == 0


async def test_the_connection_is_as_it_was_before(narrow: Database) -> None:
    async with narrow.shared_transaction() as db:
        before = (await db.scalar(PATH), await db.scalar(WAITS))
    async with narrow.alone("acme") as db:
        assert (await db.scalar(PATH), await db.scalar(WAITS)) == ("tenant_acme, shared", "off")
    async with narrow.shared_transaction() as db:
        assert (await db.scalar(PATH), await db.scalar(WAITS)) == before


async def test_a_block_that_breaks_leaves_no_connection_in_its_workspace(narrow: Database) -> None:
    async def break_off() -> None:
        async with narrow.alone("acme") as db:
            await db.execute(MARK)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()
    async with narrow.shared_transaction() as db:
        assert await db.scalar(PATH) == "shared"
