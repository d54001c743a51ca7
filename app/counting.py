"""Numbers and lists of things in a sentence. Pure."""

from collections.abc import Iterable

NAMED = 5


def count(number: int, one: str, several: str) -> str:
    """`1 record`, `1,214 records`."""
    return f"{number:,} {one if number == 1 else several}"


def people(number: int) -> str:
    """`1 person`, `1,214 people`."""
    return count(number, "person", "people")


def some(names: Iterable[str], most: int = NAMED) -> str:
    """The first few, and that there are more."""
    listed = list(names)
    return ", ".join(listed[:most]) + (" and others" if len(listed) > most else "")
