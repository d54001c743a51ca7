"""The database server goes away in the middle of a request, once who asks is known:
503, whichever way the next statement goes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, update

from app.accounts.models import ApiToken
from app.db.session import Database
from tests.cluster import DatabaseUrls
from tests.surveys.asking.test_queue import eve, nora, publish
from tests.surveys.calling import QUEUE, App, refused

__all__ = ["eve", "nora"]


@contextmanager
def lost_after_a_statement(database: Database, urls: DatabaseUrls) -> Iterator[None]:
    lost: list[int] = []

    def lose(connection: Any, *_: Any) -> None:
        if not lost:
            lost.append(connection.connection.driver_connection.get_server_pid())
            with psycopg.connect(urls.app.replace("+asyncpg", "")) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", lost)

    event.listen(database.engine.sync_engine, "after_cursor_execute", lose)
    try:
        yield
    finally:
        event.remove(database.engine.sync_engine, "after_cursor_execute", lose)


@pytest.mark.parametrize("asked", ["a reply", "the queue"])
async def test_a_lost_server_is_a_refusal(nora: App, database: Database, urls: DatabaseUrls, asked: str) -> None:
    survey = await publish(database, "Lunch")
    await nora.queue()
    async with database.shared_transaction() as db:
        # So that it is noted, by the one statement that goes through SQLAlchemy.
        await db.execute(update(ApiToken).values(last_used_at=None))
    with lost_after_a_statement(database, urls):
        answer = await (nora.respond(survey.uid, "decline") if asked == "a reply" else nora.get(QUEUE))
    assert refused(answer) == (503, "unavailable")
    await nora.queue()  # the next request gets a connection that works
