"""Reads the body of a request before anything is held for it, so that other clients never wait for a slow sender.

An error in the body is raised where the application reads it, so 401, 403 and 404 come first.
"""

import asyncio
from tempfile import SpooledTemporaryFile
from typing import cast

from litestar.types import HTTPReceiveMessage, Receive

from app.errors import Refusal, RequestTimeout, TooLarge

SENT_WITH = frozenset({"POST", "PUT", "PATCH"})
FROM_ANYBODY = 64 * 1024  # In bytes, in memory. A larger body goes to a temporary file, and only for a session.
LARGEST = 10 * 1024 * 1024
GRACE_S, LEAST_RATE = 10, 1024  # Bytes a second, after the first seconds.
TIME_S, UPLOAD_RATE = 30, 16 * 1024  # An upload gets another second for each of these.
PIECE = 64 * 1024


def patience_s(received: int) -> float:
    """How many seconds after its head the next piece of a body must have come, when so many bytes have come already."""
    by_rate = GRACE_S + received / LEAST_RATE
    by_time = TIME_S + max(0, received - FROM_ANYBODY) / UPLOAD_RATE
    return min(by_rate, by_time)


class Body:
    """`receive` replaces the server's own for the application. A method without a body does not wait for one."""

    def __init__(self, method: str, announced: str, receive: Receive) -> None:
        self._receive = receive
        self._file = SpooledTemporaryFile(max_size=FROM_ANYBODY)  # noqa: SIM115 - `close` ends it, with the request
        self._last = b""
        self._size = 0
        self._began = asyncio.get_running_loop().time()
        self._refusal: Refusal | None = None
        self._is_whole = method not in SENT_WITH
        self._is_told = False
        self.is_gone = False
        if announced.isdecimal() and int(announced) > LARGEST:
            self._refusal = TooLarge()

    @property
    def is_incomplete(self) -> bool:
        return not (self._is_whole or self.is_gone or self._refusal)

    @property
    def is_late(self) -> bool:
        return isinstance(self._refusal, RequestTimeout)

    async def read(self, most: int) -> None:
        """Reads to the end, or until more than `most` bytes have come."""
        while self.is_incomplete and self._size <= most:
            await self._next()

    async def _next(self) -> None:
        self._file.write(self._last)
        try:
            async with asyncio.timeout_at(self._began + patience_s(self._size)):
                message = await self._receive()
        except TimeoutError:
            self._refusal = RequestTimeout()
            return
        if message["type"] != "http.request":
            self.is_gone = True
            return
        self._last = message["body"]
        self._size += len(self._last)
        if not message["more_body"]:
            self._file.write(self._last)
            self._file.seek(0)
            self._is_whole = True

    async def receive(self) -> HTTPReceiveMessage:
        """What was read, then the end of the connection. Raises TooLarge or RequestTimeout when the body is not
        complete."""
        if not self._is_whole:
            raise self._refusal or TooLarge()
        if self._is_told:
            return await self._end()
        piece = self._file.read(PIECE)
        self._is_told = self._file.tell() >= self._size
        return {"type": "http.request", "body": piece, "more_body": not self._is_told}

    async def _end(self) -> HTTPReceiveMessage:
        while (message := await self._receive())["type"] == "http.request":
            pass  # The body of a method that takes none.
        return cast("HTTPReceiveMessage", message)

    def close(self) -> None:
        self._file.close()
