"""Compresses answers with brotli or gzip, if they are text, long enough, and contain no secret.

A page that shows a secret once says `no-transform` (app.web.pages.shown_once). Otherwise its compressed length,
together with what an attacker can put into the page, would reveal the secret.
"""

import asyncio
import zlib
from collections.abc import Iterable, Mapping
from typing import Protocol

import brotli
from litestar.types import HTTPResponseStartEvent, Message, Scope, Send

SMALLEST = 1024  # In bytes. A shorter answer, with its headers, would not become smaller.
OFF_THE_LOOP = 48 * 1024  # Compressing so many bytes takes longer than handing them to a thread and back.
BROTLI_QUALITY, GZIP_LEVEL = 4, 5
# In bits: how far back the compressor looks, which decides the memory for one answer.
WINDOW = 18
GZIP_HEAD = 16  # Makes zlib write the head and the end of a gzip file.
IN_ORDER = ("br", "gzip")
TEXTS = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/manifest+json",
        "application/problem+json",
        "application/vnd.oai.openapi+json",
        "application/x-ndjson",
        "application/xml",
        "image/svg+xml",
    }
)
WITHOUT_BODY = frozenset({204, 206, 304})
Headers = Iterable[tuple[bytes, bytes]]
_VARY = (b"vary", b"Accept-Encoding")


class _Compressor(Protocol):
    def process(self, data: bytes) -> bytes: ...
    def flush(self) -> bytes: ...
    def finish(self) -> bytes: ...


def chosen(accepted: str) -> str | None:
    """The encoding for an Accept-Encoding header, "" when there is no header: of those that the client likes best the
    denser one, and None for uncompressed bytes (RFC 9110, 12.5.3)."""
    weights = _weights(accepted)
    likes = {name: weights.get(name, weights.get("*", 0.0)) for name in IN_ORDER}
    best = max(IN_ORDER, key=lambda name: likes[name])
    as_it_is = weights.get("identity", 0.0)
    return best if likes[best] > 0 and likes[best] >= as_it_is else None


def _weights(accepted: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, *parameters = (one.strip() for one in part.split(";"))
        quality = next((one[2:] for one in parameters if one.startswith("q=")), "1")
        try:
            weight = float(quality)
        except ValueError:
            weight = 0.0
        if name:
            weights["gzip" if name == "x-gzip" else name] = weight if 0 <= weight <= 1 else 0.0
    return weights


class Compressing:
    """A `send` that holds the head back until the body begins. To a HEAD it sends the head of a GET, and no body."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._only_head = scope.get("method") == "HEAD"
        self._accepted = [value.decode("latin-1") for key, value in scope["headers"] if key == b"accept-encoding"]
        self._start: HTTPResponseStartEvent | None = None
        self._compressor: _Compressor | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if is_text(message["status"], message["headers"]):
                self._start = message
            else:
                await self._send(message)
        elif message["type"] == "http.response.body" and (self._start or self._compressor):
            await self._body(message["body"], more_body=message["more_body"])
        else:
            await self._send(message)

    async def _body(self, body: bytes, *, more_body: bool) -> None:
        start, self._start = self._start, None
        if start is None:
            await self._piece(body, more_body=more_body)
            return
        comes_in_pieces = more_body or (self._only_head and not names_its_length(start["headers"]))
        long_enough = comes_in_pieces or len(body) >= SMALLEST
        encoding = chosen(",".join(self._accepted)) if long_enough else None
        if encoding is None:
            await self._begin(start, {})
            await self._put(body, more_body=more_body)
        elif comes_in_pieces:
            self._compressor = _compressor(encoding)
            await self._begin(start, {b"content-encoding": encoding.encode(), b"content-length": None})
            await self._piece(body, more_body=more_body)
        else:
            packed = await _whole(encoding, body)
            length = str(len(packed)).encode()
            await self._begin(start, {b"content-encoding": encoding.encode(), b"content-length": length})
            await self._put(packed, more_body=False)

    async def _begin(self, start: HTTPResponseStartEvent, changed: Mapping[bytes, bytes | None]) -> None:
        await self._send({**start, "headers": _with(start["headers"], changed)})

    async def _piece(self, body: bytes, *, more_body: bool) -> None:
        if self._compressor is None:
            await self._put(body, more_body=more_body)
            return
        packed = self._compressor.process(body) if body else b""
        # Each piece can be read at once: an export shows its first rows while the others are still read.
        packed += self._compressor.flush() if more_body else self._compressor.finish()
        await self._put(packed, more_body=more_body)

    async def _put(self, body: bytes, *, more_body: bool) -> None:
        sent, more = (b"", False) if self._only_head else (body, more_body)
        await self._send({"type": "http.response.body", "body": sent, "more_body": more})


def names_its_length(headers: Headers) -> bool:
    return any(name.lower() == b"content-length" for name, _ in headers)


def is_text(status: int, headers: Headers) -> bool:
    """True when an answer may be compressed if it is long enough."""
    said = {name.lower(): value for name, value in headers}
    return (
        status not in WITHOUT_BODY
        and b"content-encoding" not in said
        and b"no-transform" not in said.get(b"cache-control", b"").lower()
        and _is_kind_of_text(said.get(b"content-type", b""))
    )


def _is_kind_of_text(said: bytes) -> bool:
    kind = said.decode("latin-1").lower().partition(";")[0].strip()
    return kind in TEXTS or (kind.startswith("text/") and kind != "text/event-stream")


def _with(headers: Headers, changed: Mapping[bytes, bytes | None]) -> Headers:
    """Replaces headers by `changed`, and tells caches that the encoding matters, even for an answer that is not
    compressed."""
    if not changed:
        return [*headers, _VARY]
    kept = [(name, value) for name, value in headers if name.lower() not in changed]
    added = [(name, value) for name, value in changed.items() if value is not None]
    if b"content-encoding" in changed:
        # The same bytes under another encoding are another representation, so their tag is only weakly the same.
        kept = [(name, b"W/" + value if _is_strong(name, value) else value) for name, value in kept]
    return [*kept, *added, _VARY]


def _is_strong(name: bytes, value: bytes) -> bool:
    return name.lower() == b"etag" and not value.startswith(b"W/")


async def _whole(encoding: str, body: bytes) -> bytes:
    if len(body) < OFF_THE_LOOP:
        return _compressed(encoding, body)
    return await asyncio.to_thread(_compressed, encoding, body)


def _compressed(encoding: str, body: bytes) -> bytes:
    if encoding == "br":
        packed: bytes = brotli.compress(body, mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY, lgwin=WINDOW)
        return packed
    return zlib.compress(body, GZIP_LEVEL, GZIP_HEAD + zlib.MAX_WBITS)


def _compressor(encoding: str) -> _Compressor:
    if encoding == "br":
        stream: _Compressor = brotli.Compressor(mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY, lgwin=WINDOW)
        return stream
    return _Gzip()


class _Gzip:
    """zlib with the methods of brotli's compressor."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_HEAD + zlib.MAX_WBITS)

    def process(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._stream.flush(zlib.Z_FINISH)
