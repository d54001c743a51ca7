"""Single values of a row, read strictly: what is wrong raises RowError with a reason for the operator. Pure."""

import re
from typing import Any

from app.counting import near

CODE_LENGTH, NAME_LENGTH, REFERENCE_LENGTH, RAW_TIME_LENGTH = 64, 200, 500, 64
LARGEST = 2**31 - 1

_WHOLE = re.compile(r"-?[0-9]{1,10}")
_TRUE = frozenset(("true", "1", "yes", "y", "on"))
_FALSE = frozenset(("false", "0", "no", "n", "off"))
_ENROLLED = re.compile(r":\s*0*[1-9]")
_HIGHEST_TEMPERATURE = 150.0
_NOT_MEASURED = 255.0


class RowError(ValueError):
    """This row cannot be read. The message says which field and why, without the value."""


def checked_text(value: str, field: str, limit: int) -> str:
    """Text that PostgreSQL takes, exactly as it came."""
    if len(value) > limit:
        raise RowError(f"{field} is longer than {limit} characters")
    if "\0" in value:
        raise RowError(f"{field} holds a NUL character")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RowError(f"{field} holds half a character") from None
    return value


def optional_text(value: Any, field: str, limit: int = NAME_LENGTH) -> str | None:
    """Text, or None for null and for nothing but spaces. A number counts as its digits."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return str(value)
    if not isinstance(value, str):
        raise RowError(f"{field} is no text")
    return checked_text(value, field, limit) if value.strip() else None


def required_code(value: Any, field: str) -> str:
    """An id or a code: text kept exactly, or a whole number as its digits. Never empty."""
    code = optional_text(value, field, CODE_LENGTH)
    if code is None:
        raise RowError(f"{field} is missing")
    return code


def whole_number(value: Any, field: str) -> int | None:
    """A whole number that a database integer holds; None for null and empty text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RowError(f"{field} is no whole number")
    if abs(value) > LARGEST:
        raise RowError(f"{field} is too large a number")
    return value


def count(value: Any, field: str) -> int | None:
    number = whole_number(value, field)
    if number is not None and number < 0:
        raise RowError(f"{field} is below zero")
    return number


def flag(value: Any, field: str) -> bool | None:
    """Yes or no in any of the spellings seen; None when nothing is said."""
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if not word:
        return None
    raise RowError(f"{field} is not yes or no")


def is_no(value: Any) -> bool:
    """True for any spelling of no. An odd value is not a no, and does not set the row aside."""
    return value is False or str(value).strip().lower() in _FALSE


def time_zone(value: Any) -> str | None:
    """A terminal's time zone as the server writes it: whole hours east of UTC, or a name. An odd value is None, and
    does not set the row aside."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    return text if 0 < len(text) <= CODE_LENGTH and text.isprintable() else None


def temperature(value: float | str) -> float | None:
    """Degrees. None for 0 and 255, which terminals send when they did not measure, and for impossible temperatures."""
    try:
        degrees = float(value)
    except ValueError:
        raise RowError("temperature is no number") from None
    measured = 0.0 < degrees < _HIGHEST_TEMPERATURE and degrees != _NOT_MEASURED
    return near(degrees, 2) if measured else None


def enrolled(value: Any) -> bool:
    """True when a biometric is enrolled, from "Ver 10:1" and "-", a count, or a yes.
    Of a template only that much is kept."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value > 0
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word.startswith("ver"):
        return _ENROLLED.search(word) is not None
    return word not in _FALSE and word not in ("", "-", "none", "null")


def present(value: Any) -> bool:
    """True when there is a card or a password. The value itself is never read."""
    return value is not None and str(value).strip() not in ("", "0", "-")


def reference(value: Any) -> str | None:
    """A path or address of a picture. Inline pictures are dropped: no picture is ever stored."""
    if not isinstance(value, str) or not 0 < len(value) <= REFERENCE_LENGTH or not value.isprintable():
        return None
    return None if value.startswith("data:") else value
