"""Deep pages of a long list without walking to them: rows counted per day say in which days a page lies. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

# Days of a page closer together than this, on average, are read as one range.
DENSE = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows per day under a filter, newest day first."""

    days: Sequence[tuple[date, int]]

    @property
    def total(self) -> int:
        return sum(count for _, count in self.days)

    def locate(self, offset: int, rows: int) -> tuple[list[date], int]:
        """The days in which the `rows` from `offset` on lie, in order,
        and how many rows of the first come before them."""
        found: list[date] = []
        skip, end = 0, offset + rows
        passed = 0
        for day, count in self.days:
            if passed >= end:
                break
            if passed + count > offset:
                skip = skip if found else offset - passed
                found.append(day)
            passed += count
        return found, skip

    def less(self, others: "Counted") -> Self:
        """Without those of `others`, who are all among them; if rows come between the two counts, no day gets a number
        below zero."""
        gone = dict(others.days)
        return replace(self, days=[(day, left) for day, count in self.days if (left := count - gone.get(day, 0)) > 0])

    def reversed(self) -> Self:
        """The same, oldest day first."""
        return replace(self, days=self.days[::-1])


def is_dense(days: Sequence[date]) -> bool:
    """True when one range is quicker to read than day by day."""
    return (max(days) - min(days)).days < DENSE * len(days)
