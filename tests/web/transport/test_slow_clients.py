"""Clients that take their time, over a real socket: they are told so, in their turn, and keep no one else waiting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from app.db.session import Database
from app.web.transport import body, wire
from app.web.transport.body import FROM_ANYBODY, LARGEST, patience_s
from app.web.transport.wire import ANSWER, Wire
from tests.conftest import Browser
from tests.serving import served

SOON_S = 0.3
FOR_EVER_S = 60.0
URL_ENCODED = "application/x-www-form-urlencoded"
TOKEN_PATH = "/v1/api/auth/token"


@pytest.fixture
async def port(app: Any) -> AsyncIterator[int]:
    async with served(app, grace_s=1) as (url, _):
        yield urlsplit(url).port or 0


class Answer(NamedTuple):
    status: int
    head: str
    text: str


class Caller:
    """A connection of somebody who writes it by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def post(self, path: str, announced: int, sent: bytes = b"", **headers: str) -> None:
        given = {"Host": "testserver", "Content-Length": str(announced), "Content-Type": URL_ENCODED, **headers}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items())
        await self.write(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + sent)

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        async with asyncio.timeout(FOR_EVER_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            return Answer(int(head[9:12]), head, (await self.reader.readexactly(length)).decode())

    async def rest(self) -> bytes:
        """What comes until the server ends the connection."""
        async with asyncio.timeout(FOR_EVER_S):
            return await self.reader.read()


@asynccontextmanager
async def call(port: int, *, window: int = 2**16) -> AsyncIterator[Caller]:
    """`window`: how many bytes are read ahead of the test."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=window)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """With bodies."""
    monkeypatch.setattr(body, "GRACE_S", SOON_S)


@pytest.mark.parametrize(
    ("received", "seconds"),
    [(0, 10), (1, 10 + 1 / 1024), (1024, 11), (20 * 1024, 30), (FROM_ANYBODY, 30), (FROM_ANYBODY + 16 * 1024, 31), (LARGEST, 666)],
)  # fmt: skip
def test_a_body_needs_a_least_rate_and_has_its_time(received: int, seconds: float) -> None:
    assert patience_s(received) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("path", "headers", "status", "says"),
    [
        (TOKEN_PATH, {"Content_Type": "application/json"}, 408, '"code":"request_timeout"'),
        ("/sign-in", {}, 408, "The request took too long to arrive."),
        ("/v1/api/me/app-rating", {"Authorization": "Bearer none"}, 401, '"code":"unauthorized"'),
        ("/v1/api/me/nothing", {}, 404, '"code":"not_found"'),
        ("/people/add", {}, 303, ""),
        ("/nothing", {}, 404, "This was not found."),
    ],
)
@pytest.mark.usefixtures("impatient")
async def test_a_body_that_comes_too_slowly_is_answered_in_its_turn(
    port: int, path: str, headers: dict[str, str], status: int, says: str
) -> None:
    async with call(port) as caller:
        await caller.post(path, 500, b'{"email"', **headers)
        answer = await caller.answer()
        assert (answer.status, says in answer.text) == (status, True)
        if status == 408:
            assert "connection: close" in answer.head
            assert await caller.rest() == b""


async def test_senders_that_never_finish_hold_no_connection_to_the_database(port: int, visitor: Browser) -> None:
    async with AsyncExitStack() as stack:
        for number in range(20):
            caller = await stack.enter_async_context(call(port))
            await caller.post(("/sign-in", TOKEN_PATH)[number % 2], 500, b"email=ada")
        await asyncio.sleep(SOON_S)
        assert (await visitor.get("/sign-in")).status_code == 200


async def test_a_method_that_takes_no_body_does_not_wait_for_one(port: int) -> None:
    async with call(port) as caller:
        await caller.write(b"GET /sign-in HTTP/1.1\r\nHost: testserver\r\nContent-Length: 500\r\n\r\n")
        assert (await caller.answer()).status == 200


def _cookie(browser: Browser) -> str:
    return "; ".join(f"{one.name}={one.value}" for one in browser.cookies.jar)


@pytest.mark.parametrize(("path", "status"), [("/sign-in", 413), ("/people/add", 303), (TOKEN_PATH, 413)])
async def test_of_strangers_no_more_is_read_than_memory_is_for(port: int, path: str, status: int) -> None:
    async with call(port) as caller:
        await caller.post(path, 5_000_000, b"x" * (FROM_ANYBODY + 1), Cookie="muster=made-up")
        assert (await caller.answer()).status == status


async def test_a_session_may_send_more(alice: Browser) -> None:
    answer = await alice.submit("/people/add", {"name": "Ada", "note": "x" * 2_000_000})
    assert answer.status_code == 422, "an ID number is needed: the form was read to its end"


async def test_but_not_more_than_the_largest_upload(port: int, alice: Browser) -> None:
    async with call(port) as caller:
        await caller.post("/people/add", LARGEST + 1, Cookie=_cookie(alice))
        assert (await caller.answer()).status == 413
    form = {"Content-Type": URL_ENCODED}
    assert (await alice.post("/people/add", content=_more_than_the_largest(), headers=form)).status_code == 413


async def _more_than_the_largest() -> AsyncIterator[bytes]:
    for _ in range(LARGEST // 2**20 + 1):
        yield b"x" * 2**20


async def test_an_upload_that_pauses_holds_no_connection_to_the_database(
    port: int, alice: Browser, database: Database
) -> None:
    async with call(port) as caller:
        await caller.post("/people/add", 5_000_000, b"x" * 200_000, Cookie=_cookie(alice))
        await asyncio.sleep(SOON_S)
        assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


@pytest.fixture
def watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """With connections."""
    monkeypatch.setattr(wire, "LOOK_S", 0.02)
    monkeypatch.setattr(Wire, "limits", dict.fromkeys(Wire.limits, SOON_S))


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"GET /people HTTP/1.1\r\nHost: testserver\r\nX-More: ", b"The request took too long to arrive."),
        (b"GET /api/v1/clock/status HTTP/1.1\r\n", b'"code":"request_timeout"'),
        (b"\r\n\r\n", b"The request took too long to arrive."),
    ],
)
@pytest.mark.usefixtures("watchful")
async def test_a_head_that_comes_too_slowly_is_refused(port: int, head: bytes, says: bytes) -> None:
    async with call(port) as caller:
        await caller.write(head)
        answer = await caller.rest()
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert says in answer
    assert b"Content-Security-Policy: default-src 'self'" in answer


@pytest.mark.usefixtures("watchful")
async def test_a_connection_on_which_nothing_was_asked_ends_without_a_word(port: int) -> None:
    async with call(port) as caller:
        assert await caller.rest() == b""


@pytest.mark.usefixtures("watchful")
async def test_one_on_which_something_was_asked_may_wait_for_the_next(port: int) -> None:
    async with call(port) as caller:
        for _ in range(2):
            await caller.write(b"GET /health/live HTTP/1.1\r\nHost: testserver\r\n\r\n")
            assert (await caller.answer()).status == 200
            await asyncio.sleep(2 * SOON_S)
        await caller.write(b"G")
        assert (await caller.answer()).status == 408


async def test_a_head_without_end_is_refused(port: int) -> None:
    async with call(port) as caller:
        await caller.write(b"GET / HTTP/1.1\r\nX-More: " + b"x" * wire.LARGEST_HEAD)
        assert (await caller.rest()).startswith(b"HTTP/1.1 400 ")


@pytest.mark.usefixtures("watchful")
async def test_what_a_refused_upload_still_sends_is_taken_for_a_while(port: int, alice: Browser) -> None:
    async with call(port) as caller:
        await caller.post("/people/add", LARGEST + 1, b"x" * 1000, Cookie=_cookie(alice))
        assert (await caller.answer()).status == 413
        await caller.write(b"x" * 1000)
        assert await caller.rest() == b""


class _Endless:
    """An answer without end, in pieces; notes when its reader was given up."""

    def __init__(self) -> None:
        self.is_over = asyncio.Event()
        self.sent = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        ended = asyncio.create_task(receive())
        while not ended.done() or (await ended)["type"] != "http.disconnect":
            ended = asyncio.create_task(receive()) if ended.done() else ended
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            self.sent += 65536
            await asyncio.sleep(0)
        self.is_over.set()


@pytest.mark.usefixtures("watchful")
async def test_a_person_who_stops_reading_is_given_up() -> None:
    endless = _Endless()
    async with served(endless, grace_s=1) as (url, _), call(urlsplit(url).port or 0) as caller:
        await caller.write(b"GET / HTTP/1.1\r\nHost: testserver\r\n\r\n")
        async with asyncio.timeout(FOR_EVER_S):
            await endless.is_over.wait()


@pytest.mark.usefixtures("watchful")
async def test_a_person_who_reads_on_slowly_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wire, "limits", {ANSWER: 5 * SOON_S})
    endless = _Endless()
    async with served(endless, grace_s=1) as (url, _), call(urlsplit(url).port or 0) as caller:
        await caller.write(b"GET / HTTP/1.1\r\nHost: testserver\r\n\r\n")
        for _ in range(60):
            assert await caller.reader.read(2**20)
            await asyncio.sleep(SOON_S / 6)
        assert not endless.is_over.is_set()
