"""How figures are rounded (design: decisions, "Surveys: numbers"): half up, in decimals, so that 4.125 is 4.13. Pure."""

from decimal import ROUND_HALF_UP, Decimal


def mean(total: int, number: int) -> Decimal | None:
    """To two places; None where there is nothing to divide by."""
    return _divided(total, number, "0.01")


def percent(part: int, whole: int) -> Decimal | None:
    """To one place; None where there is nothing to divide by."""
    return _divided(100 * part, whole, "0.1")


def _divided(upper: int, lower: int, place: str) -> Decimal | None:
    return (Decimal(upper) / lower).quantize(Decimal(place), ROUND_HALF_UP) if lower else None
