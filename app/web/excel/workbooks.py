"""Excel files while they are written: each by a process of its own, which ends with the request.

Only a few are written at once; more are refused. The file itself has no name, so it leaves nothing behind. The folder
of the writer's temporary files is removed when the writer ends; if a killed server left one, the next export removes
it.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec
import psutil

import app
from app.errors import Busy
from app.web.excel.cells import About, Cell

# At once, in each web process.
MOST_AT_ONCE = 4
RETRY_AFTER_S = 30
TOO_MANY = f"Too many Excel files are being made right now. Try again in {RETRY_AFTER_S} seconds, or take CSV."
PIECE = 64 * 1024
# All that Python needs. The writer must not get any key.
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME")
_ROOT = Path(app.__file__).parents[1]
_PREFIX = "muster-excel-"
_encode = msgspec.msgpack.Encoder().encode
_making: set["WorkbookInTheMaking"] = set()


class WorkbookFailed(Exception):
    """The writer ended before the file was complete. The message is what the writer said."""


class WorkbookInTheMaking:
    """`async with`: takes a place, and ends everything at the end of the block. Raises Busy when there is no place."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._file: IO[bytes] | None = None
        self._folder = ""

    async def __aenter__(self) -> Self:
        if len(_making) >= MOST_AT_ONCE:
            raise Busy(TOO_MANY, retry_after_s=RETRY_AFTER_S)
        _making.add(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _making.discard(self)
        if self._process is not None:
            await _end(self._process)
        if self._file is not None:
            self._file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def begin(self, about: About) -> None:
        _remove_left_behind()
        self._folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __aexit__
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "app.web.excel.writing",
            self._folder,
            stdin=PIPE,
            stdout=self._file,
            stderr=PIPE,
            cwd=_ROOT,
            env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ},
        )
        await self._send(_encode(about))

    async def add(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Adds a row. Waits while the writer is behind. Raises WorkbookFailed."""
        await self._send(_encode(rows))

    async def pieces(self) -> AsyncIterator[bytes]:
        """The whole file, after its last row was added. Raises WorkbookFailed."""
        process, file = self._running()
        await self._send(b"")
        _, said = await process.communicate()
        if process.returncode:
            raise WorkbookFailed(_last_line(said))
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece

    async def _send(self, frame: bytes) -> None:
        process, _ = self._running()
        assert process.stdin is not None  # noqa: S101 - PIPE
        try:
            process.stdin.write(len(frame).to_bytes(4) + frame)
            await process.stdin.drain()
        except ConnectionError:
            _, said = await process.communicate()
            raise WorkbookFailed(_last_line(said)) from None

    def _running(self) -> tuple[Process, IO[bytes]]:
        if self._process is None or self._file is None:
            raise RuntimeError("the workbook was not begun")
        return self._process, self._file


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    # Reads what is left in the pipes, so that they close.
    await process.communicate()


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the writer was ended"


def _remove_left_behind() -> None:
    """Removes folders of servers that were killed together with their writers."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = re.match(rf"{_PREFIX}(\d+)-", folder.name)
        if owner and not psutil.pid_exists(int(owner[1])):
            shutil.rmtree(folder, ignore_errors=True)
