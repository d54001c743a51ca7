"""The world behind the server: the people, their punches so far, and the punches to come.

Every day of every person is planned from the seed alone; a punch is in the world once it has arrived. So moving a world
on to a later instant gives what a world built at that instant has. Nothing of HTTP or JSON here.
"""

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.simulator import names
from app.simulator.cast import Person, Terminal, invent_people, invent_terminals, invent_units
from app.simulator.days import Site, Tap, plan_day
from app.simulator.punches import Punch, PunchTable

ORIGIN = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp())
PLACES = 16
"""More punches than a person makes in a day; the last place is for unplanned punches."""
MOST_PEOPLE = 1 << 17


class Planned(NamedTuple):
    """A tap that will be, in order of arrival (epoch seconds), then of day, person and place in the day."""

    arrives: int
    day: int
    person: int
    place: int
    tap: Tap


def number_at(arrives: int, person: int, place: int) -> int:
    """The id of a punch that arrives at this instant.

    Ids grow with arrival, and depend on nothing else: a server that is started again, later or with more people, gives
    the same punch the same id. Under 2^53, so that any JSON reader keeps it whole.
    """
    return ((arrives - ORIGIN) * MOST_PEOPLE + person) * PLACES + place


class World:
    """People, terminals, organisation and punches at one instant, `now` (epoch seconds)."""

    def __init__(self, seed: int, zone: str, now: int, people: list[Person], terminals: list[Terminal]) -> None:
        self.seed = seed
        self.zone = ZoneInfo(zone)
        self.now = now
        self.people = people
        self.terminals = terminals
        self.departments = invent_units(names.DEPARTMENTS)
        self.positions = invent_units(names.POSITIONS)
        self.areas = invent_units(names.AREAS)
        self.locations = invent_units(tuple((code, name, None) for code, name in names.LOCATIONS))
        self.punches = PunchTable()
        self.deleted: dict[int, Punch] = {}
        """Punches that the server has no more, by number."""
        self.revision = 0
        """Grows whenever a person or terminal changed: what was rendered from them is stale."""
        self._site = Site(terminals)
        self._rng = Random()
        self._pending: list[Planned] = []
        self._unplanned = 0
        self._next_day = self.day_of(now)

    def day_of(self, instant: int) -> int:
        """The local date as a proleptic ordinal."""
        return datetime.fromtimestamp(instant, self.zone).toordinal()

    def midnight(self, day: int) -> int:
        """Twelve hours before local noon, so that a day's hours read right even when the clocks change at night."""
        return int(datetime.combine(date.fromordinal(day), time(12), self.zone).timestamp()) - 43200

    def settle(self, first_day: int) -> None:
        """Lay down everything that arrived from `first_day` until `now`; called once, on a new world."""
        self._next_day = self.day_of(self.now) + 1
        self.punches.lay_down(self._arrived(first_day))
        heapq.heapify(self._pending)

    def advance(self, now: int) -> int:
        """Let time pass until `now`: what arrives meanwhile is added. Returns how many punches came."""
        if now <= self.now:
            return 0
        while self._next_day <= self.day_of(now):
            for planned in self._plan(self._next_day):
                heapq.heappush(self._pending, planned)
            self._next_day += 1
        self.now = now
        before = len(self.punches)
        while self._pending and self._pending[0].arrives <= now:
            self._arrive(heapq.heappop(self._pending))
        return len(self.punches) - before

    def punch(self, person: int, terminal: int, punched: int, code: int, *, verify: int = 1) -> int:
        """One punch arrives now, whatever its time; returns its number."""
        self._unplanned += 1
        number = number_at(self.now, self._unplanned % MOST_PEOPLE, PLACES - 1)
        self.punch_as(number, person, terminal, punched, code=code, verify=verify)
        return number

    def punch_as(self, number: int, person: int, terminal: int, punched: int, *, code: int, verify: int = 1) -> None:
        """The same under a number of the caller's choice."""
        self.punches.add(Punch(punched, number, person, terminal, code, verify, self.now - punched, 0))

    def edit_punch(self, number: int, **changes: int) -> bool:
        """Change `punched`, `person`, `terminal` or `code` of a punch; False when nothing has this number."""
        punch = self.punches.remove(number)
        if punch is None:
            return False
        arrived = punch.punched + punch.delay
        changed = punch._replace(**changes)
        self.punches.add(changed._replace(delay=arrived - changed.punched))
        return True

    def delete_punches(self, numbers: Iterable[int]) -> int:
        """Take punches out of the world; how many there were."""
        found = {number: punch for number in numbers if (punch := self.punches.remove(number)) is not None}
        self.deleted |= found
        return len(found)

    def bring_back(self, numbers: Iterable[int]) -> int:
        """Put deleted punches back where they were; how many there were."""
        found = [punch for number in numbers if (punch := self.deleted.pop(number, None)) is not None]
        for punch in found:
            self.punches.add(punch)
        return len(found)

    def add_person(self, code: str) -> int:
        """Somebody new, listed from now on, punching from tomorrow; the index."""
        number = max((person.number for person in self.people), default=500) + 1
        (person,) = invent_people(self.seed + number, 1)
        person.number, person.code, person.updated = number, code, self.now
        self.people.append(person)
        self.changed()
        return len(self.people) - 1

    def add_terminal(self, serial: str) -> int:
        """Adds a terminal and returns its index. No simulated person punches there."""
        terminal = invent_terminals(len(self.terminals) + 1)[-1]
        terminal.serial = serial
        self.terminals.append(terminal)
        self.revision += 1
        return len(self.terminals) - 1

    def find_person(self, code: str) -> int | None:
        """The index of the person with this code."""
        return next((index for index, person in enumerate(self.people) if person.code == code), None)

    def find_terminal(self, serial: str) -> int | None:
        """The index of the terminal with this serial number."""
        return next((index for index, terminal in enumerate(self.terminals) if terminal.serial == serial), None)

    def changed(self) -> None:
        """Say that people or terminals were edited."""
        self.revision += 1

    def _plan(self, day: int) -> Iterator[Planned]:
        midnight = self.midnight(day)
        base = (self.seed * 1_000_003 + day) * 1_000_003
        for index, person in enumerate(self.people):
            if not person.listed:
                continue
            self._rng.seed(base + person.number)
            for place, tap in enumerate(plan_day(self._rng, person, day, midnight, self._site)):
                yield Planned(tap.instant + tap.delay, day, index, place, tap)

    def _arrived(self, first_day: int) -> Iterator[Punch]:
        for day in range(first_day, self._next_day):
            for planned in self._plan(day):
                if planned.arrives > self.now:
                    self._pending.append(planned)
                else:
                    yield self._as_punch(planned)

    def _arrive(self, planned: Planned) -> None:
        if self.people[planned.person].listed:
            self.punches.add(self._as_punch(planned))

    def _as_punch(self, planned: Planned) -> Punch:
        """What the terminal's own clock made of a tap."""
        tap = planned.tap
        ahead = self.terminals[tap.terminal].ahead_s
        number = number_at(planned.arrives, planned.person, planned.place)
        return Punch(
            tap.instant + ahead, number, planned.person, tap.terminal, tap.code, tap.verify, tap.delay - ahead, tap.heat
        )


def build_world(  # noqa: PLR0917 -- the six things that make a world, always in this order
    seed: int, employees: int, days: int, terminals: int, now: datetime, zone: str
) -> World:
    """A world whose history begins `days` days before the local date of `now` (aware, after 1999)."""
    if employees > MOST_PEOPLE:
        raise ValueError(f"at most {MOST_PEOPLE} people")
    instant = int(now.astimezone(UTC).timestamp())
    today = now.astimezone(ZoneInfo(zone)).date()
    world = World(seed, zone, instant, invent_people(seed, employees), invent_terminals(terminals))
    world.settle((today - timedelta(days=days)).toordinal())
    return world
