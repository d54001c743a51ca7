"""What a person answered: judged against the questions they met, and compared with what was recorded. Pure.

Two kinds of wrong. `malformed` is wrong whatever the survey asks (a question or an option twice, a NUL, a value that no
question takes): the body's shape, judged before the survey is looked up. Everything else needs the questions: `read`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.errors import FieldError
from app.surveys.item import ItemQuestion
from app.surveys.ledger.errors import InvalidAnswers
from app.surveys.words import LONGEST_TEXT, MOST_STARS

Value = int | str | tuple[str, ...]
CARRYING = frozenset({"answer", "agree"})
# The field of what is wrong with the answers together; of one answer, it is the question's id.
WHOLE = "answers"
# PostgreSQL stores neither.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Given:
    """One element of a body's `answers`, as it came: `value` is whatever JSON or a form holds."""

    question: UUID
    value: Any


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer that counts. Texts are in NFC, ticks in the order of the options."""

    question: UUID
    value: Value


class _Wrong(Exception):
    """What a question has against a value, in a sentence that says what to do."""


def malformed(given: Sequence[Given]) -> tuple[FieldError, ...]:
    """What is wrong with the body's answers whatever the survey asks; `field` is the question's id."""
    seen: set[UUID] = set()
    found = []
    for one in given:
        problem = "This question is answered twice; answer it once." if one.question in seen else _misshapen(one.value)
        seen.add(one.question)
        if problem:
            found.append(FieldError(str(one.question), problem))
    return tuple(found)


def read(questions: Sequence[ItemQuestion], action: str, given: Sequence[Given]) -> tuple[Answered, ...]:
    """The answers that count, in the order of the questions; null, blanks alone and [] are no answer.

    Raises InvalidAnswers that names every question with something wrong: answers with an action that carries none, a question
    that was not asked, a value that its question does not take, a required question without an answer. An `answer` has one
    value at least.
    """
    wrong = [*malformed(given), *_unasked(questions, given)]
    values = {one.question: one.value for one in given if not _is_empty(one.value)}
    if action not in CARRYING:
        wrong += [FieldError(str(key), f"{action} carries no answers; leave this out.") for key in values]
        _refuse(wrong)
        return ()
    answered = []
    for question in () if wrong else questions:
        try:
            answered += _answered(question, values)
        except _Wrong as problem:
            wrong.append(FieldError(str(question.key), str(problem)))
    if action == "answer" and not answered and not wrong:
        wrong.append(FieldError(WHOLE, "Answer one question at least."))
    _refuse(wrong)
    return tuple(answered)


def same(one: Iterable[Answered | Given], other: Iterable[Answered | Given]) -> bool:
    """Whether both say the same: question → value without empties, ticks as a set, texts in NFC."""
    return _comparable(one) == _comparable(other)


def _refuse(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise InvalidAnswers("Some answers do not fit their questions; details names each.", details=wrong)


def _unasked(questions: Sequence[ItemQuestion], given: Sequence[Given]) -> Iterator[FieldError]:
    asked = {one.key for one in questions}
    for one in given:
        if one.question not in asked:
            yield FieldError(str(one.question), "This survey has no such question.")


def _answered(question: ItemQuestion, values: dict[UUID, Any]) -> list[Answered]:
    if question.key in values:
        return [Answered(question.key, _judge(question, values[question.key]))]
    if question.required and question.type != "agreement":
        raise _Wrong("This question needs an answer.")
    return []


def _judge(question: ItemQuestion, value: Any) -> Value:
    match question.type:
        case "star_rating":
            return _stars(value)
        case "scale" | "single_choice":
            return _option(question.options, value)
        case "multiple_choice":
            return _ticks(question.options, value)
        case "free_text":
            return _text(value)
    raise _Wrong("Agree or decline answers this question; leave its value out.")


def _stars(value: Any) -> int:
    # JSON's true is an int to Python, and 4.0 equals 4.
    if type(value) is not int or not 1 <= value <= MOST_STARS:
        raise _Wrong(f"Give a whole number from 1 to {MOST_STARS}.")
    return value


def _option(options: Sequence[str], value: Any) -> str:
    chosen = _nfc(value) if isinstance(value, str) else None
    if chosen is None or chosen not in options:
        raise _Wrong("Give the text of one of its options.")
    return chosen


def _ticks(options: Sequence[str], value: Any) -> tuple[str, ...]:
    ticked = {_nfc(one) for one in value} if isinstance(value, list | tuple) else None
    if ticked is None or not ticked <= set(options):
        raise _Wrong("Give a list of texts of its options.")
    return tuple(one for one in options if one in ticked)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong("Give a text.")
    text = _nfc(value)
    if len(text) > LONGEST_TEXT:
        raise _Wrong(f"At most {LONGEST_TEXT} characters; this has {len(text)}.")
    return text


def _misshapen(value: Any) -> str | None:
    if value is None or type(value) is int:
        return None
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
        return "Give a whole number, a text, a list of texts, or null."
    if any(_UNWRITABLE.search(one) for one in texts):
        return "Leave out NUL characters and lone surrogates."
    return "The same option is there twice; give it once." if len({*map(_nfc, texts)}) < len(texts) else None


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, list | tuple) and not value)


def _comparable(answers: Iterable[Answered | Given]) -> list[tuple[UUID, str, Any]]:
    """Sorted, so that a question that is there twice equals nothing that was recorded."""
    told = [(one.question, *_plain(one.value)) for one in answers if not _is_empty(one.value)]
    return sorted(told, key=lambda one: one[0])


def _plain(value: Any) -> tuple[str, Any]:
    """The value with its kind: 4, 4.0, "4" and true are four different answers."""
    if isinstance(value, list | tuple):
        return "list", frozenset(_nfc(one) if isinstance(one, str) else repr(one) for one in value)
    return type(value).__name__, _nfc(value) if isinstance(value, str) else value


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
