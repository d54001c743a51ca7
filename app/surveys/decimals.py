"""Numbers that people give or that authors set as limits: exact to six decimals, each with one spelling. Pure."""

import math
import re
from decimal import Decimal
from typing import Final

Number = int | float
MOST_DECIMALS: Final = 6
# With six decimals these are fifteen digits: as many as every JSON reader keeps exactly.
LARGEST: Final = 999_999_999
# What keyboards in Arabic and Persian give: their digits, and the mark before decimals.
_ARABIC = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹٫", "01234567890123456789.")
_TYPED = re.compile(r"[-+\u2212]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)
# "1.000" and "1,000" are a thousand for one person and one for another. After a zero only decimals can follow: "0,125".
_AMBIGUOUS = re.compile(r"[-+\u2212]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)


def exact(value: object) -> Number | None:
    """A JSON number as it is stored: whole ones are int. None for what is not a number, is too large, or has too many
    decimals."""
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
    """What a person typed, with a point or a comma before the decimals, in digits of ours or of Arabic. None when it is
    not a number, and when a thousand and a one with three decimals look the same: see `is_ambiguous`."""
    text = _plain(text)
    if not _TYPED.fullmatch(text) or is_ambiguous(text):
        return None
    decimal = Decimal(text.replace(",", ".").replace("\u2212", "-"))
    return exact(int(decimal) if decimal == decimal.to_integral_value() else float(decimal))


def is_ambiguous(text: str) -> bool:
    """True for one to three digits, a point or a comma, and three digits: "1.000", "12,500". A wrong guess would be
    stored for ever."""
    return _AMBIGUOUS.fullmatch(_plain(text)) is not None


def both_ways(text: str) -> tuple[str, str]:
    """How to type the large number and the small one that an ambiguous text may mean: "1000" and "1.0000"."""
    text = _plain(text)
    return re.sub("[.,]", "", text), f"{text}0"


def _plain(text: str) -> str:
    return text.strip().translate(_ARABIC)


def typeable(value: Number) -> str:
    """As `written`, for a form's field: `typed` reads it back, so 1.234 becomes "1.2340"."""
    text = written(value)
    return both_ways(text)[1] if is_ambiguous(text) else text
