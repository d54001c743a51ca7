"""Responses and ratings, as another program reads and follows them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.accounts import accounts
from app.db.session import Database
from app.host.models import AppRating
from app.parts import Parts
from app.surveys import erasing
from app.surveys.demo import library
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import append as ledger
from app.surveys.models import Response
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import Rating
from tests.clock.api.test_routes import Caller
from tests.conftest import Browser
from tests.host.staff import ALICE
from tests.surveys.anonymous.team import apps, ask_crew, crew
from tests.surveys.api.integration.test_surveys import fits
from tests.surveys.changing import agree, badges, change
from tests.surveys.ledger_rows import bury
from tests.surveys.recording import entry, lunch, record, user_id

URL, RATINGS = "/api/v1/surveys/responses", "/api/v1/ratings"


@pytest.fixture
async def caller(visitor: Browser, token: Any) -> Caller:
    return Caller(visitor, await token("alice", "surveys:read"))


async def watermark(caller: Caller, url: str = URL) -> str:
    found: str = (await caller.get(url)).json()["meta"]["next_updated_since"]
    return found


async def owner_of(database: Database, short: str) -> EvidenceOwner:
    return EvidenceOwner(await user_id(database, short), f"{short}@example.org", "main")


class TestResponses:
    async def test_a_row_says_who_answered_what_and_nothing_of_where_from(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        asked = await lunch(database)
        said = await record(database, parts.keys, asked, await user_id(database, "bob"))
        (row,) = fits(await caller.get(URL), URL)
        assert (row["receipt"], row["survey"], row["version"]) == (said.receipt, str(asked.uid), 1)
        assert (row["outcome"], row["source"], row["erased"], row["deleted"]) == ("answered", "web", False, False)
        assert row["person"] | {"id": 0} == {
            "id": 0,
            "name": "Bob Brandt",
            "email": "bob@example.org",
            "workspace": "main",
        }
        assert [(one["label"], one["type"], one["value"]) for one in row["answers"]] == [
            ("Stars?", "star_rating", 4),
            ("How much?", "scale", "much"),
            ("Which?", "single_choice", "soup"),
            ("What all?", "multiple_choice", ["rice", "beans"]),
            ("Why?", "free_text", "Nora was served cold soup"),
        ]
        assert "198.51.100.7" not in str(row)
        assert "Firefox" not in str(row)

    async def test_a_cursor_leads_through_all_in_the_order_of_recording(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        asked, other = await lunch(database), await lunch(database)
        late = datetime(2026, 11, 22, tzinfo=UTC)
        await record(database, parts.keys, asked, await user_id(database, "bob"), recorded_at=late)
        await record(database, parts.keys, asked, await user_id(database, "vera"))
        await record(database, parts.keys, other, await user_id(database, "vera"))
        first = (await caller.get(URL, per_page=2)).json()
        rest = (await caller.get(URL, per_page=2, cursor=first["meta"]["next_cursor"])).json()
        assert [one["number"] for one in (*first["data"], *rest["data"])] == [2, 3, 1]
        assert (first["meta"]["total"], rest["meta"]["next_cursor"]) == (3, None)
        assert [one["number"] for one in await caller.data(URL, survey=str(other.uid))] == [3]
        assert await caller.data(URL, survey=str(UUID(int=7))) == []

    async def test_an_anonymous_survey_has_none(self, caller: Caller, database: Database, visitor: Browser) -> None:
        await crew(database, ["Kitchen"] * 10)
        asked = await ask_crew(database)
        since = await watermark(caller)
        await apps(visitor, 1)[0].recorded(asked.uid, "answer", (asked.questions[0].key, "Good"))
        async with database.transaction() as db:
            assert len((await db.scalars(select(Response))).all()) == 1
        assert await caller.data(URL) == []
        assert await caller.data(URL, survey=str(asked.uid)) == []
        assert await caller.data(URL, updated_since=since) == []


class TestFollowing:
    async def test_an_answer_is_news_whatever_the_clock_of_its_process_says(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        asked = await lunch(database)
        since = await watermark(caller)
        assert await caller.data(URL, updated_since=since) == []
        await record(
            database, parts.keys, asked, await user_id(database, "bob"), recorded_at=datetime(1999, 1, 1, tzinfo=UTC)
        )
        assert len(await caller.data(URL, updated_since=since)) == 1

    async def test_a_withdrawal_is_news(self, caller: Caller, database: Database, parts: Parts) -> None:
        agreed = await agree(database, parts.keys, await badges(database), await user_id(database, "bob"))
        assert [one["outcome"] for one in await caller.data(URL)] == ["agreed"]
        since = await watermark(caller)
        await change(database, parts.keys, agreed)
        assert [one["outcome"] for one in await caller.data(URL, updated_since=since)] == ["withdrawn"]

    async def test_after_an_erasure_the_row_comes_again_without_texts_and_person(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        asked = await lunch(database)
        await record(database, parts.keys, asked, await user_id(database, "bob"))
        since = await watermark(caller)
        await erasing.erase(database, ALICE, await owner_of(database, "bob"))
        (row,) = await caller.data(URL, updated_since=since)
        assert (row["erased"], row["person"], row["answers"][-1]["value"]) == (True, None, None)
        assert row["answers"][0]["value"] == 4
        assert (await caller.data(URL))[0]["erased"] is True

    async def test_what_is_removed_comes_once_more_as_deleted(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        said = await record(database, parts.keys, await lunch(database), await user_id(database, "bob"))
        since = await watermark(caller)
        async with database.transaction() as db:
            await bury(db, said.number)
        (row,) = await caller.data(URL, updated_since=since)
        assert (row["number"], row["deleted"], row["answers"]) == (said.number, True, [])
        assert await caller.data(URL) == []

    async def test_a_new_name_is_news_and_a_new_type_is_not(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        bob = await user_id(database, "bob")
        await record(database, parts.keys, await lunch(database), bob)
        since = await watermark(caller)
        for name, news in (("Bob Brandt", []), ("Robert", ["Robert"])):
            async with database.transaction() as db:
                await accounts.edit(db, ALICE, bob, name=name, kind="client", roles=["Operator"])
            assert [one["person"]["name"] for one in await caller.data(URL, updated_since=since)] == news

    async def test_no_change_brings_erased_rows_together_with_later_ones(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        bob, since = await user_id(database, "bob"), await watermark(caller)
        before = (await record(database, parts.keys, await lunch(database), bob)).number
        await erasing.erase(database, ALICE, await owner_of(database, "bob"))
        after = (await record(database, parts.keys, await lunch(database), bob)).number
        walked = await caller.data(URL, updated_since=since)
        assert [(one["number"], one["erased"]) for one in walked] == [(before, True), (before, True), (after, False)]
        since = await watermark(caller)
        async with database.transaction() as db:
            await accounts.edit(db, ALICE, bob, name="Robert", kind="client", roles=["Operator"])
        assert [one["number"] for one in await caller.data(URL, updated_since=since)] == [after]
        erased, named = await caller.data(URL)
        assert (erased["number"], erased["updated_at"] == named["updated_at"]) == (before, False)

    async def test_changes_of_all_kinds_are_walked_once_in_their_order(
        self, caller: Caller, database: Database, parts: Parts
    ) -> None:
        asked, since = await lunch(database), await watermark(caller)
        shorts = ("bob", "vera", "nora", "alice")
        numbers = [(await record(database, parts.keys, asked, await user_id(database, one))).number for one in shorts]
        async with database.transaction() as db:
            await bury(db, numbers[0])
        await erasing.erase(database, ALICE, await owner_of(database, "vera"))
        walked, query = [], {"updated_since": since, "per_page": 2}
        answer = (await caller.get(URL, **query)).json()
        walked += answer["data"]
        while cursor := answer["meta"]["next_cursor"]:
            answer = (await caller.get(URL, cursor=cursor, **query)).json()
            walked += answer["data"]
        assert [one["number"] for one in walked] == [*numbers, numbers[0], numbers[1]]
        assert (walked[0]["deleted"], walked[1]["erased"], walked[-1]["erased"]) == (True, True, True)
        assert await caller.data(URL, **{**query, "per_page": 50, "survey": str(UUID(int=7))}) == []
        assert (await caller.get(URL, page=2, **query)).status_code == 422
        elsewhere = await caller.get(URL, cursor=(await caller.get(URL, **query)).json()["meta"]["next_cursor"])
        assert "another list" in elsewhere.text

    async def test_what_commits_late_is_not_missed(self, caller: Caller, database: Database, parts: Parts) -> None:
        asked, bob = await lunch(database), await user_id(database, "bob")
        async with database.transaction() as late:
            await ledger.append(late, parts.keys, entry(asked, bob))
            since = await watermark(caller)
            assert await caller.data(URL, updated_since=since) == []
        assert len(await caller.data(URL, updated_since=since)) == 1


class TestRatings:
    async def test_a_rating_names_its_app_and_no_person(
        self, caller: Caller, database: Database, planner: UUID
    ) -> None:
        await rate(database, planner, "Too slow")
        (row,) = fits(await caller.get(RATINGS), RATINGS)
        assert (row["app"], row["stars"], row["comment"], row["platform"]) == (str(planner), 2, "Too slow", "ios")
        assert "bob" not in str(row).lower()

    async def test_an_erasure_and_a_removal_are_news(self, caller: Caller, database: Database, planner: UUID) -> None:
        since = await watermark(caller, RATINGS)
        await rate(database, planner, "Too slow")
        assert len(await caller.data(RATINGS, updated_since=since)) == 1
        since = await watermark(caller, RATINGS)
        assert await caller.data(RATINGS, updated_since=since) == []
        await erasing.erase(database, ALICE, await owner_of(database, "bob"))
        (row,) = await caller.data(RATINGS, updated_since=since)
        assert (row["comment"], row["erased"], row["stars"]) == (None, True, 2)
        since = await watermark(caller, RATINGS)
        async with database.transaction() as db:
            await db.execute(update(AppRating).values(demo=True))
            await library.remove(db)
        assert [one["deleted"] for one in await caller.data(RATINGS, updated_since=since)] == [True]
        assert await caller.data(RATINGS) == []

    async def test_a_tenant_has_none(self, visitor: Browser, token: Any) -> None:
        answer = await Caller(visitor, await token("eve", "surveys:read")).get(RATINGS)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")


async def rate(database: Database, app: UUID, comment: str) -> None:
    async with database.transaction() as db:
        bob = await user_id(database, "bob")
        await ratings.submit(db, bob, Rating(app, 2, "ios", comment), datetime.now(UTC))
