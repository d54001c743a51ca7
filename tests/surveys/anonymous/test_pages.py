"""What pages, files and the API show of an anonymous survey:
before its end that people took part, afterwards results without people."""

import csv
import html
import io
import re
from typing import Any

import pytest

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring.stored import Stored
from app.surveys.words import ANONYMOUS_PROMISE, SPLIT_PROMISES
from app.wording.speech import speech_in
from tests.conftest import Browser, SignIn
from tests.surveys.anonymous.team import MOOD, WORDS, apps, ask_crew, crew, end
from tests.surveys.authored import make

SECRET = "The boiler room smells of fish"


@pytest.fixture
async def survey(database: Database, visitor: Browser) -> Stored:
    """Answered by ten people of two departments: six and four."""
    await crew(database, ["Kitchen"] * 6 + ["Boiler room"] * 4 + ["Kitchen"])
    asked = await ask_crew(database, questions=[MOOD, WORDS], split="department", title="Team mood")
    keys = [one.key for one in asked.questions]
    for n, one in enumerate(apps(visitor, 10)):
        told = [(keys[0], "Good" if n % 2 else "Bad"), *([(keys[1], SECRET)] if n == 3 else [])]
        await one.recorded(asked.uid, "answer", *told)
    return asked


async def page_of(browser: Browser, url: str) -> str:
    answer = await browser.get(url)
    assert answer.status_code == 200, (url, answer.status_code)
    return answer.text


async def test_before_the_end_a_page_says_how_many_took_part(survey: Stored, alice: Browser) -> None:
    text = await page_of(alice, f"/surveys/view/{survey.uid}")
    assert "10 people have answered so far" in text
    assert "Who took part" in text
    assert SECRET not in text
    assert "question-card" not in text
    typed = await page_of(alice, f"/surveys/view/{survey.uid}?split=type")
    assert "h-split" not in typed
    listed = await page_of(alice, f"/surveys/results/{survey.uid}")
    assert "They appear when the version is over" in listed
    assert (await alice.get(f"/surveys/view/{survey.uid}/comments")).headers["location"].startswith("/surveys/results/")


async def test_afterwards_it_shows_results_without_people(survey: Stored, parts: Parts, alice: Browser) -> None:
    await end(parts, survey)
    text = await page_of(alice, f"/surveys/view/{survey.uid}")
    assert "these results are final" in text
    assert SECRET in text
    cards = text[text.index("question-card") : text.index("h-ledger")]
    assert "response_modal" not in cards
    assert "Crew" not in cards
    assert "50.0 %" in cards


async def test_groups_are_shown_where_each_has_five(
    database: Database, visitor: Browser, parts: Parts, alice: Browser
) -> None:
    await crew(database, ["Kitchen"] * 6 + ["Boiler room"] * 4 + ["Yard"] * 5)
    asked = await ask_crew(database, questions=[MOOD], split="department")
    for one in apps(visitor, 15):
        await one.recorded(asked.uid, "answer", (asked.questions[0].key, "Good"))
    await end(parts, asked)
    text = await page_of(alice, f"/surveys/view/{asked.uid}")
    groups = text[text.index("h-groups") : text.index("h-ledger")]
    assert [word in groups for word in ("Kitchen", "Others", "Boiler room", "Yard")] == [True, True, False, False]


async def test_the_export_is_question_group_value_people(survey: Stored, parts: Parts, alice: Browser) -> None:
    await end(parts, survey)
    answer = await alice.get(f"/surveys/results/{survey.uid}?export=csv")
    rows = list(csv.reader(io.StringIO(answer.text)))
    assert rows == [
        ["Question", "Group", "Value", "People"],
        *sorted([[MOOD["label"], "Everybody", "Good", "5"], [MOOD["label"], "Everybody", "Bad", "5"]], key=rows.index),
        [WORDS["label"], "Everybody", SECRET, "1"],
    ]
    for kind in ("xlsx", "jsonl"):
        assert (await alice.get(f"/surveys/results/{survey.uid}?export={kind}")).status_code == 200
    links = re.findall(r'href="(/surveys/results/[^"]+)"', (await alice.get(f"/surveys/view/{survey.uid}")).text)
    files = [html.unescape(link) for link in links if "export=" in link]
    assert len(files) == 3
    assert [(await alice.get(link)).status_code for link in files] == [200] * 3


