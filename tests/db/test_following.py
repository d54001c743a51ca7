"""The instant from which a program that follows a list must ask."""

import asyncio
from datetime import datetime, timedelta

import psycopg
from sqlalchemy import text

from app.db.following import nothing_missed_since
from app.db.session import Database
from tests.cluster import DatabaseUrls

_HANGS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE pid = :pid AND state = 'idle' AND wait_event = 'ClientWrite'"
)


async def test_it_is_now_where_all_sessions_wait_for_their_clients(database: Database, urls: DatabaseUrls) -> None:
    with psycopg.connect(urls.app, autocommit=True) as other:
        other.execute("SELECT 1")
        now, instant = await _asked(database)
        assert instant == now
        other.execute("BEGIN")
        begun = other.execute("SELECT now()").fetchone()
        assert begun
        assert (await _asked(database))[1] == begun[0] > now


async def test_a_second_is_taken_off_while_a_session_may_have_begun_unseen(
    database: Database, urls: DatabaseUrls
) -> None:
    """PostgreSQL calls a session idle that tells its client of notifications. This one's client reads none of them, so
    the session stays where a transaction could begin at any moment."""
    with psycopg.connect(urls.app, autocommit=True) as deaf, psycopg.connect(urls.app, autocommit=True) as other:
        deaf.execute("LISTEN crowd")
        other.execute("SELECT pg_notify('crowd', n || repeat('x', 7000)) FROM generate_series(1, 1000) AS n")
        async with asyncio.timeout(20):
            while not await _hangs(database, deaf.info.backend_pid):  # noqa: ASYNC110 - nothing tells when it does
                await asyncio.sleep(0.01)
        now, instant = await _asked(database)
        assert instant == now - timedelta(seconds=1)


async def _asked(database: Database) -> tuple[datetime, datetime]:
    async with database.transaction() as db:
        now: datetime = (await db.execute(text("SELECT now()"))).scalar_one()
        return now, await nothing_missed_since(db)


async def _hangs(database: Database, pid: int) -> bool:
    async with database.transaction() as db:
        return bool(await db.scalar(_HANGS, {"pid": pid}))
