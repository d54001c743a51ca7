"""Two people who edit one thing: what the other changed since a form was opened, and what the form shows then. Pure.

Values are as forms show them: text, yes or no, or the sorted words of a list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Shown = str | bool | list[str]
Values = Mapping[str, Shown]


@dataclass(frozen=True, slots=True)
class EditConflict:
    """One value that somebody else changed. `was` is None when the form does not say it; `typed` is None when the form
    has no such field."""

    name: str
    was: Shown | None
    now: Shown
    typed: Shown | None

    @property
    def contested(self) -> bool:
        """True when the saving person changed it too, to another value."""
        return self.typed is not None and self.typed not in (self.was, self.now)


@dataclass(frozen=True, slots=True)
class EditConflictWords:
    """A difference in words, for the box above the form."""

    name: str
    label: str
    was: str | None
    now: str
    contested: bool


@dataclass(frozen=True, slots=True)
class Stale:
    """Why a form was not saved; `by` is who changed the thing last, "" when unknown; `at` is when, in words."""

    lines: Sequence[EditConflictWords]
    by: str = ""
    at: str = ""


def differences(base: Values | None, now: Values, typed: Values) -> list[EditConflict]:
    """The differences in the order of `now`. With a base of None, which can't be read, everything typed counts as
    changed by both.

    When what was typed is stored already, as after a second press of Save, nothing needs to be refused.
    """
    known = dict.fromkeys(now) if base is None else {name: base.get(name, _empty(value)) for name, value in now.items()}
    found = [
        EditConflict(name, known[name], value, typed.get(name)) for name, value in now.items() if known[name] != value
    ]
    if base is None:
        return [one for one in found if one.contested]
    wanted = any(typed.get(name, value) != value for name, value in now.items())
    return found if wanted or any(one.typed is None for one in found) else []


def merged(typed: Values, found: Sequence[EditConflict]) -> dict[str, Shown]:
    """What the form shows: what was typed, and the others' values in fields that the person did not change."""
    theirs = {one.name: one.now for one in found if one.typed is not None and not one.contested}
    return {**typed, **theirs}


def _empty(value: Shown) -> Shown:
    return type(value)()
