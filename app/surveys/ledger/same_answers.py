"""Compares answers: a request that is sent again is the same when it says what was recorded. Pure."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.surveys.ledger.answers import Answered, Given, is_empty, nfc
from app.surveys.ledger.chain import MatrixCell


def same(one: Iterable[Answered | Given], other: Iterable[Answered | Given]) -> bool:
    """True when both say the same: question → value without empties, ticks as a set, texts in NFC."""
    return _comparable(one) == _comparable(other)


def _comparable(answers: Iterable[Answered | Given]) -> list[tuple[UUID, str, Any]]:
    """Sorted, so that a question that occurs twice never equals what was recorded."""
    told = [(one.question, *_plain(one.value)) for one in answers if not is_empty(one.value)]
    return sorted(told, key=lambda one: one[0])


def _plain(value: Any) -> tuple[str, Any]:
    """The value with its type: 4, "4" and true are three different answers. JSON has one type of number: 4.0 is 4."""
    match value:
        case list() | tuple():
            return "list", frozenset(map(_part, value))
        case float() if value.is_integer():
            return "int", int(value)
        case str():
            return "str", nfc(value)
    return type(value).__name__, value


def _part(one: Any) -> Any:
    """A tick, or a cell of a matrix, as it came or as it was recorded."""
    match one:
        case str():
            return nfc(one)
        case MatrixCell() | {"row": str(), "choice": str()}:
            row, choice = (one.row, one.choice) if isinstance(one, MatrixCell) else (one["row"], one["choice"])
            return nfc(row), nfc(choice)
    return repr(one)