async def test_the_table_of_responses_has_no_answers(survey: Stored, alice: Browser) -> None:
    answer = await alice.get(f"/surveys/responses?survey={survey.uid}&shape=table&export=csv")
    assert answer.status_code == 200
    assert MOOD["label"] not in answer.text
    assert "Crew 003" in answer.text


async def test_the_definition_says_that_it_is_anonymous_and_how_it_is_split(survey: Stored, alice: Browser) -> None:
    page = (await alice.get(f"/surveys/view/{survey.uid}")).text
    assert "<dt>Answers</dt> <dd> Anonymous, split by department </dd>" in " ".join(page.split())


async def test_the_api_says_the_promise_and_my_answers_say_taking_part(survey: Stored, visitor: Browser) -> None:
    phones = apps(visitor, 11)
    (row,) = (await phones[10].queue())["data"]
    assert row["anonymity"] == "anonymous"
    assert "Your answers keep your department" in row["anonymity_text"]
    (row,) = (await phones[10].get("/v1/api/me/surveys/open?lang=de")).json()["data"]
    assert row["anonymity_text"] == " ".join(
        speech_in("de")(one) for one in (ANONYMOUS_PROMISE, SPLIT_PROMISES["department"])
    )
    assert row["message_text"].startswith(row["anonymity_text"]), "an app may not know the field"
    assert row["message_html"].startswith("<p>Ihre Antworten")
    (row,) = (await phones[10].get("/v1/api/me/surveys/open?can=anonymity")).json()["data"]
    assert row["anonymity_text"].startswith("Your answers are kept apart")
    assert "kept apart" not in row["message_text"] + row["message_html"]
    mine = (await phones[3].get("/v1/api/me/responses")).json()["data"][0]
    assert mine["anonymity"] == "anonymous"
    assert [(one["answered"], one["value"]) for one in mine["questions"]] == [(False, None)] * 2


async def test_a_respondent_reads_the_promise_before_and_the_same_page_after(
    database: Database, sign_in: SignIn, survey: Stored
) -> None:
    crew_member: Any = await sign_in("crew010")
    before = await page_of(crew_member, f"/me/questions/{survey.uid}")
    assert 0 < before.find("Your answers are kept apart from your name") < before.find('name="q-')
    form = {
        "survey": str(survey.uid),
        "version": "1",
        "content_hash": survey.content_hash,
        "action": "answer",
        f"q-{survey.questions[0].key}": "Good",
        f"q-{survey.questions[1].key}": SECRET,
    }
    assert (await crew_member.submit(f"/me/questions/{survey.uid}", form)).status_code == 303
    listed = await page_of(crew_member, "/me/answers")
    receipt = re.findall(r"/me/answers/([0-9a-f]{64})", listed)[0]
    one = await page_of(crew_member, f"/me/answers/{receipt}")
    assert "so they can’t be shown here" in one
    assert SECRET not in one


async def test_a_named_survey_has_no_such_list(database: Database, alice: Browser) -> None:
    stored = await make(database, "published")
    assert (await alice.get(f"/surveys/results/{stored.uid}")).status_code == 404


async def test_the_list_needs_a_sign_in_and_the_right(
    survey: Stored, visitor: Browser, sign_in: SignIn, eve: Browser
) -> None:
    url = f"/surveys/results/{survey.uid}"
    assert (await visitor.get(url)).status_code == 303
    assert (await (await sign_in("crew010")).get(url)).status_code == 403
    assert (await eve.get(url)).status_code == 404
    assert "<html" not in (await (await sign_in("alice")).fragment(url)).text
