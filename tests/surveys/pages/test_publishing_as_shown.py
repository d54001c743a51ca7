"""A survey is published as the question showed it: when an author saved it meanwhile, nothing is published."""

import pytest

from app.db.session import Database
from app.parts import Parts
from app.web.long_acts import bulk
from tests.conftest import Browser
from tests.host.pages.test_acts import carry_on
from tests.rendered_forms import asked_with
from tests.surveys.authored import make, read, save

BULK = "/surveys/list/bulk"


async def test_texts_that_the_question_did_not_show_are_not_published(database: Database, alice: Browser) -> None:
    survey = await make(database)
    url = f"/surveys/publish/{survey.uid}"
    asked = await alice.get(url)
    await save(database, survey, title="All your data")
    refused = await alice.submit(url, asked_with(asked.text, url))
    assert refused.status_code == 409
    assert "Ann changed this survey on" in refused.text
    assert "Nothing was published. Look at what changed, then publish it again." in refused.text
    assert (await read(database, survey.uid)).status == "draft"
    again = await alice.get(url)
    assert (await alice.submit(url, asked_with(again.text, url))).status_code == 303
    assert (await read(database, survey.uid)).status == "published"


async def test_a_bulk_act_asks_again_when_a_text_changed_after_its_question(database: Database, alice: Browser) -> None:
    survey = await make(database)
    asked = await alice.submit(BULK, {"action": "publish", "id": str(survey.id)})
    await save(database, survey, title="All your data")
    again = await alice.submit(BULK, asked_with(asked.text, BULK))
    assert (again.status_code, (await read(database, survey.uid)).status) == (200, "draft")
    assert (await alice.submit(BULK, asked_with(again.text, BULK))).status_code == 303
    assert (await read(database, survey.uid)).status == "published"


async def test_a_job_leaves_surveys_that_changed_after_its_question(
    database: Database, parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, other = await make(database, title="Lunch"), await make(database, title="Doors")
    monkeypatch.setattr(bulk, "INLINE_LIMIT", 0)
    asked = await alice.submit(BULK, {"action": "publish", "all": "1"})
    await save(database, survey, title="All your data")
    begun = (await alice.submit(BULK, asked_with(asked.text, BULK))).headers["location"]
    await carry_on(parts, int(begun.removeprefix("/acts/")))
    assert [(await read(database, one.uid)).status for one in (survey, other)] == ["draft", "published"]
    assert "1 stays: 1 changed meanwhile." in (await alice.get(begun)).text
