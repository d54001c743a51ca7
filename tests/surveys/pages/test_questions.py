"""`/me/questions`: what a person may answer now, whatever pacing says; each on a page of its own; what was recorded."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app.accounts import policies
from app.db.session import Database
from app.surveys.models import Survey
from app.surveys.pages.me import questions
from tests.conftest import Browser, SignIn
from tests.surveys.drafted import Stored
from tests.surveys.pages.test_prompt import AGREE, CHOICE, REQUIRED, WHY, ask, form, impressions, named, outcomes, rows

URL = "/me/questions"
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
async def nora(sign_in: SignIn) -> Browser:
    """An employee without any role."""
    return await sign_in("nora")


async def titles(browser: Browser, page: int = 1) -> list[str]:
    shown = (await browser.get(f"{URL}?page={page}")).text
    return re.findall(r'<span class="question-open-title"[^>]*>([^<]+)</span>', shown)


async def send(browser: Browser, stored: Stored, action: str, answers: dict[str, Any] | None = None) -> Any:
    return await browser.submit(f"{URL}/{stored.uid}", form(stored, action, answers))


async def prompts_off(database: Database) -> None:
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"web_prompts": False})


async def test_it_lists_everything_answerable_whatever_pacing_says_required_first(
    nora: Browser, database: Database
) -> None:
    snoozed = await ask(database, title="Put off")
    await ask(database, title="Shown too often", max_prompts=1, cooldown_days=3)
    for closed in ({"status": "archived"}, {"ends_at": YESTERDAY}, {"user_types": ["client"]}):
        await ask(database, title="Not theirs", **closed)
    await ask(database, title="A duty", **REQUIRED)
    for action in ("snooze", "snooze"):
        await send(nora, snoozed, action)
    assert await titles(nora) == ["A duty", "Put off", "Shown too often"]
    assert await impressions(database) == [0]


async def test_a_list_of_many_has_pages(nora: Browser, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "PER_PAGE", 2)
    for number in range(3):
        await ask(database, title=f"Number {number}")
    assert (await titles(nora), await titles(nora, 2)) == (["Number 0", "Number 1"], ["Number 2"])
    assert f'href="{URL}?page=2"' in (await nora.get(URL)).text
    assert "This page is empty" in (await nora.get(f"{URL}?page=9")).text
    assert (await nora.get(f"{URL}?page=x")).status_code == 200


async def test_tenants_find_the_platforms_surveys_too(sign_in: SignIn, database: Database) -> None:
    await ask(database, title="Of the platform", tenants=["globex"])
    await ask(database, "globex", title="Their own", **REQUIRED)
    await ask(database, title="Of others", tenants=["acme"])
    eve = await sign_in("eve")
    assert await titles(eve) == ["Their own", "Of the platform"]
    platforms = re.findall(rf'href="{URL}/([0-9a-f-]+)"', (await eve.get(URL)).text)[1]
    assert "Of the platform" in (await eve.get(f"{URL}/{platforms}")).text
    assert await rows(database, "SELECT handed_out_at IS NOT NULL, impressions FROM survey_prompt_state") == [(True, 0)]


async def test_it_stays_with_prompts_off_and_goes_with_the_module(nora: Browser, database: Database) -> None:
    survey = await ask(database, title="Lunch", questions=[WHY])
    await prompts_off(database)
    assert await titles(nora) == ["Lunch"]
    assert f'href="{URL}"' in (await nora.get("/account")).text
    assert (await send(nora, survey, "answer", {named(survey, 0): "Good"})).status_code == 303
    assert await outcomes(database) == [("answered", "web", False)]
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    for path in (URL, f"{URL}/{survey.uid}"):
        assert (await nora.get(path)).status_code == 404
    assert (await send(nora, survey, "answer")).status_code == 404
    assert URL not in (await nora.get("/account")).text


async def test_it_stands_in_everybodys_menu(sign_in: SignIn) -> None:
    for short in ("alice", "vera", "nora", "eve"):
        menu = (await (await sign_in(short)).get("/account")).text.partition("<header")[0]
        assert f'<li><a href="{URL}"' in menu, short
    found = (await (await sign_in("nora")).get("/palette?q=questions")).text
    assert f'href="{URL}"' in found


async def test_it_needs_sign_in(visitor: Browser, database: Database) -> None:
    survey = await ask(database)
    assert (await visitor.get(URL)).headers["location"] == f"/sign-in?next={URL}"
    assert (await visitor.submit(f"{URL}/{survey.uid}", {})).status_code == 303


async def test_the_title_is_the_heading_of_the_page_and_stands_there_once(nora: Browser, database: Database) -> None:
    survey = await ask(database, title="Lunch", questions=[WHY])
    page = (await nora.get(f"{URL}/{survey.uid}")).text
    assert re.findall(r"<(h1|h2)[^>]*>(?:<span[^>]*>)?([^<]+)", page.partition("<main")[2]) == [("h1", "Lunch")]
    assert re.search(r'<span id="prompt-title" dir="auto">', page)
    assert 'aria-labelledby="prompt-title"' in page


async def test_after_an_answer_its_page_says_what_was_recorded(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[CHOICE], closing_html="<p>The kitchen reads <em>all</em> of it.</p>")
    await ask(database, title="Another")
    answer = await send(nora, survey, "answer", {named(survey, 0): "Desk"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{URL}/{survey.uid}")
    shown = (await nora.get(f"{URL}/{survey.uid}")).text
    assert "Thank you. Your answer was recorded." in shown
    assert "<p>The kitchen reads <em>all</em> of it.</p>" in shown
    receipt = (await rows(database, "SELECT encode(row_hash, 'hex') FROM survey_responses"))[0][0]
    assert f'data-copy="{receipt}"' in shown
    assert 'data-open="1"' in shown
    assert await titles(nora) == ["Another"]


async def test_a_decision_says_so_and_a_refused_answer_comes_back(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[{**CHOICE, "required": True}, WHY, AGREE])
    refused = await send(nora, survey, "agree", {named(survey, 1): "Because"})
    assert refused.status_code == 422
    assert "Because</textarea>" in refused.text
    assert f'action="{URL}/{survey.uid}"' in refused.text
    await send(nora, survey, "decline")
    assert "It is recorded that you disagree." in (await nora.get(f"{URL}/{survey.uid}")).text


async def test_what_is_put_off_leads_back_to_the_list(nora: Browser, database: Database) -> None:
    survey = await ask(database)
    answer = await send(nora, survey, "snooze")
    assert (answer.status_code, answer.headers["location"]) == (303, URL)


async def test_opting_out_is_confirmed_without_a_receipt(nora: Browser, database: Database) -> None:
    survey = await ask(database, closing_html="<p>Bye</p>")
    answer = await send(nora, survey, "opt_out")
    shown = (await nora.get(answer.headers["location"])).text
    assert "You won’t be asked this again." in shown
    assert "data-copy" not in shown
    assert "<p>Bye</p>" not in shown


@pytest.mark.parametrize(
    "closed",
    [{"status": "archived"}, {"status": "draft"}, {"ends_at": YESTERDAY}, {"user_types": ["client"]}],
    ids=["archived", "draft", "over", "for others"],
)
async def test_what_a_person_may_not_answer_has_no_page(
    nora: Browser, database: Database, closed: dict[str, Any]
) -> None:
    survey = await ask(database, title="Secret plans")
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == survey.id).values(closed))
    answer = await nora.get(f"{URL}/{survey.uid}")
    assert answer.status_code == 404
    assert "Secret plans" not in answer.text
    sent = await send(nora, survey, "answer")
    assert (sent.status_code, sent.headers["location"]) == (303, URL)
    assert await outcomes(database) == []


@pytest.mark.parametrize("uid", ["00000000-0000-0000-0000-000000000000", "nonsense"])
async def test_an_address_of_no_survey_is_404(nora: Browser, uid: str) -> None:
    assert (await nora.get(f"{URL}/{uid}")).status_code == 404


async def test_anothers_workspace_is_404(sign_in: SignIn, database: Database) -> None:
    survey = await ask(database, "globex", title="Of Globex")
    assert (await (await sign_in("nora")).get(f"{URL}/{survey.uid}")).status_code == 404


async def test_a_look_is_no_impression_but_is_noted(nora: Browser, database: Database) -> None:
    survey = await ask(database)
    assert (await nora.head(f"{URL}/{survey.uid}")).status_code == 200
    assert await impressions(database) == []
    for _ in range(2):
        assert (await nora.get(f"{URL}/{survey.uid}")).status_code == 200
    assert await rows(database, "SELECT impressions, handed_out_at IS NOT NULL FROM survey_prompt_state") == [(0, True)]


async def test_the_number_in_the_menu_comes_with_the_prompts_fragment(nora: Browser, database: Database) -> None:
    first = await ask(database, title="First")
    await ask(database, title="Second")
    assert 'data-open="2"' in (await nora.fragment("/survey_prompt")).text
    await send(nora, first, "snooze")
    assert 'data-open="2"' in (await nora.fragment("/survey_prompt")).text
    assert "data-open=" not in (await nora.get("/account")).text
