"""A person's working day, as the taps it leaves on the terminals: a pure function of seed, person and day.

It knows rotas, breaks, overtime, forgotten and repeated taps. It knows neither time zones (the caller gives the
instant at which the day begins) nor what became of the taps.
"""

from collections.abc import Iterable
from random import Random
from typing import Literal, NamedTuple

from app.simulator.cast import Habit, Person, Terminal

IN, OUT, BREAK_OUT, BREAK_IN, OVERTIME_IN, OVERTIME_OUT = range(6)
UNDIRECTED = 255

ABSENT = 0.05
FORGETS_IN, FORGETS_OUT, FORGETS_BREAK = 0.012, 0.02, 0.04
OVERTIME = 0.06
REPEATS, DOUBLES = 0.03, 0.02
PASSES_DOOR = 0.2
SLOW_UPLOAD, OFFLINE = 0.02, 0.0005
TWO_FACTORS = 0.97


class Rota(NamedTuple):
    """All in seconds. The earliest start is so long after local midnight; each person's own is up to `spread` later.

    `days` is `office`, Monday to Friday, or `shifts`, five days of seven in turn.
    """

    name: str
    earliest: int
    spread: int
    lasts: int
    break_after: int
    break_lasts: int
    days: Literal["office", "shifts"]


HOUR = 3600
ROTAS = (
    Rota("Day", 7 * HOUR, 2 * HOUR, 9 * HOUR, 4 * HOUR, HOUR, "office"),
    Rota("Early", 5 * HOUR, 3 * HOUR, 8 * HOUR, 4 * HOUR, HOUR // 2, "shifts"),
    Rota("Late", 13 * HOUR, 3 * HOUR, 8 * HOUR, 4 * HOUR, HOUR // 2, "shifts"),
    Rota("Night", 20 * HOUR + HOUR // 2, 3 * HOUR, 8 * HOUR, 4 * HOUR, HOUR * 3 // 4, "shifts"),
    Rota("Flexible", 8 * HOUR, 4 * HOUR, 9 * HOUR, 3 * HOUR, HOUR * 3 // 4, "office"),
    Rota("Part-time", 8 * HOUR, 8 * HOUR, 4 * HOUR, 0, 0, "office"),
)
WORKDAYS = 5
START_STEP = 600

CODED, IN_AND_OUT, WITHOUT_DIRECTION, ONE_CODE = range(4)
"""Styles: which sort of terminal a person uses."""


class Tap(NamedTuple):
    """`instant` is when it happened, true time, epoch seconds; `delay` seconds until the server has it."""

    instant: int
    terminal: int
    code: int
    verify: int
    delay: int
    heat: int


class Site:
    """The terminals by what they are for. A site without some sort uses its first terminal in its place."""

    def __init__(self, terminals: Iterable[Terminal]) -> None:
        sorts: dict[Habit, list[int]] = {}
        for index, terminal in enumerate(terminals):
            sorts.setdefault(terminal.habit, []).append(index)
        self.coded = sorts.get("coded", [0])
        self.entrances = sorts.get("in", self.coded)
        self.exits = sorts.get("out", self.coded)
        self.undirected = sorts.get("undirected", self.coded)
        self.one_code = sorts.get("one_code", self.coded)
        self.doors = sorts.get("door", [])


def works_on(person: Person, day: int) -> bool:
    """`day` is a proleptic ordinal, as `date.toordinal` gives it."""
    if ROTAS[person.rota].days == "office":
        return (day + 6) % 7 < WORKDAYS
    return (day + person.number) % 7 < WORKDAYS


def starts_at(person: Person) -> int:
    """When this person's shift begins, in seconds after local midnight:
    at some ten minutes within the rota's spread."""
    rota = ROTAS[person.rota]
    return rota.earliest + person.number * 7 * START_STEP % (rota.spread + START_STEP)


def plan_day(rng: Random, person: Person, day: int, midnight: int, site: Site) -> list[Tap]:
    """The taps of one day in no particular order; a night shift's fall partly on the next. `rng` freshly seeded."""
    if not works_on(person, day) or rng.random() < ABSENT:
        return []
    moments = _moments(rng, ROTAS[person.rota], midnight + starts_at(person))
    if rng.random() < REPEATS + DOUBLES:
        moments.append(_again(rng, moments))
    place = rng.randrange(1 << 16)
    taps = [_tap(rng, person, moment, site, place) for moment in moments]
    if site.doors and rng.random() < PASSES_DOOR:
        first = moments[0][0]
        door = site.doors[place % len(site.doors)]
        taps.append(Tap(first + 300 + rng.randrange(7200), door, UNDIRECTED, 2, 3, 0))
    if rng.random() < OFFLINE:
        taps = [tap._replace(delay=tap.delay + 86400 + rng.randrange(2 * 86400)) for tap in taps]
    return taps


def _moments(rng: Random, rota: Rota, begins: int) -> list[tuple[int, int]]:
    starts = begins - 240 + int((rng.random() + rng.random() - 1) * 900)
    ends = begins + rota.lasts + 200 + int((rng.random() + rng.random() - 1) * 1200)
    forgotten = rng.random()
    moments = [] if forgotten < FORGETS_IN else [(starts, IN)]
    if rota.break_after:
        leaves = starts + rota.break_after + rng.randrange(-900, 900)
        lapse = rng.random()
        if lapse > FORGETS_BREAK:
            moments.append((leaves, BREAK_OUT))
        if lapse < 1 - FORGETS_BREAK / 2:
            moments.append((leaves + rota.break_lasts + rng.randrange(-240, 240), BREAK_IN))
    if not FORGETS_IN < forgotten < FORGETS_IN + FORGETS_OUT:
        moments.append((ends, OUT))
    if rng.random() < OVERTIME:
        moments.append((ends + 600, OVERTIME_IN))
        moments.append((ends + 600 + rng.randrange(1800, 9000), OVERTIME_OUT))
    return moments or [(ends, OUT)]


def _again(rng: Random, moments: list[tuple[int, int]]) -> tuple[int, int]:
    """The reader fires twice within seconds, or the person badges again minutes later."""
    instant, code = moments[rng.randrange(len(moments))]
    if rng.random() < REPEATS / (REPEATS + DOUBLES):
        return instant + rng.randrange(1, 9), code
    return instant + rng.randrange(60, 280), code


def _tap(rng: Random, person: Person, moment: tuple[int, int], site: Site, place: int) -> Tap:
    instant, code = moment
    if person.style == CODED:
        terminals = site.coded
    elif person.style == IN_AND_OUT:
        leaving = code in (OUT, BREAK_OUT, OVERTIME_OUT)
        terminals, code = (site.exits, OUT) if leaving else (site.entrances, IN)
    elif person.style == WITHOUT_DIRECTION:
        terminals, code = site.undirected, UNDIRECTED
    else:
        terminals, code = site.one_code, IN
    chance = rng.random()
    delay = 2 + int(chance * 30) if chance > SLOW_UPLOAD else 600 + int(chance * 300_000)
    verify, heat = _verified(person, chance)
    return Tap(instant, terminals[place % len(terminals)], code, verify, delay, heat)


def _verified(person: Person, chance: float) -> tuple[int, int]:
    """Verification code, and temperature in tenths above 36 degrees (0: not measured; 255: the other "not")."""
    if person.face:
        return 15, 2 + int(chance * 12)
    if person.palm:
        return 20, 0
    if person.fingerprint:
        return (3, 0) if chance > TWO_FACTORS else (1, 0)
    return (2, 255) if person.card else (0, 0)
