"""Trying a survey: the real prompt, the real checks, and nothing in the ledger."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from app.db.session import Database
from app.surveys.authoring.stored import Stored
from app.surveys.models import PromptState
from app.surveys.models import Response as LedgerRow
from app.surveys.pages import prompt_form
from app.surveys.translations import SurveyTexts
from app.wording.speech import speech_in
from tests.conftest import Browser
from tests.markup import squeezed
from tests.surveys.drafted import CONSENT, LUNCH, drafted, published
from tests.surveys.recording import EVERY_TYPE


async def made(database: Database, **fields: Any) -> Stored:
    async with database.transaction() as db:
        return await drafted(db, **fields)


def sent(stored: Stored, action: str, **answers: Any) -> dict[str, Any]:
    """`q1="Good"`, `q2_ticks=["rice"]`: what the prompt posts."""
    named = {}
    for name, value in answers.items():
        number, _, kind = name.removeprefix("q").partition("_")
        named[f"q-{UUID(int=int(number))}{f'-{kind}' if kind else ''}"] = value
    return {"survey": str(stored.uid), "version": "1", "action": action, **named}


async def test_an_author_answers_and_reads_what_would_be_recorded(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=EVERY_TYPE, closing_html="<p>See you on Friday.</p>")
    shown = (await alice.get(f"/surveys/try/{stored.uid}")).text
    assert f'action="/surveys/try/{stored.uid}"' in shown
    answers = {"q1_stars": "4", "q3": "soup", "q4_ticks": ["rice", "beans"], "q5": "Cold"}
    done = await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, "answer", **answers))
    told = squeezed(done.text)
    assert done.status_code == 200
    for part in ("Nothing was recorded", "Answered", "See you on Friday.", "rice, beans", "Cold"):
        assert part in told
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(LedgerRow)) == 0
        assert await db.scalar(select(func.count()).select_from(PromptState)) == 0


async def test_answers_are_judged_as_real_ones_and_kept(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[LUNCH, {"label": "Why?", "type": "free_text"}])
    refused = await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, "answer", q2="It was cold"))
    assert refused.status_code == 422
    assert "This question needs an answer." in refused.text
    assert "It was cold" in refused.text
    nothing = await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, ""))
    assert (nothing.status_code, "Nothing was sent yet." in nothing.text) == (422, True)


async def test_an_answer_to_a_hidden_question_is_taken_out_as_in_life(database: Database, alice: Browser) -> None:
    hidden = {"label": "Why?", "type": "free_text", "show_if": {"question": 1, "is": "in", "values": ["Good"]}}
    stored = await made(database, questions=[LUNCH, hidden])
    refused = await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, "answer", q1="Bad", q2="It was cold"))
    assert refused.status_code == 422
    assert prompt_form.TAKEN_OUT in refused.text
    assert "It was cold" not in refused.text
    assert 'value="Bad" checked' in squeezed(refused.text)


async def test_agreeing_disagreeing_and_putting_off_say_what_they_would_do(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[CONSENT])
    for action, words in (("agree", "Agreed"), ("decline", "Declined"), ("opt_out", "Opted out")):
        done = await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, action))
        assert words in squeezed(done.text)
    assert "would get no row" in (await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, "snooze"))).text
    assert (await alice.submit(f"/surveys/try/{stored.uid}", sent(stored, "answer"))).status_code == 422


async def test_a_decision_is_asked_once_more_as_in_life(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[CONSENT])
    url = f"/surveys/try/{stored.uid}"
    assert "Yes, I agree" in (await alice.submit(url, {**sent(stored, ""), "ask": "agree"})).text
    back = (await alice.submit(url, {**sent(stored, ""), "ask": "back"})).text
    assert ('value="decline"' in back, "Yes, I" in back) == (True, False)


async def test_a_survey_without_questions_says_so(database: Database, alice: Browser) -> None:
    stored = await made(database, questions=[])
    assert "It has no question yet" in (await alice.get(f"/surveys/try/{stored.uid}")).text


async def test_it_is_for_authors_of_the_workspace(
    database: Database, visitor: Browser, vera: Browser, eve: Browser
) -> None:
    async with database.transaction() as db:
        stored = await published(db)
    for browser, status in ((visitor, 303), (vera, 403), (eve, 404)):
        assert (await browser.get(f"/surveys/try/{stored.uid}")).status_code == status
    assert (await vera.submit(f"/surveys/try/{stored.uid}", sent(stored, "answer"))).status_code == 403


async def test_words_of_muster_too_are_those_that_people_of_the_language_meet(
    database: Database, alice: Browser
) -> None:
    stored = await made(database, questions=[CONSENT], translations={"de": SurveyTexts(title="Mittagessen")})
    url = f"/surveys/try/{stored.uid}"
    german = (await alice.get(f"{url}?to=de")).text
    assert speech_in("de")("Agree") in german
    assert 'class="preview-frame" lang="de" dir="ltr"' in german
