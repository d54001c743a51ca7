"""A server on a real socket that says exactly the bytes a test wants, true or not.
No HTTP library stands in between."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

Writer = asyncio.StreamWriter


class Heard(NamedTuple):
    """One request as it came; header names in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


Speech = bytes | Callable[[Heard, Writer], Awaitable[None]] | Callable[[Heard], bytes]


@dataclass
class Liar:
    """Answers each path with the next speech of its list; the last one is repeated."""

    host: str = "127.0.0.1"
    port: int = 0
    scheme: str = "http"
    heard: list[Heard] = field(default_factory=list)
    connections: int = 0
    _speeches: dict[str, list[Speech]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def allowed(self) -> str:
        return f"127.0.0.1/32:{self.port}"

    def says(self, path: str, *speeches: Speech) -> None:
        self._speeches[path] = list(speeches)

    def asked(self, path: str) -> list[Heard]:
        return [heard for heard in self.heard if heard.path == path]

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        try:
            while (heard := await _hear(reader)) is not None:
                self.heard.append(heard)
                await self._speak(heard, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _speak(self, heard: Heard, writer: Writer) -> None:
        speeches = self._speeches.get(heard.path) or [answer(b"not here", status=404, media_type="text/plain")]
        speech = speeches.pop(0) if len(speeches) > 1 else speeches[0]
        if isinstance(speech, bytes):
            writer.write(speech)
        elif asyncio.iscoroutinefunction(speech):
            await speech(heard, writer)
        else:
            writer.write(speech(heard))  # type: ignore[call-arg, arg-type]


def answer(
    body: bytes = b"",
    *,
    status: int = 200,
    media_type: str | None = "application/json",
    headers: tuple[tuple[str, str], ...] = (),
    length: int | None = None,
) -> bytes:
    """A whole HTTP answer; `length` lies about the size of the body."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body) if length is None else length}"]
    if media_type:
        lines.append(f"Content-Type: {media_type}")
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says_json(document: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> bytes:
    return answer(json.dumps(document).encode(), status=status, headers=headers)


async def hangs_up(heard: Heard, writer: Writer) -> None:
    """Closes without a word."""
    writer.close()


async def says_nothing(heard: Heard, writer: Writer) -> None:
    """Keeps the connection and stays silent for longer than any test waits."""
    await asyncio.sleep(30)


def drips(body: bytes, every_s: float) -> Callable[[Heard, Writer], Awaitable[None]]:
    """One byte at a time: each read succeeds, the whole never comes."""

    async def speech(heard: Heard, writer: Writer) -> None:
        head, _, rest = answer(body).partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        for byte in rest:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(every_s)

    return speech


def then_closes(said: bytes) -> Callable[[Heard, Writer], Awaitable[None]]:
    async def speech(heard: Heard, writer: Writer) -> None:
        writer.write(said)
        await writer.drain()
        writer.close()

    return speech


@contextlib.asynccontextmanager
async def lying(tls: ssl.SSLContext | None = None) -> AsyncIterator[Liar]:
    """A liar on a free port of 127.0.0.1."""
    liar = Liar(scheme="https" if tls else "http")
    server = await asyncio.start_server(liar.serve, liar.host, 0, ssl=tls)
    liar.port = server.sockets[0].getsockname()[1]
    try:
        yield liar
    finally:
        server.close()
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__qualname__", "") == "Liar.serve":
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


async def _hear(reader: asyncio.StreamReader) -> Heard | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return Heard(method, path, dict(parse_qsl(query, keep_blank_values=True)), headers, body)
