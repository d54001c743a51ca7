"""One answer as a person reads it beside its question, and which questions were hidden from the person. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date

from app.dates import day_words
from app.surveys import decimals, words
from app.surveys.ledger.translated_answers import Told
from app.surveys.results.figures import AskedQuestion
from app.surveys.showing import shown


def told(question: AskedQuestion, value: Told) -> str:
    """Each tick, and each row of a matrix, on a line of its own; "" for none."""
    match value:
        case None:
            return ""
        case list():
            return "\n".join(one if isinstance(one, str) else f"{one.row}: {one.choice}" for one in value)
        case str() if question.type == "date":
            return day_words(date.fromisoformat(value), None)
        case str():
            return value
    most = {"star_rating": words.MOST_STARS, "nps": words.MOST_NPS}.get(question.type)
    behind = f" of {most}" if most else f" {question.details.unit}" if question.details.unit else ""
    return f"{decimals.written(value)}{behind}"


def hidden(questions: Sequence[AskedQuestion], values: Mapping[str, Told]) -> frozenset[str]:
    """The ids of the questions that were hidden from somebody who gave these answers."""
    given = {number: values.get(str(one.key)) for number, one in enumerate(questions, 1)}
    answers = {number: tuple(one) if isinstance(one, list) else one for number, one in given.items() if one is not None}
    found = shown(questions, answers)
    return frozenset(str(one.key) for one, is_shown in zip(questions, found, strict=True) if not is_shown)
