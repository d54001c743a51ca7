"""Watching and steering, outside the profile's paths: the page at `/`, and `/_control/…` in JSON.

Meant for a loopback address. A POST must be JSON, which no foreign page can send without asking first.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from app.simulator import punch_control
from app.simulator.calls import Answer, Call
from app.simulator.cast import Person, Terminal
from app.simulator.envelopes import say
from app.simulator.faults import FAULTS, UnknownFault
from app.simulator.punch_control import YEAR_S, Refused
from app.simulator.watch import STYLE, draw_page

if TYPE_CHECKING:
    from app.simulator.application import Simulator


class FaultsBody(msgspec.Struct, forbid_unknown_fields=True):
    """Switch exactly these on."""

    set: list[str]


class PersonBody(msgspec.Struct, forbid_unknown_fields=True):
    """What to do with whom: add, remove, return, disable, enable, rename (names), recode (`new_code`)."""

    action: str
    emp_code: str
    first_name: str | None = None
    last_name: str | None = None
    new_code: str | None = None


class TerminalBody(msgspec.Struct, forbid_unknown_fields=True):
    """What to do with which: add, remove, return, offline, online, clock (`ahead_s`), door, attendance, rename."""

    action: str
    terminal_sn: str
    alias: str | None = None
    ahead_s: Annotated[int, Meta(ge=-10 * YEAR_S, le=10 * YEAR_S)] = 0


class AdvanceBody(msgspec.Struct, forbid_unknown_fields=True):
    """Let the world's time pass."""

    seconds: Annotated[int, Meta(ge=0, le=YEAR_S)]


class SessionsBody(msgspec.Struct, forbid_unknown_fields=True):
    """`end`: every session is over, as after a restart. `password`: the account has another one from now on."""

    action: str
    password: str | None = None


PAGE_HEADERS = {"content-security-policy": "default-src 'self'; frame-ancestors 'none'", "cache-control": "no-store"}


def answer(simulator: "Simulator", call: Call) -> Answer:
    """Any call outside the profile's paths."""
    match call.path:
        case "/":
            return Answer(200, draw_page(simulator).encode(), "text/html; charset=utf-8", dict(PAGE_HEADERS))
        case "/_control/style.css":
            return Answer(200, STYLE.encode(), "text/css")
        case "/_control/state":
            return say(200, state(simulator))
        case _:
            return _act(simulator, call)


def _act(simulator: "Simulator", call: Call) -> Answer:
    action = ACTIONS.get(call.path.rstrip("/"))
    if action is None:
        return say(404, {"error": "no such control"})
    if call.method != "POST" or not call.headers.get("content-type", "").startswith("application/json"):
        return say(405, {"error": "POST application/json"})
    try:
        return say(200, action(simulator, call.body))
    except (msgspec.DecodeError, Refused, UnknownFault) as error:
        return say(422, {"error": str(error)})


def state(simulator: "Simulator") -> dict[str, Any]:
    """Everything that the page shows, as data. Instants are epoch seconds."""
    world = simulator.world
    return {
        "profile": simulator.profile.name,
        "zone": world.zone.key,
        "now": world.now,
        "now_local": datetime.fromtimestamp(world.now, world.zone).strftime("%Y-%m-%d %H:%M:%S"),
        "people": sum(person.listed for person in world.people),
        "terminals": [terminal.serial for terminal in world.terminals if terminal.listed],
        "punches": len(world.punches),
        "faults": simulator.faults.written(),
        "available_faults": FAULTS,
        "sessions": len(simulator.sessions.by_access),
        "call_count": simulator.call_count,
        "calls": [
            {
                "at": noted.at, "method": noted.method, "path": noted.path, "query": noted.query,
                "resource": noted.resource, "status": noted.status, "bytes": noted.size,
                "took_ms": int(noted.took_ms * 1000 + 0.5) / 1000, "faults": noted.struck,
            }
            for noted in list(simulator.calls)[-50:]
        ],
    }  # fmt: skip


