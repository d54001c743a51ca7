"""Of several servers, the one that is meant: found past those that are off, silent or of another kind,
and asked first from then on."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import text

from app.config import Settings
from app.config.hosts import IDLE_S, SILENT_S, DatabaseServer, for_psycopg, read
from app.db.connecting import NOTICED, connect, connecting
from app.db.migrate import MigrationWatch, as_owner
from app.parts import web_parts
from tests.cluster import DatabaseUrls
from tests.silent_line import silent_line
from workers import settings as worker_settings

NOWHERE = DatabaseServer("127.0.0.1", 1)


def among(url: str, *servers: DatabaseServer, **said: str) -> str:
    """The same database at several servers."""
    own = read(url)
    places = {"host": ",".join(str(one.host) for one in servers), "port": ",".join(str(one.port) for one in servers)}
    query = "&".join(f"{name}={value}" for name, value in {**places, **said}.items())
    return f"{own.rest}{'&' if '?' in own.rest else '?'}{query}"


@pytest.fixture
def here(urls: DatabaseUrls) -> DatabaseServer:
    (server,) = read(urls.app).servers
    return DatabaseServer(server.host, server.port or 5432)


@asynccontextmanager
async def deaf_server() -> AsyncIterator[tuple[DatabaseServer, Callable[[], int]]]:
    """It takes connections and never says a word."""
    asked: list[Any] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(writer)
        await reader.read()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    try:
        yield DatabaseServer("127.0.0.1", server.sockets[0].getsockname()[1]), lambda: len(asked)
    finally:
        for writer in asked:
            writer.transport.abort()
        server.close()


async def test_a_server_that_is_off_is_passed_over_by_both_drivers(urls: DatabaseUrls, here: DatabaseServer) -> None:
    url = among(urls.app, NOWHERE, here, target_session_attrs="read-write")
    connection = await connect(url)
    assert await connection.fetchval("SELECT 1") == 1
    await connection.close()
    with psycopg.connect(url, **for_psycopg(url)) as other:
        assert other.execute("SELECT 1").fetchone() == (1,)


async def test_a_silent_server_is_left_after_its_time_and_not_asked_again(
    urls: DatabaseUrls, here: DatabaseServer
) -> None:
    async with deaf_server() as (deaf, asked):
        connect_to = connecting(among(urls.app, deaf, here, connect_timeout="1"))
        for _ in range(2):
            connection = await connect_to()
            assert await connection.fetchval("SELECT 1") == 1
            await connection.close()
            assert asked() == 1


async def test_the_next_server_is_asked_beside_one_that_says_nothing(urls: DatabaseUrls, here: DatabaseServer) -> None:
    """The address gives each server a minute, but the test does not wait for it. The silent one is let go."""
    async with deaf_server() as (deaf, asked):
        async with asyncio.timeout(30):
            connection = await connect(among(urls.app, deaf, here, connect_timeout="60"))
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()
        assert asked() == 1


async def test_only_a_server_of_the_wanted_kind_is_taken(urls: DatabaseUrls, here: DatabaseServer) -> None:
    with pytest.raises(ConnectionError, match="not the kind of server") as refused:
        await connect(among(urls.app, here, NOWHERE, target_session_attrs="standby"))
    assert str(here) in str(refused.value)
    connection = await connect(among(urls.app, NOWHERE, here, target_session_attrs="prefer-standby"))
    assert await connection.fetchval("SELECT pg_is_in_recovery()") is False
    await connection.close()


async def test_what_postgresql_refuses_is_its_own_error(urls: DatabaseUrls, here: DatabaseServer) -> None:
    url = among(urls.app, here, NOWHERE)
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await connect(url.replace(read(url).rest.rpartition("/")[2].partition("?")[0], "no_such_database"))


async def test_a_server_alone_that_gives_no_answer_says_so(urls: DatabaseUrls) -> None:
    async with deaf_server() as (deaf, _):
        with pytest.raises(ConnectionError, match="it gave no answer in time"):
            await connect(among(urls.app, deaf), timeout=0.1)


async def test_a_machine_that_is_switched_off_is_noticed_within_seconds(urls: DatabaseUrls) -> None:
    async with silent_line(urls.app) as line:
        connection = await connect(line.url)
        number = connection._transport.get_extra_info("socket").fileno()
        with socket.socket(fileno=os.dup(number)) as same:
            assert same.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            for option, value in ((socket.TCP_KEEPIDLE, IDLE_S), (socket.TCP_USER_TIMEOUT, SILENT_S * 1000)):
                assert same.getsockopt(socket.IPPROTO_TCP, option) == value
        await connection.close()


# What a session asked for: over a socket of the file system, which needs no such thing, the value itself is always 0.
ASKED_FOR = "SELECT name, reset_val FROM pg_settings WHERE name LIKE 'tcp_%' AND source = 'client'"


async def test_the_server_notices_when_a_machine_is_off_that_serves_works_or_migrates(
    urls: DatabaseUrls, settings: Settings
) -> None:
    parts = web_parts(settings, urls.app)
    for database in (parts.database, parts.exports, parts.limits):
        async with database.shared_transaction() as db:
            assert dict(map(tuple, await db.execute(text(ASKED_FOR)))) == NOTICED
    async with as_owner(urls.owner, MigrationWatch()) as owner:
        assert dict(map(tuple, await owner.execute(text(ASKED_FOR)))) == NOTICED
    async with worker_settings._pool(parts.database, 1) as pool, pool.connection() as queue:
        assert dict(await (await queue.execute(ASKED_FOR)).fetchall()) == NOTICED
    await parts.close()
