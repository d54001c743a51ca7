"""The queue of one caller over two workspaces, impressions that are never lost, and the prompt that stays."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.accounts import policies
from app.db.session import Database
from app.parts import Parts
from app.surveys.api.respondent import respondent_of
from app.surveys.asking import items
from app.surveys.asking import queue as asking
from app.surveys.authoring.stored import Stored
from app.surveys.models import PromptState, Survey
from tests.conftest import Browser
from tests.surveys.calling import App, by_transaction, request_of, statements
from tests.surveys.drafted import CONSENT, LUNCH, drafted, published

DAY = timedelta(days=1)


@pytest.fixture
async def nora(visitor: Browser, token: Any) -> App:
    return App(visitor, await token("nora", "me"))


@pytest.fixture
async def eve(visitor: Browser, token: Any) -> App:
    return App(visitor, await token("eve", "me"))


async def publish(database: Database, title: str, *, workspace: str = "main", **fields: Any) -> Stored:
    async with database.transaction(workspace) as db:
        return await published(db, title=title, **{"questions": [LUNCH], **fields})


async def shown(database: Database, survey: Stored, workspace: str = "main") -> int:
    """Impressions of all people."""
    async with database.transaction(workspace) as db:
        counted = select(func.coalesce(func.sum(PromptState.impressions), 0))
        return int(await db.scalar(counted.where(PromptState.survey_id == survey.id)) or 0)


async def shift(database: Database, days: float, workspace: str = "main") -> None:
    """Lets time pass for whatever was shown or put off."""
    async with database.transaction(workspace) as db:
        wait = timedelta(days=days)
        later = {
            "last_shown_at": PromptState.last_shown_at - wait,
            "snoozed_until": PromptState.snoozed_until - wait,
        }
        await db.execute(update(PromptState).values(later))


async def test_each_call_counts_one_impression_of_its_first_item_alone(nora: App, database: Database) -> None:
    first = await publish(database, "First", enforcement="required")
    second = await publish(database, "Second")
    assert await nora.titles() == ["First", "Second"]
    assert await nora.titles() == ["First", "Second"]
    assert (await shown(database, first), await shown(database, second)) == (2, 0)


async def out(database: Database, survey: Stored, workspace: str = "main") -> list[tuple[int, bool, bool]]:
    """What is kept of it, person by person: impressions, whether it has a first one,
    whether it went out behind another."""
    async with database.transaction(workspace) as db:
        found = select(PromptState).where(PromptState.survey_id == survey.id)
        kept = await db.scalars(found)
        return [(one.impressions, one.first_shown_at is not None, one.handed_out_at is not None) for one in kept]


async def test_what_goes_out_behind_the_first_is_noted_and_counts_no_impression(nora: App, database: Database) -> None:
    surveys = [await publish(database, f"Number {number}", enforcement="required") for number in range(6)]
    await nora.queue()
    await nora.queue()
    first, *behind, sixth = [await out(database, one) for one in surveys]
    assert first == [(2, True, False)]
    assert behind == [[(0, False, True)]] * 4
    assert sixth == []


async def test_what_went_out_behind_another_is_shown_first_later_and_both_are_kept(
    nora: App, database: Database
) -> None:
    await publish(database, "First", cooldown_days=1)
    second = await publish(database, "Second")
    await nora.queue()
    assert await nora.titles() == ["Second"]
    assert await out(database, second) == [(1, True, True)]


async def test_it_is_noted_once_and_in_the_statement_that_counts(nora: App, database: Database) -> None:
    surveys = [await publish(database, f"Number {number}", enforcement="required") for number in range(3)]
    async with database.transaction() as db:
        await items.read(db, [one.id for one in surveys], ())  # the process knows their words
    await nora.get("/v1/api/me/apps")  # notes that the token was used
    since = []
    for _ in range(2):
        with statements(database) as sent:
            await nora.queue()
        assert by_transaction(sent) == [4]
        async with database.transaction() as db:
            noted = select(PromptState.handed_out_at).where(PromptState.impressions == 0)
            since.append(sorted(filter(None, await db.scalars(noted))))
    assert [len(one) for one in since] == [2, 2]
    assert since[0] == since[1]


@pytest.mark.parametrize("first", ["main", "globex"])
async def test_what_went_out_is_noted_where_the_survey_lives(eve: App, database: Database, first: str) -> None:
    required = {first: "required"}
    here = await publish(database, "Own", workspace="globex", enforcement=required.get("globex", "optional"))
    there = await publish(database, "Platform", enforcement=required.get("main", "optional"))
    await eve.queue()
    noted = {"globex": await out(database, here, "globex"), "main": await out(database, there)}
    assert noted == {"globex": [(0, False, True)], "main": [(0, False, True)], first: [(1, True, False)]}


async def test_twenty_calls_at_once_never_wait_for_each_other_in_a_ring(nora: App, database: Database) -> None:
    surveys = [await publish(database, f"Number {number}", max_prompts=0, cooldown_days=0) for number in range(5)]
    await asyncio.gather(*(nora.queue() for _ in range(20)))
    assert await shown(database, surveys[0]) == 20
    assert [await out(database, one) for one in surveys[1:]] == [[(0, False, True)]] * 4


async def test_pending_is_counted_before_this_calls_impression(nora: App, database: Database) -> None:
    await publish(database, "Once")
    answers = [await nora.queue(), await nora.queue()]
    assert [(len(one["data"]), one["meta"]) for one in answers] == [(1, {"pending": 1}), (0, {"pending": 0})]


async def test_a_cooldown_and_the_most_prompts_end_what_is_offered(nora: App, database: Database) -> None:
    survey = await publish(database, "Twice", cooldown_days=1, max_prompts=2)
    seen = []
    for _ in range(4):
        seen.append(len(await nora.titles()))
        await shift(database, 1)
    assert seen == [1, 1, 0, 0]
    assert await shown(database, survey) == 2


async def test_at_most_five_are_offered_and_the_rest_is_told(nora: App, database: Database) -> None:
    for number in range(7):
        await publish(database, f"Number {number}", enforcement="required")
    answer = await nora.queue()
    assert [row["title"] for row in answer["data"]] == [f"Number {number}" for number in range(5)]
    assert answer["meta"] == {"pending": 7}


async def test_twenty_calls_at_once_lose_no_impression(nora: App, database: Database) -> None:
    survey = await publish(database, "Busy", enforcement="required")
    await asyncio.gather(*(nora.queue() for _ in range(20)))
    assert await shown(database, survey) == 20


async def test_drafts_archived_and_removed_ones_are_not_offered(nora: App, database: Database) -> None:
    async with database.transaction() as db:
        await drafted(db, title="Draft")
        await published(db, title="Archived", status="archived")
        await published(db, title="Over", ends_at=datetime.now(UTC) - DAY)
        await published(db, title="For clients", user_types=("client",))
        removed = await published(db, title="Removed")
        await db.execute(update(Survey).where(Survey.id == removed.id).values(deleted_at=datetime.now(UTC)))
    assert await nora.titles() == []


async def test_a_tenants_people_meet_their_own_and_the_platforms_surveys_in_one_order(
    eve: App, nora: App, database: Database
) -> None:
    await publish(database, "Own", workspace="globex")
    await publish(database, "Own, required", workspace="globex", enforcement="required")
    await publish(database, "Platform, required", enforcement="required")
    await publish(database, "For Globex", tenants=("globex",))
    await publish(database, "For Acme", tenants=("acme",))
    await publish(database, "For Globex and us", tenants=("globex", "main"))
    await publish(database, "Acme's own", workspace="acme")
    assert await eve.titles() == [
        "Own, required", "Platform, required", "Own", "For Globex", "For Globex and us",
    ]  # fmt: skip
    assert await nora.titles() == ["Platform, required", "For Globex and us"]


@pytest.mark.parametrize("first", ["main", "globex"])
async def test_the_impression_is_counted_where_the_survey_lives(eve: App, database: Database, first: str) -> None:
    required = {first: "required"}
    here = await publish(database, "Own", workspace="globex", enforcement=required.get("globex", "optional"))
    there = await publish(database, "Platform", enforcement=required.get("main", "optional"))
    await eve.queue()
    counted = {"globex": await shown(database, here, "globex"), "main": await shown(database, there)}
    assert counted == {"globex": 0, "main": 0, first: 1}


async def test_a_gap_spaces_different_optional_surveys_of_both_workspaces(eve: App, database: Database) -> None:
    async with database.transaction("globex") as db:
        await policies.write(db, "globex", {"optional_gap_hours": 48})
    await publish(database, "Platform", ends_at=datetime.now(UTC) + DAY)
    await publish(database, "Own", workspace="globex")
    assert await eve.titles() == ["Platform", "Own"]
    assert await eve.titles() == []
    required = await publish(database, "Required", enforcement="required")
    assert await eve.titles() == ["Required"]
    await shift(database, 2)
    assert await eve.titles() == ["Required", "Platform", "Own"]
    assert await shown(database, required) == 2


async def test_an_archived_survey_still_starts_the_gap(nora: App, database: Database) -> None:
    async with database.transaction() as db:
        await policies.write(db, "main", {"optional_gap_hours": 2})
    first = await publish(database, "First")
    assert await nora.titles() == ["First"]
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == first.id).values(status="archived"))
    await publish(database, "Second")
    assert await nora.titles() == []


async def test_a_call_needs_four_statements_of_one_transaction(nora: App, database: Database) -> None:
    for number in range(6):
        await publish(database, f"Number {number}", cooldown_days=0)
    await nora.queue()  # notes that the token was used, and reads the words of these surveys
    with statements(database) as sent:
        await nora.queue()
    assert by_transaction(sent) == [4]


async def test_a_tenants_call_opens_one_transaction_after_the_other(eve: App, database: Database) -> None:
    await publish(database, "Own", workspace="globex", enforcement="required")
    await publish(database, "Platform")
    await eve.queue()
    with statements(database) as sent:
        await eve.queue()
    assert by_transaction(sent) == [2, 2, 2]


async def test_more_tenants_at_once_than_connections_all_get_their_turn(eve: App, database: Database) -> None:
    await publish(database, "Own", workspace="globex", enforcement="required")
    platform = await publish(database, "Platform", enforcement="required", ends_at=datetime.now(UTC) + DAY)
    async with asyncio.timeout(8):  # waiting for a connection is given up after ten seconds
        await asyncio.gather(*(eve.queue() for _ in range(30)))
    assert await shown(database, platform) == 30


class TestThePrompt:
    """`current`: what a browser session shows."""

    async def test_an_item_stays_and_counts_once_a_sign_in(self, parts: Parts, database: Database) -> None:
        first = await publish(database, "First", cooldown_days=1)
        await publish(database, "Second")
        for _ in range(3):
            assert await self._shows(parts, "nora", 1) == ("First", 1, 2)
        assert await shown(database, first) == 1

    async def test_two_tabs_at_once_count_one(self, parts: Parts, database: Database) -> None:
        first = await publish(database, "First")
        await asyncio.gather(*(self._shows(parts, "nora", 1) for _ in range(6)))
        assert await shown(database, first) == 1

    async def test_the_next_sign_in_counts_again_and_the_older_one_does_not(
        self, parts: Parts, database: Database
    ) -> None:
        first = await publish(database, "First", enforcement="required")
        for session in (1, 2, 1, 2, 1):
            assert await self._shows(parts, "nora", session) == ("First", 1, 1)
        assert await shown(database, first) == 2

    async def test_what_is_put_off_makes_way_and_counts_as_one_of_several(
        self, parts: Parts, database: Database
    ) -> None:
        first = await publish(database, "First")
        await publish(database, "Second")
        await self._shows(parts, "nora", 1)
        async with request_of(parts, "nora", 1) as ctx:
            met = await asking.situations.one(ctx.db, ctx.user.id, first.uid)
            assert met
            await asking.snooze(ctx.db, ctx.user.id, met.situation, datetime.now(UTC))
        assert await self._shows(parts, "nora", 1) == ("Second", 2, 2)

    async def test_a_new_version_takes_its_place_in_the_line(self, parts: Parts, database: Database) -> None:
        first = await publish(database, "First")
        await self._shows(parts, "nora", 1)
        async with database.transaction() as db:
            await db.execute(update(Survey).where(Survey.id == first.id).values(version=2))
        assert await self._shows(parts, "nora", 1) == ("First", 1, 1)
        assert await shown(database, first) == 2

    async def test_a_tenants_prompt_leaves_the_request_a_transaction(self, parts: Parts, database: Database) -> None:
        own = await publish(database, "Own", workspace="globex", enforcement="required", questions=[CONSENT])
        platform = await publish(database, "Platform", enforcement="required")
        async with request_of(parts, "eve", 4) as ctx:
            found = await asking.current(respondent_of(ctx), ctx)
            assert found.item
            assert (found.item.title, found.item.workspace) == ("Own", "globex")
            assert (found.number, found.total, found.open) == (1, 2, 2)
            assert await ctx.db.scalar(select(func.count()).select_from(Survey)) == 1
        assert (await shown(database, own, "globex"), await shown(database, platform)) == (1, 0)

    async def test_without_a_person_nothing_is_shown(self, parts: Parts) -> None:
        assert await self._shows(parts, "nora", 1) is None

    async def _shows(self, parts: Parts, short: str, session: int) -> tuple[str, int, int] | None:
        async with request_of(parts, short, session) as ctx:
            found = await asking.current(respondent_of(ctx), ctx)
        return (found.item.title, found.number, found.total) if found.item else None
