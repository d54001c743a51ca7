"""Faults that change the world when they are switched on: clocks, late and double punches, a restored database."""

from random import Random
from typing import TYPE_CHECKING

from app.simulator.faults import Fault
from app.simulator.world import World

if TYPE_CHECKING:
    from app.simulator.application import Simulator

CLOCKS = {"clock_fast_34m": 34 * 60, "clock_off_17h": -17 * 3600, "clock_wrong_year": 365 * 86400}
DAY = 86400


def begin(simulator: "Simulator", fresh: dict[str, Fault]) -> None:
    """Carry out what newly switched-on faults do to the world, and take back what may be taken back."""
    active, world = simulator.faults.active, simulator.world
    if "silent_feed" not in active:
        simulator.silent_after = None
    elif "silent_feed" in fresh:
        simulator.silent_after = world.now - int(float(fresh["silent_feed"].value) * 3600)
    _set_clocks(simulator, {name: fault for name, fault in active.items() if name in CLOCKS})
    if "late_upload" in fresh:
        upload_late(world, fresh["late_upload"].number())
    if "lower_ids" in fresh:
        add_lower_ids(world, fresh["lower_ids"].number())
    if "double_rows" in fresh:
        double_rows(world, fresh["double_rows"].number())
    if "ids_restart" in fresh:
        world.punches.restart_numbers()


def _set_clocks(simulator: "Simulator", faults: dict[str, Fault]) -> None:
    """Wind the clocks as the active faults say, over the clocks that the terminals came with."""
    world = simulator.world
    wanted: dict[int, int] = {}
    for name, fault in faults.items():
        terminal = world.find_terminal(fault.value) if fault.value else 0
        if terminal is not None:
            wanted[terminal] = CLOCKS[name]
    for terminal in wanted.keys() | simulator.wound.keys():
        change = wanted.get(terminal, 0) - simulator.wound.get(terminal, 0)
        world.terminals[terminal].ahead_s += change
        # before the first call no client has seen the history, so it may be rewritten; later it may not
        if change and simulator.call_count == 0:
            world.punches.shift_clock(terminal, change)
    simulator.wound = wanted


def upload_late(world: World, count: int) -> None:
    """Punches of two to nine days ago arrive now, from one terminal."""
    rng = Random(world.seed)
    for _ in range(count if world.people else 0):
        punched = world.now - rng.randrange(2 * DAY, 9 * DAY)
        world.punch(rng.randrange(len(world.people)), 0, punched, rng.randrange(2))


def add_lower_ids(world: World, count: int) -> None:
    """Punches of the last hour arrive, numbered below everything that was there before."""
    rng = Random(world.seed + 1)
    for _ in range(count if world.people else 0):
        punched = world.now - rng.randrange(3600)
        world.punch_as(world.punches.take_lower_number(), rng.randrange(len(world.people)), 0, punched, code=0)


def double_rows(world: World, count: int) -> None:
    """Recent punches once more: same person, same second, another id."""
    last = len(world.punches)
    for punch in [world.punches[index] for index in range(max(0, last - count), last)]:
        world.punch(punch.person, punch.terminal, punch.punched, punch.code, verify=punch.verify)
