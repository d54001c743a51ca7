"""One call and its answer, as plain data; and how they go over ASGI."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LARGEST_REQUEST = 1 << 20
JSON_TYPE = "application/json"


@dataclass(slots=True)
class Call:
    """What the client asked. Header names are lower case; of a repeated parameter the last one counts."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""
    resource: str = ""


@dataclass(slots=True)
class Answer:
    """What the server says. `stream` is sent in place of `body`; `manner` is how it goes over the wire (see `wire`)."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)
    stream: AsyncIterable[bytes] | None = None
    manner: str = "whole"
    pause_s: float = 0

    def head(self) -> list[tuple[bytes, bytes]]:
        """Header lines; a stream has no length."""
        lines = {"content-type": self.content_type} if self.content_type else {}
        if self.stream is None:
            lines["content-length"] = str(len(self.body))
        lines.update(self.headers)
        return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in lines.items()]


async def read_call(scope: Scope, receive: Receive) -> Call:
    """The whole call. A body over 1 MiB is cut off there: nothing here needs more."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    call = Call(scope["method"], scope["path"], query, headers)
    if call.method not in ("GET", "HEAD"):
        call.body = await _read_body(receive)
    return call


async def _read_body(receive: Receive) -> bytes:
    body: bytes = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body") or len(body) > LARGEST_REQUEST:
            return body


async def send_answer(answer: Answer, send: Send) -> None:
    """The ordinary way: everything at once, or piece by piece as the stream gives it."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.head()})
    if answer.stream is None:
        await send({"type": "http.response.body", "body": answer.body})
        return
    async for piece in answer.stream:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def drip(body: bytes, pause_s: float) -> AsyncIterable[bytes]:
    """The body byte by byte, with a pause before each."""
    for place in range(len(body)):
        await asyncio.sleep(pause_s)
        yield body[place : place + 1]
