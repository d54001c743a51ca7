"""The time zones that this machine knows, by their IANA names, and how a page offers them."""

from functools import cache, lru_cache
from typing import Any
from zoneinfo import available_timezones

# The same zones again, and names that say no place: what they mean depends on the machine.
_NO_CHOICE = ("posix/", "right/", "SystemV/", "Factory", "localtime", "posixrules")


@cache
def all_zones() -> frozenset[str]:
    """Once for the process: Python opens each of the thousand files to tell."""
    return frozenset(available_timezones())


@lru_cache(maxsize=8)
def by_region(saved: str = "") -> list[dict[str, Any]]:
    """Time zones by region, as the select has them; `saved` is among them, whatever it is."""
    names = sorted(name for name in all_zones() if name == saved or not name.startswith(_NO_CHOICE))
    regions: dict[str, list[dict[str, str]]] = {}
    for name in names:
        region, slash, _ = name.partition("/")
        regions.setdefault(region if slash else "Other", []).append({"value": name, "label": name.replace("_", " ")})
    last = regions.pop("Other", [])
    grouped: list[dict[str, Any]] = [{"label": region, "options": options} for region, options in regions.items()]
    return [*grouped, {"label": "Other", "options": last}]
