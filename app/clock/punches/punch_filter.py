"""What the punch list is narrowed to, as pages, exports and the API ask for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, and_, or_, true

from app.clock.models import Punch
from app.clock.punches import settled
from app.clock.punches.day_counts import has_code, has_outcome, judged_and_not
from app.db.among import among

T = TypeVar("T")


def both(one: tuple[T, ...] | None, other: tuple[T, ...] | None) -> tuple[T, ...] | None:
    """What two choices have in common; None chooses everything."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(value for value in one if value in other)


@dataclass(frozen=True, slots=True)
class PunchFilter:
    """`outcomes` and `punch_codes` as day_counts.py has them (None: any, empty:
    none at all); `emp_codes` and `terminal_sn` are exact; `other` is any further condition. `renamed` are the codes of
    `renamed_since`, which goes with `updated_since`: the name is part of the row. `settled`: only those that are, or
    that are not; `open_of`: of these outcomes only those that are not. `other_codes` narrows nothing: it is everybody
    who is not among `emp_codes`, where those are fewer people."""

    days: tuple[date | None, date | None] = (None, None)
    terminal_sn: str | None = None
    outcomes: tuple[str, ...] | None = None
    punch_codes: tuple[int, ...] | None = None
    emp_codes: tuple[str, ...] | None = None
    other_codes: tuple[str, ...] | None = None
    updated_since: datetime | None = None
    renamed: tuple[str, ...] = ()
    settled: bool | None = None
    open_of: tuple[str, ...] = ()
    other: ColumnElement[bool] | None = None

    @property
    def countable(self) -> bool:
        """True when the kept counts know the total."""
        return self.emp_codes is None and self._needs_no_look_at_punches

    @property
    def is_of_people(self) -> bool:
        """True when it is about some people, and nothing narrows it that the kept counts do not know."""
        return bool(self.emp_codes) and self._needs_no_look_at_punches

    @property
    def _needs_no_look_at_punches(self) -> bool:
        return self.updated_since is None and self.settled is None and not self.open_of and self.other is None

    def equalities(self) -> dict[str, Any]:
        given = {
            "terminal_sn": self.terminal_sn,
            "import_outcome": self.outcomes,
            "punch_code": self.punch_codes,
        }
        return {name: value for name, value in given.items() if value is not None}

    def narrowed(self, by: "PunchFilter") -> "PunchFilter":
        """What both let through. Days and terminals are of one of the two."""
        first, last = by.days
        contradict = None not in {self.settled, by.settled} and self.settled != by.settled
        return replace(
            self,
            days=(first or self.days[0], last or self.days[1]),
            terminal_sn=self.terminal_sn if by.terminal_sn is None else by.terminal_sn,
            outcomes=() if contradict else both(self.outcomes, by.outcomes),
            punch_codes=both(self.punch_codes, by.punch_codes),
            emp_codes=both(self.emp_codes, by.emp_codes),
            settled=self.settled if by.settled is None else by.settled,
            open_of=(*self.open_of, *by.open_of),
            other=by.other if self.other is None else self.other if by.other is None else and_(self.other, by.other),
        )

    def condition(self) -> ColumnElement[bool]:
        first, last = self.days
        parts: list[ColumnElement[bool]] = [true()]
        if first:
            parts.append(Punch.local_date >= first)
        if last:
            parts.append(Punch.local_date <= last)
        if self.terminal_sn is not None:
            parts.append(Punch.terminal_sn == self.terminal_sn)
        if self.outcomes is not None:
            parts.append(has_outcome(Punch.import_outcome, self.outcomes))
        if self.punch_codes is not None:
            parts.append(has_code(Punch.punch_code, self.punch_codes))
        if self.emp_codes is not None:
            parts.append(among(Punch.emp_code, self.emp_codes))
        if self.updated_since is not None:
            parts.append(self.changed(self.updated_since))
        if self.other is not None:
            parts.append(self.other)
        return and_(*parts, *self._by_mark())

    def by_index(self) -> "list[PunchFilter]":
        """The same punches in parts of which each can be read in order from an index. Those of some people have one
        that knows every outcome."""
        if self.outcomes is None or self.emp_codes is not None:
            return [self]
        return [replace(self, outcomes=tuple(part)) for part in judged_and_not(self.outcomes)]

    def _by_mark(self) -> Iterator[ColumnElement[bool]]:
        if self.settled is not None:
            yield Punch.settled_at_utc.is_not(None) if self.settled else settled.OPEN
        if self.open_of:
            yield or_(Punch.import_outcome.not_in(self.open_of), settled.OPEN)

    def changed(self, since: datetime) -> ColumnElement[bool]:
        written = Punch.updated_at >= since
        return or_(written, among(Punch.emp_code, self.renamed)) if self.renamed else written
