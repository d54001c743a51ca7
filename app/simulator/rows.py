"""Rows as JSON text, field by field as real servers send them, leaks included. Which, and in what envelope: elsewhere.

Punch rows are put together from fragments that are rendered once per person, terminal and code: at 500 rows a page this
is what decides how fast the server is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import msgspec

from app.simulator.cast import Person, Terminal, Unit
from app.simulator.days import BREAK_IN, BREAK_OUT, IN, OUT, OVERTIME_IN, OVERTIME_OUT, ROTAS, starts_at, works_on
from app.simulator.stamps import Stamps
from app.simulator.world import World

CODE_NAMES = {
    IN: "Check In", OUT: "Check Out", BREAK_OUT: "Break Out", BREAK_IN: "Break In",
    OVERTIME_IN: "Overtime In", OVERTIME_OUT: "Overtime Out",
}  # fmt: skip
VERIFY_NAMES = {
    0: "Password", 1: "Fingerprint", 2: "Card", 3: "Fingerprint + Password", 4: "Card", 15: "Face", 20: "Palm",
}  # fmt: skip

UNMEASURED = 255
_NO_ATTENDANCE = '"is_attendance":false,'

HEX_STRIDE = 0x9E3779B97F4A7C15F39CC0605CEDC835
HEX_MASK = (1 << 128) - 1
"""An odd factor modulo 2^128 turns distinct small numbers into distinct 32-digit ids."""


@dataclass(frozen=True)
class Habits:
    """How this server writes its rows, beside the times."""

    text_ids: bool = False
    code_width: int = 0
    text_verify: bool = False
    localised: bool = False
    ninth_generation: bool = False
    parent_ids: bool = False
    visible_palms: bool = False
    door_every: int = 0
    """Every Nth punch says that it does not count for attendance; 0: no row says anything about it."""


def hex_id(number: int) -> str:
    """A number as the 32 hexadecimal digits of the cloud's ids."""
    return f"{number * HEX_STRIDE & HEX_MASK:032x}"


def number_of(text: str) -> int:
    """The number behind such an id; 0, which nothing has, when it is none."""
    try:
        return int(text, 16) * pow(HEX_STRIDE, -1, HEX_MASK + 1) & HEX_MASK
    except ValueError:
        return 0


def as_json(value: object) -> str:
    """JSON text."""
    return msgspec.json.encode(value).decode()


