"""The hours that the records of one employee and kind cover, to find an overlap quickly. Pure.

Also finds the record that holds a single punch. Which records count is shift_rules.py's rule.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from operator import attrgetter

from app.clock.pairing.inputs import Record

_MOMENT = timedelta(microseconds=1)


class Covered:
    """One record's hours, half-open; an open record covers its clock-in instant alone."""

    __slots__ = ("end", "record", "start")

    def __init__(self, record: int, clock_in: datetime, clock_out: datetime | None) -> None:
        self.record = record
        self.start = clock_in
        self.end = clock_in + _MOMENT if clock_out is None else clock_out


_START = attrgetter("start")


class CoveredHours:
    def __init__(self) -> None:
        self._rows: list[Covered] = []
        self._longest = timedelta(0)

    def cover(self, record: int, clock_in: datetime, clock_out: datetime | None) -> None:
        """`record` is its id, or the key of one that is about to be made."""
        row = Covered(record, clock_in, clock_out)
        self._longest = max(self._longest, row.end - row.start)
        rows = self._rows
        if not rows or rows[-1].start <= row.start:
            rows.append(row)
        else:
            insort(rows, row, key=_START)

    def uncover(self, record: int) -> None:
        self._rows = [row for row in self._rows if row.record != record]

    def overlapping(self, clock_in: datetime, clock_out: datetime | None, *, besides: int | None) -> int | None:
        """The first record, other than `besides`, that covers part of these hours."""
        asked = Covered(0, clock_in, clock_out)
        rows = self._rows
        if not rows or rows[-1].start + self._longest <= clock_in:
            return None
        for place in range(bisect_left(rows, clock_in - self._longest, key=_START), len(rows)):
            row = rows[place]
            if row.start >= asked.end:
                return None
            if row.end > clock_in and row.record != besides:
                return row.record
        return None


def holder(records: Sequence[Record], instants: Collection[datetime]) -> Record | None:
    """The first record that holds all these instants, from its clock-in to its clock-out, both included; an open record
    holds its clock-in alone."""
    first, last = min(instants), max(instants)
    return next((one for one in records if one.clock_in <= first and last <= (one.clock_out or one.clock_in)), None)
