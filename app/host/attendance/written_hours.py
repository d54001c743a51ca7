"""How an export writes worked hours: `8.50` or `8:30`. Pure.

Only the written value is rounded. Sums come from the exact times:
rounded rows of a month may add up to a little more or less.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

from app.counting import nearest

MICROSECOND = timedelta(microseconds=1)
HUNDREDTH, MINUTE = timedelta(seconds=36), timedelta(minutes=1)


def decimal(worked: timedelta) -> Decimal:
    """Hours with two places: `8.50`."""
    return Decimal(_nearest(worked, HUNDREDTH)).scaleb(-2)


def hours_and_minutes(worked: timedelta) -> str:
    """`8:30`, however many hours: `120:05`."""
    hours, minutes = divmod(_nearest(worked, MINUTE), 60)
    return f"{hours}:{minutes:02}"


def whole_minutes(worked: timedelta) -> timedelta:
    """What `hours_and_minutes` writes, for a program that counts."""
    return _nearest(worked, MINUTE) * MINUTE


def _nearest(worked: timedelta, step: timedelta) -> int:
    """How many steps are nearest; half a step counts as one."""
    return nearest(Decimal(worked // MICROSECOND) / (step // MICROSECOND))


# The words that `hours=` of an export's address may have; without it the first one holds.
FORMS: Mapping[str, Callable[[timedelta], Decimal | str]] = {"decimal": decimal, "h:mm": hours_and_minutes}
