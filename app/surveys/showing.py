"""Decides which questions a person sees, after what they have answered so far. It is decided only here. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.surveys.question_details import Condition, DetailedQuestion
from app.wording.marked import marked, worded

LONGEST_NAMED: Final = 80


def shown(questions: Sequence[DetailedQuestion], answers: Mapping[int, Any]) -> tuple[bool, ...]:
    """True for each question that is shown. `answers` are values by the number of their question, from 1: an option, a
    tuple of ticks, or a whole number; an unanswered question is missing.

    A condition needs an answer: while the earlier question has none, or is hidden itself, the condition is not met.
    """
    found: list[bool] = []
    for one in questions:
        condition = one.details.show_if
        found.append(condition is None or (found[condition.question - 1] and _is_met(condition, answers)))
    return tuple(found)


def _is_met(condition: Condition, answers: Mapping[int, Any]) -> bool:
    """With several ticks, `in` needs one of them among the values; `not_in` needs all of them outside."""
    if condition.question not in answers:
        return False
    given = answers[condition.question]
    ticks = given if isinstance(given, tuple) else (given,)
    return any(one in condition.values for one in ticks) is not condition.negated


def sentence(questions: Sequence[DetailedQuestion], condition: Condition | None) -> str:
    """When a question is shown, in words; "" for always. `questions` are all of the survey."""
    if condition is None or not 1 <= condition.question <= len(questions):
        return ""
    asked = questions[condition.question - 1]
    values = tuple(f"“{one}”" for one in condition.values)
    return worded(_conditional(asked.type, condition.negated), question=_short(asked.label), values=values)


def _conditional(kind: str, negated: bool) -> str:  # noqa: FBT001 - as the condition has it
    if kind == "multiple_choice":
        return (
            marked("Only if the answer to “{question}” does not include {values}.")
            if negated
            else marked("Only if the answer to “{question}” includes {values}.")
        )
    return (
        marked("Only if the answer to “{question}” is not {values}.")
        if negated
        else marked("Only if the answer to “{question}” is {values}.")
    )


def notes(questions: Sequence[DetailedQuestion], question: DetailedQuestion) -> tuple[str, ...]:
    """The details of each question in words; empty for a question without details."""
    details = question.details
    ends = " – ".join(one or "…" for one in (details.low_label, details.high_label))
    unit = f"In {details.unit}" if details.unit else ""
    every = (
        f"Rows: {' · '.join(details.rows)}" if details.rows else "",
        f"Ends: {ends}" if details.low_label or details.high_label else "",
        f"{details.bounds} {details.unit}".strip() if details.bounds else unit,
        "Begins a new page" if details.page else "",
        sentence(questions, details.show_if),
    )
    return tuple(filter(None, every))


def _short(label: str) -> str:
    text = " ".join(label.split())
    return text if len(text) <= LONGEST_NAMED else f"{text[: LONGEST_NAMED - 1]}…"
