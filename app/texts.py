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
# They turn the direction of what is written after them, beyond their own text: a name could reverse a title.
TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_UNREADABLE_IN_A_LINE = re.compile(rf"[\x00-\x1f\x7f\ud800-\udfff{TURNING}]+")
_TURN = re.compile(rf"[{TURNING}]")
# Unicode's Default_Ignorable_Code_Point, blanks, and the empty pattern of Braille: a page shows nothing of them.
_UNSEEN = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
# Spreadsheets run cells that begin like this as formulas.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_GUARDED = tuple(f"'{one}" for one in _FORMULA)


def trimmed(text: str) -> str:
    """In NFC, with the line breaks of a browser as one character each, and no blanks around it."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def visible(text: str) -> str:
    """As `trimmed`; empty when a page would show nothing of it."""
    return "" if _UNSEEN.fullmatch(text) else trimmed(text)


def id_number_key(id_number: str) -> str:
    """How ID numbers compare: trimmed and case-folded."""
    return trimmed(id_number).casefold()


def is_keepable(text: str) -> bool:
    return _UNKEEPABLE.search(text) is None


def is_keepable_line(text: str) -> bool:
    """As `is_keepable`, and without line breaks and tabs."""
    return _UNKEEPABLE_IN_A_LINE.search(text) is None


def is_readable(text: str) -> bool:
    """As `is_keepable`, and without characters that turn the direction of what follows: for texts that people write.
    What the time-clock server sends may have them, so look it up without this."""
    return is_keepable(text) and _TURN.search(text) is None


def is_readable_line(text: str) -> bool:
    """As `is_readable`, and without line breaks and tabs."""
    return _UNREADABLE_IN_A_LINE.search(text) is None


def in_a_line(text: str) -> str:
    """With a blank in place of line breaks, tabs and what can't be kept or read."""
    return _UNREADABLE_IN_A_LINE.sub(" ", text)


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
