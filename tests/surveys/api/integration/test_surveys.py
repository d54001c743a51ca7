"""Surveys and their results, as another program reads them."""

import re
from typing import Any

import jsonschema_rs
import pytest
from sqlalchemy import func, update

from app.accounts import policies
from app.clock.api.routes import openapi_document
from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions
from app.surveys.models import Survey
from tests.clock.api.test_routes import Caller
from tests.conftest import Browser
from tests.surveys.anonymous.team import MOOD, WORDS, apps, ask_crew, crew, end
from tests.surveys.drafted import AUTHOR, drafted, published
from tests.surveys.recording import lunch, record, user_id

URL = "/api/v1/surveys"
DOCUMENT = openapi_document("http://testserver")


@pytest.fixture
async def caller(visitor: Browser, token: Any) -> Caller:
    return Caller(visitor, await token("alice", "surveys:read"))


def fits(answer: Any, path: str = f"{URL}/{{uid}}/results") -> Any:
    """The answer's data, once the document promises it."""
    assert answer.status_code == 200, answer.text
    schema = DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]}).validate(answer.json())
    return answer.json()["data"]


class TestSurveys:
    async def test_a_survey_is_listed_once_it_was_published(self, caller: Caller, database: Database) -> None:
        asked = await lunch(database)
        async with database.transaction() as db:
            await drafted(db, title="Not yet")
        (row,) = fits(await caller.get(URL), URL)
        assert (row["uid"], row["title"], row["status"], row["version"]) == (str(asked.uid), "Lunch", "published", 1)
        assert [one["label"] for one in row["questions"]] == [one.label for one in asked.questions]
        assert row["questions"][1]["options"] == ["little", "much"]
        assert (row["anonymity"], row["languages"], row["deleted"]) == ("named", ["en"], False)

    async def test_what_changes_is_news(self, caller: Caller, database: Database) -> None:
        asked = await lunch(database)
        since = (await caller.get(URL)).json()["meta"]["next_updated_since"]
        assert await caller.data(URL, updated_since=since) == []
        async with database.transaction() as db:
            await actions.archive(db, AUTHOR, asked.uid)
        assert [one["status"] for one in await caller.data(URL, updated_since=since)] == ["archived"]

    async def test_a_removed_one_comes_once_more_as_deleted(self, caller: Caller, database: Database) -> None:
        await lunch(database)
        since = (await caller.get(URL)).json()["meta"]["next_updated_since"]
        async with database.transaction() as db:
            await db.execute(update(Survey).values(deleted_at=func.now()))
        assert [one["deleted"] for one in await caller.data(URL, updated_since=since)] == [True]
        assert await caller.data(URL) == []

    async def test_a_cursor_leads_through_all_of_them(self, caller: Caller, database: Database) -> None:
        async with database.transaction() as db:
            for n in range(3):
                await published(db, title=f"Number {n}")
        first = (await caller.get(URL, per_page=2)).json()
        rest = (await caller.get(URL, per_page=2, cursor=first["meta"]["next_cursor"])).json()
        assert [one["title"] for one in (*first["data"], *rest["data"])] == ["Number 0", "Number 1", "Number 2"]
        assert rest["meta"]["next_cursor"] is None


