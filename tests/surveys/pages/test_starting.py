"""What a new survey begins from: a starter, or a file of another survey;
and the file of a survey, as the browser saves it."""

import json
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.accounts.models import Tenant
from app.db.session import Database
from app.surveys.authoring.stored import load
from app.surveys.models import Survey
from tests.conftest import Browser
from tests.surveys.drafted import CONSENT, LUNCH, drafted, published


async def ceiling(database: Database, word: str) -> None:
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling=word))


async def saved(database: Database) -> int:
    async with database.transaction() as db:
        return await db.scalar(select(func.count()).select_from(Survey)) or 0


async def test_an_author_chooses_what_to_begin_from(alice: Browser) -> None:
    shown = (await alice.get("/surveys/start")).text
    assert 'href="/surveys/new"' in shown
    assert 'href="/surveys/new?from=pulse"' in shown
    assert 'href="/surveys/start"' in (await alice.get("/surveys/list")).text


async def test_a_starter_fills_the_form_and_saves_nothing(database: Database, alice: Browser) -> None:
    shown = (await alice.get("/surveys/new?from=policy")).text
    assert 'value="Please read: our new policy"' in shown
    assert "I have read the policy and follow it." in shown
    assert await saved(database) == 0
    assert (await alice.get("/surveys/new?from=nothing")).status_code == 404


async def test_starters_above_the_ceiling_are_left_out_and_refused(database: Database, eve: Browser) -> None:
    await ceiling(database, "optional")
    shown = (await eve.get("/surveys/start")).text
    assert "from=pulse" in shown
    assert "from=policy" not in shown
    assert (await eve.get("/surveys/new?from=policy")).status_code == 403
    await ceiling(database, "none")
    assert (await eve.get("/surveys/start")).status_code == 403


async def test_the_file_of_a_survey_becomes_a_draft_of_its_own(database: Database, alice: Browser) -> None:
    async with database.transaction() as db:
        stored = await published(db, title="Über Lunch / Friday", message="<p>Soup?</p>", questions=[LUNCH, CONSENT])
    answer = await alice.get(f"/surveys/file/{stored.uid}")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["content-disposition"] == 'attachment; filename="survey-ber-lunch-friday-v1.json"'
    assert json.loads(answer.text)["survey"] == str(stored.uid)
    done = await alice.submit("/surveys/import", files={"file": ("survey.json", answer.content)})
    assert done.status_code == 303
    async with database.transaction() as db:
        copy = await load(db, done.headers["location"].rpartition("/")[2])
    assert (copy.status, copy.version, copy.content_hash) == ("draft", 1, stored.content_hash)
    assert {one.key for one in copy.questions}.isdisjoint(one.key for one in stored.questions)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty."),
        (b"{", "The file is not strict JSON"),
        (b'{"title": "x", "type": "poll"}', "enforcement"),
        (b'{"title": "", "type": "poll", "enforcement": "optional"}', "Title: Give the survey a title."),
        (b'{"title": "x", "type": "poll", "enforcement": "optional", "user_types": ["robot"]}', "robot"),
    ],
)
async def test_a_file_that_is_no_survey_is_refused_in_words(
    database: Database, alice: Browser, content: bytes, said: str
) -> None:
    answer = await alice.submit("/surveys/import", files={"file": ("survey.json", content)})
    assert answer.status_code == 422
    assert "The file was not imported" in answer.text
    assert said in answer.text
    assert await saved(database) == 0


async def test_without_a_file_nothing_is_imported(alice: Browser) -> None:
    assert "Choose a file first." in (await alice.submit("/surveys/import", {})).text


async def test_what_the_files_message_loses_is_named(alice: Browser) -> None:
    survey: dict[str, Any] = {"title": "x", "type": "poll", "enforcement": "optional", "message": "<table>Hi</table>"}
    answer = await alice.submit("/surveys/import", files={"file": ("survey.json", json.dumps(survey).encode())})
    assert "Taken out: &lt;table&gt;" in (await alice.get(answer.headers["location"])).text


async def test_authors_alone_begin_surveys_and_those_who_see_surveys_get_their_files(
    database: Database, vera: Browser, eve: Browser, visitor: Browser
) -> None:
    async with database.transaction() as db:
        stored = await drafted(db)
    for path in ("/surveys/start", "/surveys/new?from=pulse"):
        assert (await vera.get(path)).status_code == 403
        assert (await visitor.get(path)).status_code == 303
    assert (await vera.submit("/surveys/import", {})).status_code == 403
    assert (await vera.get(f"/surveys/file/{stored.uid}")).status_code == 200
    assert (await eve.get(f"/surveys/file/{stored.uid}")).status_code == 404
    assert (await eve.get("/surveys/file/no-uid")).status_code == 404
