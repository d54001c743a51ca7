"""`/survey_prompt`: who is asked in the portal, what becomes of an answer,
and that nothing is lost when one is refused."""

import re
from typing import Any
from uuid import uuid4

import pytest
from httpx import Response
from sqlalchemy import text, update

from app.accounts import policies
from app.db.session import Database
from app.surveys.models import Survey
from tests.conftest import Browser, SignIn
from tests.surveys.drafted import Stored, published

AGREE = {"label": "I agree to that.", "type": "agreement", "required": True}
STARS = {"label": "How many stars?", "type": "star_rating", "required": True}
CHOICE = {"label": "Where?", "type": "single_choice", "options": ["Canteen", "Desk"]}
TICKS = {"label": "What else?", "type": "multiple_choice", "options": ["Soup", "Fish", "Rice"]}
WHY = {"label": "Why?", "type": "free_text"}
SESSION = 1  # the statement that finds who is signed in
REQUIRED = {"enforcement": "required", "snooze_hours": None, "cooldown_days": None, "max_prompts": None}


@pytest.fixture
async def nora(sign_in: SignIn) -> Browser:
    """An employee without any role."""
    return await sign_in("nora")


async def ask(database: Database, workspace: str = "main", **fields: Any) -> Stored:
    async with database.transaction(workspace) as db:
        return await published(db, **fields)


async def reply(browser: Browser, stored: Stored, action: str, answers: dict[str, Any] | None = None) -> Response:
    """Sends the form as the page without script does."""
    return await browser.submit("/survey_prompt/submit", form(stored, action, answers))


async def reply_by_htmx(
    browser: Browser, stored: Stored, action: str, answers: dict[str, Any] | None = None
) -> Response:
    headers = {"HX-Request": "true", "HX-Target": "prompt-body"}
    return await browser.submit("/survey_prompt/submit", form(stored, action, answers), headers=headers)


def form(stored: Stored, action: str, answers: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "survey": str(stored.uid),
        "version": str(stored.version),
        "content_hash": stored.content_hash,
        "number": "1",
        "total": "2",
        "action": action,
        **(answers or {}),
    }


def named(stored: Stored, place: int, kind: str = "") -> str:
    """The name of the field of a question."""
    return f"q-{stored.questions[place].key}{kind}"


async def rows(database: Database, query: str, workspace: str = "main") -> list[tuple[Any, ...]]:
    async with database.transaction(workspace) as db:
        return [tuple(row) for row in await db.execute(text(query))]


async def outcomes(database: Database, workspace: str = "main") -> list[tuple[Any, ...]]:
    return await rows(database, "SELECT outcome, source, prompted FROM survey_responses ORDER BY number", workspace)


async def impressions(database: Database) -> list[int]:
    return [row[0] for row in await rows(database, "SELECT impressions FROM survey_prompt_state")]


async def test_somebody_without_any_role_meets_the_survey_as_a_page_and_as_a_fragment(
    nora: Browser, database: Database
) -> None:
    await ask(database, title="Lunch & dinner")
    whole, part = await nora.get("/survey_prompt"), await nora.fragment("/survey_prompt")
    assert whole.status_code == part.status_code == 200
    assert "Lunch &amp; dinner" in whole.text
    assert "Lunch &amp; dinner" in part.text
    assert "hx-post" not in whole.text.split("<main", 1)[1]
    assert "<html" not in part.text
    assert 'hx-target="#prompt-body"' in part.text


async def test_the_prompt_needs_sign_in(visitor: Browser) -> None:
    assert (await visitor.get("/survey_prompt")).headers["location"] == "/sign-in?next=/survey_prompt"
    assert (await visitor.submit("/survey_prompt/submit")).status_code == 303


async def test_where_nothing_waits_the_page_says_so_and_the_fragment_is_empty(nora: Browser) -> None:
    assert "Nothing waits for an answer" in (await nora.get("/survey_prompt")).text
    fragment = (await nora.fragment("/survey_prompt")).text
    assert 'data-open="0" data-open-label="Questions for you"' in fragment
    assert "<article" not in fragment


