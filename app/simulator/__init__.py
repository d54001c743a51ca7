"""The bundled time-clock server: a program of its own, which imports nothing of the rest of `app`.

    world = build_world(seed=7, employees=200, days=30, terminals=8, now=now, zone="Europe/Berlin")
    async with serving(create_simulator(world, "cloud", ["page_cap_50"])) as address: ...

What it imitates: docs/clock-servers.md. `python -m app.simulator --help` runs it alone.
"""

from app.simulator.application import PASSWORD, USERNAME, Simulator, create_simulator
from app.simulator.faults import FAULTS, UnknownFault
from app.simulator.wire import serving
from app.simulator.world import World, build_world

__all__ = [
    "FAULTS",
    "PASSWORD",
    "USERNAME",
    "Simulator",
    "UnknownFault",
    "World",
    "build_world",
    "create_simulator",
    "serving",
]
