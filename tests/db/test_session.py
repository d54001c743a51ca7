"""The seam to PostgreSQL: those who wait for a connection get one in turn, and statements that are transactions of
their own leave nothing behind on theirs."""

import asyncio

import asyncpg
import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncSession

from app.db import session
from app.db.direct import Direct, driver
from app.db.session import Database, alone, before_commit
from tests.cluster import DatabaseUrls

PATH = text("SELECT current_setting('search_path')")
WAITS = text("SELECT current_setting('synchronous_commit')")
MARK_IT = Direct(
    "UPDATE workspace.survey_tally_mark SET number = number + 1 RETURNING set_config('synchronous_commit', 'off', true)"
)
WHO = "SELECT pg_backend_pid()"
MARKED = text("SELECT number FROM survey_tally_mark")


@pytest.fixture
async def narrow(urls: DatabaseUrls):
    """A database with one connection, so that everybody here gets the same."""
    database = Database(urls.app, pool_size=1)
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("workspace", "schema"),
    [("main", "main"), ("acme", "tenant_acme"), ("a_1", "tenant_a_1"), ("a" * 40, "tenant_" + "a" * 40)],
)
def test_a_workspace_has_a_schema(workspace: str, schema: str) -> None:
    assert session.schema_of(workspace) == schema


@pytest.mark.parametrize(
    "workspace", ["", "shared", "Acme", "1a", "_a", "a-b", "a b", "a" * 41, "acme\n", "é", 'a"; DROP SCHEMA main']
)
def test_what_is_not_a_key_of_a_workspace_names_no_schema(workspace: str) -> None:
    with pytest.raises(ValueError, match="not a workspace key"):
        session.schema_of(workspace)


async def test_a_transaction_enters_one_workspace_and_no_other(database: Database) -> None:
    async with database.shared_transaction() as db:
        await session.enter_workspace(db, "acme")
        await session.enter_workspace(db, "acme")
        with pytest.raises(RuntimeError, match="belongs to acme, not to globex"):
            await session.enter_workspace(db, "globex")
        assert await db.scalar(PATH) == "tenant_acme, shared"


async def test_a_snapshot_reads_one_moment_and_writes_nothing(database: Database) -> None:
    async with database.snapshot("acme") as db:
        for setting, value in (("transaction_isolation", "repeatable read"), ("transaction_read_only", "on")):
            assert await db.scalar(text(f"SHOW {setting}")) == value
    async with database.transaction("acme") as db:
        assert await db.scalar(text("SHOW transaction_read_only")) == "off"


async def test_what_transactions_do_last_has_one_order(database: Database) -> None:
    """Else two could lock the same rows in a ring."""
    ran: list[str] = []

    async def count(_: AsyncSession) -> None:
        ran.append("count")

    async def tell(_: AsyncSession) -> None:
        ran.append("tell")

    for order in ((count, tell), (tell, count)):
        async with database.transaction() as db:
            for one in order:
                before_commit(db, one)
    assert ran == ["count", "tell"] * 2


async def test_each_statement_alone_is_kept_at_once_in_the_schema_it_names(
    narrow: Database, database: Database
) -> None:
    async with narrow.shared_transaction() as db, alone(db) as connection:
        await MARK_IT.row(connection, {}, "tenant_acme")
        async with database.transaction("acme") as other:
            assert await other.scalar(MARKED) == 1
    async with database.transaction("main") as other:
        assert await other.scalar(MARKED) == 0


async def test_the_connection_is_as_it_was_before(narrow: Database) -> None:
    async with narrow.shared_transaction() as db:
        before = (await db.scalar(PATH), await db.scalar(WAITS))
    async with narrow.shared_transaction() as db, alone(db) as connection:
        await MARK_IT.row(connection, {}, "tenant_acme")
        assert (await connection.fetchval(PATH.text), await connection.fetchval(WAITS.text)) == before


async def test_a_block_that_breaks_gives_its_connection_up(narrow: Database) -> None:
    async def break_off() -> None:
        async with narrow.shared_transaction() as db, alone(db) as connection:
            broken.append(await connection.fetchval(WHO))
            raise ZeroDivisionError

    broken: list[int] = []
    with pytest.raises(ZeroDivisionError):
        await break_off()
    async with narrow.shared_transaction() as db, alone(db) as connection:
        assert await connection.fetchval(WHO) not in broken


async def test_an_address_may_say_how_to_encrypt_as_psql_reads_it(urls: DatabaseUrls) -> None:
    mark = "&" if "?" in urls.app else "?"
    for plain in (f"{urls.app}{mark}sslmode=disable", f"{urls.app}{mark}sslmode=prefer&application_name=mine"):
        opened = Database(plain)
        async with opened.shared_transaction() as db:
            assert await db.scalar(PATH) == "shared"
        await opened.close()


def kill(connection: asyncpg.Connection, urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.app.replace("+asyncpg", "")) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.get_server_pid()])


async def test_a_connection_that_died_in_the_pool_is_never_given_out(narrow: Database, urls: DatabaseUrls) -> None:
    async with narrow.shared_transaction() as db:
        connection = driver(db)
    kill(connection, urls)
    await asyncio.sleep(0.1)  # until the driver has read of it
    async with narrow.shared_transaction() as db:
        assert await driver(db).fetchval("SELECT 1") == 1


async def test_a_server_that_is_lost_at_the_beginning_or_the_end_is_a_connection_error(
    narrow: Database, urls: DatabaseUrls
) -> None:
    with pytest.raises(ConnectionError):
        async with narrow.shared_transaction() as db:
            kill(driver(db), urls)
    async with narrow.shared_transaction() as db:
        connection = driver(db)
    kill(connection, urls)
    with pytest.raises(ConnectionError):
        await narrow.shared_transaction().__aenter__()
    async with narrow.shared_transaction() as db:
        assert await db.scalar(text("SELECT 1")) == 1


async def test_those_who_wait_get_a_connection_before_those_who_ask_later(narrow: Database) -> None:
    """The pool by itself gives a connection that comes back to the first who asks,
    before the one who waits has woken."""
    served = []
    comes_back = asyncio.Event()
    event.listen(narrow.engine.sync_engine, "checkin", lambda *_: comes_back.set())

    async def ask(name: str) -> None:
        async with narrow.shared_transaction():
            served.append(name)

    async def ask_later() -> None:
        await comes_back.wait()
        await ask("later")

    async with narrow.shared_transaction():
        both = [asyncio.create_task(ask("waits")), asyncio.create_task(ask_later())]
        await asyncio.sleep(0.05)
    await asyncio.gather(*both)
    assert served == ["waits", "later"]


async def test_a_person_who_waits_too_long_is_refused_and_takes_nobodys_turn(
    narrow: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE_S", 0.05)
    async with narrow.shared_transaction():
        with pytest.raises(PoolTimeoutError):
            await narrow.shared_transaction().__aenter__()
    async with narrow.shared_transaction() as db:
        assert await db.scalar(text("SELECT 1")) == 1
