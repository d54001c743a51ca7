"""Answers on the wire: the encoding that the client likes, the same bytes in it, and no secret page compressed."""

import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from app.db.session import Database
from app.host.models import Employee
from app.web.transport import compressing
from app.web.transport.compressing import Compressing, chosen
from tests.conftest import Browser
from tests.host.signing_in import user_id_of

LONG = b"<p>Ada Lovelace, 07:58</p>" * 100
HTML = (b"content-type", b"text/html; charset=utf-8")
OPEN = {"br": brotli.decompress, "gzip": gzip.decompress}


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0.5, gzip;q=1.0", "gzip"),
        ("gzip;q=0.5, br;q=0.5", "br"),
        ("*", "br"),
        ("br;q=0, *", "gzip"),
        ("gzip;q=0, br;q=0, *;q=1", None),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("*;q=0", None),
        ("deflate", None),
        ("X-GZIP", "gzip"),
        ("GZip;Q=0.1", "gzip"),
        ("gzip;q=much", None),
        ("gzip;q=7", None),
        ("gzip;q=nan", None),
        ("brotli", None),
        (",,gzip;;q=1,", "gzip"),
    ],
)
def test_the_client_gets_what_it_likes_best(accepted: str, encoding: str | None) -> None:
    assert chosen(accepted) == encoding


@given(st.text(max_size=40))
def test_any_header_is_read(accepted: str) -> None:
    assert chosen(accepted) in (None, "br", "gzip")


