"""Senders who go away in the middle of their body, over a real socket:
nothing is done, and no person is woken for it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select
from structlog.testing import capture_logs

from app.accounts.models import AuditEntry, Session
from app.clock.models import SyncRun
from app.db.session import Database
from app.parts import Parts
from tests.clock.sync_rows import connected, run
from tests.conftest import Browser
from tests.serving import served

URL_ENCODED = "application/x-www-form-urlencoded"
PIECES = {
    URL_ENCODED: b"back=%2Fclo",
    "multipart/form-data; boundary=xx": b'--xx\r\nContent-Disposition: form-data; name="back"\r\n\r\n/clo',
}


@pytest.fixture
async def address(app: Any) -> AsyncIterator[tuple[str, int]]:
    async with served(app, grace_s=1) as (url, _):
        yield "127.0.0.1", urlsplit(url).port or 0


class Answered(list[int]):
    """The statuses that a server began to answer with, when there may be no reader left."""

    def __call__(self, app: Any) -> Any:
        async def listening(scope: Any, receive: Any, send: Any) -> None:
            async def heard(message: Any) -> None:
                if message["type"] == "http.response.start":
                    self.append(message["status"])
                await send(message)

            await app(scope, receive, heard)

        return listening


@pytest.fixture
def answered() -> Answered:
    return Answered()


@pytest.fixture
def app(app: Any, answered: Answered) -> Any:
    return answered(app)


async def leave_within(
    address: tuple[str, int], answered: Answered, path: str, piece: bytes, **headers: str
) -> list[dict[str, Any]]:
    """Sends `piece` of a longer body, goes away, waits for the server to be done with it,
    and returns what it logged."""
    given = {"Host": "testserver", "Content-Length": "5000", "Content-Type": URL_ENCODED, **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
    with capture_logs() as logged:
        _, writer = await asyncio.open_connection(*address)
        writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + piece)
        await writer.drain()
        await asyncio.sleep(0.2)  # the handler has begun, or would have
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(10):
            while not answered:  # noqa: ASYNC110 - the server is on the other side of a socket
                await asyncio.sleep(0.02)
    return [line for line in logged if line["log_level"] in ("warning", "error", "critical")]


def _session(browser: Browser) -> dict[str, str]:
    cookie = "; ".join(f"{one.name}={one.value}" for one in browser.cookies.jar)
    return {"Cookie": cookie, "X_CSRF_Token": browser.csrf_token}


@pytest.mark.parametrize("kind", PIECES)
async def test_a_form_that_breaks_off_stops_no_run(
    address: tuple[str, int], answered: Answered, parts: Parts, bob: Browser, kind: str
) -> None:
    await connected(parts)
    async with parts.database.transaction() as db:
        number = await run(db, "running")
    logged = await leave_within(
        address, answered, f"/clock_sync/runs/{number}/stop", PIECES[kind], Content_Type=kind, **_session(bob)
    )
    assert (answered, logged) == ([400], [])
    async with parts.database.transaction() as db:
        assert not await db.scalar(select(SyncRun.stop_requested))
        assert not await db.scalar(
            select(func.count()).select_from(AuditEntry).where(AuditEntry.act == "clock.sync.stop")
        )


async def test_an_act_that_reads_no_field_waits_for_all_of_the_form_too(
    address: tuple[str, int], answered: Answered, database: Database, bob: Browser
) -> None:
    assert await leave_within(address, answered, "/sign-out", b"a=", **_session(bob)) == []
    assert answered == [400]
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Session)) == 1


async def test_a_form_with_its_token_in_a_field_is_no_fault_of_ours_either(
    address: tuple[str, int], answered: Answered
) -> None:
    assert await leave_within(address, answered, "/sign-in", b"email=ada%40") == []
    assert answered == [400]


async def test_neither_is_a_body_of_an_api(address: tuple[str, int], answered: Answered) -> None:
    piece = b'{"email": "alice@exam'
    assert await leave_within(address, answered, "/v1/api/auth/token", piece, Content_Type="application/json") == []
    assert answered == [400]