@pytest.mark.parametrize("switch", ["module_surveys", "web_prompts"])
async def test_switched_off_no_person_is_asked_and_no_page_asks(vera: Browser, database: Database, switch: str) -> None:
    survey = await ask(database)
    assert 'id="prompt-box"' in (await vera.get("/nowhere")).text
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {switch: False})
    assert (await vera.get("/survey_prompt")).status_code == 404
    assert (await reply(vera, survey, "answer")).status_code == 404
    assert await outcomes(database) == []
    assert "/survey_prompt" not in (await vera.get("/account")).text
    assert 'id="prompt-box"' not in (await vera.get("/nowhere")).text


async def test_a_person_who_may_open_nothing_else_lands_where_they_are_asked(nora: Browser, database: Database) -> None:
    assert (await nora.get("/")).headers["location"] == "/survey_prompt"
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"web_prompts": False})
    assert (await nora.get("/")).headers["location"] == "/me/questions"
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    assert (await nora.get("/")).headers["location"] == "/account"


@pytest.mark.parametrize(
    ("short", "path", "opens"),
    [
        ("alice", "/people", True),
        ("alice", "/surveys/nowhere", False),
        ("vera", "/surveys/nowhere", True),
        ("alice", "/survey_prompt", False),
        ("alice", "/help", False),
        ("alice", "/account", True),
        ("alice", "/account/password", True),
    ],
)
async def test_it_never_opens_over_sign_out_help_or_an_authors_own_pages(
    sign_in: SignIn, short: str, path: str, opens: bool
) -> None:
    shown = (await (await sign_in(short)).get(path)).text
    assert ('id="prompt-box"' in shown) is opens
    # The header leads there from every page, so that nothing in it moves from one to the next.
    header = shown.partition("<header")[2].partition("</header>")[0]
    assert re.findall(r'(<noscript>)?<a class="btn [^>]*href="/me/questions"[^>]*?( hidden)?>', header) == [("", "")]


async def test_a_person_who_has_no_menu_finds_their_own_pages_in_it(nora: Browser, database: Database) -> None:
    menu = (await nora.get("/help")).text.partition("<header")[0]
    assert re.findall(r'<li><a href="([^"]+)"', menu) == ["/me/questions", "/me/answers", "/account", "/help"]
    async with database.shared_transaction() as db:
        await policies.write(db, "main", {"module_surveys": False})
    menu = (await nora.get("/help")).text.partition("<header")[0]
    assert re.findall(r'<li><a href="([^"]+)"', menu) == ["/account", "/help"]


@pytest.mark.parametrize(("chosen", "sure"), [("agree", "Yes, I agree"), ("decline", "Yes, I disagree")])
@pytest.mark.parametrize("by_htmx", [False, True])
async def test_a_decision_is_asked_once_more_and_not_recorded_before(
    nora: Browser, database: Database, chosen: str, sure: str, *, by_htmx: bool
) -> None:
    survey = await ask(database, questions=[WHY, AGREE])
    send = reply_by_htmx if by_htmx else reply
    first = (await nora.get("/survey_prompt")).text
    assert f'name="ask" value="{chosen}"' in first
    assert f'name="action" value="{chosen}"' not in first
    asked = await send(nora, survey, "", {"ask": chosen, named(survey, 0): "Because"})
    assert asked.status_code == 200
    assert sure in asked.text
    assert "Because</textarea>" in asked.text
    assert f'name="action" value="{chosen}"' in asked.text
    back = await send(nora, survey, "", {"ask": "back", named(survey, 0): "Because"})
    assert (back.status_code, f'name="ask" value="{chosen}"' in back.text, sure in back.text) == (200, True, False)
    assert "Because</textarea>" in back.text
    assert "Nothing was sent yet" not in back.text
    assert await outcomes(database) == []
    await send(nora, survey, chosen, {named(survey, 0): "Because"})
    assert [row[0] for row in await outcomes(database)] == [{"agree": "agreed", "decline": "declined"}[chosen]]


