"""The rules for the details of a question: which type has which, their bounds, and what a condition may name. Pure."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from app.errors import FieldError
from app.surveys import decimals, question_types, words
from app.surveys.authoring.bounds import line, lines
from app.surveys.question_details import NO_DETAILS, Condition, QuestionDetails
from app.texts import trimmed

if TYPE_CHECKING:
    from app.surveys.authoring.definition import QuestionDefinition

# Which types of questions have a detail; `page` and `show_if` have rules of their own.
TAKEN_BY: Final = {
    "low_label": question_types.WITH_ENDS,
    "high_label": question_types.WITH_ENDS,
    "min": frozenset({"number"}),
    "max": frozenset({"number"}),
    "unit": frozenset({"number"}),
    "rows": frozenset({"matrix"}),
}
_THREE_DIGITS: Final = "Write a thousand as 1000, and three decimals with a zero behind them: 1.2340."
_CALLED: Final = {
    "low_label": "words for its ends",
    "high_label": "words for its ends",
    "min": "smallest number",
    "max": "largest number",
    "unit": "unit",
    "rows": "rows",
}


def tidy(details: QuestionDetails, *, first: bool) -> QuestionDetails:
    """The stored form: texts in NFC and trimmed, whole numbers as int. The first question always begins a page."""
    if details == NO_DETAILS:
        return NO_DETAILS
    return replace(
        details,
        low_label=trimmed(details.low_label),
        high_label=trimmed(details.high_label),
        min=_tidy_number(details.min),
        max=_tidy_number(details.max),
        unit=trimmed(details.unit),
        rows=tuple(filter(None, map(trimmed, details.rows))),
        page=details.page and not first,
        show_if=details.show_if and _tidy_condition(details.show_if),
    )


def _tidy_number(number: decimals.Number | None) -> decimals.Number | None:
    """A number that can't be stored stays as it is; `problems` says why."""
    exact = decimals.exact(number)
    return number if exact is None else exact


def _tidy_condition(condition: Condition) -> Condition:
    values = dict.fromkeys(trimmed(one) if isinstance(one, str) else one for one in condition.values)
    return replace(condition, values=tuple(values))


def of_type(details: QuestionDetails, kind: str) -> QuestionDetails:
    """Without details that a question of this type does not have: a form may keep what was typed for another type."""
    left = {name: getattr(NO_DETAILS, name) for name, types in TAKEN_BY.items() if kind not in types}
    condition = None if kind == "agreement" else details.show_if
    return replace(details, **left, show_if=condition)


def problems(field: str, questions: Sequence["QuestionDefinition"], place: int) -> Iterator[FieldError]:
    """What is wrong with the tidied details of the question at `place` (from 0)."""
    question = questions[place]
    if question.details == NO_DETAILS:
        return
    yield from _not_taken(field, question)
    yield from _texts(field, question.details)
    yield from _numbers(field, question.details)
    if question.details.show_if:
        yield from _condition(f"{field}.show_if", questions, place, question.details.show_if)


def _not_taken(field: str, question: "QuestionDefinition") -> Iterator[FieldError]:
    if question.type not in question_types.QUESTION_TYPES:
        return
    kind = question_types.QUESTION_TYPES[question.type].lower()
    for name, types in TAKEN_BY.items():
        if getattr(question.details, name) != getattr(NO_DETAILS, name) and question.type not in types:
            told = f"This kind of question ({kind}) takes no {_CALLED[name]}; leave this out."
            yield FieldError(f"{field}.{name}", told)


def _texts(field: str, details: QuestionDetails) -> Iterator[FieldError]:
    yield from line(f"{field}.low_label", details.low_label, words.LONGEST_END)
    yield from line(f"{field}.high_label", details.high_label, words.LONGEST_END)
    yield from line(f"{field}.unit", details.unit, words.LONGEST_UNIT)
    yield from lines(f"{field}.rows", details.rows, "row")


def _numbers(field: str, details: QuestionDetails) -> Iterator[FieldError]:
    wrong = [name for name in ("min", "max") if getattr(details, name) is not None and _is_odd(getattr(details, name))]
    for name in wrong:
        most = decimals.LARGEST
        message = f"Give a number from -{most} to {most}, with at most six decimals. {_THREE_DIGITS}"
        yield FieldError(f"{field}.{name}", message)
    if not wrong and details.min is not None and details.max is not None and details.min > details.max:
        yield FieldError(f"{field}.max", "The largest number is below the smallest one.")


def _is_odd(number: decimals.Number) -> bool:
    return decimals.exact(number) is None


def _condition(
    field: str, questions: Sequence["QuestionDefinition"], place: int, condition: Condition
) -> Iterator[FieldError]:
    if questions[place].type == "agreement":
        yield FieldError(field, "An agreement is always shown; remove the condition.")
        return
    if not 1 <= condition.question <= place:
        yield FieldError(field, "A condition asks about an earlier question. Choose one above this question.")
        return
    asked = questions[condition.question - 1]
    if asked.type not in question_types.WITH_VALUES:
        told = (
            "Choose a question with stars, a scale, a net promoter score or a choice: only their answers can be listed."
        )
        yield FieldError(field, told)
    elif not condition.values:
        yield FieldError(field, f"Choose at least one answer of question {condition.question}.")
    elif odd := [one for one in condition.values if one not in answers_of(asked) or isinstance(one, bool)]:
        told = f"“{str(odd[0])[:60]}” is not an answer of question {condition.question}. Choose among its answers."
        yield FieldError(field, told)


def answers_of(question: "QuestionDefinition") -> tuple[int | str, ...]:
    """The answers of a question that a condition can name, in the order in which people see them; empty when it has no
    such list."""
    match question.type:
        case "star_rating":
            return tuple(range(1, words.MOST_STARS + 1))
        case "nps":
            return tuple(range(words.MOST_NPS + 1))
        case kind if kind in question_types.WITH_VALUES:
            return question.options
    return ()
