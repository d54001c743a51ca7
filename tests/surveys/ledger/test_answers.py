"""Answers: what each question takes, what does not count as an answer, which answers are the same."""

import json
import unicodedata
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.surveys.item import ItemQuestion
from app.surveys.ledger import answers
from app.surveys.ledger.answers import Answered, Given, malformed, read
from app.surveys.ledger.chain import MatrixCell
from app.surveys.ledger.errors import InvalidAnswers
from app.surveys.ledger.same_answers import same
from app.surveys.question_details import NO_DETAILS, Condition, QuestionDetails
from app.surveys.words import LONGEST_TEXT

CAFE, CAFE_IN_PARTS = "Café", unicodedata.normalize("NFD", "Café")


def question(kind: str, *options: str, required: bool = False, details: QuestionDetails = NO_DETAILS) -> ItemQuestion:
    return ItemQuestion(uuid4(), kind, kind, options, required, details)


AGREE = question("agreement", required=True)
STARS = question("star_rating")
SCALE = question("scale", "1", "2", "3")
ONE = question("single_choice", "soup", CAFE)
MANY = question("multiple_choice", "rice", "bread", CAFE)
TEXT = question("free_text")
NPS = question("nps")
NUMBER = question("number", details=QuestionDetails(min=-2.5, max=100))
DAY = question("date")
MATRIX = question("matrix", "Good", CAFE, details=QuestionDetails(rows=("Soup", "Cake")))
ALL = (STARS, SCALE, ONE, MANY, TEXT, NPS, NUMBER, DAY, MATRIX)
CELL = {"row": "Soup", "choice": "Good"}


def told(asked: ItemQuestion, value: Any, action: str = "answer") -> Any:
    """What the value of one question is read as; None for no answer."""
    answers = read([asked], action, [Given(asked.key, value)])
    return answers[0].value if answers else None


def refused(asked: Any, given: Any, action: str = "answer") -> dict[str, str]:
    """Question → what is wrong with it."""
    with pytest.raises(InvalidAnswers) as wrong:
        read(asked, action, given)
    assert (wrong.value.status, wrong.value.code) == (422, "invalid_answers")
    return {one.field: one.message for one in wrong.value.details}


@pytest.mark.parametrize(
    ("asked", "value", "expected"),
    [
        (STARS, 1, 1),
        (STARS, 5, 5),
        (SCALE, "2", "2"),
        (ONE, CAFE_IN_PARTS, CAFE),
        (MANY, [CAFE_IN_PARTS, "rice"], ("rice", CAFE)),
        (MANY, ("bread",), ("bread",)),
        (NPS, 0, 0),
        (NPS, 10, 10),
        (NUMBER, -2.5, -2.5),
        (NUMBER, 100, 100),
        (NUMBER, 3.0, 3),
        (NUMBER, -0.0, 0),
        (NUMBER, 0.000001, 0.000001),
        (DAY, "2024-02-29", "2024-02-29"),
        (MATRIX, [{"row": "Cake", "choice": CAFE_IN_PARTS}], (MatrixCell("Cake", CAFE),)),
        (
            MATRIX,
            [{"choice": "Good", "row": "Cake"}, {"row": "Soup", "choice": CAFE}],
            (MatrixCell("Soup", CAFE), MatrixCell("Cake", "Good")),
        ),
        (TEXT, CAFE_IN_PARTS, CAFE),
        (TEXT, " two\r\nlines ", " two\r\nlines "),
        (TEXT, "😀" * LONGEST_TEXT, "😀" * LONGEST_TEXT),
        # Longer as it comes than as it is kept.
        (TEXT, "e\u0301" * LONGEST_TEXT, "é" * LONGEST_TEXT),
    ],
)
def test_a_fitting_value_is_read(asked: ItemQuestion, value: Any, expected: Any) -> None:
    assert told(asked, value) == expected


@pytest.mark.parametrize("value", [None, "", " \n\t", "\u00a0\u2003", [], ()])
@pytest.mark.parametrize("asked", [*ALL, AGREE], ids=lambda one: one.type)
def test_null_blanks_and_empty_are_no_answer(asked: ItemQuestion, value: Any) -> None:
    assert told(asked, value, "agree") is None
    assert refused([asked], [Given(asked.key, value)]) == {"answers": "Answer one question at least."}
    assert same([Given(asked.key, value)], [])


@pytest.mark.parametrize("value", [4.0, "4", True, False, 0, 6, -1, 10**30, ["4"], {"stars": 4}])
def test_stars_are_whole_numbers_from_one_to_five(value: Any) -> None:
    assert str(STARS.key) in refused([STARS], [Given(STARS.key, value)])


