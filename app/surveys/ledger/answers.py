"""What a person answered, checked against the questions they saw. Pure.

There are two kinds of errors. `malformed` finds what is wrong for any survey (a question or an option twice, a NUL, a
value that no question takes): the body's shape, before the survey is looked up. Everything else needs the questions:
`read`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from app.errors import FieldError
from app.surveys import decimals
from app.surveys.item import ItemQuestion
from app.surveys.ledger.chain import MatrixCell
from app.surveys.ledger.errors import InvalidAnswers
from app.surveys.question_details import QuestionDetails
from app.surveys.showing import shown
from app.surveys.words import LONGEST_TEXT, MOST_NPS, MOST_STARS
from app.wording.marked import Numeral, marked, worded

Value = int | float | str | tuple[str | MatrixCell, ...]
CARRYING = frozenset({"answer", "agree"})
# The field of an error about all answers together; for one answer it is the question's id.
WHOLE = "answers"
# PostgreSQL stores neither.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CELL = {"row", "choice"}
HIDDEN = marked("This question is not shown after the answers to those before it. Leave its answer out.")


@dataclass(frozen=True, slots=True)
class Given:
    """One element of a body's `answers`, as it came: `value` is what JSON or a form contains."""

    question: UUID
    value: Any


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer that counts. Texts are in NFC, ticks in the order of the options, cells of a matrix in the order of
    its rows; a whole number is an int."""

    question: UUID
    value: Value


class _Wrong(Exception):
    """Why a question does not take a value, in a sentence that says what to do."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def malformed(given: Sequence[Given]) -> tuple[FieldError, ...]:
    """What is wrong with the body's answers for any survey; `field` is the question's id."""
    seen: set[UUID] = set()
    found = []
    for one in given:
        problem = (
            marked("This question is answered twice; answer it once.")
            if one.question in seen
            else _misshapen(one.value)
        )
        seen.add(one.question)
        if problem:
            found.append(FieldError(str(one.question), problem))
    return tuple(found)


def read(questions: Sequence[ItemQuestion], action: str, given: Sequence[Given]) -> tuple[Answered, ...]:
    """The answers that count, in the order of the questions; null, only blanks and [] are no answer.

    Raises InvalidAnswers that names every question with an error: answers with an action that has none, a question that
    was not asked, a value that its question does not take, an answer to a question that is hidden after the others, a
    shown required question without an answer. An `answer` has at least one value.
    """
    wrong = [*malformed(given), *_unasked(questions, given)]
    values = {one.question: one.value for one in given if not is_empty(one.value)}
    if action not in CARRYING:
        wrong += [
            FieldError(str(key), worded("{action} carries no answers; leave this out.", action=action))
            for key in values
        ]
        _refuse(wrong)
        return ()
    answered, unfit = ([], {}) if wrong else _fitting(questions, values)
    wrong += [] if wrong else _misplaced(questions, answered, unfit)
    if action == "answer" and not answered and not wrong:
        wrong.append(FieldError(WHOLE, marked("Answer one question at least.")))
    _refuse(wrong)
    return tuple(answered)


