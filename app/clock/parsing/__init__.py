"""Raw rows of the server to typed ones, strictly: a row is read whole or set aside with its reason. Pure;
never raises.

times.py decides which instant a local time is, also in the hour that comes twice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo

import msgspec

from app.clock.parsing.people import UNIT_WORDS, device_from, employee_from, shift_from, unit_from
from app.clock.parsing.punches import PunchWire, punch_from
from app.clock.parsing.rows import (
    Enrolment,
    ParsedDevice,
    ParsedEmployee,
    ParsedPunch,
    ParsedShift,
    Ref,
    Unit,
    UnreadableRow,
)
from app.clock.parsing.times import LocalTimes, TimeError, read_date
from app.clock.parsing.values import RowError
from app.clock.profiles import Profile
from app.outbound import Redactor

T = TypeVar("T")

__all__ = [
    "Enrolment",
    "LocalTimes",
    "Parsed",
    "ParsedDevice",
    "ParsedEmployee",
    "ParsedPunch",
    "ParsedShift",
    "Parser",
    "Ref",
    "TimeError",
    "Unit",
    "UnreadableRow",
    "read_date",
]


@dataclass(slots=True)
class Parsed(Generic[T]):
    """What a page held: `rows` in the order they came, and those that could not be read."""

    rows: list[T] = field(default_factory=list)
    set_aside: list[UnreadableRow] = field(default_factory=list)


class Parser:
    """Reads the rows of one connection. Keep one for a whole run: it remembers offsets."""

    def __init__(self, profile: Profile, zone: ZoneInfo, redactor: Redactor) -> None:
        self._profile = profile
        self._times = LocalTimes(zone)
        self._redactor = redactor

    def punches(self, rows: Sequence[Any]) -> Parsed[ParsedPunch]:
        """A page of transactions, at some 200,000 a second."""
        named = self._named("transactions", rows)
        parsed: Parsed[ParsedPunch] = Parsed()
        times, captured, keep = self._times, self._profile.captured_photo, parsed.rows.append
        for row, wire in zip(rows, _wires(named), strict=True):
            if isinstance(wire, RowError):
                parsed.set_aside.append(self._set_aside(row, wire))
                continue
            try:
                keep(punch_from(wire, times, captured))
            except RowError as error:
                parsed.set_aside.append(self._set_aside(row, error))
        return parsed

    def employees(self, rows: Sequence[Any]) -> Parsed[ParsedEmployee]:
        return self._each("employees", rows, lambda row: employee_from(row, self._times))

    def devices(self, rows: Sequence[Any]) -> Parsed[ParsedDevice]:
        return self._each("devices", rows, lambda row: device_from(row, self._times, self._profile.device_states))

    def units(self, resource: str, rows: Sequence[Any]) -> Parsed[Unit]:
        """Rows of departments, positions, areas or locations."""
        word = UNIT_WORDS[resource]
        return self._each(resource, rows, lambda row: unit_from(row, word))

    def shifts(self, rows: Sequence[Any]) -> Parsed[ParsedShift]:
        return self._each("schedules", rows, lambda row: shift_from(row, self._times))

    def aside(self, rows: Sequence[Any], ids: Collection[str], reason: str) -> list[UnreadableRow]:
        """Rows of a page that could be read but were not written, by their ids."""
        return [UnreadableRow(self._redactor.row(row), reason) for row in rows if str(row["id"]) in ids] if ids else []

    def _each(self, resource: str, rows: Sequence[Any], read: Callable[[Mapping[str, Any]], T]) -> Parsed[T]:
        parsed: Parsed[T] = Parsed()
        for row, named in zip(rows, self._named(resource, rows), strict=True):
            try:
                if not isinstance(named, Mapping):
                    raise RowError("the row is not an object")  # noqa: TRY301 -- one row fails, not the page
                parsed.rows.append(read(named))
            except RowError as error:
                parsed.set_aside.append(self._set_aside(row, error))
        return parsed

    def _named(self, resource: str, rows: Sequence[Any]) -> Sequence[Any]:
        """Rows under the names we know, where a relative of the server calls a field something else."""
        aliases = self._profile.aliases.get(resource)
        if not aliases:
            return rows
        strange = {name for names in aliases.values() for name in names}
        if all(isinstance(row, Mapping) and strange.isdisjoint(row) for row in rows):
            return rows
        return [_renamed(row, aliases) if isinstance(row, Mapping) else row for row in rows]

    def _set_aside(self, row: Any, error: RowError) -> UnreadableRow:
        return UnreadableRow(self._redactor.row(row), self._redactor.text(str(error)).replace("\0", "\ufffd"))


def _wires(rows: Sequence[Any]) -> list[PunchWire] | list[PunchWire | RowError]:
    """All rows in one go; one by one only when one of them is wrong."""
    try:
        return msgspec.convert(rows, list[PunchWire])
    except (msgspec.ValidationError, UnicodeError):
        return [_wire(row) for row in rows]


def _wire(row: Any) -> PunchWire | RowError:
    try:
        return msgspec.convert(row, PunchWire)
    except msgspec.ValidationError as error:
        return RowError(str(error).replace(" - at `$.", " at `"))
    except UnicodeError:
        return RowError("the row holds half a character")


def _renamed(row: Mapping[str, Any], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    renamed = dict(row)
    for name, others in aliases.items():
        if renamed.get(name) is None:
            renamed[name] = next((row[other] for other in others if row.get(other) is not None), None)
    return renamed
