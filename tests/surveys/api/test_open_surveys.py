"""`me/surveys/open` and `me/surveys/count`: everything that may be answered now, in pages, and as two numbers."""

from typing import Any

import pytest
from sqlalchemy import select

from app.accounts import policies
from app.db.session import Database
from app.surveys.ledger import chain
from app.surveys.models import PromptState, Response
from tests.surveys.api.test_surveys import fits
from tests.surveys.asking.test_queue import eve, nora, publish
from tests.surveys.asking.test_responding import warm
from tests.surveys.calling import QUEUE, App, by_transaction, refused, statements
from tests.surveys.drafted import HOW_WAS_IT

__all__ = ["eve", "nora"]
OPEN, COUNT = f"{QUEUE}/open", f"{QUEUE}/count"
NPS = {"label": "How likely?", "type": "nps"}


async def titles(app: App, query: str = "") -> list[str]:
    answer = await app.get(f"{OPEN}{query}")
    assert answer.status_code == 200, answer.text
    return [row["title"] for row in answer.json()["data"]]


async def numbers(app: App) -> Any:
    answer = await app.get(COUNT)
    assert answer.status_code == 200, answer.text
    fits(answer, "GET", COUNT)
    return answer.json()["data"]


async def test_what_pacing_holds_back_is_open_and_no_impression_is_counted(nora: App, database: Database) -> None:
    late = await publish(database, "Put off")
    await publish(database, "Required", enforcement="required")
    await nora.recorded(late.uid, "snooze")
    assert await nora.titles() == ["Required"]
    assert await titles(nora) == ["Required", "Put off"]
    assert await numbers(nora) == {"open": 2, "required": 1}
    async with database.transaction() as db:
        assert sorted(await db.scalars(select(PromptState.impressions))) == [0, 1]


async def test_a_row_is_that_of_the_queue_and_meta_counts_the_pages(nora: App, database: Database) -> None:
    for number in range(3):
        await publish(database, f"Number {number}")
    answer = await nora.get(f"{OPEN}?per_page=2&page=2")
    fits(answer, "GET", OPEN)
    assert answer.json()["meta"] == {"page": 2, "per_page": 2, "total": 3, "pages": 2}
    assert [row["title"] for row in answer.json()["data"]] == ["Number 2"]
    queue = (await nora.queue())["data"]
    assert (await nora.get(OPEN)).json()["data"] == queue
    assert await titles(nora, "?page=3") == []


async def test_an_answer_after_it_says_that_the_person_had_it(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", questions=[HOW_WAS_IT])
    await titles(nora)
    await nora.recorded(survey.uid, *warm(survey))
    async with database.transaction() as db:
        assert chain.read(await db.scalar(select(Response.entry)) or "").shown == "in_queue"


async def test_an_app_gets_what_it_can_show(nora: App, database: Database) -> None:
    await publish(database, "Old", questions=[HOW_WAS_IT])
    await publish(database, "New", questions=[NPS])
    assert await titles(nora) == ["Old"]
    assert await titles(nora, "?can=nps,date") == ["Old", "New"]
    assert await numbers(nora) == {"open": 2, "required": 0}


async def test_tenants_get_the_platforms_too(eve: App, database: Database) -> None:
    await publish(database, "Own", workspace="globex")
    await publish(database, "Platform", enforcement="required")
    assert await titles(eve) == ["Platform", "Own"]
    assert await numbers(eve) == {"open": 2, "required": 1}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("page=0", "page"),
        ("per_page=501", "per_page"),
        ("lang=nonsense!", "lang"),
        ("lang=", "lang"),
        ("can=NPS", "can"),
        ("cursor=x", "cursor"),
        ("limit=5", "limit"),
    ],
)
async def test_a_wrong_parameter_is_named(nora: App, query: str, field: str) -> None:
    answer = await nora.get(f"{OPEN}?{query}")
    assert refused(answer) == (422, "invalid_parameter")
    assert [one["field"] for one in answer.json()["error"]["details"]] == [field]


async def test_a_language_is_taken_and_count_takes_nothing(nora: App, database: Database) -> None:
    await publish(database, "Lunch")
    assert await titles(nora, "?lang=pt-BR") == ["Lunch"]
    assert refused(await nora.get(f"{COUNT}?lang=de")) == (422, "invalid_parameter")


@pytest.mark.parametrize("path", [OPEN, COUNT])
async def test_both_obey_the_switch_of_the_queue(nora: App, database: Database, path: str) -> None:
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"me_surveys": False})
    assert refused(await nora.get(path)) == (404, "module_unavailable")


async def test_counting_takes_one_statement_a_workspace_and_writes_nothing(eve: App, database: Database) -> None:
    await publish(database, "Own", workspace="globex")
    await numbers(eve)
    with statements(database) as sent:
        await numbers(eve)
    assert by_transaction(sent) == [2, 1, 0]  # who calls, and one for each workspace