class Rows:
    """Renders the rows of a world as it is at `revision`; build another one when that has changed."""

    def __init__(self, world: World, stamps: Stamps, habits: Habits) -> None:
        self.world = world
        self.revision = world.revision
        self.stamps = stamps
        self.habits = habits
        self._people: list[str | None] = [None] * len(world.people)
        self._terminals = [self._terminal_fragment(terminal) for terminal in world.terminals]
        self._codes: dict[int, str] = {}
        self._verifies: dict[int, str] = {}
        self._heats = [_heat(value) for value in range(256)]

    def id(self, number: int) -> Any:
        """A number as this server's id: int, or 32-digit text."""
        return hex_id(number) if self.habits.text_ids else number

    def code(self, person: Person) -> str:
        """The person's code as this server writes it."""
        return person.code.rjust(self.habits.code_width, "0")

    def find_person(self, code: str) -> int | None:
        """The index of the person whose code this server writes so."""
        return next((index for index, one in enumerate(self.world.people) if self.code(one) == code), None)

    def punches(self, indexes: Iterable[int]) -> list[str]:
        """Punch rows, JSON text each."""
        table, stamp = self.world.punches, self.stamps.time
        punched, numbers, people, terminals = table.punched, table.number, table.person, table.terminal
        codes, verifies, delays, heats = table.code, table.verify, table.delay, table.heat
        person_of, terminal_of = self._person_fragment, self._terminals
        code_of, verify_of, heat_of = self._code_fragment, self._verify_fragment, self._heats
        written: Callable[[int], str] = hex_id if self.habits.text_ids else str
        mark = '"' if self.habits.text_ids else ""
        door_every = self.habits.door_every
        rows = []
        for i in indexes:
            at, number = punched[i], written(numbers[i])
            photo = f'"/media/punches/{number}/"' if 0 < heats[i] < UNMEASURED else "null"
            rows.append(
                f'{{"id":{mark}{number}{mark},{person_of(people[i])},"punch_time":"{stamp(at)}",{code_of(codes[i])},'
                f"{verify_of(verifies[i])},{terminal_of[terminals[i]]},{heat_of[heats[i]]},"
                f'"photo":{photo},{_NO_ATTENDANCE if door_every and numbers[i] % door_every == 0 else ""}'
                f'"upload_time":"{stamp(at + delays[i])}"}}'
            )
        return rows

    def employee(self, person: Person) -> dict[str, Any]:
        """An employee row, with the device password and (8.x) the password hash that real servers leak."""
        row: dict[str, Any] = {
            "id": self.id(person.number),
            "emp_code": self.code(person),
            "first_name": person.first_name,
            "last_name": person.last_name,
            "nickname": None,
            "department": self._unit_ref("dept", self.world.departments[person.department]),
            "position": self._position_ref(person),
            "area": [self._unit_ref("area", self.world.areas[person.area])],
            "hire_date": self.stamps.date(person.hired),
            "email": f"{person.code.lower()}@clock.example",
            "mobile": f"+00 555 {person.number:06d}",
            "card_no": person.card,
            "app_status": person.app_status,
            "device_password": f"{person.number * 7919 % 1_000_000:06d}",
            "dev_privilege": 0,
            "verify_mode": -1,
            "fingerprint": "Ver 10:1" if person.fingerprint else "-",
            "face": "Ver 7:1" if person.face else "-",
            "palm": "Ver 1:1" if person.palm and not self.habits.visible_palms else "-",
            "vl_palm": "Ver 12:1" if person.palm and self.habits.visible_palms else "-",
            "vl_face": "Ver 58:1" if person.face else "-",
            "photo": f"/media/people/{quote(person.code)}/",
            "update_time": self.stamps.time(person.updated),
        }
        return row | (_ninth(person) if self.habits.ninth_generation else _eighth(person))

    def terminal(self, terminal: Terminal) -> dict[str, Any]:
        """A terminal row."""
        index = self.world.terminals.index(terminal)
        people = [person for person in self.world.people if person.listed]
        return {
            "id": self.id(terminal.number),
            "sn": terminal.serial,
            "ip_address": terminal.address,
            "alias": terminal.alias,
            "terminal_name": f"SIM-{terminal.habit.replace('_', '-').upper()}",
            "fw_ver": terminal.firmware,
            "push_ver": "2.4.1",
            "state": terminal.state,
            "terminal_tz": self._terminal_tz(),
            "area": self._unit_ref("area", self.world.areas[terminal.area]),
            "last_activity": self.stamps.time(self.world.now - (20 if terminal.state == 1 else 86400 * 2)),
            "user_count": len(people),
            "fp_count": sum(person.fingerprint for person in people),
            "face_count": sum(person.face for person in people),
            "palm_count": sum(person.palm for person in people),
            "transaction_count": self.world.punches.terminal.count(index),
            "push_time": None,
            "transfer_time": "00:00;14:05",
            "transfer_interval": 1,
            "is_attendance": terminal.attendance,
        }

    def department(self, unit: Unit) -> dict[str, Any]:
        """A department row; `parent_dept` is the parent's row or null."""
        return self._unit("dept", unit, self.world.departments)

    def position(self, unit: Unit) -> dict[str, Any]:
        """A position row."""
        return self._unit("position", unit, self.world.positions)

    def area(self, unit: Unit) -> dict[str, Any]:
        """An area row."""
        return self._unit("area", unit, self.world.areas)

    def location(self, unit: Unit) -> dict[str, Any]:
        """A location row (cloud only)."""
        return self._unit_ref("location", unit)

    def schedule(self, person: Person, day: date) -> dict[str, Any] | None:
        """What this person was to work on that day; None on a day off."""
        if not works_on(person, day.toordinal()):
            return None
        rota = ROTAS[person.rota]
        begins = self.world.midnight(day.toordinal()) + starts_at(person)
        return {
            "id": self.id(person.number * 100_000 + day.toordinal() % 100_000),
            "emp_code": self.code(person),
            "att_date": self.stamps.date(day),
            "timetable_alias": rota.name,
            "check_in": self.stamps.time(begins),
            "check_out": self.stamps.time(begins + rota.lasts),
            "break_minutes": rota.break_lasts // 60,
            "day_off": False,
        }

    def _unit(self, word: str, unit: Unit, units: list[Unit]) -> dict[str, Any]:
        parent = None if unit.parent is None else self._unit_ref(word, units[unit.parent])
        if parent is not None and self.habits.parent_ids:
            parent = parent["id"]
        return {**self._unit_ref(word, unit), f"parent_{word}": parent}

    def _unit_ref(self, word: str, unit: Unit) -> dict[str, Any]:
        return {"id": self.id(unit.number), f"{word}_code": unit.code, f"{word}_name": unit.name}

    def _position_ref(self, person: Person) -> dict[str, Any] | None:
        return None if person.position is None else self._unit_ref("position", self.world.positions[person.position])

    def _terminal_tz(self) -> int:
        """Whole hours east of UTC, which is all that these servers keep."""
        offset = datetime.fromtimestamp(self.world.now, UTC).astimezone(self.world.zone).utcoffset()
        return 0 if offset is None else int(offset.total_seconds()) // 3600

    def _person_fragment(self, index: int) -> str:
        found = self._people[index] if index < len(self._people) else None
        if found is None:
            self._people.extend([None] * (index + 1 - len(self._people)))
            self._people[index] = found = self._render_person(self.world.people[index])
        return found

    def _render_person(self, person: Person) -> str:
        fields = {
            # the link is often empty on real servers; the code is what counts
            "emp": None if person.number % 3 == 0 or not person.listed else self.id(person.number),
            "emp_code": self.code(person),
            "first_name": person.first_name,
            "last_name": person.last_name,
            "department": self.world.departments[person.department].name,
            "position": None if person.position is None else self.world.positions[person.position].name,
        }
        return as_json(fields)[1:-1]

    def _terminal_fragment(self, terminal: Terminal) -> str:
        fields = {
            "terminal_sn": terminal.serial,
            "terminal_alias": terminal.alias,
            "area_alias": self.world.areas[terminal.area].name,
            "work_code": "0",
            "gps_location": None,
        }
        return as_json(fields)[1:-1]

    def _code_fragment(self, code: int) -> str:
        found = self._codes.get(code)
        if found is None:
            name = None if self.habits.localised else CODE_NAMES.get(code, "Unknown")
            found = as_json({"punch_state": str(code), "punch_state_display": name})[1:-1]
            self._codes[code] = found
        return found

    def _verify_fragment(self, verify: int) -> str:
        found = self._verifies.get(verify)
        if found is None:
            value = str(verify) if self.habits.text_verify else verify
            name = VERIFY_NAMES.get(verify, "Other")
            found = as_json({"verify_type": value, "verify_type_display": name})[1:-1]
            self._verifies[verify] = found
        return found


def _heat(value: int) -> str:
    """0 and 255 both mean "not measured"; other values are tenths above 36 degrees. A person who is measured is
    photographed."""
    degrees = 36 + value / 10 if 0 < value < UNMEASURED else float(value)
    return f'"temperature":{degrees:.1f},"is_mask":"No"'


def _eighth(person: Person) -> dict[str, Any]:
    digest = sha256(person.code.encode()).hexdigest()
    return {
        "enable_att": person.attendance,
        "self_password": f"pbkdf2_sha256$36000$sim${digest}",
        "effective_start": None,
    }


def _ninth(person: Person) -> dict[str, Any]:
    return {
        "attemployee": {"enable_attendance": person.attendance, "enable_schedule": True, "enable_overtime": True},
        "emp_type": None,
    }
