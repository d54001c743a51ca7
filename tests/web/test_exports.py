"""Exports have connections of their own, few of them, and keep none for a slow reader."""

import asyncio
import csv
import gc
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import date
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from litestar.datastructures import MultiDict
from sqlalchemy import insert, text

from app.db import session
from app.db.session import Database
from app.host.models import KioskEnrolment
from app.host.pages import attendance_list
from app.host.pages.attendance_views import EVERYTHING
from app.parts import Parts
from app.web import exports
from app.web.lists import asked
from app.web.transport import ahead
from app.web.transport.ahead import Ahead
from tests.clock.mirrored import employ
from tests.conftest import Browser
from tests.serving import served

URL = "/people?export=csv"
SOON_S = 0.2
PATIENCE_S = 60
TODAY = date(2026, 11, 25)
MANY_PEOPLE = "INSERT INTO employees (name, id_number, id_number_key) SELECT repeat('Ada ', 50), n, n FROM generate_series(1, 15000) n"


class SomebodyWhoMay:
    def may(self, _permission: str) -> bool:
        return True


@pytest.fixture
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE_S", 1)


async def take_all(stack: AsyncExitStack, database: Database, *, but: int = 0) -> None:
    for _ in range(database.engine.pool.size() - but):  # type: ignore[attr-defined]
        await stack.enter_async_context(database.shared_transaction())


async def test_a_cell_that_a_spreadsheet_would_run_is_guarded_even_where_it_is_a_list(
    alice: Browser, parts: Parts
) -> None:
    async with parts.database.transaction() as db:
        people = [{"name": "=1+1", "code": "@SUM(1)"}, {"name": "Ada", "code": "7"}]
        for number, person in enumerate(people):
            owner = await employ(db, person["name"], f"{number}")
            await db.execute(insert(KioskEnrolment).values(code=person["code"], employee_id=owner))
    rows = list(csv.DictReader((await alice.get(URL)).text.splitlines()))
    assert {(row["Name"], row["Kiosk codes"]) for row in rows} == {("'=1+1", "'@SUM(1)"), ("Ada", "7")}


@pytest.mark.parametrize(
    ("days", "about", "name"),
    [
        ({}, None, "attendance-2026-11-25"),
        ({"from": "2026-11-01", "to": "2026-11-30"}, None, "attendance-2026-11-01-to-2026-11-30"),
        ({"from": "2026-11-01"}, None, "attendance-from-2026-11-01"),
        ({"to": "2026-11-30"}, None, "attendance-until-2026-11-30"),
        ({"period": "last-month"}, None, "attendance-2026-10-01-to-2026-10-31"),
        ({"period": "yesterday"}, None, "attendance-2026-11-24-to-2026-11-24"),
        ({"from": "soon"}, None, "attendance-2026-11-25"),
        ({}, TODAY, "attendance-2026-11-25-to-2026-11-25"),
    ],
)
def test_a_file_is_named_after_the_days_that_it_holds(days: dict[str, str], about: date | None, name: str) -> None:
    spec = replace(
        attendance_list.spec_of("/attendance", ZoneInfo("UTC"), SomebodyWhoMay(), EVERYTHING, "-workday"),  # type: ignore[arg-type]
        today=TODAY,
        days=(about, about) if about else None,
    )
    assert exports.file_name(spec, asked(spec, MultiDict(days)), TODAY) == name


@pytest.mark.parametrize(
    "url", ["/attendance", "/clock_transactions", "/clock_analytics", "/clock_logs", "/surveys/responses",
            "/surveys/ratings", "/admin/audit", "/attendance/locks"]
)  # fmt: skip
async def test_each_list_with_days_names_its_file_after_them(alice: Browser, url: str) -> None:
    answer = await alice.get(f"{url}?from=2026-11-01&to=2026-11-30&export=csv")
    assert answer.headers["content-disposition"].endswith('-2026-11-01-to-2026-11-30.csv"')


@pytest.mark.usefixtures("_little_patience")
async def test_over_the_limit_an_export_is_put_off_and_pages_are_not(alice: Browser, parts: Parts) -> None:
    async with AsyncExitStack() as stack:
        await take_all(stack, parts.exports)
        answer = await alice.get(URL)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
        assert "Too many exports are being made right now. Try again in 30 seconds." in answer.text
        assert 'class="shell-workspace"' in answer.text
        assert (await alice.get("/people")).status_code == 200
    assert (await alice.get(URL)).status_code == 200


