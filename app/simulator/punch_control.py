"""What the simulator can be told about punches: add, edit, delete and bring back, at any time and for anybody."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from app.simulator.stamps import read_stamp
from app.simulator.world import World

if TYPE_CHECKING:
    from app.simulator.application import Simulator

YEAR_S = 366 * 86400
EARLIEST, LATEST = 0, 200 * YEAR_S


class Refused(ValueError):
    """The request cannot be carried out; the message says why."""


class PunchBody(msgspec.Struct, forbid_unknown_fields=True):
    """`at` is ISO with an offset, or `YYYY-MM-DD HH:MM:SS` in the world's zone; none: now."""

    emp_code: str
    terminal_sn: str | None = None
    at: str | None = None
    code: Annotated[int, Meta(ge=0, le=9999)] = 0
    verify: Annotated[int, Meta(ge=0, le=9999)] = 1
    times: Annotated[int, Meta(ge=1, le=10_000)] = 1


class EditBody(msgspec.Struct, forbid_unknown_fields=True):
    """What a punch becomes; what is left out stays. `at` as for a new punch."""

    id: int
    emp_code: str | None = None
    terminal_sn: str | None = None
    at: str | None = None
    code: Annotated[int, Meta(ge=0, le=9999)] | None = None


class PunchesBody(msgspec.Struct, forbid_unknown_fields=True):
    """Punches to delete, or to bring back."""

    ids: list[int]


def add(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    """Unknown codes and serials are accepted too: real servers hold punches of people who left long ago."""
    asked = msgspec.json.decode(body, type=PunchBody)
    world = simulator.world
    person = _person_index(world, asked.emp_code)
    terminal = _terminal_index(world, asked.terminal_sn or world.terminals[0].serial)
    punched = world.now if asked.at is None else _instant(simulator, asked.at)
    return {
        "ids": [world.punch(person, terminal, punched, asked.code, verify=asked.verify) for _ in range(asked.times)]
    }


def _person_index(world: World, code: str) -> int:
    person = world.find_person(code)
    if person is None:
        person = world.add_person(code)
        world.people[person].listed = False
    return person


def _terminal_index(world: World, serial: str) -> int:
    terminal = world.find_terminal(serial)
    if terminal is None:
        terminal = world.add_terminal(serial)
        world.terminals[terminal].listed = False
    return terminal


def edit(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    asked = msgspec.json.decode(body, type=EditBody)
    world = simulator.world
    changes = {
        "person": None if asked.emp_code is None else _person_index(world, asked.emp_code),
        "terminal": None if asked.terminal_sn is None else _terminal_index(world, asked.terminal_sn),
        "punched": None if asked.at is None else _instant(simulator, asked.at),
        "code": asked.code,
    }
    if not world.edit_punch(asked.id, **{name: value for name, value in changes.items() if value is not None}):
        raise Refused(f"no punch has the number {asked.id}")
    return {"id": asked.id}


def delete(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    return {"deleted": simulator.world.delete_punches(msgspec.json.decode(body, type=PunchesBody).ids)}


def bring_back(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    return {"back": simulator.world.bring_back(msgspec.json.decode(body, type=PunchesBody).ids)}


def _instant(simulator: "Simulator", text: str) -> int:
    instant = read_stamp(text, simulator.world.zone)
    if instant is None:
        instant = _read_iso(text)
    if not EARLIEST <= instant <= LATEST:
        raise Refused(f"{text!r} is further off than any terminal's clock")
    return instant


def _read_iso(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no time") from None
    if moment.tzinfo is None:
        raise Refused(f"{text!r} has no offset: give it one, or write a space for the T to mean the world's own time")
    return int(moment.timestamp())
