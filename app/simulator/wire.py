"""The HTTP server on loopback, and the ways of breaking an answer that only a socket can show.

uvicorn does the ordinary work; its protocol is extended by one thing: the application may take the transport.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from app.simulator.calls import Answer, Receive, Scope

EXTENSION = "simulator.transport"
App = Callable[..., Any]


class OpenProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with the transport within the application's reach."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[str, dict[object, object]] = {EXTENSION: {"transport": self.transport}}
        self.scope["extensions"] = extensions


@asynccontextmanager
async def serving(
    app: App, port: int = 0, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve `app` while the block runs; gives its address, `http://127.0.0.1:PORT`. Port 0 takes any free one."""
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_keep_alive=60, lifespan="off")
    config.load()
    state = ServerState()

    def protocol() -> asyncio.Protocol:
        return OpenProtocol(config=config, server_state=state, app_state={})

    server = await asyncio.get_running_loop().create_server(protocol, host, port, backlog=512, ssl=tls)
    try:
        yield f"{'https' if tls else 'http'}://{host}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(state.tasks):
            task.cancel()
        for connection in list(state.connections):
            if isinstance(connection, OpenProtocol):
                connection.transport.abort()
        await asyncio.gather(*state.tasks, return_exceptions=True)


async def send_broken(answer: Answer, scope: Scope, receive: Receive) -> None:
    """Send an answer in its broken manner, and end the connection."""
    transport: asyncio.Transport = scope["extensions"][EXTENSION]["transport"]
    if answer.manner == "reset":
        # zero linger turns the close into a reset
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    else:
        transport.write(_broken(answer))
        transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass


def _broken(answer: Answer) -> bytes:
    body, half = answer.body, answer.body[: len(answer.body) // 2]
    if answer.manner == "cut_body":
        return _head(answer, {"content-length": str(len(body))}) + half
    if answer.manner == "cut_chunks":
        return _head(answer, {"transfer-encoding": "chunked"}) + b"%x\r\n%s\r\n" % (len(half), half)
    if answer.manner == "broken_chunking":
        return _head(answer, {"transfer-encoding": "chunked"}) + b"%x\r\n%s\r\nZZ\r\n" % (len(half), half) + half
    raise LookupError(answer.manner)


def _head(answer: Answer, framing: dict[str, str]) -> bytes:
    lines = {"content-type": answer.content_type, **answer.headers, **framing}
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n{text}\r\n".encode("latin-1")
