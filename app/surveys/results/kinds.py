"""For each type of question: as which numbers an answer counts, and which columns it has in a table. Pure.

How the ledger stores an answer: app.surveys.ledger.chain.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from app.surveys.results.figures import AskedQuestion
from app.surveys.words import MOST_NPS, MOST_STARS

_NUMBER = re.compile(r"[-−+]?\d+([.,]\d+)?", re.ASCII)
# The answers to these are numbers.
NUMERIC = frozenset({"star_rating", "nps", "number"})
OUTCOME_WORDS = {"agreed": "Agree", "declined": "Disagree", "withdrawn": "Withdrawn"}


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of a table. `read` gets the answer (None for none) and the outcome of the response; without it the
    answer is the value."""

    key: str
    label: str
    read: Callable[[Any, str], Any] | None = None


def choices(question: AskedQuestion) -> tuple[str, ...]:
    """The choices of a question, in the order in which results show them; empty when people write freely."""
    match question.type:
        case "star_rating":
            return tuple(str(star) for star in range(MOST_STARS, 0, -1))
        case "nps":
            return tuple(str(score) for score in range(MOST_NPS, -1, -1))
        case "scale" | "single_choice" | "multiple_choice":
            return question.options
    return ()


def counts_as(question: AskedQuestion) -> Callable[[str], Decimal] | None:
    """The number as which an answer of `survey_answers` counts in a mean; None when answers are not numbers."""
    if question.type in NUMERIC:
        return Decimal
    counted = numbers(question)
    return counted.__getitem__ if counted else None


def numbers(question: AskedQuestion) -> Mapping[str, Decimal] | None:
    """The options of a scale as numbers; None when one of them is not a number, or the question has another type."""
    if question.type != "scale" or not all(_NUMBER.fullmatch(one.strip()) for one in question.options):
        return None
    return {one: Decimal(one.strip().replace("−", "-").replace(",", ".")) for one in question.options}


def columns(question: AskedQuestion) -> tuple[AnswerColumn, ...]:
    """One column; for a multiple choice one for each option, for a matrix one for each row."""
    key, label = str(question.key), question.label
    match question.type:
        case "agreement":
            return (AnswerColumn(key, label, _decision),)
        case "multiple_choice":
            return tuple(
                AnswerColumn(f"{key}/{option}", f"{label}: {option}", partial(_tick, option))
                for option in question.options
            )
        case "matrix":
            rows = question.details.rows
            return tuple(AnswerColumn(f"{key}/{row}", f"{label}: {row}", partial(_cell, row)) for row in rows)
        case "date":
            return (AnswerColumn(key, label, _day),)
        case "scale" if counted := numbers(question):
            return (AnswerColumn(key, label, partial(_counted, counted)),)
    unit = question.details.unit
    return (AnswerColumn(key, f"{label} ({unit})" if unit else label),)


def _decision(_: Any, outcome: str) -> Any:
    return OUTCOME_WORDS.get(outcome)


def _tick(option: str, value: Any, _: str) -> int | None:
    """When nothing was ticked, it is unknown if the person saw the question."""
    return None if value is None else int(option in value)


def _cell(row: str, value: Any, _: str) -> str | None:
    for one in value or ():
        if one.row == row:
            choice: str = one.choice
            return choice
    return None


def _day(value: Any, _: str) -> date | None:
    return None if value is None else date.fromisoformat(value)


def _counted(numbers_: Mapping[str, Decimal], value: Any, _: str) -> Any:
    return numbers_.get(value, value)
