"""The people, terminals and organisation of a world, invented from a seed. Who is there; not when anybody punches."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Literal, NamedTuple

from app.simulator import names

Habit = Literal["coded", "in", "out", "undirected", "one_code", "door"]
"""What a terminal sends: the key pressed; always 0; always 1; always 255; 0 for everything; a door reader's 255."""

BASE_HABITS: tuple[Habit, ...] = ("coded", "coded", "in", "out", "undirected", "door", "one_code", "coded")
LAST_HIRED = date(2024, 9, 1)
LAST_EDITED = int(datetime(2024, 12, 1, tzinfo=UTC).timestamp())
TERMINAL_AHEAD_S = 210
"""The clock of every eighth terminal is three and a half minutes fast, as some always are."""


class Unit(NamedTuple):
    """A department, position, area or location. `parent` is an index into the same list."""

    number: int
    code: str
    name: str
    parent: int | None


@dataclass(slots=True)
class Person:
    """One person on the server. `rota` and `style` index the tables of `days`; `updated` is in epoch seconds."""

    number: int
    code: str
    first_name: str
    last_name: str | None
    department: int
    position: int | None
    area: int
    hired: date
    card: str
    attendance: bool
    app_status: int
    fingerprint: bool
    face: bool
    palm: bool
    rota: int
    style: int
    updated: int
    listed: bool = True


@dataclass(slots=True)
class Terminal:
    """One terminal. `ahead_s` is how many seconds its clock is fast (negative: slow)."""

    number: int
    serial: str
    alias: str
    address: str
    habit: Habit
    area: int
    ahead_s: int = 0
    attendance: bool = True
    state: int = 1
    firmware: str = "Ver 8.0.4.7-20230615"
    listed: bool = True


def invent_units(rows: tuple[tuple[str, str, str | None], ...]) -> list[Unit]:
    """Numbers from 1, in the order given; parents come before their children."""
    place = {code: index for index, (code, _, _) in enumerate(rows)}
    return [
        Unit(index + 1, code, name, None if parent is None else place[parent])
        for index, (code, name, parent) in enumerate(rows)
    ]


def invent_terminals(count: int) -> list[Terminal]:
    """The first eight show every habit; further ones are coded, with another wrong clock now and then."""
    return [_invent_terminal(index) for index in range(count)]


def _invent_terminal(index: int) -> Terminal:
    habit: Habit = BASE_HABITS[index] if index < len(BASE_HABITS) else "coded"
    place = names.AREAS[index % len(names.AREAS)][1]
    return Terminal(
        number=index + 1,
        serial=f"SIM{3241700000 + index * 893:010d}",
        alias=f"{place} {habit.replace('_', ' ')} {index + 1}",
        address=f"10.20.{index // 200}.{index % 200 + 10}",
        habit=habit,
        area=index % len(names.AREAS),
        ahead_s=0 if (index + 1) % len(BASE_HABITS) else TERMINAL_AHEAD_S,
        attendance=habit != "door",
    )


def invent_people(seed: int, count: int) -> list[Person]:
    """The same seed gives the same people, whatever the day; a larger count only adds more of them."""
    return [_invent_person(Random(seed * 1_000_003 + index), index) for index in range(count)]


def _invent_person(rng: Random, index: int) -> Person:
    rota = rng.choices(range(6), (44, 14, 14, 12, 10, 6))[0]
    return Person(
        number=index + 501,
        code=code_of(index),
        first_name=rng.choice(names.FIRST_NAMES),
        last_name=None if _happens(rng, 0.03) else rng.choice(names.LAST_NAMES),
        department=_department_of(rng, rota),
        position=None if _happens(rng, 0.1) else rng.randrange(len(names.POSITIONS)),
        area=rng.randrange(len(names.AREAS)),
        hired=LAST_HIRED - timedelta(days=rng.randrange(9000)),
        card=str(rng.randrange(1_000_000, 99_999_999)) if _happens(rng, 0.5) else "",
        attendance=_happens(rng, 0.97),
        app_status=rng.randrange(2),
        fingerprint=_happens(rng, 0.7),
        face=_happens(rng, 0.4),
        palm=_happens(rng, 0.1),
        rota=rota,
        style=rng.choices(range(4), (58, 18, 18, 6))[0],
        updated=LAST_EDITED - rng.randrange(86400 * 90),
    )


def _happens(rng: Random, share: float) -> bool:
    return rng.random() < share


def _department_of(rng: Random, rota: int) -> int:
    """Indexes into `names.DEPARTMENTS`: the night's people are the night dispatch, and only shifts make things."""
    return rng.choice(((6, 7, 8, 9), (1, 2, 3, 4), (1, 2, 3, 4), (5,), (6, 7, 8, 9), (6, 7, 8, 9))[rota])


def code_of(index: int) -> str:
    """Mostly five digits; every ninth with leading zeros, every seventeenth with letters."""
    if (index + 1) % 17 == 0:
        return f"T-{index + 1:04d}"
    return f"{index + 10001}" if (index + 1) % 9 else f"{index + 1:07d}"