@pytest.mark.parametrize("value", [4.5, 4.0, "4", True, 11, -1, [4], "2026-11-25"])
def test_an_nps_is_a_whole_number_from_zero_to_ten(value: Any) -> None:
    assert str(NPS.key) in refused([NPS], [Given(NPS.key, value)])


@pytest.mark.parametrize("value", ["4", True, 0.0000001, 1.1234567, 101, -2.6, 10**9, 1e300, [4], "4,5", 0.1 + 0.2])
def test_a_number_has_six_decimals_at_most_and_lies_within_its_bounds(value: Any) -> None:
    assert str(NUMBER.key) in refused([NUMBER], [Given(NUMBER.key, value)])


@pytest.mark.parametrize(
    "value",
    [
        "2023-02-29",
        "2026-13-01",
        "2026-1-1",
        "26-11-25",
        "2026-11-25T00:00:00Z",
        "0000-01-01",
        "20261125",
        "soon",
        20261125,
    ],
)
def test_a_date_is_a_day_that_there_is(value: Any) -> None:
    assert refused([DAY], [Given(DAY.key, value)]) == {str(DAY.key): "Give a day such as 2026-11-25."}


@pytest.mark.parametrize(
    "value",
    [
        "Good",
        ["Good"],
        4,
        [{"row": "Bread", "choice": "Good"}],
        [{"row": "Soup", "choice": "Bad"}],
        [{"row": "Soup", "choice": "Good"}, "Cake"],
        [{"row": "Soup", "choice": "Good"}, {"row": "Soup", "choice": CAFE}],
    ],
)
def test_a_matrix_takes_its_rows_each_with_one_option(value: Any) -> None:
    assert str(MATRIX.key) in refused([MATRIX], [Given(MATRIX.key, value)])


def test_a_required_matrix_needs_a_choice_in_every_row() -> None:
    needed = replace(MATRIX, required=True)
    assert refused([needed], [Given(needed.key, [CELL])]) == {str(needed.key): "Choose one answer in each row."}
    both = [CELL, {"row": "Cake", "choice": "Good"}]
    assert len(read([needed], "answer", [Given(needed.key, both)])[0].value) == 2  # type: ignore[arg-type]


def test_the_same_matrix_is_the_same_answer_in_any_order() -> None:
    recorded = [Answered(MATRIX.key, (MatrixCell("Soup", CAFE), MatrixCell("Cake", "Good")))]
    assert same(
        recorded, [Given(MATRIX.key, [{"row": "Cake", "choice": "Good"}, {"row": "Soup", "choice": CAFE_IN_PARTS}])]
    )
    assert not same(recorded, [Given(MATRIX.key, [{"row": "Soup", "choice": CAFE}])])
    assert not same(recorded, [Given(MATRIX.key, [{"row": "Cake", "choice": CAFE}, {"row": "Soup", "choice": "Good"}])])


class TestConditions:
    """Hidden questions, in the survey: eats here (yes, no); then, only where yes: why;
    then, only where yes: stars, required."""

    eats = question("single_choice", "yes", "no")
    why = question("free_text", details=QuestionDetails(show_if=Condition(1, ("yes",))))
    stars = question("star_rating", required=True, details=QuestionDetails(show_if=Condition(1, ("yes",))))
    asked = (eats, why, stars)

    def test_an_answer_to_a_hidden_question_is_refused_by_its_name(self) -> None:
        given = [Given(self.eats.key, "no"), Given(self.why.key, "because")]
        assert refused(self.asked, given) == {str(self.why.key): answers.HIDDEN}
        assert refused(self.asked, [Given(self.why.key, "because")]) == {str(self.why.key): answers.HIDDEN}

    def test_required_counts_only_where_the_question_is_shown(self) -> None:
        assert read(self.asked, "answer", [Given(self.eats.key, "no")]) == (Answered(self.eats.key, "no"),)
        needed = refused(self.asked, [Given(self.eats.key, "yes")])
        assert needed == {str(self.stars.key): "This question needs an answer."}

    def test_an_empty_answer_to_a_hidden_question_is_none(self) -> None:
        given = [Given(self.eats.key, "no"), Given(self.why.key, " "), Given(self.stars.key, None)]
        assert len(read(self.asked, "answer", given)) == 1

    def test_after_a_value_that_does_not_fit_nothing_is_called_hidden(self) -> None:
        given = [Given(self.eats.key, "perhaps"), Given(self.why.key, "because"), Given(self.stars.key, 9)]
        assert refused(self.asked, given) == {
            str(self.eats.key): "Give the text of one of its options.",
            str(self.stars.key): "Give a whole number from 1 to 5.",
        }


