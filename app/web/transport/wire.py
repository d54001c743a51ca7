"""One connection of a client, as uvicorn keeps it, and an end for every client that lets it wait.

Bodies have time limits of their own (app.web.transport.body), because the handler that reads a body knows how to
answer.
"""

import asyncio
import secrets
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.errors import RequestTimeout

LOOK_S = 1.0
LARGEST_HEAD = 128 * 1024
HEAD, REST, ANSWER, IDLE = "head", "rest of a body", "answer", "idle"


class Wire(HttpToolsProtocol):
    """Checks once a second what its client must do next, and ends the connection when nothing has moved for too
    long."""

    # In seconds. An answer need only move on. For an idle connection the server has its own setting.
    last_s = 0.5  # For what is on its way while the server stops.
    limits: ClassVar = {HEAD: 10.0, REST: 30.0, ANSWER: 30.0}
    url = b""
    _looking: asyncio.TimerHandle | None = None
    _has_begun = True  # A new connection must send a head from the start.
    _head_size = 0
    _in_body = False
    _moves = 0
    _owed: tuple[str, int, int] | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_free:
            self._has_begun = True
            self._head_size += len(data)
        super().data_received(data)
        if self._head_size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True

    def on_headers_complete(self) -> None:
        self._has_begun, self._head_size, self._in_body = False, 0, True
        self._moves += 1
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._has_begun, self._head_size, self._in_body = False, 0, False
        super().on_message_complete()

    def resume_writing(self) -> None:
        self._moves += 1
        super().resume_writing()

    def shutdown(self) -> None:
        self.loop.call_later(self.last_s, super().shutdown)

    @property
    def _is_free(self) -> bool:
        """True while nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        owed, now = self._owes(), self.loop.time()
        if owed != self._owed:
            self._owed, self._since = owed, now
        elif owed is not None and now - self._since >= self.limits.get(owed[0], self.timeout_keep_alive):
            self._end(owed[0])
        self._looking = self.loop.call_later(LOOK_S, self._look)

    def _owes(self) -> tuple[str, int, int] | None:
        """What the client keeps us waiting for, with how far it has come; None while it is our turn."""
        if unsent := self.transport.get_write_buffer_size():
            return ANSWER, self._moves, unsent
        if not self._is_free:
            return None
        waits_for = REST if self._in_body else HEAD if self._has_begun else IDLE
        return waits_for, self._moves, 0

    def _end(self, owed: str) -> None:
        if owed == ANSWER or self.transport.is_closing():
            self.transport.abort()
        elif owed == HEAD and self._head_size:
            self._refuse_head()
        else:
            self.transport.close()

    def _refuse_head(self) -> None:
        # The pages' side is not loaded by a process that only starts others.
        from app.web.errors.answers import plain
        from app.web.gate import HEADERS

        kind, body = plain(self.url.decode("latin-1"), "", RequestTimeout())
        headers = {**HEADERS, "Content-Type": kind.decode(), "Content-Length": len(body), "Cache-Control": "no-store"}
        headers |= {"X-Request-ID": secrets.token_hex(8), "Connection": "close"}
        lines = [f"{name}: {value}\r\n".encode() for name, value in headers.items()]
        self.transport.write(b"".join([STATUS_LINE[RequestTimeout.status], *lines, b"\r\n", body]))
        self.transport.close()
