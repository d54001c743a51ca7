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
    """The same for a number that is counted only up to a limit: `10,000 or more records`."""
    return count(number, one, several) if number < most else f"{most:,} or more {several}"


def people(number: int) -> str:
    """`1 person`, `1,214 people`."""
    return count(number, "person", "people")


def some(names: Iterable[str], most: int = NAMED) -> str:
    """The first few, and that there are more."""
    listed = list(names)
    return ", ".join(listed[:most]) + (" and others" if len(listed) > most else "")


def mean(total: Decimal | int, number: int) -> Decimal | None:
    """To two places; None when there is nothing to divide by."""
    return _divided(total, number, 2)


def percent(part: int, whole: int) -> Decimal | None:
    """To one place; None when there is nothing to divide by."""
    return _divided(100 * part, whole, 1)


def percent_label(value: Decimal | None) -> str:
    """`12.5 %`; a dash where there was nothing to divide by."""
    return "–" if value is None else f"{value} %"


def rounded(value: Decimal | float, places: int = 0) -> Decimal:
    """Half up, as people do it by hand: of a float its shortest decimal counts, so that 2.675 is 2.68. A half of a
    negative number goes away from zero."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def nearest(value: Decimal | float) -> int:
    """The nearest whole number, half up."""
    return int(rounded(value))


def near(value: float, places: int) -> float:
    """A float that is short to write, half up."""
    return float(rounded(value, places))


def _divided(upper: Decimal | int, lower: int, places: int) -> Decimal | None:
    return rounded(Decimal(upper) / lower, places) if lower else None