def _set_faults(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    simulator.set_faults(msgspec.json.decode(body, type=FaultsBody).set)
    return {"faults": simulator.faults.written()}


def _person(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    asked = msgspec.json.decode(body, type=PersonBody)
    world = simulator.world
    index = world.find_person(asked.emp_code)
    if asked.action == "add":
        if index is not None:
            raise Refused(f"{asked.emp_code} is there already")
        index = world.add_person(asked.emp_code)
        asked.action = "rename" if asked.first_name else "return"
    if index is None:
        raise Refused(f"no employee has the code {asked.emp_code}")
    change = PERSON_CHANGES.get(asked.action)
    if change is None:
        raise Refused(f"action is one of add, {', '.join(PERSON_CHANGES)}")
    change(world.people[index], asked)
    world.people[index].updated = world.now
    world.changed()
    return {"emp_code": world.people[index].code, "listed": world.people[index].listed}


def _rename(person: Person, asked: PersonBody) -> None:
    person.first_name = asked.first_name or person.first_name
    person.last_name = asked.last_name


def _recode(person: Person, asked: PersonBody) -> None:
    if not asked.new_code:
        raise Refused("recode needs new_code")
    person.code = asked.new_code


def _set(name: str, value: object) -> Callable[[Any, Any], None]:
    return lambda one, _: setattr(one, name, value)


PERSON_CHANGES: dict[str, Callable[[Person, PersonBody], None]] = {
    "remove": _set("listed", False),
    "return": _set("listed", True),
    "disable": _set("attendance", False),
    "enable": _set("attendance", True),
    "rename": _rename,
    "recode": _recode,
}


def _terminal(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    asked = msgspec.json.decode(body, type=TerminalBody)
    world = simulator.world
    index = world.find_terminal(asked.terminal_sn)
    if asked.action == "add":
        if index is not None:
            raise Refused(f"{asked.terminal_sn} is there already")
        index = world.add_terminal(asked.terminal_sn)
        asked.action = "rename"
    if index is None:
        raise Refused(f"no terminal has the serial {asked.terminal_sn}")
    change = TERMINAL_CHANGES.get(asked.action)
    if change is None:
        raise Refused(f"action is one of add, {', '.join(TERMINAL_CHANGES)}")
    change(world.terminals[index], asked)
    world.changed()
    return {"terminal_sn": asked.terminal_sn, "listed": world.terminals[index].listed}


def _alias(terminal: Terminal, asked: TerminalBody) -> None:
    terminal.alias = asked.alias or terminal.alias


def _wind(terminal: Terminal, asked: TerminalBody) -> None:
    terminal.ahead_s = asked.ahead_s


TERMINAL_CHANGES: dict[str, Callable[[Terminal, TerminalBody], None]] = {
    "remove": _set("listed", False),
    "return": _set("listed", True),
    "offline": _set("state", 0),
    "online": _set("state", 1),
    "clock": _wind,
    "door": _set("attendance", False),
    "attendance": _set("attendance", True),
    "rename": _alias,
}


def _advance(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    seconds = msgspec.json.decode(body, type=AdvanceBody).seconds
    came = simulator.world.advance(simulator.world.now + seconds)
    return {"now": simulator.world.now, "punches_came": came}


def _sessions(simulator: "Simulator", body: bytes) -> dict[str, Any]:
    asked = msgspec.json.decode(body, type=SessionsBody)
    match asked.action:
        case "end":
            simulator.sessions.end_all()
        case "password" if asked.password:
            simulator.sessions.password = asked.password
        case _:
            raise Refused("action is end, or password with a password")
    return {"sessions": len(simulator.sessions.by_access)}


ACTIONS: dict[str, Callable[["Simulator", bytes], dict[str, Any]]] = {
    "/_control/faults": _set_faults,
    "/_control/punch": punch_control.add,
    "/_control/punch/edit": punch_control.edit,
    "/_control/punch/delete": punch_control.delete,
    "/_control/punch/bring_back": punch_control.bring_back,
    "/_control/person": _person,
    "/_control/terminal": _terminal,
    "/_control/advance": _advance,
    "/_control/sessions": _sessions,
}
