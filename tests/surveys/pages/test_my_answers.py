"""`/me/answers`: what a person answered, with the words they saw; withdrawing and agreeing again; the file.
For them alone."""

import asyncio
import json
import re
from typing import Any

import pytest
from sqlalchemy import insert, update

from app.accounts import policies
from app.accounts.audit import SYSTEM
from app.db.session import Database
from app.parts import Parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import changes, evidence
from app.surveys.models import Survey, Tombstone
from app.surveys.pages.me import answers
from app.surveys.results import queries
from tests.conftest import Browser, SignIn
from tests.surveys.authored import archive, save
from tests.surveys.changing import badges
from tests.surveys.drafted import Stored
from tests.surveys.pages.test_prompt import AGREE, WHY, ask, form, rows
from tests.surveys.recording import record, user_id, verify

URL = "/me/answers"


@pytest.fixture
async def nora(sign_in: SignIn) -> Browser:
    """An employee without any role."""
    return await sign_in("nora")


@pytest.fixture
async def survey(database: Database) -> Stored:
    return await badges(database)


async def agreed(parts: Parts, survey: Stored, short: str = "nora") -> str:
    person = await user_id(parts.database, short)
    return (await record(parts.database, parts.keys, survey, person, None, outcome="agreed", shown="first")).receipt


def titles(page: Any) -> list[str]:
    return re.findall(r'<span class="question-open-title"[^>]*>([^<]+)</span>', page.text)


def buttons(page: Any) -> list[str]:
    return re.findall(r'<form method="post" action="/me/answers/[0-9a-f]{64}/(\w+)"', page.text)


async def test_it_lists_what_one_answered_and_leads_to_each_in_full(
    nora: Browser, parts: Parts, database: Database
) -> None:
    stored = await ask(database, title="Lunch", message="<p>Be <strong>honest</strong>.</p>", questions=[WHY])
    nora_id = await user_id(database, "nora")
    told = await record(database, parts.keys, stored, nora_id, "Cold soup", source="api")
    await save(database, stored, title="Dinner", new_version=True)
    page = await nora.get(URL)
    assert titles(page) == ["Lunch"]
    assert "You answered" in page.text
    assert "in an app" in page.text
    one = await nora.get(f"{URL}/{told.receipt}")
    for words in ("<strong>honest</strong>", "Cold soup", told.receipt, "Version 1"):
        assert words in one.text
    assert buttons(one) == []


async def test_nothing_answered_says_so(nora: Browser) -> None:
    page = await nora.get(URL)
    assert (page.status_code, "No answer yet" in page.text) == (200, True)
    assert "This page is empty" not in page.text


async def test_a_list_of_many_has_pages(
    nora: Browser, parts: Parts, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "PER_PAGE", 2)
    for _ in range(3):
        await agreed(parts, await badges(database))
    pages = [await nora.get(f"{URL}?page={number}") for number in (1, 2, 3)]
    assert [len(titles(one)) for one in pages] == [2, 1, 0]
    assert "This page is empty" in pages[2].text


async def test_withdrawing_and_agreeing_again_from_the_page(
    nora: Browser, parts: Parts, database: Database, survey: Stored
) -> None:
    receipt = await agreed(parts, survey)
    assert buttons(await nora.get(f"{URL}/{receipt}")) == ["withdraw"]
    answer = await nora.submit(f"{URL}/{receipt}/withdraw", {})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{URL}/{receipt}")
    page = await nora.get(f"{URL}/{receipt}")
    assert "Your agreement is withdrawn" in page.text
    assert "You withdrew your agreement" in page.text
    assert buttons(page) == ["agree"]
    await nora.submit(f"{URL}/{receipt}/agree", {})
    page = await nora.get(f"{URL}/{receipt}")
    assert "It is recorded that you agree again." in page.text
    assert buttons(page) == ["withdraw"]
    assert await rows(database, "SELECT kind, source FROM survey_changes ORDER BY number") == [
        ("withdrawn", "web"), ("agreed_again", "web"),
    ]  # fmt: skip
    assert (await verify(database, "main")).fits


