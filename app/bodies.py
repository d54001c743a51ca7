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
            wrong.append(_explained(name, str(error)))
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
            raise msgspec.ValidationError(f"It holds a NUL character - at `${place}`")


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


def _explained(name: str, message: str) -> FieldError:
    """What is wrong, at a path such as `answers.0.question`."""
    found = _PLACE.search(message)
    path = name + (_dotted(found[1]) if found else "")
    reason = _PLACE.sub("", message)
    for pattern, sentence in ((_UNKNOWN, "There is no such key."), (_MISSING, "It is missing.")):
        if inner := pattern.match(reason):
            return FieldError(f"{path}.{inner[1]}"[:LONGEST_NAME], sentence)
    if UUID_FORM in reason:
        return FieldError(path[:LONGEST_NAME], "Write the UUID in hexadecimal digits, 8-4-4-4-12.")
    return FieldError(path[:LONGEST_NAME], reason.replace("`", "")[:LONGEST_MESSAGE] + ".")


def _dotted(place: str) -> str:
    return place.replace("[", ".").replace("]", "")