async def test_back_says_that_the_text_was_changed_meanwhile(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[WHY, AGREE])
    await reply(nora, survey, "", {"ask": "agree"})
    back = await reply(nora, survey, "", {"ask": "back", "content_hash": "0" * 64, named(survey, 0): "Because"})
    assert back.status_code == 409
    assert "The text was changed" in back.text
    assert "Because</textarea>" in back.text


async def test_what_would_be_refused_is_refused_before_it_is_asked_once_more(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[STARS, AGREE])
    refused = await reply(nora, survey, "", {"ask": "agree"})
    assert refused.status_code == 422
    assert "Yes, I agree" not in refused.text
    changed = await reply(nora, survey, "", {"ask": "decline", "content_hash": "0" * 64})
    assert changed.status_code == 409
    assert "The text was changed" in changed.text
    assert (await reply(nora, survey, "", {"ask": "opt_out"})).status_code == 422
    await reply(nora, survey, "decline")
    again = await reply(nora, survey, "", {"ask": "decline"})
    assert again.status_code == 303
    assert "recorded already" in (await nora.get("/survey_prompt")).text


async def test_an_answer_is_recorded_from_the_web_with_ip_and_browser_and_thanked(
    nora: Browser, database: Database
) -> None:
    survey = await ask(database, questions=[STARS, CHOICE, TICKS, WHY])
    await nora.get("/survey_prompt")
    answer = await reply(
        nora,
        survey,
        "answer",
        {
            named(survey, 0, "-stars"): "4",
            named(survey, 1): "Desk",
            named(survey, 2, "-ticks"): ["Rice", "Soup"],
            named(survey, 3): "Quiet\r\nthere",
        },
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/survey_prompt")
    assert "Thank you. Your answer was recorded." in (await nora.get("/survey_prompt")).text
    assert await outcomes(database) == [("answered", "web", True)]
    kept = await rows(database, "SELECT choice FROM survey_answers ORDER BY choice")
    assert kept == [("",), ("4",), ("Desk",), ("Rice",), ("Soup",)]
    assert await rows(database, "SELECT sealed IS NOT NULL FROM survey_responses") == [(True,)]


async def test_the_next_item_comes_in_place_with_thanks(nora: Browser, database: Database) -> None:
    first = await ask(database, title="First", **REQUIRED)
    await ask(database, title="Second", cooldown_days=0)
    shown = await nora.fragment("/survey_prompt")
    assert "First" in shown.text
    assert "1 of 2" in shown.text
    answer = await reply_by_htmx(nora, first, "answer", {named(first, 0): "Warm"})
    assert answer.status_code == 200
    assert "Thank you. Your answer was recorded." in answer.text
    assert "Second" in answer.text
    assert "2 of 2" in answer.text


@pytest.mark.parametrize(("action", "outcome"), [("agree", "agreed"), ("decline", "declined")])
async def test_the_last_decision_empties_the_dialog_and_gives_its_receipt(
    nora: Browser, database: Database, action: str, outcome: str
) -> None:
    survey = await ask(database, type="consent", questions=[AGREE], **REQUIRED)
    answer = await reply_by_htmx(nora, survey, action)
    ((receipt,),) = await rows(database, "SELECT encode(row_hash, 'hex') FROM survey_responses")
    assert 'class="prompt"' not in answer.text
    assert 'hx-swap-oob="beforeend"' in answer.text
    assert f'title="{receipt}">{receipt[:12]}…' in answer.text
    assert f'data-copy="{receipt}"' in answer.text
    assert await outcomes(database) == [(outcome, "web", False)]


async def test_without_script_the_receipt_of_a_decision_is_told_in_full(nora: Browser, database: Database) -> None:
    await reply(nora, await ask(database, questions=[AGREE], **REQUIRED), "decline")
    ((receipt,),) = await rows(database, "SELECT encode(row_hash, 'hex') FROM survey_responses")
    shown = (await nora.get("/survey_prompt")).text
    assert "It is recorded that you disagree." in shown
    assert receipt in shown


@pytest.mark.parametrize("send", [reply, reply_by_htmx])
async def test_a_refused_answer_loses_nothing_and_names_each_question(
    nora: Browser, database: Database, send: Any
) -> None:
    survey = await ask(database, questions=[STARS, CHOICE, TICKS, WHY])
    answers = {
        named(survey, 1): "Desk",
        named(survey, 2, "-ticks"): ["Soup", "Rice"],
        named(survey, 3): "x" * 5001 + "<b>",
    }
    answer = await send(nora, survey, "answer", answers)
    assert answer.status_code == 422
    assert 'id="prompt-1-error"' in answer.text
    assert 'href="#prompt-1">How many stars? – This question needs an answer.' in answer.text
    assert 'id="prompt-4-error"' in answer.text
    assert 'id="prompt-2-error"' not in answer.text
    assert "x" * 5001 + "&lt;b&gt;" in answer.text
    assert re.findall(r'value="(\w+)" checked', answer.text) == ["Desk", "Soup", "Rice"]
    assert await outcomes(database) == []


async def test_blanks_alone_do_not_answer_a_required_question(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[{**WHY, "required": True}])
    assert (await reply(nora, survey, "answer", {named(survey, 0): " \r\n "})).status_code == 422


async def test_an_answer_without_a_single_value_asks_for_one(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[WHY, TICKS])
    for send in (reply, reply_by_htmx):
        answer = await send(nora, survey, "answer", {named(survey, 0): " \r\n "})
        assert answer.status_code == 422
        assert "Answer one question at least." in answer.text
    assert await outcomes(database) == []


async def test_a_field_that_came_twice_is_refused_at_its_question(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[WHY, TICKS])
    for field, twice in ((named(survey, 0), ["one", "other"]), (named(survey, 1, "-ticks"), ["Soup", "Soup"])):
        answer = await reply_by_htmx(nora, survey, "answer", {field: twice})
        assert answer.status_code == 422
        assert f'id="prompt-{1 if field == named(survey, 0) else 2}-error"' in answer.text
    assert await outcomes(database) == []


async def test_the_id_of_a_survey_is_written_in_one_form_alone(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[AGREE])
    odd = {**form(survey, "agree"), "survey": survey.uid.hex}
    assert (await nora.submit("/survey_prompt/submit", odd)).status_code == 422
    assert await outcomes(database) == []


async def test_the_same_answer_stands_though_the_survey_was_archived_since(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[AGREE])
    await reply_by_htmx(nora, survey, "agree")
    async with database.transaction() as db:
        await db.execute(update(Survey).values(status="archived", version=2))
    assert "That was recorded already; nothing changed." in (await reply_by_htmx(nora, survey, "agree")).text
    assert "no longer open" in (await reply_by_htmx(nora, survey, "decline")).text


async def test_disagreeing_sends_none_of_the_answers_that_were_filled_in(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[WHY, AGREE])
    assert (await reply(nora, survey, "decline", {named(survey, 0): "typed"})).status_code == 303
    assert await rows(database, "SELECT count(*) FROM survey_answers") == [(0,)]


async def test_agreeing_still_needs_the_required_answers(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[STARS, AGREE])
    assert (await reply(nora, survey, "agree")).status_code == 422
    assert (await reply(nora, survey, "agree", {named(survey, 0, "-stars"): "5"})).status_code == 303


async def test_the_enter_key_in_a_field_decides_nothing_and_loses_nothing(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[WHY, AGREE])
    shown = (await nora.fragment("/survey_prompt")).text
    assert re.findall(r'<button type="submit" name="action" value="(\w*)"', shown)[0] == ""
    answer = await reply_by_htmx(nora, survey, "", {named(survey, 0): "typed"})
    assert answer.status_code == 422
    assert "Nothing was sent yet." in answer.text
    assert "typed" in answer.text
    assert await outcomes(database) == []


async def test_later_and_never_again_take_an_optional_one_away(nora: Browser, database: Database) -> None:
    later, never = await ask(database, title="Later"), await ask(database, title="Never")
    snoozed = await reply_by_htmx(nora, later, "snooze")
    assert "You will be asked again after" in snoozed.text
    await reply(nora, never, "opt_out")
    shown = (await nora.get("/survey_prompt")).text
    assert "You won’t be asked this again." in shown
    assert "Nothing new is asked now" in shown
    assert await outcomes(database) == [("opted_out", "web", True)]


async def test_a_required_one_offers_help_and_sign_out_but_no_way_around(nora: Browser, database: Database) -> None:
    survey = await ask(database, **REQUIRED)
    shown = (await nora.fragment("/survey_prompt")).text
    assert 'action="/sign-out"' in shown
    assert 'href="/help#prompt"' in shown
    assert 'value="snooze"' not in shown
    assert 'value="opt_out"' not in shown
    refused = await reply_by_htmx(nora, survey, "snooze", {named(survey, 0): "typed"})
    assert refused.status_code == 409
    assert "typed" in refused.text


async def test_words_that_changed_meanwhile_are_shown_again_with_what_still_fits(
    nora: Browser, database: Database
) -> None:
    survey = await ask(database, questions=[CHOICE, WHY])
    async with database.transaction() as db:
        await db.execute(update(Survey).values(version=2, title="Lunch, again"))
    answers = {named(survey, 0): "Nowhere now", named(survey, 1): "typed"}
    answer = await reply_by_htmx(nora, survey, "answer", answers)
    assert answer.status_code == 409
    assert "Lunch, again" in answer.text
    assert "The text was changed" in answer.text
    assert "typed" in answer.text
    assert "checked" not in answer.text
    assert 'name="version" value="2"' in answer.text
    assert await outcomes(database) == []
    assert await rows(database, "SELECT version, impressions FROM survey_prompt_state") == [(2, 1)]


async def test_what_is_gone_is_told_and_the_queue_continues(nora: Browser, database: Database) -> None:
    gone = await ask(database, title="Gone", status="archived")
    await ask(database, title="Still there")
    answer = await reply_by_htmx(nora, gone, "answer")
    assert answer.status_code == 200
    assert "no longer open, so nothing was recorded" in answer.text
    assert "Still there" in answer.text
    assert (await reply(nora, gone, "answer")).status_code == 303


async def test_the_same_answer_twice_is_fine_and_another_one_is_too_late(nora: Browser, database: Database) -> None:
    survey = await ask(database, questions=[AGREE])
    await reply_by_htmx(nora, survey, "agree")
    again = await reply_by_htmx(nora, survey, "agree")
    assert "That was recorded already; nothing changed." in again.text
    assert "no longer open" in (await reply_by_htmx(nora, survey, "decline")).text
    assert await outcomes(database) == [("agreed", "web", False)]


async def test_an_impression_counts_once_a_sign_in_and_the_item_stays(
    nora: Browser, sign_in: SignIn, database: Database
) -> None:
    await ask(database, title="Lunch", cooldown_days=3)
    for _ in range(3):
        assert "Lunch" in (await nora.get("/survey_prompt")).text
    assert await impressions(database) == [1]
    assert "Lunch" not in (await (await sign_in("nora")).get("/survey_prompt")).text


async def test_an_optional_one_without_any_act_gives_way_to_a_required_one_and_comes_back_after_it(
    nora: Browser, database: Database
) -> None:
    optional = await ask(database, title="Whenever")
    assert "Whenever" in (await nora.get("/survey_prompt")).text
    required = await ask(database, title="At once", **REQUIRED)
    for _ in range(2):
        asked = (await nora.get("/survey_prompt")).text
        assert ("At once" in asked, "Whenever" in asked) == (True, False)
    await reply(nora, required, "answer", {named(required, 0): "Warm"})
    assert "Whenever" in (await nora.get("/survey_prompt")).text
    assert await impressions(database) == [1, 1]
    await reply(nora, optional, "answer", {named(optional, 0): "Warm"})
    assert "Whenever" not in (await nora.get("/survey_prompt")).text


async def test_a_tenants_people_meet_their_own_and_the_platforms_in_turn(eve: Browser, database: Database) -> None:
    theirs = await ask(database, "globex", title="Of Globex", questions=[STARS], **REQUIRED)
    ours = await ask(database, title="Of the platform", questions=[STARS, WHY])
    assert "Of Globex" in (await eve.fragment("/survey_prompt")).text
    answer = await reply_by_htmx(eve, theirs, "answer", {named(theirs, 0, "-stars"): "1"})
    assert "Of the platform" in answer.text
    for send in (reply, reply_by_htmx):
        refused = await send(eve, ours, "answer", {named(ours, 1): "typed"})
        assert refused.status_code == 422
        assert "typed" in refused.text
    assert (await reply(eve, ours, "answer", {named(ours, 0, "-stars"): "5"})).status_code == 303
    assert "Your answer was recorded." in (await eve.get("/survey_prompt")).text
    assert await outcomes(database, "globex") == [("answered", "web", True)]
    assert await outcomes(database) == [("answered", "web", True)]
    assert "no longer open" in (await reply_by_htmx(eve, ours, "opt_out")).text


async def test_the_prompt_of_a_page_costs_three_selects_at_most(
    nora: Browser, database: Database, statements: list[str]
) -> None:
    for number in range(6):
        await ask(database, title=f"Number {number}", questions=[STARS, CHOICE, WHY])
    await nora.fragment("/survey_prompt")
    del statements[:]
    await nora.fragment("/survey_prompt")
    selects = [one for one in statements if one.lstrip().startswith(("SELECT", "WITH"))]
    assert len(selects) - SESSION <= 3, selects
    assert [one for one in statements if one.startswith(("INSERT", "UPDATE"))] == []


async def test_a_survey_of_another_workspace_is_as_good_as_none(nora: Browser, database: Database) -> None:
    theirs = await ask(database, "globex", title="Of Globex")
    assert "Of Globex" not in (await nora.get("/survey_prompt")).text
    assert "no longer open" in (await reply_by_htmx(nora, theirs, "answer")).text
    assert await outcomes(database, "globex") == []


@pytest.mark.parametrize(
    "broken",
    [{"survey": "x"}, {"survey": ""}, {"version": "x"}, {"version": "9" * 30}, {"action": "shout"}],
)
async def test_a_request_that_our_forms_never_send_is_refused_by_one_clear_sentence(
    nora: Browser, database: Database, broken: dict[str, str]
) -> None:
    survey = await ask(database)
    answer = await nora.submit("/survey_prompt/submit", {**form(survey, "answer"), **broken})
    assert answer.status_code == 422
    assert "This form can&#39;t be read." in answer.text


async def test_an_answer_to_a_question_that_was_not_asked_is_refused(nora: Browser, database: Database) -> None:
    survey = await ask(database)
    answer = await reply_by_htmx(nora, survey, "answer", {f"q-{uuid4()}": "x", f"q-{uuid4()}-stars": "★"})
    assert answer.status_code == 422
    assert "This form can&#39;t be read." in answer.text


async def test_the_message_is_shown_as_html_and_the_questions_as_text(nora: Browser, database: Database) -> None:
    await ask(database, message="<p>Two <strong>minutes</strong></p>", questions=[{**WHY, "label": "<i>Why?</i>"}])
    shown = (await nora.get("/survey_prompt")).text
    assert "<p>Two <strong>minutes</strong></p>" in shown
    assert "&lt;i&gt;Why?&lt;/i&gt;" in shown


async def test_to_what_one_agrees_is_read_aloud_with_the_buttons_and_with_the_question(
    nora: Browser, database: Database
) -> None:
    stored = await ask(database, type="consent", questions=[AGREE], **REQUIRED)
    for shown, described in (
        ((await nora.get("/survey_prompt")).text, ('value="agree"', 'value="decline"')),
        ((await reply(nora, stored, "", {"ask": "agree"})).text, ("data-confirm",)),
    ):
        words = re.search(r'<p id="([^"]+)"[^>]*>I agree to that\.</p>', shown)
        assert words
        for one in described:
            tag = next(tag for tag in re.findall(r"<[^>]+>", shown) if one in tag)
            assert f'aria-describedby="{words[1]}"' in tag