async def test_what_holds_now_stands_beside_the_moment_from_which_it_holds(
    nora: Browser, parts: Parts, survey: Stored
) -> None:
    receipt = await agreed(parts, survey)
    pages = [URL, f"{URL}/{receipt}"]
    before = [first_time(await nora.get(one)) for one in pages]
    await nora.submit(f"{URL}/{receipt}/withdraw", {})
    for url, agreed_at in zip(pages, before, strict=True):
        assert first_time(await nora.get(url)) != agreed_at
    assert before[1] in (await nora.get(pages[1])).text.partition("What you answered")[2]


def first_time(page: Any) -> str:
    found = re.search(r'<time [^>]*datetime="([^"]+)"', page.text.partition("<main")[2])
    assert found
    return found[1]


async def test_the_change_seals_where_it_came_from(
    nora: Browser, parts: Parts, database: Database, survey: Stored
) -> None:
    receipt = await agreed(parts, survey)
    await nora.submit(f"{URL}/{receipt}/withdraw", {}, headers={"User-Agent": "Netscape"})
    async with database.transaction() as db:
        (row,) = await queries.changes(db, 1, 5)
        found = evidence.open_change(parts.keys, "main", row)
    assert found is not None
    assert (found.browser, bool(found.ip)) == ("Netscape", True)


async def test_twice_says_that_it_was_recorded_already(nora: Browser, parts: Parts, survey: Stored) -> None:
    receipt = await agreed(parts, survey)
    for said in ("Your agreement is withdrawn", "That was recorded already"):
        await nora.submit(f"{URL}/{receipt}/withdraw", {})
        assert said in (await nora.get(f"{URL}/{receipt}")).text


async def test_what_is_no_longer_asked_can_be_withdrawn_and_not_agreed_to_again(
    nora: Browser, parts: Parts, database: Database, survey: Stored
) -> None:
    receipt = await agreed(parts, survey)
    await archive(database, survey)
    async with database.transaction() as db:
        await policies.write(db, "main", {"web_prompts": False})
    await nora.submit(f"{URL}/{receipt}/withdraw", {})
    page = await nora.get(f"{URL}/{receipt}")
    assert "It is no longer asked, so you can’t agree to it again." in page.text
    assert buttons(page) == []
    await nora.submit(f"{URL}/{receipt}/agree", {})
    assert "can’t agree" in (await nora.get(f"{URL}/{receipt}")).text
    assert await rows(database, "SELECT kind FROM survey_changes") == [("withdrawn",)]


async def test_somebody_elses_answer_is_not_found(
    nora: Browser, sign_in: SignIn, parts: Parts, database: Database, survey: Stored
) -> None:
    receipt = await agreed(parts, survey, "alice")
    assert titles(await nora.get(URL)) == []
    assert (await nora.get(f"{URL}/{receipt}")).status_code == 404
    for act in ("withdraw", "agree"):
        assert (await nora.submit(f"{URL}/{receipt}/{act}", {})).status_code == 404
    assert await rows(database, "SELECT kind FROM survey_changes") == []
    for odd in ("x", "0" * 64, "G" * 64):
        assert (await nora.get(f"{URL}/{odd}")).status_code == 404


async def test_it_needs_a_sign_in_and_the_module(visitor: Browser, nora: Browser, database: Database) -> None:
    async with database.transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    for url in (URL, f"{URL}/download", f"{URL}/{'0' * 64}"):
        assert (await nora.get(url)).status_code == 404
    answer = await visitor.get(URL)
    assert (answer.status_code, answer.headers["location"].startswith("/sign-in")) == (303, True)


async def test_a_tenants_person_finds_what_they_told_the_platform(
    sign_in: SignIn, parts: Parts, database: Database, survey: Stored
) -> None:
    receipt = await agreed(parts, survey, "eve")
    eve = await sign_in("eve")
    assert titles(await eve.get(URL)) == ["Badges"]
    await eve.submit(f"{URL}/{receipt}/withdraw", {})
    assert "You withdrew your agreement" in (await eve.get(f"{URL}/{receipt}")).text


async def test_a_question_that_was_answered_says_that_it_was_withdrawn(
    nora: Browser, parts: Parts, survey: Stored
) -> None:
    receipt = await agreed(parts, survey)
    assert "It is recorded that you agree." in (await nora.get(f"/me/questions/{survey.uid}")).text
    await nora.submit(f"{URL}/{receipt}/withdraw", {})
    page = await nora.get(f"/me/questions/{survey.uid}")
    assert "You withdrew your agreement. It no longer counts." in page.text
    assert f'href="{URL}/{receipt}"' in page.text