@pytest.mark.parametrize("value", [1, True, "4", "soup", " 1", ["1"], 1.0, {"option": "1"}])
def test_a_scale_takes_the_text_of_one_option(value: Any) -> None:
    assert str(SCALE.key) in refused([SCALE], [Given(SCALE.key, value)])


@pytest.mark.parametrize("value", ["Soup", "soup ", 0, ["soup"], None.__class__, b"soup"])
def test_a_single_choice_takes_the_text_of_one_option(value: Any) -> None:
    assert str(ONE.key) in refused([ONE], [Given(ONE.key, value)])


@pytest.mark.parametrize(
    "value",
    [
        "rice",
        ["rice", "rice"],
        [CAFE, CAFE_IN_PARTS],
        ["rice", "pasta"],
        [1],
        [None],
        [["rice"]],
        [""],
        {"rice": True},
        1,
    ],
)
def test_a_multiple_choice_takes_a_list_of_different_options(value: Any) -> None:
    assert str(MANY.key) in refused([MANY], [Given(MANY.key, value)])


@pytest.mark.parametrize("value", [1, True, ["a"], {"a": 1}, "a\0b", "\ud800", "x\udfff", "x" * (LONGEST_TEXT + 1)])
def test_a_text_is_a_text_within_bounds_that_can_be_kept(value: Any) -> None:
    assert str(TEXT.key) in refused([TEXT], [Given(TEXT.key, value)])


@pytest.mark.parametrize("value", [True, "yes", 1, ["yes"]])
@pytest.mark.parametrize("action", ["agree", "decline"])
def test_an_agreement_takes_no_value(value: Any, action: str) -> None:
    assert str(AGREE.key) in refused([AGREE, STARS], [Given(AGREE.key, value)], action)


def test_a_question_that_was_not_asked_is_refused_even_without_an_answer() -> None:
    stray = uuid4()
    assert refused([STARS], [Given(stray, None)]) == {str(stray): "This survey has no such question."}


def test_a_question_answered_twice_is_refused_even_with_the_same() -> None:
    assert "twice" in refused([STARS], [Given(STARS.key, 4), Given(STARS.key, 4)])[str(STARS.key)]
    assert "twice" in refused([STARS], [Given(STARS.key, None), Given(STARS.key, 4)])[str(STARS.key)]


@pytest.mark.parametrize("action", ["answer", "agree"])
def test_required_questions_need_an_answer(action: str) -> None:
    needed, optional = question("free_text", required=True), question("star_rating")
    expected = {str(needed.key): "This question needs an answer."}
    assert refused([AGREE, needed, optional], [Given(needed.key, "")], action) == expected
    assert refused([AGREE, needed, optional], [Given(optional.key, 3)], action) == expected
    assert read([AGREE, needed], action, [Given(needed.key, "yes")]) == (Answered(needed.key, "yes"),)


@pytest.mark.parametrize("action", ["decline", "snooze", "opt_out"])
def test_other_actions_carry_no_answers_and_need_none(action: str) -> None:
    needed = question("free_text", required=True)
    assert read([AGREE, needed], action, []) == ()
    assert read([AGREE, needed], action, [Given(needed.key, ""), Given(AGREE.key, None)]) == ()
    assert "carries no answers" in refused([AGREE, needed], [Given(needed.key, "no")], action)[str(needed.key)]


def test_an_agreement_needs_no_value_and_an_answer_one() -> None:
    assert read(ALL, "agree", []) == ()
    assert refused(ALL, []) == {"answers": "Answer one question at least."}


def test_every_wrong_question_is_named_at_once() -> None:
    given = [Given(STARS.key, 9), Given(SCALE.key, "9"), Given(TEXT.key, "fine"), Given(MANY.key, ["none"])]
    assert set(refused(ALL, given)) == {str(STARS.key), str(SCALE.key), str(MANY.key)}


def test_answers_come_in_the_order_of_the_questions() -> None:
    given = [Given(TEXT.key, "x"), Given(MANY.key, []), Given(STARS.key, 2)]
    assert read(ALL, "answer", given) == (Answered(STARS.key, 2), Answered(TEXT.key, "x"))


def test_the_shape_of_a_body_is_judged_without_the_survey() -> None:
    fine = [Given(uuid4(), value) for value in (None, 7, 4.5, "", "any", [], ["a", "b"], [CELL])]
    assert malformed(fine) == ()
    one = uuid4()
    wrong = [True, {"a": 1}, "a\0", "\ud83d", ["a", "a"], ["a", 1], [["a"]], CELL, [{**CELL, "more": "x"}]]
    wrong += [[{"row": "Soup"}], [{"row": "Soup", "choice": 1}], [CELL, CELL], [{**CELL, "row": "a\0"}], [{}]]
    assert all(malformed([Given(one, value)]) for value in wrong)
    assert [each.field for each in malformed([Given(one, 1), Given(one, 2)])] == [str(one)]


