"""How often Python looks for garbage: while a process starts, and in one that serves for days."""

import gc

# A page of 200 rows makes tens of thousands of small objects, nearly all of which go without the collector. At Python's
# own 700 it looks hundreds of times a page and finds nothing.
NEW_OBJECTS = 10_000
# A start makes some hundred thousand that all stay; Python's own 700 made looking through them an eighth of it.
AT_START = 100_000


def start_undisturbed() -> None:
    """Call it first of all."""
    gc.set_threshold(AT_START, 50, 50)


def spare_what_stays() -> None:
    """Call it once everything is built. Routes, templates and modules stay for the life of the process,
    and are not looked through
    again: each time that took 0.1 to 0.2 s, in the middle of somebody's page."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 10, 10)
