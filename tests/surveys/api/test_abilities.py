"""What an app says that it can show decides what it is handed:
an app that says nothing meets the first six types alone."""

from typing import Any

import pytest
from sqlalchemy import select

from app.db.session import Database
from app.parts import Parts
from app.surveys.models import Answer
from tests.surveys.api.test_surveys import fits
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.asking.test_responding import key
from tests.surveys.calling import QUEUE, App, refused
from tests.surveys.drafted import HOW_WAS_IT, LUNCH
from tests.surveys.recording import EVERY_TYPE, verify

__all__ = ["nora"]
NEW = {
    "nps": {"label": "Score?", "type": "nps", "low_label": "never", "high_label": "for sure"},
    "number": {"label": "How far?", "type": "number", "min": 0, "max": 99.5, "unit": "km"},
    "date": {"label": "Since when?", "type": "date"},
    "matrix": {"label": "How is it?", "type": "matrix", "options": ["Good", "Bad"], "rows": ["Soup", "Cake"]},
}
SHOWN_IF_GOOD = {**HOW_WAS_IT, "show_if": {"question": 1, "is": "in", "values": ["Good"]}}
ALL = "nps,number,date,matrix,conditions"


async def titles(app: App, can: str | None = None) -> tuple[list[str], int]:
    """What the app is handed, and `meta.pending`."""
    answer = await app.get(QUEUE if can is None else f"{QUEUE}?can={can}")
    fits(answer, "GET", QUEUE)
    told = answer.json()
    return sorted(row["title"] for row in told["data"]), told["meta"]["pending"]


async def test_a_survey_that_needs_more_than_the_app_can_show_is_not_handed_out_and_does_not_count(
    nora: App, database: Database
) -> None:
    for kind, asked in NEW.items():
        await publish(database, kind, enforcement="required", questions=[LUNCH, asked])
    await publish(database, "conditions", enforcement="required", questions=[LUNCH, SHOWN_IF_GOOD])
    await publish(database, "plain", enforcement="required", questions=EVERY_TYPE)
    assert await titles(nora) == (["plain"], 1)
    assert await titles(nora, "nps") == (["nps", "plain"], 2)
    assert await titles(nora, "date,conditions,holograms") == (["conditions", "date", "plain"], 3)
    handed, pending = await titles(nora, ALL)
    assert (len(handed), pending) == (5, 6)


async def test_the_list_of_open_surveys_leaves_them_out_too(nora: App, database: Database) -> None:
    await publish(database, "plain", questions=[LUNCH])
    await publish(database, "scored", questions=[NEW["nps"]])
    for can, expected in (("", ["plain"]), ("?can=date", ["plain"]), ("?can=nps", ["plain", "scored"])):
        answer = (await nora.get(f"/v1/api/me/surveys/open{can}")).json()
        assert sorted(row["title"] for row in answer["data"]) == expected
        assert answer["meta"]["total"] == len(expected)


async def test_a_survey_that_needs_two_things_wants_both(nora: App, database: Database) -> None:
    await publish(database, "both", questions=[NEW["nps"], NEW["date"]])
    assert await titles(nora, "nps") == await titles(nora, "date") == ([], 0)
    assert await titles(nora, "nps,date") == (["both"], 1)


async def test_an_app_that_says_nothing_gets_no_field_that_it_may_not_know(nora: App, database: Database) -> None:
    scale = {"label": "How much?", "type": "scale", "options": ["1", "2"], "low_label": "little", "high_label": "much"}
    await publish(database, "Scale", enforcement="required", questions=[LUNCH, {**scale, "page": True}])
    old = (await nora.get(QUEUE)).json()["data"][0]["questions"][1]
    assert set(old) == {"question", "label", "type", "options", "required"}
    new = (await nora.get(f"{QUEUE}?can=nps")).json()["data"][0]["questions"][1]
    assert set(new) == {*old, "low_label", "high_label", "page"}
    assert (new["low_label"], new["high_label"], new["page"]) == ("little", "much", True)


async def test_a_condition_names_the_id_of_its_question(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", questions=[LUNCH, SHOWN_IF_GOOD])
    answer = await nora.get(f"{QUEUE}?can=conditions")
    fits(answer, "GET", QUEUE)
    told = answer.json()["data"][0]["questions"][1]
    assert told["show_if"] == {"question": str(key(survey)), "is": "in", "values": ["Good"]}


@pytest.mark.parametrize("can", ["", "NPS", "nps,", "nps number", "a" * 201])
async def test_a_list_of_abilities_that_can_not_be_read_is_refused(nora: App, can: str) -> None:
    assert refused(await nora.get(f"{QUEUE}?can={can}")) == (422, "invalid_parameter")


async def test_every_new_value_is_recorded_counted_and_proven(nora: App, database: Database, parts: Parts) -> None:
    survey = await publish(database, "All", questions=[*NEW.values()])
    cells = [{"row": "Cake", "choice": "Bad"}, {"row": "Soup", "choice": "Good"}]
    told = [(key(survey, place), value) for place, value in enumerate((0, 3.25, "2026-11-25", cells))]
    first = await nora.recorded(survey.uid, "answer", *told, version=1)
    again = await nora.recorded(survey.uid, "answer", *told, version=1)
    assert (first["status"], again["status"], again["receipt"]) == ("recorded", "already_recorded", first["receipt"])
    async with database.transaction() as db:
        rows = (await db.execute(select(Answer.question_key, Answer.choice))).all()
    assert sorted((str(asked), choice) for asked, choice in rows) == sorted(
        (str(key(survey, place)), choice)
        for place, choice in ((0, "0"), (1, "3.25"), (2, "2026-11-25"), (3, "Soup\tGood"), (3, "Cake\tBad"))
    )
    assert (await verify(database, "main")).fits


async def test_an_answer_to_a_hidden_question_is_refused_and_nothing_is_recorded(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", questions=[LUNCH, SHOWN_IF_GOOD])
    both: list[tuple[Any, Any]] = [(key(survey), "Bad"), (key(survey, 1), "Cold")]
    answer = await nora.respond(survey.uid, "answer", *both)
    assert refused(answer) == (422, "invalid_answers")
    (detail,) = answer.json()["error"]["details"]
    assert (detail["field"], "not shown" in detail["message"]) == (str(key(survey, 1)), True)
    assert (await nora.recorded(survey.uid, "answer", both[0]))["status"] == "recorded"
