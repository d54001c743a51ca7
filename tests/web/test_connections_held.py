"""Pages whose work opens transactions of its own let go of the request's first:
many at once would else wait for each other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from sqlalchemy import text

from app.db import session
from app.db.session import Database
from app.parts import Parts
from tests.clock.syncing import site
from tests.conftest import Browser
from tests.host.signing_in import ANOTHER, PASSWORD, give_password, submit_sign_in

# A sign-in to the time clock holds the turn of its workspace while it reads and saves the session.
SIGNING_IN_THERE = 2


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE_S", 1)


@asynccontextmanager
async def left(database: Database, connections: int) -> AsyncIterator[None]:
    """All others are taken."""
    async with AsyncExitStack() as stack:
        for _ in range(database.engine.pool.size() - connections):  # type: ignore[attr-defined]
            await stack.enter_async_context(database.shared_transaction())
        yield


async def test_signing_in_holds_one_connection(visitor: Browser, database: Database) -> None:
    await give_password(database, "bob")
    async with left(database, 1):
        assert (await submit_sign_in(visitor, "bob")).status_code == 303


async def test_a_wrong_password_holds_one_connection(visitor: Browser, database: Database) -> None:
    await give_password(database, "bob")
    async with left(database, 1):
        assert (await submit_sign_in(visitor, "bob", password=ANOTHER)).status_code == 422


async def test_asking_for_the_password_again_holds_one_connection(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    async with left(database, 1):
        answer = await bob.submit("/account/password", {"current": PASSWORD, "password": ANOTHER})
    assert answer.status_code == 303


async def schedule(browser: Browser, who: int) -> bool:
    answer = await browser.fragment(f"/clock_employees/{who}/schedule")
    return '<th scope="row"' in answer.text


async def photo(browser: Browser, who: int) -> bool:
    return (await browser.get(f"/clock_employees/{who}/photo")).status_code == 200


async def connection_test(browser: Browser, _who: int) -> bool:
    return "The connection works." in (await browser.submit("/clock_settings/connection/test")).text


@pytest.mark.parametrize("ask", [schedule, photo, connection_test])
async def test_asking_the_time_clock_holds_those_of_its_sign_in_alone(
    parts: Parts, database: Database, alice: Browser, ask: Callable[[Browser, int], Awaitable[bool]]
) -> None:
    async with site(parts) as here:
        await here.sync()
        async with database.transaction() as db:
            await db.execute(text("INSERT INTO clock_settings (name, value) VALUES ('show_photos', 'true')"))
            await db.execute(text("UPDATE clock_connections SET tokens = NULL"))
        who = await here.scalar("SELECT min(id) FROM clock_employees WHERE photo_ref IS NOT NULL")
        async with left(database, SIGNING_IN_THERE):
            assert await ask(alice, who)