class TestResults:
    async def test_they_are_those_of_the_page(
        self, caller: Caller, database: Database, parts: Parts, alice: Browser
    ) -> None:
        asked = await lunch(database)
        for short in ("bob", "vera"):
            await record(database, parts.keys, asked, await user_id(database, short), shown="not_handed_out")
        data = fits(await caller.get(f"{URL}/{asked.uid}/results"))
        assert (data["asked"], data["responses"], data["responded"]) == (2, 2, 2)
        assert (data["outcomes"], data["response_rate"], data["narrowed"]) == ({"answered": 2}, 100.0, 2)
        assert data["days"] == [{"day": "2026-11-21", "outcomes": {"answered": 2}}]
        stars, _, which, *_, written = data["questions"]
        assert (stars["people"], stars["middle"]["mean"]) == (2, 4.0)
        assert [(one["label"], one["people"]) for one in which["choices"]] == [("soup", 2), ("salad", 0)]
        assert (written["people"], written["choices"]) == (2, [])
        page = (await alice.get(f"/surveys/view/{asked.uid}")).text
        assert re.search(r"100\.0\s*%", page)
        assert "Nora was served" not in str(data)

    @pytest.mark.parametrize(
        ("query", "narrowed"),
        [({"outcome": "opted_out"}, 0), ({"from": "2026-11-22"}, 0), ({"to": "2026-11-21"}, 1), ({"version": 1}, 1)],
    )
    async def test_days_and_outcome_narrow_the_questions(
        self, caller: Caller, database: Database, parts: Parts, query: dict[str, Any], narrowed: int
    ) -> None:
        asked = await lunch(database)
        await record(database, parts.keys, asked, await user_id(database, "bob"))
        data = fits(await caller.get(f"{URL}/{asked.uid}/results", **query))
        assert (data["narrowed"], data["questions"][0]["people"], data["responses"]) == (narrowed, narrowed, 1)

    async def test_a_draft_another_workspace_and_nonsense_are_not_found(
        self, caller: Caller, database: Database
    ) -> None:
        theirs = await lunch(database, "globex")
        async with database.transaction() as db:
            draft = await drafted(db)
        asked = await lunch(database)
        for uid, query in ((draft.uid, {}), (theirs.uid, {}), ("7", {}), (asked.uid, {"version": 9})):
            answer = await caller.get(f"{URL}/{uid}/results", **query)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), uid


class TestAnonymous:
    async def test_nothing_is_known_before_the_end_and_groups_stand_together_after_it(
        self, caller: Caller, database: Database, visitor: Browser, parts: Parts
    ) -> None:
        await crew(database, ["Kitchen"] * 6 + ["Boiler room"] * 4 + ["Yard"] * 5)
        asked = await ask_crew(database, questions=[MOOD, WORDS], split="department")
        mood, words = (one.key for one in asked.questions)
        for n, one in enumerate(apps(visitor, 15)):
            told = [(mood, "Good" if n % 2 else "Bad"), *([(words, "Too loud")] if n < 7 else [])]
            await one.recorded(asked.uid, "answer", *told)
        path = f"{URL}/{asked.uid}/results"
        before = fits(await caller.get(path))
        assert (before["responses"], before["questions"], before["days"]) == (15, [], [])
        assert before["anonymous"] == {"closed_at": None, "ballots": None, "groups": [], "texts": []}
        await end(parts, asked)
        after = fits(await caller.get(path))
        assert [(one["label"], one["people"]) for one in after["questions"][0]["choices"]] == [("Good", 7), ("Bad", 8)]
        assert after["anonymous"]["ballots"] == 15
        groups = {one["name"]: one["questions"] for one in after["anonymous"]["groups"]}
        assert {name: [one["people"] for one in said] for name, said in groups.items()} == {
            "Kitchen": [6],
            "Others": [9],
        }
        assert after["anonymous"]["texts"] == [{"id": str(words), "texts": [{"text": "Too loud", "people": 7}]}]
        assert after["days"] == []
        assert "Crew" not in str(after)

    @pytest.mark.parametrize("query", [{"from": "2026-11-21"}, {"to": "2026-11-21"}, {"outcome": "answered"}])
    async def test_a_part_of_it_is_refused(self, caller: Caller, database: Database, query: dict[str, str]) -> None:
        await crew(database, ["Kitchen"] * 10)
        asked = await ask_crew(database)
        refused = await caller.get(f"{URL}/{asked.uid}/results", **query)
        assert (refused.status_code, [one["field"] for one in refused.json()["error"]["details"]]) == (422, [*query])


async def test_the_scope_needs_the_permission_and_the_module(visitor: Browser, token: Any, database: Database) -> None:
    nora, eve = [Caller(visitor, await token(short, "surveys:read")) for short in ("nora", "eve")]
    assert (await nora.get(URL)).json()["error"]["code"] == "insufficient_scope"
    assert await eve.data(URL) == []
    async with database.shared_transaction() as db:
        await policies.write(db, "globex", {"module_surveys": False})
    assert (await eve.get(URL)).json()["error"]["code"] == "module_unavailable"
