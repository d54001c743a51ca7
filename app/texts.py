"""Texts as people type them and as they are kept, days as programs write them, harmless cells of CSV files. Pure."""

import re
import unicodedata
from datetime import UTC, date, datetime
from uuid import UUID

# As JSON Schema writes it; with `fullmatch` nothing may follow, a line break neither.
UUID_FORM = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
# Without what means something else in the head of a mail.
EMAIL = re.compile(r"""[^@\s,;:<>()\[\]"\\]+@[^@\s,;:<>()\[\]"\\]+\.[^@\s,;:<>()\[\]"\\]+""")
# A database stores no NUL and no half of a surrogate pair, and a page shows none of the others.
# The strict one is of a single line.
_UNKEEPABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_UNKEEPABLE_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")
# Spreadsheets run cells that begin like this as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_GUARDED = tuple(f"'{one}" for one in _FORMULA)


def trimmed(text: str) -> str:
    """In NFC, with the line breaks of a browser as one character each, and no blanks around it."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def id_number_key(id_number: str) -> str:
    """How ID numbers compare: trimmed and case-folded."""
    return trimmed(id_number).casefold()


def is_keepable(text: str) -> bool:
    return _UNKEEPABLE.search(text) is None


def is_keepable_line(text: str) -> bool:
    """As `is_keepable`, and without line breaks and tabs."""
    return _UNKEEPABLE_IN_A_LINE.search(text) is None


def in_a_line(text: str) -> str:
    """With a blank in place of line breaks, tabs and what can't be kept."""
    return _UNKEEPABLE_IN_A_LINE.sub(" ", text)


def whole(text: str, digits: int) -> int | None:
    """The number that it writes with at most so many digits, 0 to 9 alone:
    `isdigit` takes others too, and `int` not all of those."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def uuid_of(text: str) -> UUID | None:
    """Written 8-4-4-4-12 alone: Python takes braces, `urn:uuid:` and no hyphens at all, too."""
    return UUID(text) if re.fullmatch(UUID_FORM, text) else None


def guarded(cell: str) -> str:
    """As a cell of a CSV file, which an apostrophe keeps a text."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def unguarded(cell: str) -> str:
    """The other way round."""
    return cell[1:] if cell.startswith(_GUARDED) else cell


def instant(value: datetime | None) -> str | None:
    """An instant as the APIs write it: UTC, ending in `Z`, to the microsecond at most."""
    if value is None:
        return None
    # The usual zone first: a list or a file has thousands of instants.
    in_utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return f"{in_utc.isoformat()[:-6]}Z"


def local(value: datetime | None) -> str | None:
    """A local time, without an offset."""
    return None if value is None else value.isoformat()


def day(value: date | None) -> str | None:
    return None if value is None else value.isoformat()