class Wire:
    """What goes out for a body in pieces, under the headers of an answer."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: list[bytes] = []

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.headers = list(message["headers"])
        else:
            self.pieces.append(message["body"])

    def named(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]


async def sent(
    *pieces: bytes,
    accepts: bytes = b"br",
    status: int = 200,
    headers: Any = (HTML,),
    method: str = "GET",
    in_pieces: bool = False,
) -> Wire:
    wire = Wire()
    scope: Any = {"type": "http", "method": method, "headers": [(b"accept-encoding", accepts)]}
    send = Compressing(wire, scope)  # type: ignore[arg-type]
    lengths = [(b"content-length", str(len(pieces[0])).encode())] if len(pieces) == 1 and not in_pieces else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *lengths]})
    for n, piece in enumerate(pieces):
        await send({"type": "http.response.body", "body": piece, "more_body": n + 1 < len(pieces)})
    return wire


@pytest.mark.parametrize("encoding", OPEN)
async def test_a_page_comes_whole_with_its_length(encoding: str) -> None:
    wire = await sent(LONG, accepts=encoding.encode())
    [body] = wire.pieces
    assert OPEN[encoding](body) == LONG
    assert wire.named(b"content-encoding") == [encoding.encode()]
    assert wire.named(b"content-length") == [str(len(body)).encode()]
    assert wire.named(b"vary") == [b"Accept-Encoding"]


@pytest.mark.parametrize("encoding", OPEN)
async def test_a_long_page_is_the_same_off_the_loop(encoding: str) -> None:
    body = LONG * 40
    assert len(body) > compressing.OFF_THE_LOOP
    wire = await sent(body, accepts=encoding.encode())
    assert OPEN[encoding](wire.pieces[0]) == body


@pytest.mark.parametrize(
    ("how", "status", "headers"),
    [
        ("an event stream", 200, [(b"content-type", b"text/event-stream; charset=utf-8")]),
        ("a picture", 200, [(b"content-type", b"image/png")]),
        ("a font", 200, [(b"content-type", b"font/woff2")]),
        ("what has no type", 200, []),
        ("what is encoded already", 200, [HTML, (b"content-encoding", b"br")]),
        ("a secret", 200, [HTML, (b"cache-control", b"no-store, no-transform")]),
        ("a part", 206, [HTML]),
        ("what has not changed", 304, [HTML]),
    ],
)
async def test_left_as_it_is(how: str, status: int, headers: Any) -> None:
    wire = await sent(LONG, status=status, headers=headers)
    assert wire.pieces == [LONG], how
    assert wire.named(b"content-length") == [str(len(LONG)).encode()]


@pytest.mark.parametrize("accepts", [b"br", b"identity", b"gzip;q=0"])
async def test_a_short_body_is_left_but_caches_are_told(accepts: bytes) -> None:
    wire = await sent(b"x" * (compressing.SMALLEST - 1), accepts=accepts)
    assert wire.named(b"content-encoding") == []
    assert wire.named(b"vary") == [b"Accept-Encoding"]


@pytest.mark.parametrize("accepts", [b"br", b"gzip", b""])
@pytest.mark.parametrize("pieces", [(LONG,), (b"short",), (LONG, LONG, b"")])
async def test_a_head_is_told_what_a_get_would_be(accepts: bytes, pieces: tuple[bytes, ...]) -> None:
    got = await sent(*pieces, accepts=accepts)
    # A body in pieces is not begun for it.
    asked = await sent(
        *(pieces if len(pieces) == 1 else [b""]), accepts=accepts, method="HEAD", in_pieces=len(pieces) > 1
    )
    assert sorted(asked.headers) == sorted(got.headers)
    assert asked.pieces == [b""]


async def test_an_etag_of_other_bytes_is_weak() -> None:
    for etag, said in ((b'"7"', b'W/"7"'), (b'W/"7"', b'W/"7"')):
        assert (await sent(LONG, headers=[HTML, (b"etag", etag)])).named(b"etag") == [said]
    assert (await sent(LONG, headers=[HTML, (b"etag", b'"7"')], accepts=b"")).named(b"etag") == [b'"7"']


def opened_so_far(encoding: str, pieces: list[bytes]) -> Iterator[bytes]:
    """What a client can read after each piece, before the next has come."""
    brotli_stream, gzip_stream = brotli.Decompressor(), zlib.decompressobj(16 + zlib.MAX_WBITS)
    for piece in pieces:
        yield brotli_stream.process(piece) if encoding == "br" else gzip_stream.decompress(piece)


@pytest.mark.parametrize("encoding", OPEN)
async def test_each_piece_of_a_stream_can_be_read_at_once(encoding: str) -> None:
    pieces = [b"Name,Code\r\n", LONG, b"", b"Ada,7\r\n", b""]
    wire = await sent(*pieces, accepts=encoding.encode())
    assert list(opened_so_far(encoding, wire.pieces)) == pieces
    assert OPEN[encoding](b"".join(wire.pieces)) == b"".join(pieces)
    assert wire.named(b"content-length") == []


async def bytes_of(browser: Browser, url: str, encoding: str) -> tuple[bytes, str | None]:
    """The body as it came over the wire, and the encoding that the answer names."""
    async with browser.stream("GET", url, headers={"Accept-Encoding": encoding}) as answer:
        assert answer.status_code == 200
        body = b"".join([piece async for piece in answer.aiter_raw()])
        return body, answer.headers.get("content-encoding")


@pytest.fixture
async def many_people(database: Database) -> None:
    async with database.transaction() as db:
        rows = [{"name": f"Person {n}", "id_number": f"{n}", "id_number_key": f"{n}"} for n in range(300)]
        await db.execute(insert(Employee), rows)


@pytest.mark.usefixtures("many_people")
@pytest.mark.parametrize("url", ["/people?export=csv", "/people?export=jsonl", "/static/css/shell.css"])
async def test_what_is_served_is_the_same_in_each_encoding(alice: Browser, url: str) -> None:
    plain, named = await bytes_of(alice, url, "identity")
    assert named is None
    for encoding, opened in OPEN.items():
        packed, named = await bytes_of(alice, url, encoding)
        assert named == encoding
        assert opened(packed) == plain
        assert len(packed) < len(plain) / 2


@pytest.mark.usefixtures("many_people")
async def test_a_list_takes_a_fifth_of_its_bytes(alice: Browser) -> None:
    plain, _ = await bytes_of(alice, "/people", "identity")
    packed, _ = await bytes_of(alice, "/people", "br")
    assert len(packed) < len(plain) / 5


async def test_no_page_that_shows_a_secret_is_compressed(database: Database, alice: Browser) -> None:
    alice.headers["accept-encoding"] = "br"
    pages = [
        await alice.get("/account/second-factor"),
        await alice.submit("/account/tokens/new", {"name": "t", "scopes": ["me"], "life": "30"}, follow_redirects=True),
        await alice.submit(f"/admin/users/{await user_id_of(database, 'bob')}/link", follow_redirects=True),
    ]
    for answer in pages:
        assert answer.status_code == 200, answer.text
        assert "copyable" in answer.text
        assert answer.headers["cache-control"] == "no-store, no-transform"
        assert "content-encoding" not in answer.headers
    # One that shows none comes compressed: the client of this test would have taken it.
    assert (await alice.get("/account")).headers["content-encoding"] == "br"
