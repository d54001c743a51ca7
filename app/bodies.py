"""JSON objects into structs, strictly: every key that is wrong, unknown or missing is named, all at once. Pure."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from app.errors import FieldError, InvalidBody
from app.texts import UUID_FORM

LONGEST_NAME, LONGEST_MESSAGE = 100, 300
_PLACE = re.compile(r" - at `\$(.*)`$", re.DOTALL)
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(.*)`$", re.DOTALL)
_NUL = "It holds a NUL character"
_UUID = "Write the UUID in hexadecimal digits, 8-4-4-4-12."
# What msgspec says of a bound, and what a person reads.
_BOUNDS = (
    (re.compile(r"^Expected `str[^`]*` of length <= (\d+)$"), "Write at most {} characters."),
    (re.compile(r"^Expected `str[^`]*` of length >= 1$"), "It is empty."),
    (re.compile(r"^Expected `array[^`]*` of length <= (\d+)$"), "The list holds at most {}."),
    (re.compile(r"^Expected `int[^`]*` <= (-?\d+)$"), "Give at most {}."),
    (re.compile(r"^Expected `int[^`]*` >= (-?\d+)$"), "Give at least {}."),
)
_PATTERN = "Expected `str` matching regex"
# In the `extra` of a text with a pattern: the sentence for what does not match it.
TOLD = "told"
_KIND = re.compile(r"^Expected `([a-z |]+)`, got `([a-z]+)`$")
_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
B = TypeVar("B", bound=msgspec.Struct)


def fitted(kind: type[B], document: dict[str, Any]) -> B:
    """A decoded JSON object as `kind`. Raises InvalidBody."""
    fields = fields_of(kind)
    wrong = [FieldError(name[:LONGEST_NAME], "There is no such key.") for name in document if name not in fields]
    values = {}
    for name, one in fields.items():
        given = document.get(name, UNSET)
        if given is UNSET:
            wrong += [FieldError(name, "It is missing.")] if one.required else []
            continue
        try:
            _refuse_nul(given)
            values[one.name] = msgspec.convert(given, one.type)
        except msgspec.ValidationError as error:
            wrong.append(_explained(name, str(error), one.type))
    if wrong:
        raise InvalidBody("Something in the body can't be used.", details=wrong)
    return kind(**values)


@cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """By the names that are sent. Finding them out takes longer than reading a body."""
    return {one.encode_name: one for one in msgspec.structs.fields(kind)}


def _refuse_nul(given: Any) -> None:
    """PostgreSQL's text holds no NUL."""
    for place, text in _texts(given, ""):
        if "\x00" in text:
            raise msgspec.ValidationError(f"{_NUL} - at `${place}`")


def _texts(node: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every text with the place of the value it is in, as msgspec writes places."""
    if isinstance(node, str):
        yield place, node
    elif isinstance(node, dict):
        for key, one in node.items():
            yield place, key
            yield from _texts(one, f"{place}.{key}")
    elif isinstance(node, list):
        for number, one in enumerate(node):
            yield from _texts(one, f"{place}[{number}]")


def _explained(name: str, message: str, expected: Any) -> FieldError:
    """What is wrong, at a path such as `answers.0.question`. `expected` is the type of the key `name`."""
    found = _PLACE.search(message)
    path = name + (_dotted(found[1]) if found else "")
    reason = _PLACE.sub("", message)
    for pattern, sentence in ((_UNKNOWN, "There is no such key."), (_MISSING, "It is missing.")):
        if inner := pattern.match(reason):
            return FieldError(f"{path}.{inner[1]}"[:LONGEST_NAME], sentence)
    return FieldError(path[:LONGEST_NAME], in_words(reason, expected)[:LONGEST_MESSAGE])


def in_words(reason: str, kind: Any) -> str:
    """The reason that msgspec gives, in plain words. `kind` is the type that was expected."""
    if reason.startswith(_PATTERN) and (told := _told(kind)):
        return told
    expected = _bare(kind)
    if UUID_FORM in reason or (reason != _NUL and getattr(expected, "pattern", None) == UUID_FORM):
        return _UUID
    if reason.startswith("Invalid enum value") and (words := _words(expected)):
        return f"Give one of {', '.join(words)}."
    for pattern, sentence in _BOUNDS:
        if bound := pattern.match(reason):
            return sentence.format(*bound.groups())
    if kinds := _KIND.match(reason):
        wanted = [_KINDS.get(kind, kind) for kind in kinds[1].split(" | ")]
        return f"Give {' or '.join(wanted)}, not {_KINDS.get(kinds[2], kinds[2])}."
    return reason.replace("`", "") + "."


def _bare(kind: Any) -> Any:
    """A type as msgspec sees it, without what only the OpenAPI document says of it."""
    seen = msgspec.inspect.type_info(kind)
    return seen.type if isinstance(seen, msgspec.inspect.Metadata) else seen


@cache
def _told(kind: Any) -> str:
    """What a pattern wants, in words; "" where the type does not say it."""
    info = msgspec.inspect.type_info(kind)
    some = info.types if isinstance(info, msgspec.inspect.UnionType) else (info,)
    every = (one.extra or {} for one in some if isinstance(one, msgspec.inspect.Metadata))
    return next((one[TOLD] for one in every if TOLD in one), "")


def _words(expected: Any) -> list[str]:
    """The words that a type takes, itself or in a list."""
    match expected:
        case msgspec.inspect.LiteralType(values=values):
            return [str(one) for one in values]
        case msgspec.inspect.UnionType(types=types):
            return [word for one in types for word in _words(one)]
        case msgspec.inspect.ListType(item_type=item):
            return _words(item)
    return []


def _dotted(place: str) -> str:
    return place.replace("[", ".").replace("]", "")
