"""Which rows a call asks for: resources, filters and paging, before any fault has its way with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from app.simulator.profiles import Profile
from app.simulator.rows import Rows, as_json
from app.simulator.stamps import read_stamp
from app.simulator.world import World

LONGEST_SCHEDULE = timedelta(days=62)


@dataclass(slots=True)
class Bounds:
    """How a punch filter is read: in which zone, and whether its two bounds belong to it."""

    zone: ZoneInfo
    excluded: bool = False


def page_of(query: dict[str, str], profile: Profile, page_size_word: str = "page_size") -> tuple[int, int]:
    """Page (from 1) and size. `limit` does as well; nonsense gives the default, too much the largest."""
    asked = query.get(page_size_word) or query.get("limit") or ""
    size = int(asked) if asked.isdecimal() and int(asked) else profile.default_page
    page = query.get("page", "1")
    return (int(page) if page.isdecimal() and int(page) else 1), min(size, profile.largest_page)


def punch_indexes(rows: Rows, query: dict[str, str], bounds: Bounds) -> Sequence[int]:
    """The punches of a window, by punch time only. An unparsable time matches nothing."""
    world = rows.world
    limits: list[int | None] = []
    for word, inwards in (("start_time", 1), ("end_time", -1)):
        text = query.get(word)
        instant = None if text is None else read_stamp(text, bounds.zone)
        if text is not None and instant is None:
            return range(0)
        limits.append(instant + inwards if instant is not None and bounds.excluded else instant)
    found = range(*world.punches.window(limits[0], limits[1]))
    return _of_person(rows, _of_terminal(world, found, query.get("terminal_sn")), query.get("emp_code"))


def _of_person(rows: Rows, found: Sequence[int], code: str | None) -> Sequence[int]:
    if code is None:
        return found
    wanted, people = rows.find_person(code), rows.world.punches.person
    return [index for index in found if people[index] == wanted]


def _of_terminal(world: World, found: Sequence[int], serial: str | None) -> Sequence[int]:
    if serial is None:
        return found
    wanted, terminals = world.find_terminal(serial), world.punches.terminal
    return [index for index in found if terminals[index] == wanted]


def objects(rows: Rows, resource: str, query: dict[str, str]) -> Sequence[Any]:
    """What a listing other than punches lists, in the server's order."""
    world = rows.world
    match resource:
        case "employees":
            people = [person for person in world.people if person.listed]
            return [one for one in people if query.get("emp_code", rows.code(one)) == rows.code(one)]
        case "devices":
            return [terminal for terminal in world.terminals if terminal.listed]
        case "schedules":
            return scheduled(rows, query)
        case "departments" | "positions" | "areas" | "locations":
            units: list[Any] = getattr(world, resource)
            return units
    raise LookupError(resource)


def render(rows: Rows, resource: str, found: Sequence[Any]) -> list[str]:
    """JSON text of each."""
    if resource == "transactions":
        return rows.punches(found)
    if resource == "schedules":
        return [as_json(one) for one in found]
    shape = getattr(rows, {"devices": "terminal"}.get(resource, resource.removesuffix("s")))
    return [as_json(shape(one)) for one in found]


def scheduled(rows: Rows, query: dict[str, str]) -> list[dict[str, Any]]:
    """The schedule of one person from `start_date` to `end_date`, both included; nothing for anything unreadable."""
    index = rows.find_person(query.get("emp_code", ""))
    try:
        first, last = (date.fromisoformat(query.get(word, "")) for word in ("start_date", "end_date"))
    except ValueError:
        return []
    if index is None or last - first > LONGEST_SCHEDULE:
        return []
    person = rows.world.people[index]
    days = (rows.schedule(person, first + timedelta(days=ahead)) for ahead in range((last - first).days + 1))
    return [day for day in days if day is not None]
