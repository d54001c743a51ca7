"""Answers to the newer types of questions as readers meet them:
in a response, in the list, and the details in a definition."""

from typing import Any
from uuid import UUID

import pytest

from app.db.session import Database
from app.parts import Parts
from app.surveys import showing
from app.surveys.ledger.chain import MatrixCell
from app.surveys.question_details import Condition, QuestionDetails
from app.surveys.results import worded
from app.surveys.results.figures import AskedQuestion
from tests.conftest import Browser, SignIn
from tests.markup import squeezed
from tests.surveys.drafted import LUNCH, published
from tests.surveys.recording import record, user_id

ASKED = [
    {"label": "Stars?", "type": "star_rating", "low_label": "bad"},
    {"label": "Score?", "type": "nps", "low_label": "never", "high_label": "ever"},
    {"label": "How far?", "type": "number", "min": 0, "max": 9.5, "unit": "km", "page": True},
    {"label": "Since when?", "type": "date"},
    {"label": "How is it?", "type": "matrix", "options": ["Good", "Bad"], "rows": ["Soup", "Cake"]},
    {"label": "Why?", "type": "free_text", "show_if": {"question": 1, "is": "in", "values": [1, 2]}},
]
VALUES = (4, 0, 0.000001, "2026-11-25", (MatrixCell("Soup", "Bad"), MatrixCell("Cake", "Good")))


async def test_a_response_and_the_list_show_each_value_in_words(vera: Browser, parts: Parts) -> None:
    async with parts.database.transaction() as db:
        survey = await published(db, title="All", questions=ASKED)
    nora = await user_id(parts.database, "nora")
    receipt = (await record(parts.database, parts.keys, survey, nora, *VALUES)).receipt
    text = squeezed((await vera.get(f"/surveys/response_modal/{receipt}")).text)
    for value in ("4 of 5", "0 of 10", "0.000001 km", "Wed 25 Nov 2026", "Soup: Bad Cake: Good", "Not shown"):
        assert value in text, value
    listed = squeezed((await vera.get("/surveys/responses")).text)
    assert "4 ★ · 0 · 0.000001 · 2026-11-25 · Soup: Bad, Cake: Good" in listed
    page = squeezed((await vera.get(f"/surveys/view/{survey.uid}")).text)
    for note in (
        "Rows: Soup · Cake",
        "Ends: bad – …",
        "Ends: never – ever",
        "From 0 to 9.5 km",
        "Begins a new page",
        "Only if the answer to “Stars?” is “1” or “2”.",
    ):
        assert note in page, note


async def test_a_survey_without_details_has_no_notes(vera: Browser, database: Database) -> None:
    async with database.transaction() as db:
        survey = await published(db, title="Lunch", questions=[LUNCH])
    assert squeezed((await vera.get(f"/surveys/view/{survey.uid}")).text).count('<div class="options small">') == 1


def question(kind: str, **details: Any) -> AskedQuestion:
    return AskedQuestion(UUID(int=1), "So?", kind, details=QuestionDetails(**details))


@pytest.mark.parametrize(
    ("asked", "value", "told"),
    [
        (question("number"), 3, "3"),
        (question("number", unit="km"), 2.5, "2.5 km"),
        (question("nps"), 10, "10 of 10"),
        (question("star_rating"), 1, "1 of 5"),
        (question("single_choice"), "Soup", "Soup"),
        (question("multiple_choice"), ["Soup", "Cake"], "Soup\nCake"),
        (question("free_text"), "2026-11-25", "2026-11-25"),
        (question("free_text"), None, ""),
    ],
)
def test_a_value_is_told_by_the_type_of_its_question(asked: AskedQuestion, value: Any, told: str) -> None:
    assert worded.told(asked, value) == told


def test_what_was_not_shown_is_known_from_the_answers() -> None:
    first = AskedQuestion(UUID(int=1), "Which?", "multiple_choice", ("a", "b"))
    second = AskedQuestion(UUID(int=2), "So?", "free_text", details=QuestionDetails(show_if=Condition(1, ("a",))))
    assert worded.hidden([first, second], {str(first.key): ["a", "b"]}) == frozenset()
    assert worded.hidden([first, second], {str(first.key): ["b"]}) == {str(second.key)}
    assert showing.notes([first, second], first) == ()


async def test_the_person_reads_the_same_words_in_my_answers(sign_in: SignIn, parts: Parts) -> None:
    async with parts.database.transaction() as db:
        survey = await published(db, title="All", questions=ASKED)
    nora = await user_id(parts.database, "nora")
    receipt = (await record(parts.database, parts.keys, survey, nora, *VALUES)).receipt
    text = squeezed((await (await sign_in("nora")).get(f"/me/answers/{receipt}")).text)
    for value in (
        "4 of 5",
        "0 of 10",
        "0.000001 km",
        "Wed 25 Nov 2026",
        "Soup: Bad Cake: Good",
        "Not asked because of",
    ):
        assert value in text, value
