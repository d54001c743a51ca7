"""*Why (not) asked?*: the verdict about one person, by the very core that asks them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.accounts.models import User
from app.db.session import Database
from app.parts import Parts
from app.surveys.models import PromptState
from tests.conftest import Browser
from tests.markup import squeezed
from tests.surveys.calling import App
from tests.surveys.drafted import Stored, drafted, published
from tests.surveys.ledger_rows import Placed, show
from tests.surveys.recording import record, user_id


async def why(browser: Browser, uid: UUID, user: object) -> str:
    answer = await browser.fragment(f"/surveys/view/{uid}/why?user={user}")
    assert answer.status_code == 200, answer.text
    return squeezed(answer.text)


@pytest.fixture
async def nora_app(visitor: Browser, token: Any) -> App:
    return App(visitor, await token("nora", "me"))


@pytest.fixture
async def survey(database: Database) -> Stored:
    async with database.transaction() as db:
        return await published(db, title="Canteen", user_types=["employee"])


async def test_who_is_asked_now_is_said_to_be(database: Database, survey: Stored, vera: Browser) -> None:
    told = await why(vera, survey.uid, await user_id(database, "nora"))
    assert "It is asked now." in told
    assert ">Asked<" in told


async def test_a_person_is_found_by_e_mail_too(survey: Stored, vera: Browser) -> None:
    assert "It asks people of the type Employee; they are of the type Staff." in await why(
        vera, survey.uid, "BOB@example.org"
    )


async def test_what_an_app_must_be_able_to_show_is_said(database: Database, survey: Stored, vera: Browser) -> None:
    nora = await user_id(database, "nora")
    assert "In apps" not in await why(vera, survey.uid, nora)
    async with database.transaction() as db:
        scored = await published(db, questions=[{"label": "Score?", "type": "nps"}, {"label": "When?", "type": "date"}])
    told = await why(vera, scored.uid, nora)
    assert "It is asked now." in told
    assert "Only in apps that say that they can show nps, date:<code>?can=nps,date</code>." in told


async def test_workspaces_are_called_by_their_names(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        stored = await published(db, title="Tenants", tenants=["acme", "globex"])
        staffed = await published(db, title="Own", tenants=["main"])
    told = await why(vera, stored.uid, await user_id(database, "nora"))
    assert "It asks people of Acme or Globex; they belong to the platform itself." in told
    assert "<dd>Employee, the platform itself</dd>" in told
    told = await why(vera, staffed.uid, await user_id(database, "eve"))
    assert "It asks people of the platform itself; they belong to Globex." in told


async def test_each_reason_is_that_of_the_core(database: Database, survey: Stored, parts: Parts, vera: Browser) -> None:
    nora, placed = await user_id(database, "nora"), Placed(survey.id, survey.uid, 0)
    async with database.transaction() as db:
        await show(db, placed, nora, at=datetime.now(UTC) - timedelta(hours=2))
    told = await why(vera, survey.uid, nora)
    assert "its cooldown is 1 day" in told
    assert ">Not now<" in told
    async with database.transaction() as db:
        await db.execute(update(PromptState).values(snoozed_until=datetime.now(UTC) + timedelta(hours=1)))
    assert "They asked for it later" in await why(vera, survey.uid, nora)
    await record(database, parts.keys, survey, nora, "Fine")
    told = await why(vera, survey.uid, nora)
    assert "They have answered this version." in told
    assert f"survey={survey.uid}&amp;version=1&amp;user={nora}" in told


async def test_it_says_whether_the_survey_was_shown_or_went_out_behind_another(
    database: Database, survey: Stored, vera: Browser, nora_app: App
) -> None:
    nora = await user_id(database, "nora")
    assert "<dt>Shown</dt><dd>Not handed out</dd>" in await why(vera, survey.uid, nora)
    async with database.transaction() as db:
        first = await published(db, title="First", enforcement="required")
    await nora_app.queue()
    told = await why(vera, survey.uid, nora)
    assert "<dt>Shown</dt><dd>In the queue, behind another survey, first<time" in told
    assert "<dt>Shown</dt><dd>First in the queue, 1 time, last<time" in await why(vera, first.uid, nora)


async def test_another_optional_survey_spaces_this_one(database: Database, survey: Stored, vera: Browser) -> None:
    nora = await user_id(database, "nora")
    async with database.transaction() as db:
        await policies.write(db, "main", {"optional_gap_hours": 6})
        other = await published(db, title="Other")
        await show(db, Placed(other.id, other.uid, 0), nora, at=datetime.now(UTC) - timedelta(hours=1))
    assert "Another optional survey was shown" in await why(vera, survey.uid, nora)


async def test_a_draft_asks_no_person(database: Database, vera: Browser) -> None:
    async with database.transaction() as db:
        draft = await drafted(db)
    assert "It is a draft" in await why(vera, draft.uid, await user_id(database, "nora"))


async def test_the_platform_explains_its_surveys_to_tenants_people_by_their_own_policies(
    database: Database, vera: Browser
) -> None:
    eve = await user_id(database, "eve")
    async with database.transaction() as db:
        platform = await published(db, title="For all")
    async with database.transaction("globex") as db:
        await policies.write(db, "globex", {"optional_gap_hours": 6, "web_prompts": False})
        own = await published(db, title="Own")
        await show(db, Placed(own.id, own.uid, 0), eve, at=datetime.now(UTC) - timedelta(hours=1))
    told = await why(vera, platform.uid, eve)
    assert "Another optional survey was shown" in told
    assert "Web prompts are switched off in their workspace" in told


async def test_somebody_who_cannot_sign_in_is_named_as_such(database: Database, survey: Stored, vera: Browser) -> None:
    nora = await user_id(database, "nora")
    async with database.shared_transaction() as db:
        await db.execute(update(User).where(User.id == nora).values(active=False))
    assert "Their account is deactivated" in await why(vera, survey.uid, nora)


async def test_a_tenant_reads_about_its_own_people_alone(database: Database, eve: Browser) -> None:
    async with database.transaction("globex") as db:
        own = await published(db, title="Own")
    assert "It is asked now." in await why(eve, own.uid, await user_id(database, "eve"))
    for foreign in (await user_id(database, "nora"), "nora@example.org"):
        answer = await eve.get(f"/surveys/view/{own.uid}/why?user={foreign}")
        assert answer.status_code == 422
        assert "There is no person with that name here" in answer.text
    assert "Nora" not in (await eve.fragment(f"/surveys/view/{own.uid}/people?q=nora")).text
    assert "Eve Egger" in (await eve.fragment(f"/surveys/view/{own.uid}/people?q=eve")).text


async def test_no_person_is_offered_for_a_survey_of_another_workspace(survey: Stored, eve: Browser) -> None:
    for page in ("people?q=eve", "why"):
        assert (await eve.fragment(f"/surveys/view/{survey.uid}/{page}")).status_code == 404


async def test_it_is_a_page_without_script(survey: Stored, vera: Browser) -> None:
    page = (await vera.get(f"/surveys/view/{survey.uid}/why")).text
    assert "<html" in page
    assert "Pick a person" in page
    kept = await vera.get(f"/surveys/view/{survey.uid}/why?user=stranger%40example.org")
    assert kept.status_code == 422
    assert 'value="stranger@example.org"' in kept.text


async def test_the_search_field_offers_people_of_every_workspace_on_the_platform(survey: Stored, vera: Browser) -> None:
    options = (await vera.fragment(f"/surveys/view/{survey.uid}/people?q=e")).text
    assert "eve@example.org · Globex" in options
    assert "Nora Nemo" in options
