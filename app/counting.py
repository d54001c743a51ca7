"""Numbers and lists of things in a sentence, and how figures are rounded everywhere. Pure.

Half up, in decimals: 4.125 is 4.13 and 6.25 is 6.3.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

NAMED = 5


def count(number: int, one: str, several: str) -> str:
    """`1 record`, `1,214 records`."""
    return f"{number:,} {one if number == 1 else several}"


def count_up_to(most: int, number: int, one: str, several: str) -> str:
    """The same for what is not counted any further: `10,000 or more records`."""
    return count(number, one, several) if number < most else f"{most:,} or more {several}"


def people(number: int) -> str:
    """`1 person`, `1,214 people`."""
    return count(number, "person", "people")


def some(names: Iterable[str], most: int = NAMED) -> str:
    """The first few, and that there are more."""
    listed = list(names)
    return ", ".join(listed[:most]) + (" and others" if len(listed) > most else "")


def mean(total: Decimal | int, number: int) -> Decimal | None:
    """To two places; None where there is nothing to divide by."""
    return _divided(total, number, "0.01")


def percent(part: int, whole: int) -> Decimal | None:
    """To one place; None where there is nothing to divide by."""
    return _divided(100 * part, whole, "0.1")


def _divided(upper: Decimal | int, lower: int, place: str) -> Decimal | None:
    return (Decimal(upper) / lower).quantize(Decimal(place), ROUND_HALF_UP) if lower else None
