"""Writes bytes into a temporary file ahead of their reader, so that their source never waits for a slow reader."""

import asyncio
import weakref
from collections.abc import AsyncIterator
from os import SEEK_END
from tempfile import SpooledTemporaryFile

IN_MEMORY = 1024 * 1024
PIECE = 64 * 1024
LONGEST_S = 3600.0  # For a very slow reader.


class Ahead:
    """Runs `source` to its end in a task of its own, whether or not somebody reads. It has one reader, and ends when
    the reader leaves."""

    def __init__(self, source: AsyncIterator[bytes]) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - it ends with its reader
        self._close = weakref.finalize(self, self._file.close)  # A reader who never began to read also ends it.
        self._written = 0
        self._begun = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._write(source))
        self._task.add_done_callback(self._note_the_end)

    async def _write(self, source: AsyncIterator[bytes]) -> None:
        async for piece in source:
            self._file.seek(0, SEEK_END)
            self._file.write(piece)
            self._written += len(piece)
            self._begun = True
            self._news.set()

    def _note_the_end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # The reader gets the error; without a reader it is not needed.
        self._news.set()

    @property
    def has_ended(self) -> bool:
        """True once the reader has read all, or has left: its file is gone."""
        return self._file.closed

    async def begin(self) -> None:
        """Waits for the first piece, which may be empty. Raises what `source` raises before it."""
        while not self._begun and not self._task.done():
            self._news.clear()
            await self._news.wait()
        if not self._begun:
            await self._task

    async def _is_past(self, read: int) -> bool:
        """False once the stream has ended."""
        while self._written == read and not self._task.done():
            self._news.clear()
            await self._news.wait()
        return self._written > read

    async def pieces(self) -> AsyncIterator[bytes]:
        """All pieces. Raises what `source` raised, and TimeoutError for a reader who takes hours."""
        read, ends = 0, asyncio.get_running_loop().time() + LONGEST_S
        try:
            while await self._is_past(read):
                if asyncio.get_running_loop().time() > ends:
                    raise TimeoutError("the reader took too long")
                self._file.seek(read)
                piece = self._file.read(PIECE)
                read += len(piece)
                yield piece
            await self._task
        finally:
            self._task.cancel()
            self._close()
