"""Live streams end when their person may no longer see them, in whichever process that was decided."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, event, func, select, update

from app.accounts.models import Role, Session, Tenant, User, UserRole
from app.db.session import Database
from app.main import build_site, open_site
from app.parts import Parts
from app.web.transport.streams import Watch
from tests.clock.sync_rows import connected, run
from tests.conftest import BASE_URL, Browser

HANGS_S = 60  # a stream that does not end continues for ten minutes


@pytest.fixture(scope="module")
def second_site() -> Any:
    return build_site()


@pytest.fixture
def elsewhere(second_site: Any, parts: Parts) -> Any:
    """Another process than the one where people click."""
    return open_site(second_site, parts)


@pytest.fixture
def watch(elsewhere: Any, second_site: Any) -> Watch:
    found: Watch = second_site.state.watch
    return found


@pytest.fixture
async def a_run(parts: Parts, database: Database) -> int:
    await connected(parts)
    async with database.transaction() as db:
        return await run(db, "running", progress={"resource": "employees", "page": 3, "total": 5000})


@pytest.fixture
async def follow(elsewhere: Any, watch: Watch, a_run: int) -> AsyncIterator[Callable[..., Any]]:
    """`await follow(bob)`: the stream as a task, once it is open."""
    opened: list[httpx.AsyncClient] = []

    async def begin(browser: Browser, number: int = a_run) -> "asyncio.Task[httpx.Response]":
        transport = httpx.ASGITransport(app=elsewhere)
        client = httpx.AsyncClient(transport=transport, base_url=BASE_URL, cookies=browser.cookies.jar)
        opened.append(client)
        before = len(watch._open)
        stream = asyncio.create_task(client.get(f"/clock_sync/live/{number}"))
        while len(watch._open) == before and not stream.done():  # noqa: ASYNC110 - it tells no one when it opens one
            await asyncio.sleep(0.01)
        return stream

    yield begin
    for one in opened:
        await one.aclose()


@pytest.fixture
async def bob_id(database: Database) -> int:
    return await id_of(database, "bob")


async def id_of(database: Database, short: str) -> int:
    async with database.shared_transaction() as db:
        return int(await db.scalar(select(User.id).where(User.email == f"{short}@example.org")) or 0)


async def deactivates(alice: Browser, bob: int) -> httpx.Response:
    return await alice.submit(f"/admin/users/{bob}/deactivate", {"confirmed": "1"})


async def demotes(alice: Browser, bob: int) -> httpx.Response:
    form = {"name": "Bob Brandt", "type": "staff", "roles": "Survey author"}
    return await alice.submit(f"/admin/users/{bob}/edit", form)


async def signs_out(alice: Browser, bob: int) -> httpx.Response:
    return await alice.submit(f"/admin/users/{bob}/sign-out", {"confirmed": "1"})


async def switches_the_module_off(alice: Browser, bob: int) -> httpx.Response:
    return await alice.submit("/admin/policies", {"module_surveys": "1", "optional_gap_hours": "0"})


@pytest.mark.parametrize("act", [deactivates, demotes, signs_out, switches_the_module_off])
async def test_a_stream_ends_when_an_administrator(
    act: Callable[[Browser, int], Awaitable[httpx.Response]], alice: Browser, bob: Browser, bob_id: int, follow: Any
) -> None:
    stream = await follow(bob)
    assert (await act(alice, bob_id)).status_code == 303
    answer = await asyncio.wait_for(stream, HANGS_S)
    assert "page 3" in answer.text
    assert answer.text.rstrip().endswith("event: end\r\ndata: over")


async def test_the_streams_of_others_continue(
    alice: Browser, bob: Browser, vera: Browser, bob_id: int, follow: Any
) -> None:
    ending, going_on = await follow(bob), await follow(vera)
    await signs_out(alice, bob_id)
    await asyncio.wait_for(ending, HANGS_S)
    assert not going_on.done()
    await _leave(going_on)


async def test_a_stream_ends_when_its_person_signs_out(bob: Browser, follow: Any) -> None:
    stream = await follow(bob)
    await bob.submit("/sign-out")
    assert (await asyncio.wait_for(stream, HANGS_S)).text.rstrip().endswith("data: over")


async def test_a_role_that_loses_the_permission_ends_the_streams_of_who_has_it(
    database: Database, bob: Browser, bob_id: int, follow: Any
) -> None:
    """Written to the table by a command, which ends no session."""
    stream = await follow(bob)
    async with database.shared_transaction() as db:
        theirs = select(UserRole.role_id).where(UserRole.user_id == bob_id)
        await db.execute(update(Role).where(Role.id.in_(theirs)).values(permissions=["host.people"]))
    assert (await asyncio.wait_for(stream, HANGS_S)).text.rstrip().endswith("data: over")


async def test_streams_of_a_tenant_that_is_deactivated_end(database: Database, eve: Browser, follow: Any) -> None:
    async with database.transaction("globex") as db:
        number = await run(db, "running")
    stream = await follow(eve, number)
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(active=False))
    assert (await asyncio.wait_for(stream, HANGS_S)).text.rstrip().endswith("data: over")


async def test_all_streams_of_a_process_are_asked_about_in_one_statement(
    database: Database, bob: Browser, follow: Any, watch: Watch
) -> None:
    streams = [await follow(bob) for _ in range(5)]
    asked: list[str] = []

    def note(*told: Any) -> None:
        asked.extend([told[2]] if "ANY" in told[2] and "sessions" in told[2] else [])

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    await watch._end_refused()
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    assert len(asked) == 1
    async with database.shared_transaction() as db:
        await db.execute(delete(Session))
    for stream in streams:
        await asyncio.wait_for(stream, HANGS_S)


async def test_streams_end_without_a_word_when_their_person_is_unknown(bob: Browser, follow: Any, watch: Watch) -> None:
    """So browsers connect again, and are asked who they are."""
    stream = await follow(bob)
    watch._database = Database("postgresql://stranger@127.0.0.1:1/nothing")
    answer = await asyncio.wait_for(stream, HANGS_S)
    assert "event: end" not in answer.text
    await watch._database.close()


async def test_rights_that_grow_end_nothing(
    database: Database, bob: Browser, bob_id: int, follow: Any, watch: Watch
) -> None:
    stream = await follow(bob)
    async with database.shared_transaction() as db:
        theirs = select(UserRole.role_id).where(UserRole.user_id == bob_id)
        more = func.array_append(Role.permissions, "admin.users")
        await db.execute(update(Role).where(Role.id.in_(theirs)).values(permissions=more))
    await watch._end_refused()
    await asyncio.sleep(0)
    assert not stream.done()
    await _leave(stream)


async def _leave(stream: "asyncio.Task[httpx.Response]") -> None:
    stream.cancel()
    await asyncio.gather(stream, return_exceptions=True)