async def test_the_menu_has_it_while_the_module_is_on(nora: Browser) -> None:
    page = await nora.get(URL)
    assert page.text.count('href="/me/answers"') >= 2
    assert re.search(r'<a href="/me/answers" aria-current="page"', page.text)


# --- the file


async def test_the_file_has_every_answer_and_a_consent_record_of_each_decision(
    nora: Browser, parts: Parts, database: Database, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "BATCH", 1)
    stored = await ask(database, title="Lunch", questions=[WHY, AGREE])
    nora_id = await user_id(database, "nora")
    receipt = await agreed(parts, survey)
    await nora.submit(f"{URL}/{receipt}/withdraw", {})
    refusal = await record(database, parts.keys, stored, nora_id, None, outcome="declined")
    await record(database, parts.keys, await ask(database, title="Out"), nora_id, None, outcome="opted_out")
    answer = await nora.get(f"{URL}/download")
    assert answer.headers["content-disposition"] == 'attachment; filename="my-answers.json"'
    told = json.loads(answer.text)
    assert (told["format"], told["person"]["email"]) == ("muster.my-answers/1", "nora@example.org")
    by_receipt = {one["receipt"]: one for one in told["answers"]}
    assert len(by_receipt) == 3
    withdrawn = by_receipt[receipt]["consent_record"]
    assert withdrawn["@context"] == {"dct": "http://purl.org/dc/terms/", "dpv": "https://w3id.org/dpv#"}
    assert (withdrawn["@type"], withdrawn["dct:identifier"]) == ("dpv:ConsentRecord", receipt)
    assert withdrawn["dpv:hasNotice"]["dct:identifier"] == survey.content_hash
    statuses = [(one["@type"], one["dpv:hasIndicationMethod"]) for one in withdrawn["dpv:hasConsentStatus"]]
    assert statuses == [("dpv:ConsentGiven", "web"), ("dpv:ConsentWithdrawn", "web")]
    declined = by_receipt[refusal.receipt]["consent_record"]["dpv:hasConsentStatus"]
    assert [one["@type"] for one in declined] == ["dpv:ConsentRefused"]
    assert [one for one in told["answers"] if one["outcome"] == "opted_out" and "consent_record" in one] == []


async def test_an_erased_text_is_told_as_erased(nora: Browser, parts: Parts, database: Database) -> None:
    stored = await ask(database, title="Lunch", questions=[WHY])
    nora_id = await user_id(database, "nora")
    told = await record(database, parts.keys, stored, nora_id, "Cold soup")
    await erasing.erase(database, SYSTEM, EvidenceOwner(nora_id, "nora@example.org", "main"))
    page = await nora.get(f"{URL}/{told.receipt}")
    assert "This text was erased" in page.text
    assert "Cold soup" not in page.text


async def test_a_tab_from_before_says_that_the_agreement_is_withdrawn(
    nora: Browser, parts: Parts, database: Database
) -> None:
    for closing in ("", "<p>Welcome aboard.</p>"):
        survey = await ask(database, questions=[AGREE], closing_html=closing)
        receipt = await agreed(parts, survey)
        await nora.submit(f"{URL}/{receipt}/withdraw", {})
        answer = await nora.submit("/survey_prompt/submit", form(survey, "agree"))
        said = (await nora.get(answer.headers["location"])).text
        assert "You withdrew your agreement. It no longer counts." in said
        assert "recorded already" not in said
        assert "Welcome aboard." not in said


async def test_an_agreement_that_is_gone_meanwhile_is_not_found(
    nora: Browser, parts: Parts, database: Database, survey: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A demo survey is removed between the look and the change."""
    receipt = await agreed(parts, survey)
    await nora.submit(f"{URL}/{receipt}/withdraw", {})
    write = changes.write

    async def late(*given: Any) -> Any:
        async with database.transaction() as db:
            await db.execute(insert(Tombstone).values(number=1))
            await db.execute(update(Survey).where(Survey.id == survey.id).values(status="archived"))
        return await write(*given)

    monkeypatch.setattr(changes, "write", late)
    async with asyncio.timeout(20):
        assert (await nora.submit(f"{URL}/{receipt}/agree", {})).status_code == 404