# --- the same answers


def test_the_same_answers_in_another_order_and_another_form_are_the_same() -> None:
    recorded = [Answered(STARS.key, 4), Answered(ONE.key, CAFE), Answered(MANY.key, ("rice", CAFE))]
    sent = [
        Given(MANY.key, [CAFE_IN_PARTS, "rice"]), Given(TEXT.key, ""), Given(ONE.key, CAFE_IN_PARTS),
        Given(SCALE.key, None), Given(STARS.key, 4),
    ]  # fmt: skip
    assert same(recorded, sent)
    assert same((), [Given(TEXT.key, ""), Given(MANY.key, [])])


@pytest.mark.parametrize("value", [5, 4.5, "4", True, None, [4], ["4"]])
def test_other_stars_are_other_answers(value: Any) -> None:
    assert not same([Answered(STARS.key, 4)], [Given(STARS.key, value)])
    assert not same([Answered(STARS.key, 1)], [Given(STARS.key, True)])


def test_json_has_one_kind_of_number_so_a_retry_may_write_it_with_a_point() -> None:
    assert same([Answered(NUMBER.key, 4)], [Given(NUMBER.key, 4.0)])
    assert not same([Answered(NUMBER.key, 4.5)], [Given(NUMBER.key, 4)])


def test_more_less_and_doubled_answers_are_others() -> None:
    recorded = [Answered(STARS.key, 4), Answered(TEXT.key, "x")]
    assert not same(recorded, [Given(STARS.key, 4)])
    assert not same(recorded, [Given(STARS.key, 4), Given(TEXT.key, "X")])
    assert not same(recorded, [Given(STARS.key, 4), Given(TEXT.key, "x"), Given(SCALE.key, "1")])
    assert not same(recorded[:1], [Given(STARS.key, 4), Given(STARS.key, 4)])
    # A text that was erased reads as '', which does not count as an answer: nothing that is sent equals it.
    assert not same([Answered(STARS.key, 4), Answered(TEXT.key, "")], [Given(STARS.key, 4), Given(TEXT.key, "x")])


# --- properties

# A busy machine is slow at drawing characters.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_texts = st.text(max_size=8)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=4,
)
_fitting = {
    STARS.key: st.integers(1, 5),
    SCALE.key: st.sampled_from(SCALE.options),
    ONE.key: st.sampled_from([*ONE.options, CAFE_IN_PARTS]),
    MANY.key: st.lists(st.sampled_from(MANY.options), unique=True, min_size=1),
    TEXT.key: st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30).filter(str.strip),
}


@st.composite
def fitting(draw: st.DrawFn) -> list[Given]:
    keys = draw(st.lists(st.sampled_from(sorted(_fitting)), unique=True, min_size=1))
    return [Given(key, draw(_fitting[key])) for key in keys]


@unhurried
@given(st.sampled_from([*ALL, AGREE]), _json)
def test_any_value_is_read_or_refused_by_name(asked: ItemQuestion, value: Any) -> None:
    try:
        answers = read([asked], "answer", [Given(asked.key, value)])
    except InvalidAnswers as wrong:
        assert {one.field for one in wrong.details} <= {str(asked.key), "answers"}  # noqa: PT017 - both ends are fine
        return
    for one in answers:
        json.dumps(one.value).encode()
        assert type(one.value) in (int, str, tuple)


@unhurried
@given(fitting(), st.randoms(use_true_random=False))
def test_fitting_answers_are_read_whatever_their_order_and_stay_the_same(given_: list[Given], dice: Any) -> None:
    answers = read(ALL, "answer", given_)
    assert len(answers) == len(given_)
    shuffled = [Given(one.question, _shuffled(one.value, dice)) for one in dice.sample(given_, len(given_))]
    assert read(ALL, "answer", shuffled) == answers
    assert same(answers, shuffled)
    # What was read is read again as itself.
    assert read(ALL, "answer", [Given(one.question, one.value) for one in answers]) == answers


@unhurried
@given(fitting(), fitting())
def test_answers_are_the_same_exactly_when_they_read_the_same(one: list[Given], other: list[Given]) -> None:
    assert same(one, other) == (read(ALL, "answer", one) == read(ALL, "answer", other))


def _shuffled(value: Any, dice: Any) -> Any:
    return dice.sample(value, len(value)) if isinstance(value, list) else value


def test_question_ids_are_uuids_of_any_kind() -> None:
    assert read([STARS], "answer", [Given(UUID(str(STARS.key)), 3)]) == (Answered(STARS.key, 3),)
