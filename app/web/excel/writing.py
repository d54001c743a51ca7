"""Writes one Excel file: `python -m app.web.excel.writing FOLDER`, the program that app.web.excel.workbooks starts.

It reads frames from its input: four bytes with the length, then MessagePack of that length. The first says what the
file is about, then come the rows, then a frame of length 0. It writes the file to its output, which is a file itself.
Temporary files are in FOLDER. If the input ends early, the server is gone, and FOLDER is removed too.
"""

import os
import resource
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import msgspec
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from app.web.excel.cells import FORMATS, About

MEMORY = 512 * 1024 * 1024
NICE = 10
OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
LONGEST_NAME = 31
# Width of a column, in characters.
NARROWEST, WIDEST = 8, 60
WIDTHS = {"day": 11, "time": 19, "span": 9}


class CutOff(Exception):
    """The input ended before its last frame."""


def main() -> None:
    folder = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.nice(NICE)
    try:
        with os.fdopen(os.dup(1), "w+b") as file:
            write(file, frames(sys.stdin.buffer), folder)
    except CutOff:
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(1)


def frames(source: IO[bytes]) -> Iterator[bytes]:
    """Raises CutOff."""
    while length := int.from_bytes(_exactly(source, 4)):
        yield _exactly(source, length)


def _exactly(source: IO[bytes], length: int) -> bytes:
    read = source.read(length)
    if len(read) < length:
        raise CutOff
    return read


def write(file: IO[bytes], source: Iterator[bytes], folder: str) -> None:
    """One frame with what it is about, then frames of rows."""
    about = msgspec.msgpack.decode(next(source), type=About)
    book = Workbook(file, {**OPTIONS, "tmpdir": folder})
    rows = _Rows(book, book.add_worksheet(_sheet_name(about.name)))
    rows.head(about.labels)
    decode = msgspec.msgpack.Decoder(list[list[object]]).decode
    for frame in source:
        rows.add(decode(frame))
    rows.end()
    _tell(book, about)
    book.close()


def _sheet_name(name: str) -> str:
    """The name of a sheet, without the characters that Excel rejects."""
    return "".join(" " if one in "[]:*?/\\" else one for one in name).strip("' ")[:LONGEST_NAME].capitalize()


@dataclass
class _Rows:
    """A sheet that is written row by row, with columns as wide as their content."""

    book: Workbook
    sheet: Worksheet
    written: int = 0
    widths: list[int] = field(default_factory=list)
    formats: dict[str, Format] = field(default_factory=dict)

    def head(self, labels: Sequence[str]) -> None:
        bold = self.book.add_format({"bold": True, "bottom": 1})
        self.formats = {kind: self.book.add_format({"num_format": form}) for kind, form in FORMATS.items()}
        self.widths = [max(NARROWEST, len(label) + 4) for label in labels]
        for place, label in enumerate(labels):
            self.sheet.write_string(0, place, label, bold)
        self.sheet.freeze_panes(1, 0)

    def add(self, rows: Sequence[Sequence[object]]) -> None:
        for row in rows:
            self.written += 1
            for place, one in enumerate(row):
                self._cell(place, one)

    def _cell(self, place: int, value: object) -> None:
        """`value` is an app.web.excel.cells.Cell; a pair comes as a list."""
        width = 0
        if isinstance(value, str):
            self.sheet.write_string(self.written, place, value)
            width = max((len(line) for line in value.split("\n", 50)), default=0)
        elif isinstance(value, bool):
            self.sheet.write_boolean(self.written, place, value)
        elif isinstance(value, (int, float)):
            self.sheet.write_number(self.written, place, value)
            width = len(str(value))
        elif isinstance(value, (list, tuple)):
            kind, number = str(value[0]), value[1]
            self.sheet.write_number(self.written, place, number, self.formats[kind])
            width = WIDTHS[kind]
        self.widths[place] = max(self.widths[place], width)

    def end(self) -> None:
        for place, width in enumerate(self.widths):
            self.sheet.set_column(place, place, min(width + 1, WIDEST))
        if self.widths:
            self.sheet.autofilter(0, 0, max(self.written, 1), len(self.widths) - 1)


def _tell(book: Workbook, about: About) -> None:
    """Writes the second sheet, with what the first can't say: the zone of its times, and when it was made."""
    sheet = book.add_worksheet("About")
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, 1, WIDEST)
    for place, (what, value) in enumerate(about.lines):
        sheet.write_string(place, 0, what)
        sheet.write_string(place, 1, value)


if __name__ == "__main__":
    main()
