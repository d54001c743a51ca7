"""The prompt with questions of every type, pages and conditions, as a browser without script meets it: everything is
there, and what is sent for a hidden question is taken out and said."""

import re
from typing import Any

import pytest
from litestar.datastructures import FormMultiDict
from sqlalchemy import select

from app.db.session import Database
from app.surveys.ledger import chain
from app.surveys.models import Response
from app.surveys.pages import prompt_form
from tests.conftest import Browser, SignIn
from tests.markup import squeezed
from tests.surveys.asking.test_queue import publish
from tests.surveys.asking.test_responding import key
from tests.surveys.drafted import HOW_WAS_IT, LUNCH, Stored

NEW = [
    {"label": "Score?", "type": "nps", "low_label": "never", "high_label": "for sure", "required": True},
    {"label": "How far?", "type": "number", "min": 0, "max": 99.5, "unit": "km"},
    {"label": "Since when?", "type": "date", "page": True},
    {"label": "How is it?", "type": "matrix", "options": ["Good", "Bad"], "rows": ["Soup", "Cake"]},
]
SHOWN_IF_GOOD = {**HOW_WAS_IT, "show_if": {"question": 1, "is": "in", "values": ["Good"]}}


def sent(survey: Stored, **answers: Any) -> dict[str, Any]:
    """A form of the prompt; `q1_score="7"` is the field of the second question."""
    fields = {"survey": str(survey.uid), "version": "1", "content_hash": survey.content_hash, "action": "answer"}
    for name, value in answers.items():
        place, _, suffix = name[1:].partition("_")
        fields[f"q-{key(survey, int(place))}{'-' + suffix.replace('_', '-') if suffix else ''}"] = value
    return fields


@pytest.fixture
async def nora(sign_in: SignIn) -> Browser:
    return await sign_in("nora")


async def answers_of(database: Database) -> list[Any]:
    async with database.transaction() as db:
        entry = await db.scalar(select(Response.entry))
    return [one.value for one in chain.read(entry).answers]


async def test_every_type_and_page_stands_in_the_prompt(nora: Browser, database: Database) -> None:
    await publish(database, "All", questions=NEW)
    told = squeezed((await nora.get("/survey_prompt")).text)
    assert "Page 1 of 2" in told
    assert "Page 2 of 2" in told
    assert 'type="radio" id="prompt-1-10"' in told
    assert "never</span>" in told
    assert "for sure</span>" in told
    assert "From 0 to 99.5" in told
    assert ">km</span>" in told
    assert 'type="date"' in told
    assert 'value="Cake\tBad"' in told or 'value="Cake&#9;Bad"' in told or 'value="Cake Bad"' in told


async def test_every_new_value_is_taken_from_the_form(nora: Browser, database: Database) -> None:
    survey = await publish(database, "All", questions=NEW)
    form = sent(survey, q0_score="0", q1_number="3,25", q2="2026-11-25", q3_row_1="Soup\tBad", q3_row_2="Cake\tGood")
    answer = await nora.submit("/survey_prompt/submit", form)
    assert answer.status_code == 303, answer.text
    cells = [chain.MatrixCell("Soup", "Bad"), chain.MatrixCell("Cake", "Good")]
    assert await answers_of(database) == [0, 3.25, "2026-11-25", cells]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (
            "q1_number",
            "1.000",
            "“1.000” can mean two numbers. Write 1000 for the large one, or 1.0000 for the small one.",
        ),
        (
            "q1_number",
            "12,500",
            "“12,500” can mean two numbers. Write 12500 for the large one, or 12,5000 for the small one.",
        ),
        ("q1_number", "many", "Give a number with at most 6 decimals, such as 12 or 3.5."),
        ("q1_number", "100", "Give at most 99.5."),
        ("q2", "25.11.2026", "Give a day such as 2026-11-25."),
        ("q3_row_1", "Bread\tGood", "Give a list of its rows"),
    ],
)
async def test_what_does_not_fit_is_said_at_its_question_and_stays_typed(
    nora: Browser, database: Database, field: str, value: str, told: str
) -> None:
    survey = await publish(database, "All", questions=NEW)
    answer = await nora.submit("/survey_prompt/submit", sent(survey, q0_score="7", **{field: value}))
    assert answer.status_code == 422
    assert told in answer.text
    assert 'value="7" checked' in squeezed(answer.text)
    if field != "q3_row_1":
        assert f'value="{value}"' in answer.text


async def test_the_unit_and_the_bounds_of_a_number_are_read_aloud_with_its_field(
    nora: Browser, database: Database
) -> None:
    await publish(database, "All", questions=NEW)
    shown = squeezed((await nora.get("/survey_prompt")).text)
    field = re.search(r'<input[^>]*-number"[^>]*aria-describedby="([^"]+)"', shown)
    assert field
    told = [re.search(rf'id="{one}">([^<]+)<', shown) for one in field[1].split()]
    assert [one and one[1] for one in told] == ["km", "From 0 to 99.5"]


async def test_a_condition_stands_in_words_and_an_answer_to_a_hidden_question_is_taken_out_before_anything_is_recorded(
    nora: Browser, database: Database
) -> None:
    survey = await publish(database, "Lunch", questions=[LUNCH, SHOWN_IF_GOOD])
    assert "Only if the answer to “How was lunch?” is “Good”." in (await nora.get("/survey_prompt")).text
    answer = await nora.submit("/survey_prompt/submit", sent(survey, q0="Bad", q1="It was cold"))
    assert answer.status_code == 422
    assert prompt_form.TAKEN_OUT in answer.text
    assert "It was cold" not in answer.text
    assert 'value="Bad" checked' in squeezed(answer.text)
    answer = await nora.submit("/survey_prompt/submit", sent(survey, q0="Bad", q1=""))
    assert answer.status_code == 303
    assert await answers_of(database) == ["Bad"]


def test_the_rows_of_a_matrix_are_one_question_and_stay_where_they_still_fit() -> None:
    name = "q-00000000-0000-0000-0000-000000000007"
    form = [("survey", "00000000-0000-0000-0000-000000000001"), ("version", "1"), ("action", "answer")]
    rows = [(f"{name}-row-1", "Soup\tGood"), (f"{name}-row-2", "Cake\tBad")]
    found = prompt_form.read(FormMultiDict(form + rows))
    assert [one.value for one in found.answers] == [
        [{"row": "Soup", "choice": "Good"}, {"row": "Cake", "choice": "Bad"}]
    ]
    assert found.kept == {name[2:]: ["Soup\tGood", "Cake\tBad"]}
