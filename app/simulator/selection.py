"""How faults change which rows a call gets: windows read wrongly, lists that shrink, pages that slip."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from app.simulator import listing
from app.simulator.calls import Call
from app.simulator.faults import Fault
from app.simulator.rows import Rows

if TYPE_CHECKING:
    from app.simulator.application import Simulator

Struck = dict[str, Fault]
UTC_ZONE = ZoneInfo("UTC")


def select(simulator: "Simulator", call: Call, struck: Struck, rows: Rows, page: int) -> Sequence[Any]:
    """All rows that the call's filters match, as this server understands them."""
    if call.resource == "transactions":
        return _punches(simulator, call, struck, rows, page)
    found = listing.objects(rows, call.resource, call.query)
    if "resigned_leave" in struck:
        found = found[: max(0, len(found) - struck["resigned_leave"].number())]
    if "half_list" in struck:
        found = found[: len(found) // 2]
    return [] if "empty_list" in struck else found


def _punches(simulator: "Simulator", call: Call, struck: Struck, rows: Rows, page: int) -> Sequence[int]:
    world, query = simulator.world, call.query
    if "filter_ignored" in struck:
        query = {word: text for word, text in query.items() if word not in ("start_time", "end_time")}
    zone = UTC_ZONE if "filter_utc" in struck else simulator.zone_of(call)
    bounds = listing.Bounds(zone, "bounds_excluded" in struck)
    found = _in_order(listing.punch_indexes(rows, query, bounds), struck)
    if "inserts_while_paging" in struck and page > 1 and len(found):
        _insert_in_front(simulator, found[0], struck["inserts_while_paging"].number())
        found = _in_order(listing.punch_indexes(rows, query, bounds), struck)
    if simulator.silent_after is not None:
        punched, delay, last = world.punches.punched, world.punches.delay, simulator.silent_after
        found = [index for index in found if punched[index] + delay[index] <= last]
    if "half_list" in struck:
        found = found[: len(found) // 2]
    return range(0) if "empty_list" in struck else found


def _in_order(found: Sequence[int], struck: Struck) -> Sequence[int]:
    return found[::-1] if "newest_first" in struck else found


def _insert_in_front(simulator: "Simulator", index: int, count: int) -> None:
    """In the same second as the first row: all that follows moves on by as many places."""
    first = simulator.world.punches[index]
    for _ in range(count):
        simulator.world.punch(first.person, first.terminal, first.punched, first.code, verify=first.verify)


def first_row(simulator: "Simulator", call: Call, struck: Struck, place: tuple[int, int, int]) -> int:
    """Where a page begins. `place` is page (from 1), size and total."""
    page, size, total = place
    start = (page - 1) * size
    if "page_repeats" in struck:
        return 0
    if "unstable_paging" not in struck or total <= size:
        return start
    window = call.path + "?" + "&".join(f"{word}={text}" for word, text in sorted(call.query.items()) if word != "page")
    if page == 1:
        simulator.walks[window] = simulator.walks.get(window, 0) + 1
    # every other page slips, and in the next walk the others: what one walk loses, the next one has
    slips = (page + simulator.walks.get(window, 1)) % 2
    return start + slips * min(struck["unstable_paging"].number(), size - 1)
