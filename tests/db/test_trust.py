"""A connection to a server that takes no changes, fell silent or said that it ends is used no more,
nor is any other from before."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.config import Settings
from app.db import session
from app.db.direct import Direct, driver
from app.db.session import Database
from app.parts import Parts, web_parts
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.silent_line import silent_line
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.calling import App, refused

__all__ = ["nora"]
WRITE = "INSERT INTO employees (id_number, id_number_key, name) VALUES ('7', '7', 'Ada')"
A_PERSON = {"name": "Ada Byron", "id_number": "7"}
# As a server says that it ends: severity, code, message.
ENDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"


@pytest.fixture
async def parts(urls: DatabaseUrls, settings: Settings) -> AsyncIterator[Parts]:
    """With connections of their own, which the test may spoil."""
    made = web_parts(settings, urls.app)
    yield made
    await made.close()


@contextmanager
def taking_no_changes(urls: DatabaseUrls) -> Iterator[None]:
    """New connections get a server that only reads, as behind a name that leads to a standby."""

    def tell(statement: str) -> None:
        with psycopg.connect(urls.owner, autocommit=True) as owner:
            owner.execute("SET default_transaction_read_only TO off")
            name = sql.Identifier(owner.info.dbname)
            owner.execute(sql.SQL(statement).format(name))

    tell("ALTER DATABASE {} SET default_transaction_read_only TO on")
    try:
        yield
    finally:
        tell("ALTER DATABASE {} RESET default_transaction_read_only")


async def open_several(database: Database, number: int = 3) -> None:
    barrier = asyncio.Barrier(number)

    async def hold() -> None:
        async with database.shared_transaction():
            await barrier.wait()

    await asyncio.gather(*(hold() for _ in range(number)))


async def test_a_server_that_takes_no_changes_is_busy_and_left_by_all_connections(
    urls: DatabaseUrls, sign_in: Any, nora: App, parts: Parts
) -> None:
    alice: Browser = await sign_in("alice")
    survey = await publish(parts.database, "Lunch")
    await parts.database.engine.dispose()
    with taking_no_changes(urls):
        await open_several(parts.database)
        assert (await alice.get("/people")).status_code == 200
        sent = await alice.submit("/people/add", A_PERSON)
        replied = await nora.respond(survey.uid, "opt_out")
    assert (sent.status_code, refused(replied)) == (503, (503, "unavailable"))
    assert int(sent.headers["retry-after"]) > 0
    assert int(replied.headers["retry-after"]) > 0
    assert "The database takes no changes right now" in sent.text
    assert "Nothing was saved" in sent.text
    answers = await asyncio.gather(*(alice.submit("/people/add", A_PERSON) for _ in range(3)))
    assert [one.status_code for one in answers] == [303] * 3
    assert (await nora.recorded(survey.uid, "opt_out"))["receipt"]


async def by_sqlalchemy(db: Any) -> None:
    await db.execute(text(WRITE))


async def by_a_direct_statement(db: Any) -> None:
    await Direct(WRITE).row(driver(db), {}, "main")


async def by_the_driver(db: Any) -> None:
    await driver(db).execute(WRITE)


@pytest.mark.parametrize("write", [by_sqlalchemy, by_a_direct_statement, by_the_driver])
async def test_whichever_way_a_statement_goes(urls: DatabaseUrls, write: Callable[[Any], Any]) -> None:
    with taking_no_changes(urls):
        database = Database(urls.app, pool_size=3)
        await open_several(database)
        with pytest.raises((DBAPIError, asyncpg.ReadOnlySQLTransactionError)):
            async with database.transaction() as db:
                await write(db)
    for _ in range(3):
        async with database.transaction() as db:
            await write(db)
    await database.close()


async def test_a_write_where_one_only_reads_leaves_the_pool_as_it_is(urls: DatabaseUrls) -> None:
    database = Database(urls.app, pool_size=1)
    async with database.snapshot() as db:
        first = driver(db).get_server_pid()
    with pytest.raises(DBAPIError):
        async with database.snapshot() as db:
            await by_sqlalchemy(db)
    async with database.transaction() as db:
        assert driver(db).get_server_pid() == first
    await database.close()


async def test_when_one_connection_falls_silent_the_others_from_before_are_replaced(
    urls: DatabaseUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SILENCE_S", 0.2)
    async with silent_line(urls.app) as line:
        database = Database(line.url, pool_size=2, limit_s=0.3)
        async with database.shared_transaction() as one, database.shared_transaction() as other:
            before = {driver(one).get_server_pid(), driver(other).get_server_pid()}
        line.silent = True
        with pytest.raises((TimeoutError, ConnectionError)):
            async with database.shared_transaction() as db:
                await db.execute(text("SELECT 1"))
        line.silent = False
        async with database.shared_transaction() as one, database.shared_transaction() as other:
            after = {driver(one).get_server_pid(), driver(other).get_server_pid()}
        assert not before & after
        await database.close()


@pytest.mark.parametrize("ask", [by_sqlalchemy, by_a_direct_statement])
async def test_a_server_that_said_it_ends_is_a_connection_error(urls: DatabaseUrls, ask: Callable[[Any], Any]) -> None:
    """Between that word and the end of the connection, the driver is out of step with the server."""
    database = Database(urls.app, pool_size=1)

    async def ask_one_that_ends() -> None:
        async with database.transaction() as db:
            protocol: Any = driver(db)._protocol  # type: ignore[attr-defined]
            protocol.data_received(b"E" + (len(ENDS) + 4).to_bytes(4, "big") + ENDS)
            await ask(db)

    with pytest.raises(ConnectionError):
        await ask_one_that_ends()
    async with database.transaction() as db:
        await ask(db)
    await database.close()
