"""Query parameters of the JSON APIs: each endpoint declares a struct. A refusal names all wrong and unknown parameters
at once."""

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec
from litestar.datastructures import MultiDict

from app import bodies
from app.bodies import TOLD, fields_of
from app.errors import FieldError, Invalid

MOST_PER_PAGE = 500
MOST_DAYS = 366
WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)

Page = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1, description="Page number, from 1.")]
PerPage = Annotated[int, msgspec.Meta(ge=1, le=MOST_PER_PAGE, description="Rows a page.")]
CursorText = Annotated[
    str, msgspec.Meta(min_length=1, max_length=500, description="`next_cursor` of the last answer, in place of `page`.")
]
DayText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^\d{4}-\d{2}-\d{2}$",
        max_length=10,
        description="A local date, included.",
        extra={TOLD: "Write a day as YYYY-MM-DD."},
    ),
]
InstantText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})$",
        max_length=32,
        description="Only what changed since this instant: `next_updated_since` of the round before. A cursor carries the first "
        "page's to the last; of pages read by number, keep the first page's.",
        extra={TOLD: "Write an instant with its zone, such as 2026-11-25T12:00:00Z."},
    ),
]
VERBATIM = {"verbatim": True}
"""`extra` of a text that is taken as it comes: a code of the time clock may be `null`, or have spaces at its ends."""
Moment = Annotated[datetime, msgspec.Meta(tz=True)]
"""An instant among the keys of a cursor."""
P = TypeVar("P", bound=msgspec.Struct)


class Nothing(msgspec.Struct, kw_only=True, frozen=True):
    """An endpoint without parameters."""


class Paged(msgspec.Struct, kw_only=True, frozen=True):
    """`page`, or `cursor` for deep and stable reading; both together are refused."""

    page: Page | None = None
    per_page: PerPage = 50
    cursor: CursorText | None = None


class Range(msgspec.Struct, kw_only=True, frozen=True):
    """Two local dates, both included; one alone leaves the other side open."""

    from_: DayText | None = msgspec.field(default=None, name="from")
    to: DayText | None = None


def read(kind: type[P], query: MultiDict[Any]) -> P:
    """The parameters as `kind`. Raises Invalid naming every parameter that is wrong, given twice or unknown."""
    fields = fields_of(kind)
    values: dict[str, Any] = {}
    wrong: list[FieldError] = []
    for name in dict.fromkeys(query.keys()):
        given = query.getall(name)
        if name not in fields:
            wrong.append(FieldError(str(name)[:100], "There is no such parameter."))
        elif len(given) > 1:
            wrong.append(FieldError(name, "Give it once."))
        else:
            try:
                values[fields[name].name] = _convert(str(given[0]), fields[name].type)
            except msgspec.ValidationError as error:
                wrong.append(FieldError(name, bodies.in_words(str(error), fields[name].type)))
    wrong += _together(values)
    if wrong:
        raise Invalid("Some parameters can't be used.", details=wrong)
    return kind(**values)


def _convert(text: str, kind: Any) -> Any:
    if "\x00" in text:
        raise msgspec.ValidationError("It holds a NUL character")
    if text.strip() and _is_verbatim(kind):
        return msgspec.convert(text, kind)
    if text.lower() in ("null", "") or text != text.strip():
        raise msgspec.ValidationError("It is empty or padded with spaces")
    if _is_integer(kind) and not WHOLE.fullmatch(text):
        raise msgspec.ValidationError("Give a whole number")
    return msgspec.convert(text, kind, strict=False)


@cache
def _is_integer(kind: Any) -> bool:
    """Lax conversion accepts `1.0` as 1, but the document says integer."""
    plain = (one.type if isinstance(one, msgspec.inspect.Metadata) else one for one in _kinds(kind))
    return any(isinstance(one, msgspec.inspect.IntType) for one in plain)


@cache
def _is_verbatim(kind: Any) -> bool:
    return any(isinstance(one, msgspec.inspect.Metadata) and one.extra == VERBATIM for one in _kinds(kind))


def _kinds(kind: Any) -> tuple[Any, ...]:
    info = msgspec.inspect.type_info(kind)
    return info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)


def _together(values: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with parameters that are right one by one."""
    wrong = []
    if values.get("cursor") and values.get("page"):
        wrong.append(FieldError("cursor", "Give either page or cursor."))
    days: dict[str, date] = {}
    for field, name in (("from_", "from"), ("to", "to")):
        try:
            if values.get(field):
                days[name] = date.fromisoformat(values[field])
        except ValueError:
            wrong.append(FieldError(name, "There is no such day; give YYYY-MM-DD."))
    if len(days) == 2:  # noqa: PLR2004 -- a range has two days
        if days["from"] > days["to"]:
            wrong.append(FieldError("from", "It is after `to`."))
        elif (days["to"] - days["from"]).days > MOST_DAYS:
            wrong.append(FieldError("to", f"At most {MOST_DAYS} days after `from`."))
    try:
        if values.get("updated_since"):
            instant_of(values["updated_since"])
    except ValueError:
        wrong.append(FieldError("updated_since", "There is no such instant in the years 1 to 9999, UTC."))
    return wrong


def day_of(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def instant_of(text: str | None) -> datetime | None:
    """The instant of a parameter. Raises ValueError for a day or hour that does not exist, or for which UTC has no
    year."""
    return _in_utc(datetime.fromisoformat(text)) if text else None


def _in_utc(found: datetime) -> datetime:
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise ValueError("before the first year, or after the last") from None


def encode_cursor(listing: str, *keys: Any) -> str:
    """A cursor is opaque to the caller. It holds the list that it belongs to, and where to continue."""
    return base64.urlsafe_b64encode(msgspec.json.encode((listing, *keys))).decode().rstrip("=")


def decode_cursor(text: str, listing: str, *kinds: Any) -> tuple[Any, ...]:
    """The keys in a cursor of this list, converted to their types. Raises Invalid for another list's cursor, and for
    one that we did not make."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        made_for, *keys = msgspec.json.decode(raw, type=list)
        if made_for == listing and len(keys) == len(kinds):
            return tuple(_key(key, kind) for key, kind in zip(keys, kinds, strict=True))
    except (binascii.Error, msgspec.DecodeError, msgspec.ValidationError, ValueError):
        made_for = listing
    elsewhere = isinstance(made_for, str) and made_for != listing
    sentence = (
        "The cursor belongs to another list. Send a cursor of this list."
        if elsewhere
        else "Send `next_cursor` unchanged."
    )
    raise Invalid("Some parameters can't be used.", details=[FieldError("cursor", sentence)])


def _key(given: Any, kind: Any) -> Any:
    found = msgspec.convert(given, kind)
    return _in_utc(found) if isinstance(found, datetime) else found