@pytest.mark.usefixtures("_little_patience")
async def test_an_export_that_waits_in_line_holds_none_of_the_pages_connections(alice: Browser, parts: Parts) -> None:
    async with AsyncExitStack() as stack:
        await take_all(stack, parts.database, but=1)
        await take_all(stack, parts.exports)
        waiting = asyncio.create_task(alice.get(URL))
        await asyncio.sleep(SOON_S)
        assert (await alice.get("/people")).status_code == 200
        assert (await waiting).status_code == 503


async def test_more_than_so_many_files_are_not_kept_at_once(
    alice: Browser, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_OPEN", 0)
    assert (await alice.get(URL)).status_code == 503
    monkeypatch.undo()
    for _ in range(exports.MOST_OPEN + 1):
        assert (await alice.get(URL)).status_code == 200
    assert not parts.exports.engine.pool.checkedout()  # type: ignore[attr-defined]


async def test_readers_who_leave_make_room_at_once(
    app: object, alice: Browser, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting until Python looks for garbage: what a reader left behind is part of a cycle."""
    monkeypatch.setattr(exports, "MOST_OPEN", 2)
    async with parts.database.transaction() as db:
        await db.execute(text(MANY_PEOPLE))
    cookie = "; ".join(f"{one.name}={one.value}" for one in alice.cookies.jar)
    gc.collect()
    gc.disable()
    try:
        async with served(app, grace_s=1) as (url, _):
            for _ in range(exports.MOST_OPEN + 1):
                async with asyncio.timeout(PATIENCE_S):
                    while any(not one.has_ended for one in exports._open):  # noqa: ASYNC110 - there is no event of it
                        await asyncio.sleep(0.01)
                reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
                writer.write(f"GET {URL} HTTP/1.1\r\nHost: testserver\r\nCookie: {cookie}\r\n\r\n".encode())
                assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
                writer.transport.abort()
    finally:
        gc.enable()


async def test_readers_who_never_read_keep_no_connection_to_the_database(
    app: object, alice: Browser, parts: Parts
) -> None:
    async with parts.database.transaction() as db:
        await db.execute(text(MANY_PEOPLE))
    cookie = "; ".join(f"{one.name}={one.value}" for one in alice.cookies.jar)
    async with served(app, grace_s=1) as (url, _), AsyncExitStack() as stack:
        many = 2 * parts.settings.export_pool
        for _ in range(many):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", urlsplit(url).port))
            line.send(f"GET {URL} HTTP/1.1\r\nHost: testserver\r\nCookie: {cookie}\r\n\r\n".encode())
        await asyncio.sleep(SOON_S)
        assert (await alice.get("/people")).status_code == 200
        async with asyncio.timeout(PATIENCE_S):
            while len(exports._open) < many or parts.exports.engine.pool.checkedout():  # type: ignore[attr-defined]  # noqa: ASYNC110 - there is no event of either
                await asyncio.sleep(SOON_S)
        assert (await alice.get(URL)).text.count("\n") == 15001


class TestAhead:
    """Bytes written ahead of their reader."""

    @staticmethod
    async def source(*pieces: bytes | Exception) -> AsyncIterator[bytes]:
        for piece in pieces:
            await asyncio.sleep(0)
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def test_they_come_as_they_were_written_in_memory_or_not(self) -> None:
        pieces = [bytes([number]) * 100_000 for number in range(20)]
        assert b"".join([one async for one in Ahead(self.source(*pieces)).pieces()]) == b"".join(pieces)

    async def test_the_source_ends_before_anybody_reads(self) -> None:
        ended = asyncio.Event()

        async def source() -> AsyncIterator[bytes]:
            yield b"a"
            yield b"b"
            ended.set()

        written = Ahead(source())
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()
        assert [one async for one in written.pieces()] == [b"ab"]

    async def test_what_fails_first_is_met_before_the_answer_begins(self) -> None:
        with pytest.raises(OSError, match="gone"):
            await Ahead(self.source(OSError("gone"))).begin()

    async def test_what_fails_later_is_met_behind_what_was_written(self) -> None:
        written = Ahead(self.source(b"a", OSError("gone")))
        await written.begin()
        reading = written.pieces()
        assert await anext(reading) == b"a"
        with pytest.raises(OSError, match="gone"):
            await anext(reading)

    async def test_nothing_at_all_is_an_end_too(self) -> None:
        written = Ahead(self.source())
        await written.begin()
        assert [one async for one in written.pieces()] == []

    async def test_a_person_who_leaves_ends_the_source(self) -> None:
        ended = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"a"
                    await asyncio.sleep(0)
            finally:
                ended.set()

        reading = Ahead(endless()).pieces()
        assert await anext(reading)
        await reading.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()

    async def test_a_reader_has_its_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ahead, "LONGEST_S", -1.0)
        with pytest.raises(TimeoutError):
            await anext(Ahead(self.source(b"a")).pieces())
