"""Every word that a person meets who is asked, in Arabic: what is written in Latin letters there was marked by no page.

The surveys are written in Greek, so that only words of Muster can be Latin."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest
from httpx import Response

from app.db.session import Database
from app.languages import LANGUAGES
from app.parts import Parts
from app.surveys.ledger.answers import HIDDEN
from app.surveys.pages import prompt_form
from app.surveys.pages.me import questions
from tests.conftest import Browser, SignIn
from tests.host.signing_in import give_second_factor, submit_sign_in
from tests.surveys.drafted import Stored
from tests.surveys.pages.test_prompt import REQUIRED, ask, form, named

LATIN = re.compile("[A-Za-zÀ-ɏ]+")
READ_ALOUD = ("title", "aria-label", "placeholder", "alt", "aria-description")
# Names, and how the standard writes things.
NAMES = {"Muster", "Platform", "Nora", "Nemo", "Europe", "Berlin", "Zurich", "UTC", "Ctrl", "K", "Z"}
EVERY = [
    {"label": "Α", "type": "scale", "options": ["1", "2"], "required": True, "low_label": "Β", "high_label": "Γ"},
    {"label": "Δ", "type": "star_rating", "low_label": "Β", "high_label": "Γ"},
    {"label": "Ε", "type": "nps"},
    {"label": "Ζ", "type": "single_choice", "options": ["α", "β"], "page": True},
    {"label": "Η", "type": "multiple_choice", "options": ["α", "β"], "show_if": {"question": 4, "is": "in", "values": ["α"]}},
    {"label": "Θ", "type": "free_text", "show_if": {"question": 5, "is": "not_in", "values": ["α"]}},
    {"label": "Ι", "type": "number", "min": 0, "max": 2.5},
    {"label": "Κ", "type": "number", "max": 9},
    {"label": "Λ", "type": "number", "min": 1, "unit": "μ"},
    {"label": "Μ", "type": "date"},
    {"label": "Ν", "type": "matrix", "options": ["α", "β"], "rows": ["γ", "δ"]},
]  # fmt: skip
AGREEMENT = [{"label": "Α", "type": "agreement", "required": True}, {"label": "Β", "type": "free_text"}]
WHOLE = {"title": "Τ", "message": "<p>Μ</p>", "category": "Κ", "closing_html": "<p>Τ</p>"}


class Words(HTMLParser):
    """All that is read or read aloud, except code, what is marked as English, and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skipped: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self._skipped or tag in ("code", "script", "noscript", "svg", "kbd") or given.get("lang") == "en":
            self._skipped += [tag] if tag not in ("input", "meta", "link", "br", "img", "path", "use") else []
            return
        # `title` of a time is the exact one, as programs write it.
        read = [name for name in READ_ALOUD if not (tag == "time" and name == "title")]
        words = [name for name in given if name.startswith("data-") and re.search("words|arrived|said|label", name)]
        self.found += [given[name] or "" for name in (*read, *words) if name in given]

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and self._skipped[-1] == tag:
            self._skipped.pop()

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.found.append(data)


def left_in_latin(html: str) -> list[str]:
    # What a script puts in.
    texts = (re.sub(r"\{\w+\}|\S+@example\.org", "", text) for text in Words(html).found)
    return [text.strip() for text in texts if {*LATIN.findall(text)} - NAMES]


def spoken(answer: Response, status: int = 200) -> str:
    """The answer, whose words are all Arabic."""
    assert answer.status_code == status
    assert left_in_latin(answer.text) == []
    return answer.text


@pytest.fixture
async def nora(sign_in: SignIn) -> Browser:
    browser = await sign_in("nora")
    browser.headers["Accept-Language"] = "ar-EG, en;q=0.5"
    return browser


@pytest.fixture
async def survey(database: Database) -> Stored:
    return await ask(database, **WHOLE, questions=EVERY, ends_at=datetime(2040, 1, 1, tzinfo=UTC))


def sent(stored: Stored, **answers: Any) -> dict[str, Any]:
    """`at3_ticks="α"`: the answer to the fourth question, in the field of that kind."""
    fields = {}
    for name, value in answers.items():
        place, _, kind = name.removeprefix("at").partition("_")
        fields[named(stored, int(place), f"-{kind.replace('_', '-')}" if kind else "")] = value
    return fields


async def send(browser: Browser, stored: Stored, action: str, fields: dict[str, Any], **more: str) -> Response:
    return await browser.submit(f"{questions.URL}/{stored.uid}", {**form(stored, action, fields), **more})


def test_what_is_looked_for_would_be_found() -> None:
    html = '<p title="Open">مرحبا <b>Send</b><code>ab</code><i lang="en">Page</i></p><p data-page-words="Page {page}">Muster</p>'
    assert left_in_latin(html) == ["Open", "Send", "Page"]


async def test_the_pages_of_questions_and_all_refusals(nora: Browser, survey: Stored) -> None:
    spoken(await nora.get("/me/questions"))
    spoken(await nora.get("/me/questions?page=9"))
    page = spoken(await nora.get(f"/me/questions/{survey.uid}"))
    assert '<html lang="ar" dir="rtl">' in page
    for wrong in (
        {},
        {"at6_number": "9"},
        {"at6_number": "1.000"},
        {"at6_number": "x"},
        {"at6_number": "-1"},
        {"at9": "2026-02-30"},
        {"at3": "nothing"},
        {"at3": "β", "at4_ticks": "α"},
        {"at2_score": "11"},
        {"at10_row_1": "no cell"},
        {"at5": "ψ" * 5001, "at3": "α", "at4_ticks": "β"},
    ):
        # The number of characters that were typed is no word of ours.
        spoken(await send(nora, survey, "answer", sent(survey, **wrong)), 422)
    assert prompt_form.TAKEN_OUT != HIDDEN
    spoken(await send(nora, survey, "", sent(survey, at0="1")), 422)
    # No button sends this one: it is told by the words of the API.
    names = left_in_latin((await send(nora, survey, "agree", sent(survey, at0="1"))).text)
    assert all("agree" in one for one in names)
    spoken(await nora.get("/me/questions/00000000-0000-4000-8000-000000000000"), 404)
    spoken(await nora.get("/me/answers/" + "0" * 64), 404)
    spoken(await nora.post("/survey_prompt/submit"), 403)


