"""A person who reads Arabic is asked from right to left: what is asked, refused, confirmed, recorded and kept,
on a desk and on a phone."""

import os
from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser import asking
from tests.browser.asking import AGREE, REQUIRED
from tests.browser.conftest import Portal, SignedIn
from tests.chromium import sticks_out, violations

pytestmark = pytest.mark.browser
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SHOTS = os.environ.get("SHOTS")
STARS = {"label": "ما رأيك في الطعام؟", "type": "star_rating"}
SCORE = {"label": "هل توصي بنا؟", "type": "nps", "low_label": "أبدًا", "high_label": "بالتأكيد"}
SCALE = {"label": "Portions (English)", "type": "scale", "options": ["1", "2", "3", "4", "5"], "required": True}
MATRIX = {"label": "قيّم", "type": "matrix", "options": ["جيد", "سيئ"], "rows": ["الطعام", "المكان"]}
SEVERAL = {"label": "ماذا تأكل؟", "type": "multiple_choice", "options": ["حساء", "Pizza", "خبز"]}
WHERE = {"label": "أين تأكل؟", "type": "single_choice", "options": ["في المطعم", "على المكتب"], "page": True}
NUMBER = {"label": "كم مرة؟", "type": "number", "min": 0, "max": 7.5, "unit": "أيام"}
DAY = {"label": "متى؟", "type": "date"}
WHY = {"label": "لماذا؟", "type": "free_text"}
EVERY = [SCALE, STARS, SCORE, MATRIX, SEVERAL, WHERE, NUMBER, DAY, WHY]
TITLE, CONSENT = "الغداء في 2026 (v2)", "نشر الصور"


@pytest.fixture
def ask(portal: Portal) -> Iterator[Callable[..., None]]:
    yield lambda *several: asking.ask(portal.database_url, *several)
    asking.archive_all(portal.database_url)


def look(page: Page, name: str) -> None:
    """Nothing is wrong with it or sticks out, in both colours, wide and narrow."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 760})
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/{name}-{width}-{scheme}.png", full_page=True)
            assert violations(page) == []
            assert not sticks_out(page)
    page.set_viewport_size({"width": 1280, "height": 760})


def test_everything_that_a_person_meets_runs_from_the_right(ask: Callable[..., None], page_of: SignedIn) -> None:
    nora = page_of("nora", locale="ar")
    ask(
        {"title": TITLE, "message": "<p>نسألك عن <strong>الغداء</strong> في Kantine.</p>", "questions": EVERY},
        {"title": CONSENT, "type": "consent", "message": "<p>صورك.</p>", "questions": [AGREE, WHY]},
    )
    nora.goto("/account")
    expect(nora.locator("#prompt-corner")).to_be_visible()
    expect(nora.locator("html")).to_have_attribute("dir", "rtl")
    look(nora, "corner")
    nora.goto("/me/questions")
    look(nora, "list")
    nora.get_by_role("link", name=TITLE).click()
    look(nora, "survey")
    answered_by_keys(nora)
    nora.get_by_role("button", name="التالي").click()
    nora.get_by_label("كم مرة؟").fill("9")
    look(nora, "second")
    nora.get_by_role("button", name="إرسال").click()
    expect(nora.get_by_text("أدخل 7.5 كحد أقصى").first).to_be_visible()
    look(nora, "refused")
    nora.get_by_label("كم مرة؟").fill("7")
    nora.get_by_role("button", name="إرسال").click()
    expect(nora.get_by_text("شكرًا لك. سُجّلت إجابتك.")).to_be_visible()
    look(nora, "recorded")
    agreed(nora)
    nora.goto("/me/answers")
    look(nora, "answers")


def answered_by_keys(page: Page) -> None:
    """Towards the left lies the higher mark: the first one stands at the right."""
    first, second = (page.get_by_label(mark, exact=True).first for mark in ("1", "2"))
    first.focus()
    assert box_left(first) > box_left(second)
    page.keyboard.press("ArrowLeft")
    expect(second).to_be_checked()


def box_left(field: object) -> float:
    return field.bounding_box()["x"]  # type: ignore[attr-defined]


def agreed(page: Page) -> None:
    page.goto("/me/questions")
    page.get_by_role("link", name=CONSENT).click()
    page.get_by_role("button", name="أوافق", exact=True).click()
    look(page, "confirm")
    page.get_by_role("button", name="نعم، أوافق").click()
    page.get_by_role("link", name="هذه الإجابة كاملة").click()
    look(page, "answer")


def test_the_prompt_over_an_english_page_has_its_own_direction(ask: Callable[..., None], page_of: SignedIn) -> None:
    ask({"title": CONSENT, "type": "consent", "user_types": ["staff"], "questions": [AGREE], **REQUIRED})
    vera = page_of("vera", locale="ar")
    vera.goto("/")
    box = vera.get_by_role("dialog")
    expect(box.get_by_role("button", name="أوافق", exact=True)).to_be_visible()
    expect(box).to_have_attribute("dir", "rtl")
    expect(vera.locator("html")).to_have_attribute("lang", "en")
    look(vera, "dialog")
