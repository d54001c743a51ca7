"""Which questions are shown: cases of the rule, and a second reading of it,
written from the words of docs/surveys.md."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from app.surveys.item import ItemQuestion
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.showing import sentence, shown

OPTIONS = ("a", "b")


def question(kind: str, show_if: Condition | None = None, options: tuple[str, ...] = OPTIONS) -> ItemQuestion:
    return ItemQuestion(UUID(int=0), f"The {kind}?", kind, options, False, QuestionDetails(show_if=show_if))


def asks(number: int, *values: int | str, negated: bool = False) -> Condition:
    return Condition(number, values, negated)


CHOICE, TICKS, STARS = question("single_choice"), question("multiple_choice"), question("star_rating")


@pytest.mark.parametrize(
    ("asked", "condition", "given", "expected"),
    [
        (CHOICE, asks(1, "a"), "a", True),
        (CHOICE, asks(1, "a"), "b", False),
        (CHOICE, asks(1, "a", "b"), "b", True),
        (CHOICE, asks(1, "a", negated=True), "a", False),
        (CHOICE, asks(1, "a", negated=True), "b", True),
        # Without an answer no condition is met.
        (CHOICE, asks(1, "a"), None, False),
        (CHOICE, asks(1, "a", negated=True), None, False),
        (TICKS, asks(1, "a"), ("a", "b"), True),
        (TICKS, asks(1, "a"), ("b",), False),
        (TICKS, asks(1, "a", negated=True), ("a", "b"), False),
        (TICKS, asks(1, "a", negated=True), ("b",), True),
        (STARS, asks(1, 1, 2), 2, True),
        (STARS, asks(1, 1, 2), 3, False),
        # A number is not its text.
        (STARS, asks(1, "2"), 2, False),
    ],
)
def test_a_condition_is_met_by_the_answer(
    asked: ItemQuestion, condition: Condition, given: Any, expected: bool
) -> None:
    answers = {} if given is None else {1: given}
    assert shown([asked, question("free_text", condition)], answers) == (True, expected)


def test_a_condition_on_a_hidden_question_is_not_met_whatever_it_says() -> None:
    chain = [CHOICE, question("single_choice", asks(1, "a")), question("free_text", asks(2, "b", negated=True))]
    assert shown(chain, {1: "a", 2: "a"}) == (True, True, True)
    assert shown(chain, {1: "b", 2: "a"}) == (True, False, False)


def test_a_survey_without_conditions_shows_everything() -> None:
    assert shown([CHOICE, TICKS], {}) == (True, True)
    assert shown([], {}) == ()


TEN = (
    question("single_choice"),
    question("single_choice", asks(1, "a")),
    question("single_choice", asks(2, "b", negated=True)),
    question("multiple_choice", asks(1, "a", "b")),
    question("scale", asks(4, "a")),
    question("star_rating", asks(4, "a", negated=True)),
    question("nps", asks(6, 1, 5)),
    question("single_choice", asks(7, 0, negated=True)),
    question("single_choice", asks(8, "b")),
    question("free_text", asks(9, "a")),
)


def values_of(one: ItemQuestion) -> tuple[Any, ...]:
    """None for no answer, and enough others to meet and to miss each condition."""
    match one.type:
        case "multiple_choice":
            return (None, ("a",), ("b",), ("a", "b"))
        case "star_rating":
            return (None, 1, 3)
        case "nps":
            return (None, 0, 10)
        case "free_text":
            return (None, "x")
    return (None, "a", "b")


def visible_by_second_reading(questions: tuple[ItemQuestion, ...], given: tuple[Any, ...]) -> list[bool]:
    """Question by question from its own condition back to the first: nothing is carried from one to the next."""

    def visible(place: int) -> bool:
        condition = questions[place].details.show_if
        if condition is None:
            return True
        before = condition.question - 1
        answer = given[before]
        if answer is None or not visible(before):
            return False
        said = set(answer) if isinstance(answer, tuple) else {answer}
        overlap = bool(said & set(condition.values))
        return not overlap if condition.negated else overlap

    return [visible(place) for place in range(len(questions))]


def combinations() -> Iterator[tuple[Any, ...]]:
    return product(*map(values_of, TEN))


def test_every_combination_of_ten_questions_is_shown_as_the_second_reading_says() -> None:
    number, patterns = 0, set()
    for given in combinations():
        answers = {place: value for place, value in enumerate(given, 1) if value is not None}
        found = shown(TEN, answers)
        assert list(found) == visible_by_second_reading(TEN, given), given
        number += 1
        patterns.add(found)
    assert number == 3**6 * 4 * 3 * 3 * 2
    # Each but the first is shown to some and hidden from others.
    assert [set(one) for one in zip(*patterns, strict=True)] == [{True}, *[{True, False}] * 9]


def test_the_condition_is_told_in_words() -> None:
    among = [CHOICE, TICKS, question("free_text")]
    assert sentence(among, asks(1, "a", "b")) == "Only if the answer to “The single_choice?” is “a” or “b”."
    assert sentence(among, asks(1, "a", negated=True)) == "Only if the answer to “The single_choice?” is not “a”."
    assert sentence(among, asks(2, "a")) == "Only if the answer to “The multiple_choice?” includes “a”."
    assert (
        sentence(among, asks(2, 1, negated=True))
        == "Only if the answer to “The multiple_choice?” does not include “1”."
    )
    assert sentence(among, None) == sentence(among, asks(9, "a")) == ""