async def test_answers_and_what_became_of_them(nora: Browser, survey: Stored, database: Database) -> None:
    spoken(await nora.get("/me/answers"))
    for _ in range(2):
        kept = sent(survey, at0="1", at1_stars="4", at2_score="9", at6_number="1,5", at8_number="3", at9="2026-11-25")
        assert (await send(nora, survey, "answer", kept)).status_code == 303
    recorded = spoken(await nora.get(f"/me/questions/{survey.uid}"))
    receipt = re.search(r"/me/answers/([0-9a-f]{64})", recorded)
    assert receipt is not None
    full = spoken(await nora.get(f"/me/answers/{receipt[1]}"))
    assert "4 من 5" in full
    assert "الأربعاء، 25 نوفمبر 2026" in full
    spoken(await nora.get("/me/answers?page=9"))
    later = await ask(database, **WHOLE, questions=EVERY)
    await send(nora, later, "snooze", {})
    spoken(await nora.get("/me/questions"))
    consent = await ask(database, **{**WHOLE, "type": "consent", "questions": AGREEMENT})
    for asks in ("agree", "decline", "back"):
        spoken(await send(nora, consent, "", {}, ask=asks))
    await send(nora, consent, "agree", {})
    agreed = re.search(r"/me/answers/([0-9a-f]{64})", spoken(await nora.get(f"/me/questions/{consent.uid}")))
    assert agreed is not None
    for act in ("withdraw", "withdraw", "agree"):
        await nora.submit(f"/me/answers/{agreed[1]}/{act}")
        spoken(await nora.get(f"/me/answers/{agreed[1]}"))
    spoken(await nora.get("/me/answers"))


async def test_the_prompt_as_a_page_and_over_one(nora: Browser, database: Database) -> None:
    spoken(await nora.get("/survey_prompt"))
    stored = await ask(database, **WHOLE, questions=AGREEMENT, **REQUIRED)
    spoken(await nora.get("/survey_prompt"))
    spoken(await nora.fragment("/survey_prompt"))
    headers = {"HX-Request": "true", "HX-Target": "prompt-body"}
    assert "شكرًا لك" in spoken(await nora.submit("/survey_prompt/submit", form(stored, "agree"), headers=headers))


async def test_an_operator_reads_english_around_questions_in_arabic(sign_in: SignIn) -> None:
    alice = await sign_in("alice")
    alice.headers["Accept-Language"] = "ar"
    page = (await alice.get("/me/questions")).text
    assert '<html lang="en" dir="ltr">' in page
    assert re.search(r'<main id="main" tabindex="-1" lang="ar" dir="rtl">', page)
    elsewhere = (await alice.get("/admin/users")).text
    assert 'dir="rtl">' not in elsewhere.partition('id="prompt-corner"')[0]


async def test_a_stranger_signs_in_in_their_language(visitor: Browser) -> None:
    visitor.headers["Accept-Language"] = "ar"
    spoken(await visitor.get("/sign-in?next=/me/questions"))
    spoken(await submit_sign_in(visitor, "stranger", "wrong"), 422)
    spoken(await visitor.get("/sign-in/forgot"))
    assert "Sign in" in (await visitor.get("/sign-in?lang=en")).text


async def test_the_address_says_the_language_before_the_browser(nora: Browser, survey: Stored) -> None:
    assert "Fragen an Sie" in (await nora.get("/me/questions?lang=de")).text


async def test_the_address_keeps_its_language_through_list_form_and_answer(nora: Browser, survey: Stored) -> None:
    address = f"{questions.URL}/{survey.uid}?lang=de"
    assert f'href="{address}"' in (await nora.get("/me/questions?lang=de")).text
    assert f'action="{address}"' in (await nora.get(address)).text
    refused = await nora.submit(address, form(survey, "answer", {}))
    assert (refused.status_code, "Fragen an Sie" in refused.text) == (422, True)
    assert f'action="{address}"' in refused.text
    answer = await nora.submit(address, form(survey, "answer", sent(survey, at0="1")))
    assert answer.headers["location"] == address
    assert 'href="/me/questions?lang=de"' in (await nora.get(address)).text


def english_in(answer: Response) -> list[str]:
    """Apart from addresses, names of languages, what the browser calls itself, and a word for programs."""
    own = {"nora", "example", "org", "testserver", "http", "https", "API", "QR", "tests"}
    own |= {one.name for one in LANGUAGES}
    return [one for one in left_in_latin(answer.text) if not set(LATIN.findall(one)) <= own | NAMES]


async def test_the_account_and_all_that_is_set_up_there(nora: Browser, parts: Parts) -> None:
    for path in ("", "/password", "/second-factor"):
        assert english_in(await nora.get(f"/account{path}")) == [], path
    await give_second_factor(parts, "nora")
    for path in ("", "/second-factor", "/second-factor/recovery"):
        assert english_in(await nora.get(f"/account{path}")) == [], path
    for path in ("password", "second-factor/off", "second-factor/recovery"):
        refused = await nora.submit(f"/account/{path}", {"current": "wrong", "password": "short"})
        assert english_in(refused) == [], path
