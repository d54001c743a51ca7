"""All punches of a world in columns sorted by punch time: under forty bytes each, so that a million fit anywhere.

Knows nothing of people, terminals or JSON; a row is its index in the columns, which changes as rows are inserted.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

LOWEST_NUMBER = 100_001
BATCH = 10_000


class Punch(NamedTuple):
    """`punched` is what the terminal's clock said, `delay` how many seconds later (or earlier) the server had it."""

    punched: int
    number: int
    person: int
    terminal: int
    code: int
    verify: int
    delay: int
    heat: int


class PunchTable:
    """Sorted by (punched, number). Instants are epoch seconds."""

    def __init__(self) -> None:
        self.punched = array("q")
        self.number = array("q")
        self.person = array("i")
        self.terminal = array("i")
        self.code = array("h")
        self.verify = array("h")
        self.delay = array("q")
        self.heat = array("B")
        self.columns = (
            self.punched, self.number, self.person, self.terminal, self.code, self.verify, self.delay, self.heat,
        )  # fmt: skip
        self.lowest_number = LOWEST_NUMBER

    def __len__(self) -> int:
        return len(self.punched)

    def __getitem__(self, index: int) -> Punch:
        return Punch._make(column[index] for column in self.columns)

    def window(self, first: int | None, last: int | None) -> tuple[int, int]:
        """Start and end (exclusive) of the rows punched from `first` to `last`, both included; None is open."""
        low = 0 if first is None else bisect_left(self.punched, first)
        high = len(self) if last is None else bisect_right(self.punched, last)
        return low, max(low, high)

    def find(self, number: int) -> int | None:
        """The index of the row with this number."""
        try:
            return self.number.index(number)
        except ValueError:
            return None

    def take_lower_number(self) -> int:
        """A number below all that were ever given."""
        self.lowest_number -= 1
        return self.lowest_number

    def add(self, punch: Punch) -> None:
        """Put one punch where it belongs."""
        index = bisect_right(self.punched, punch.punched)
        while index and self.punched[index - 1] == punch.punched and self.number[index - 1] > punch.number:
            index -= 1
        for column, value in zip(self.columns, punch, strict=True):
            column.insert(index, value)

    def remove(self, number: int) -> Punch | None:
        """Take one punch out, and give it back; None when nothing has this number."""
        index = self.find(number)
        return None if index is None else Punch._make(column.pop(index) for column in self.columns)

    def lay_down(self, punches: Iterable[Punch]) -> None:
        """Fill an empty table with punches in any order."""
        rest = iter(punches)
        while batch := list(islice(rest, BATCH)):
            for column, values in zip(self.columns, zip(*batch, strict=True), strict=True):
                column.extend(values)
        self._sort()

    def shift_clock(self, terminal: int, seconds: int) -> None:
        """Rewrite history as if this terminal's clock had been so many seconds faster; arrivals stay."""
        for index, one in enumerate(self.terminal):
            if one == terminal:
                self.punched[index] += seconds
                self.delay[index] -= seconds
        self._sort()

    def restart_numbers(self) -> None:
        """Give every row the number of another one: the same numbers now mean other punches."""
        third = len(self) // 3 or 1
        self.number[:] = self.number[third:] + self.number[:third]
        self._sort()

    def _sort(self) -> None:
        order = sorted(range(len(self)), key=self.number.__getitem__)
        order.sort(key=self.punched.__getitem__)
        for column in self.columns:
            column[:] = array(column.typecode, map(column.__getitem__, order))
