"""The worlds that tests begin with: each is laid down once, and every test gets a copy of its own to change.

For tests of what is read from a world; how one is laid down is for tests that lay it down themselves.
"""

import pickle
from datetime import datetime
from functools import cache

from app.simulator import World, build_world


def fresh_world(  # noqa: PLR0917 -- as `build_world` takes them
    seed: int, employees: int, days: int, terminals: int, now: datetime, zone: str
) -> World:
    """What `build_world` gives, for a fraction of its time from the second on."""
    world: World = pickle.loads(_laid_down(seed, employees, days, terminals, now, zone))
    return world


@cache
def _laid_down(  # noqa: PLR0917 - as `build_world` takes them
    seed: int, employees: int, days: int, terminals: int, now: datetime, zone: str
) -> bytes:
    return pickle.dumps(build_world(seed, employees, days, terminals, now, zone))
