"""The process that writes an Excel file: bounded, and gone with its request."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import openpyxl
import psutil
import pytest

from app.errors import Busy
from app.web.excel import workbooks, writing
from app.web.excel.cells import About
from app.web.excel.workbooks import MOST_AT_ONCE, WorkbookFailed, WorkbookInTheMaking

ABOUT = About("people", ["Name"], [("List", "people")])
PATIENCE_S = 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files lie."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def held(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


async def whole(book: WorkbookInTheMaking) -> bytes:
    return b"".join([piece async for piece in book.pieces()])


def writer_of(book: WorkbookInTheMaking) -> psutil.Process:
    assert book._process is not None
    return psutil.Process(book._process.pid)


async def test_what_was_added_is_in_the_file(folder: Path) -> None:
    async with WorkbookInTheMaking() as book:
        await book.begin(ABOUT)
        await book.add([["Ada"], ["=1+1"]])
        await book.add([["_x0041_\x07\n"], [("day", 46351.0)], [None]])
        sheet = openpyxl.load_workbook(io.BytesIO(await whole(book)))["People"]
    values = [row[0].value for row in sheet]
    assert values[:3] == ["Name", "Ada", "=1+1"]
    assert sheet["A3"].data_type == "s"
    assert (sheet["A5"].value.isoformat(), sheet["A5"].number_format) == ("2026-11-25T00:00:00", "yyyy-mm-dd")
    assert sheet.freeze_panes == "A2"
    assert held(folder) == []


async def test_a_sheet_without_rows_and_with_an_odd_name_is_a_file_too() -> None:
    async with WorkbookInTheMaking() as book:
        await book.begin(About("a/b [c]: " + "d" * 40, ["Name"], []))
        found = openpyxl.load_workbook(io.BytesIO(await whole(book)))
    assert found.sheetnames == ["A b  c   dddddddddddddddddddddd", "About"]


async def test_the_writer_is_bounded_and_yields_to_pages() -> None:
    async with WorkbookInTheMaking() as book:
        await book.begin(ABOUT)
        await book.add([["Ada"]])
        writer = writer_of(book)
        async with asyncio.timeout(PATIENCE_S):
            while writer.nice() != writing.NICE:  # noqa: ASYNC110 - there is no event of it
                await asyncio.sleep(0.05)
        assert writer.rlimit(psutil.RLIMIT_AS) == (writing.MEMORY, writing.MEMORY)
        assert {name for name in writer.environ() if name.startswith("MUSTER")} == set()


async def test_a_reader_who_leaves_ends_the_writer_and_its_files(folder: Path) -> None:
    with pytest.raises(TimeoutError):  # noqa: PT012 - the block is what ends
        async with WorkbookInTheMaking() as book:
            await book.begin(ABOUT)
            writer = writer_of(book)
            assert len(held(folder)) == 1
            raise TimeoutError
    assert not writer.is_running()
    assert held(folder) == []


async def test_more_than_so_many_are_put_off() -> None:
    books = [WorkbookInTheMaking() for _ in range(MOST_AT_ONCE)]
    for one in books:
        await one.__aenter__()
    with pytest.raises(Busy):
        await WorkbookInTheMaking().__aenter__()
    for one in books:
        await one.__aexit__(None, None, None)
    async with WorkbookInTheMaking():
        pass


@pytest.mark.parametrize("rows", [0, 1])
async def test_a_writer_that_dies_says_so_and_leaves_nothing(folder: Path, rows: int) -> None:
    with pytest.raises(WorkbookFailed):  # noqa: PT012 - which of them meets it depends on the pipe
        async with WorkbookInTheMaking() as book:
            await book.begin(ABOUT)
            writer = writer_of(book)
            writer.send_signal(signal.SIGKILL)
            for _ in range(rows * 1000):
                await book.add([["Ada" * 1000]])
            await whole(book)
    assert held(folder) == []


async def test_a_writer_without_memory_ends_and_says_why() -> None:
    with pytest.raises(WorkbookFailed, match="MemoryError"):  # noqa: PT012 - which of them meets it depends on the pipe
        async with WorkbookInTheMaking() as book:
            await book.begin(ABOUT)
            await book.add([["a" * 30_000] for _ in range(20_000)])
            await whole(book)


def test_a_writer_whose_server_was_killed_removes_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    frame = msgspec.msgpack.encode(ABOUT)
    with (tmp_path / "file").open("w+b") as file:
        ended = subprocess.run(
            [sys.executable, "-m", "app.web.excel.writing", str(folder)],
            input=len(frame).to_bytes(4) + frame + b"\x00\x00",
            stdout=file,
            cwd=Path(__file__).parents[3],
            check=False,
        )
    assert ended.returncode == 1
    assert not folder.exists()


def test_what_killed_servers_left_goes_with_the_next_file(folder: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = [f"muster-excel-{gone.pid}-ab", f"muster-excel-{os.getpid()}-ab", f"other-{gone.pid}-ab"]
    for name in names:
        (folder / name).mkdir()
    workbooks._remove_left_behind()
    assert sorted(held(folder)) == sorted(names[1:])
