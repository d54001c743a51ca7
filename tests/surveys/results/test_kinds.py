"""What an answer to each type of question is."""

from datetime import date
from decimal import Decimal
from uuid import uuid4

import pytest

from app.surveys.ledger.chain import MatrixCell
from app.surveys.question_details import QuestionDetails
from app.surveys.question_types import QUESTION_TYPES
from app.surveys.results import kinds, table
from app.surveys.results.figures import AskedQuestion


def question(kind: str, *options: str) -> AskedQuestion:
    return AskedQuestion(uuid4(), "How?", kind, options)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("1", "2", "10"), (1, 2, 10)),
        (("-1", "0", "+1"), (-1, 0, 1)),
        (("−1", "0,5", " 2.5 "), (-1, Decimal("0.5"), Decimal("2.5"))),
        (("1", "2", "many"), None),
        (("1 bad", "2"), None),
        (("٣", "٤"), None),
        ((), {}),
    ],
)
def test_a_scale_is_one_of_numbers_where_all_its_options_are(options: tuple[str, ...], numbers: object) -> None:
    found = kinds.numbers(question("scale", *options))
    assert (None if found is None else tuple(found.values())) == (numbers if numbers != {} else ())
    assert kinds.numbers(question("single_choice", *options)) is None


def test_a_question_of_several_versions_has_its_newest_words_and_every_option() -> None:
    newest = question("scale", "a", "c")
    older = AskedQuestion(newest.key, "Old?", "scale", ("a", "b"))
    gone = question("free_text")
    assert table.merged([[newest], [older, gone]]) == (
        AskedQuestion(newest.key, "How?", "scale", ("a", "c", "b")),
        gone,
    )


def test_a_matrix_has_a_column_for_each_row_and_a_date_is_a_day() -> None:
    matrix = AskedQuestion(uuid4(), "How?", "matrix", ("good", "bad"), details=QuestionDetails(rows=("food", "rooms")))
    read = {one.label: one.read([MatrixCell("rooms", "bad")], "answered") for one in kinds.columns(matrix)}
    assert read == {"How?: food": None, "How?: rooms": "bad"}
    assert [one.read(None, "answered") for one in kinds.columns(matrix)] == [None, None]
    days = AskedQuestion(uuid4(), "How long?", "number", details=QuestionDetails(unit="days"))
    assert [one.label for one in kinds.columns(days)] == ["How long? (days)"]
    (day,) = kinds.columns(question("date"))
    assert [day.read(one, "answered") for one in ("2026-11-25", None)] == [date(2026, 11, 25), None]


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_every_type_of_question_has_a_column(kind: str) -> None:
    asked = AskedQuestion(uuid4(), "How?", kind, ("a", "b"), details=QuestionDetails(rows=("food",)))
    assert len(kinds.columns(asked)) == (2 if kind == "multiple_choice" else 1)