def _refuse(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise InvalidAnswers(marked("Some answers do not fit their questions; details names each."), details=wrong)


def _unasked(questions: Sequence[ItemQuestion], given: Sequence[Given]) -> Iterator[FieldError]:
    asked = {one.key for one in questions}
    for one in given:
        if one.question not in asked:
            yield FieldError(str(one.question), marked("This survey has no such question."))


def _fitting(questions: Sequence[ItemQuestion], values: dict[UUID, Any]) -> tuple[list[Answered], dict[UUID, str]]:
    """The values that their questions take, and the errors of the others."""
    answered, unfit = [], {}
    for question in questions:
        if question.key in values:
            try:
                answered.append(Answered(question.key, _judge(question, values[question.key])))
            except _Wrong as wrong:
                unfit[question.key] = wrong.problem
    return answered, unfit


def _misplaced(
    questions: Sequence[ItemQuestion], answered: Sequence[Answered], unfit: Mapping[UUID, str]
) -> Iterator[FieldError]:
    """What is wrong, question by question. After a value that does not fit, the later conditions can't be checked."""
    values = {one.question: one.value for one in answered}
    numbered = {number: values[one.key] for number, one in enumerate(questions, 1) if one.key in values}
    for question, is_shown in zip(questions, shown(questions, numbered), strict=True):
        is_answered = question.key in values
        if question.key in unfit:
            yield FieldError(str(question.key), unfit[question.key])
        elif is_answered and not is_shown and not unfit:
            yield FieldError(str(question.key), HIDDEN)
        elif is_shown and not is_answered and question.required and question.type != "agreement":
            yield FieldError(str(question.key), marked("This question needs an answer."))


def _judge(question: ItemQuestion, value: Any) -> Value:  # noqa: PLR0911 - a line a type
    match question.type:
        case "star_rating":
            return _whole(value, 1, MOST_STARS)
        case "nps":
            return _whole(value, 0, MOST_NPS)
        case "scale" | "single_choice":
            return _option(question.options, value)
        case "multiple_choice":
            return _ticks(question.options, value)
        case "matrix":
            return _cells(question, value)
        case "number":
            return _number(question.details, value)
        case "date":
            return _day(value)
        case "free_text":
            return _text(value)
    raise _Wrong(marked("Agree or decline answers this question; leave its value out."))


def _whole(value: Any, least: int, most: int) -> int:
    # In Python JSON's true is an int, and 4.0 equals 4.
    if type(value) is not int or not least <= value <= most:
        raise _Wrong(worded("Give a whole number from {least} to {most}.", least=least, most=most))
    return value


def _number(details: QuestionDetails, value: Any) -> decimals.Number:
    number = decimals.exact(value)
    if isinstance(value, str) and decimals.is_ambiguous(value):
        large, small = decimals.both_ways(value)
        raise _Wrong(
            worded(
                "“{typed}” can mean two numbers. Write {large} for the large one, or {small} for the small one.",
                typed=value.strip(),
                large=large,
                small=small,
            )
        )
    if number is None:
        raise _Wrong(
            worded(
                "Give a number with at most {decimals} decimals, such as 12 or {example}.",
                decimals=decimals.MOST_DECIMALS,
                example=Numeral("3.5"),
            )
        )
    if details.min is not None and number < details.min:
        raise _Wrong(worded("Give at least {least}.", least=Numeral(decimals.written(details.min))))
    if details.max is not None and number > details.max:
        raise _Wrong(worded("Give at most {most}.", most=Numeral(decimals.written(details.max))))
    return number


def _day(value: Any) -> str:
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass  # A 30th of February.
    raise _Wrong(marked("Give a day such as 2026-11-25."))


def _cells(question: ItemQuestion, value: Any) -> tuple[MatrixCell, ...]:
    """In a required matrix every row needs an answer."""
    chosen = {nfc(one["row"]): nfc(one["choice"]) for one in value} if _is_matrix(value) else {}
    rows = question.details.rows
    if not chosen or not chosen.keys() <= set(rows) or not set(chosen.values()) <= set(question.options):
        raise _Wrong(marked("Give a list of its rows, each with the text of one option: [{row, choice}]."))
    if question.required and len(chosen) < len(rows):
        raise _Wrong(marked("Choose one answer in each row."))
    return tuple(MatrixCell(row, chosen[row]) for row in rows if row in chosen)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _option(options: Sequence[str], value: Any) -> str:
    chosen = nfc(value) if isinstance(value, str) else None
    if chosen is None or chosen not in options:
        raise _Wrong(marked("Give the text of one of its options."))
    return chosen


def _ticks(options: Sequence[str], value: Any) -> tuple[str, ...]:
    ticked = {nfc(one) for one in value} if isinstance(value, list | tuple) else None
    if ticked is None or not ticked <= set(options):
        raise _Wrong(marked("Give a list of texts of its options."))
    return tuple(one for one in options if one in ticked)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(marked("Give a text."))
    text = nfc(value)
    if len(text) > LONGEST_TEXT:
        raise _Wrong(worded("At most {most} characters; this has {now}.", most=LONGEST_TEXT, now=len(text)))
    return text


def _misshapen(value: Any) -> str | None:
    if value is None or type(value) in (int, float):
        return None
    parts = list(value) if isinstance(value, list | tuple) else [value]
    cells = [one for one in parts if isinstance(one, dict)]
    texts = [one for one in parts if not isinstance(one, dict)] + [text for one in cells for text in one.values()]
    odd = isinstance(value, dict) or any(one.keys() != _CELL for one in cells)
    if odd or not all(isinstance(one, str) for one in texts):
        return marked("Give a number, a text, a list of texts, a list of {row, choice}, or null.")
    if any(_UNWRITABLE.search(one) for one in texts):
        return marked("Leave out NUL characters and lone surrogates.")
    once = [nfc(one["row"] if isinstance(one, dict) else one) for one in parts]
    if len({*once}) == len(once):
        return None
    return (
        marked("The same row is there twice; give it once.")
        if cells
        else marked("The same option is there twice; give it once.")
    )


def is_empty(value: Any) -> bool:
    """True for what counts as no answer: null, only blanks and []."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, list | tuple) and not value)


def nfc(text: str) -> str:
    """The form in which texts are stored."""
    return unicodedata.normalize("NFC", text)
