"""Numbers that people give or authors bound: exact to six decimals, each written in one way. Pure."""

import math
import re
from decimal import Decimal
from typing import Final

Number = int | float
MOST_DECIMALS: Final = 6
# With six decimals that is fifteen digits: as many as every JSON reader keeps exactly.
LARGEST: Final = 999_999_999
_TYPED = re.compile(r"[-+\u2212]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)
# "1,000" is a thousand to one person and one to another.
_AMBIGUOUS = re.compile(r".*\d,\d{3}")


def exact(value: object) -> Number | None:
    """A JSON number as it is kept: whole ones are int. None for what is no number, too large, or has too many decimals."""
    if type(value) is int:
        return value if abs(value) <= LARGEST else None
    if type(value) is not float or not math.isfinite(value) or abs(value) > LARGEST:
        return None
    if value.is_integer():
        return int(value)
    return value if len(written(value).partition(".")[2]) <= MOST_DECIMALS else None


def written(value: Number) -> str:
    """Without an exponent: 0.000001, 12, -3.5. RFC 8785 writes the same for every number that `exact` keeps."""
    return str(value) if isinstance(value, int) else f"{Decimal(repr(value)):f}"


def typed(text: str) -> Number | None:
    """What a person typed, with a point or a comma before the decimals. None where it is no number, or could be two."""
    text = text.strip()
    if not _TYPED.fullmatch(text) or _AMBIGUOUS.fullmatch(text):
        return None
    decimal = Decimal(text.replace(",", ".").replace("\u2212", "-"))
    return exact(int(decimal) if decimal == decimal.to_integral_value() else float(decimal))
