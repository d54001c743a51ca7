"""Pages, conditions and the newer types of questions as a person meets them in a browser, with script and without;
and their editor."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import asking
from tests.browser.conftest import Portal, SignedIn
from tests.chromium import sticks_out, violations

OPEN = "dialog.prompt-box[open]"
EATS = {"label": "Do you eat here?", "type": "single_choice", "options": ["Yes", "No"], "required": True}
WHY = {"label": "Why not?", "type": "free_text", "show_if": {"question": 1, "is": "in", "values": ["No"]}}
STARS = {
    "label": "How is it?", "type": "star_rating", "required": True, "low_label": "bad", "high_label": "good", "page": True,
    "show_if": {"question": 1, "is": "not_in", "values": ["No"]},
}  # fmt: skip
LOW = {"label": "What is wrong?", "type": "free_text", "show_if": {"question": 3, "is": "in", "values": [1, 2]}}
SCORE = {
    "label": "Would you recommend us?",
    "type": "nps",
    "low_label": "never",
    "high_label": "for sure",
    "page": True,
}
FAR = {"label": "How far do you walk?", "type": "number", "min": 0, "max": 9.5, "unit": "km"}
SINCE = {"label": "Since when?", "type": "date"}
MATRIX = {"label": "Rate these", "type": "matrix", "options": ["Good", "So-so", "Bad"], "rows": ["Soup", "Cake " * 12]}
PAGES = [EATS, WHY, STARS, LOW, SCORE, FAR, SINCE, MATRIX]

pytestmark = pytest.mark.browser


@pytest.fixture
def ask(portal: Portal) -> Iterator[Callable[..., None]]:
    yield lambda *several: asking.ask(portal.database_url, *several)
    asking.archive_all(portal.database_url)


@pytest.fixture
def nora(page_of: SignedIn) -> Page:
    return page_of("nora")


def begin(page: Page, title: str = "Canteen") -> None:
    page.goto("/survey_prompt")
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def canteen(**fields: Any) -> dict[str, Any]:
    return {"title": "Canteen", "questions": PAGES, **asking.REQUIRED, **fields}


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Next").click()


def test_questions_come_and_go_with_the_answers_and_pages_keep_them(ask: Callable[..., None], nora: Page) -> None:
    ask(canteen())
    begin(nora)
    send, why = nora.get_by_role("button", name="Send"), nora.get_by_label("Why not?")
    # The page that asks only those who eat here is left out.
    expect(nora.get_by_text("Page 1 of 2")).to_be_visible()
    expect(send).to_be_hidden()
    expect(why).to_be_hidden()
    go_on(nora)
    expect(nora.get_by_text("“Do you eat here?” needs an answer first.")).to_be_visible()
    nora.get_by_role("radio", name="No").check()
    expect(why).to_be_visible()
    why.fill("Too far")
    nora.get_by_role("radio", name="Yes").check()
    expect(nora.get_by_text("Page 1 of 3")).to_be_visible()
    expect(why).to_be_hidden()
    nora.get_by_role("radio", name="No").check()
    expect(why).to_have_value("Too far")
    nora.get_by_role("radio", name="Yes").check()
    go_on(nora)
    expect(nora.get_by_text("Page 2 of 3")).to_be_focused()
    nora.locator(".prompt-star").nth(1).click()
    nora.get_by_label("What is wrong?").fill("Cold")
    go_on(nora)
    nora.get_by_role("radio", name="10").check()
    nora.get_by_role("button", name="Back").click()
    expect(nora.get_by_label("What is wrong?")).to_have_value("Cold")
    go_on(nora)
    expect(nora.get_by_role("radio", name="10")).to_be_checked()
    nora.get_by_label("How far do you walk?").fill("2,5")
    nora.get_by_label("Since when?").fill("2026-11-25")
    soup = nora.get_by_role("radiogroup", name="Soup")
    soup.get_by_role("radio", name="Bad").check()
    assert violations(nora) == []
    send.click()
    expect(nora.locator("#flashes")).to_contain_text("Your answer was recorded.")


def test_what_is_refused_opens_on_its_page(ask: Callable[..., None], nora: Page) -> None:
    ask(canteen())
    begin(nora)
    nora.get_by_role("radio", name="No").check()
    go_on(nora)
    nora.get_by_label("How far do you walk?").fill("99")
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator(".field-error")).to_have_text("Give at most 9.5.")
    expect(nora.locator(".field-error")).to_be_visible()
    nora.get_by_role("button", name="Back").click()
    expect(nora.get_by_role("radio", name="No")).to_be_checked()
    nora.locator(".error-summary a").click()
    expect(nora.get_by_label("How far do you walk?")).to_be_focused()


def test_an_agreement_at_the_end_is_asked_once_more_behind_the_last_page(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Canteen", "questions": [FAR, {**asking.AGREE, "page": True}], **asking.REQUIRED})
    begin(nora)
    agree = nora.get_by_role("button", name="Agree", exact=True)
    expect(agree).to_be_hidden()
    nora.get_by_label("How far do you walk?").fill("3")
    go_on(nora)
    agree.click()
    expect(nora.get_by_role("button", name="Yes, I agree")).to_be_visible()
    expect(nora.get_by_text("Page 2 of 2")).to_be_visible()
    nora.get_by_role("button", name="Yes, I agree").click()
    expect(nora.get_by_text("It is recorded that you agree.").first).to_be_visible()


def test_what_was_answered_on_two_pages_survives_a_reload(ask: Callable[..., None], nora: Page) -> None:
    ask(canteen())
    begin(nora)
    nora.get_by_role("radio", name="No").check()
    nora.get_by_label("Why not?").fill("Too far")
    go_on(nora)
    nora.get_by_role("radio", name="10").check()
    nora.reload()
    expect(nora.get_by_label("Why not?")).to_have_value("Too far")
    go_on(nora)
    expect(nora.get_by_role("radio", name="10")).to_be_checked()


def test_the_enter_key_turns_the_page_and_decides_nothing(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Canteen", "questions": [FAR, {**SINCE, "page": True}], **asking.REQUIRED})
    begin(nora)
    nora.get_by_label("How far do you walk?").press("Enter")
    expect(nora.get_by_text("Page 2 of 2")).to_be_visible()
    assert nora.url.endswith("/survey_prompt")


def test_without_script_everything_stands_there_and_what_is_hidden_is_taken_out(
    ask: Callable[..., None], page_of: SignedIn
) -> None:
    ask({"title": "Canteen", "questions": PAGES[:4], **asking.REQUIRED})
    page = page_of("nora", java_script_enabled=False)
    begin(page)
    expect(page.get_by_text("Page 2 of 2")).to_be_visible()
    expect(page.get_by_text("Only if the answer to “Do you eat here?” is “No”.")).to_be_visible()
    page.get_by_role("radio", name="No").check()
    page.locator(".prompt-star").nth(1).click()
    page.get_by_label("Why not?").fill("Too far")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your answer to it was removed").last).to_be_visible()
    expect(page.get_by_label("Why not?")).to_have_value("Too far")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your answer was recorded.")).to_be_visible()


@pytest.mark.parametrize("size", [{"width": 360, "height": 760}, {"width": 1440, "height": 900}], ids=str)
def test_every_type_fits_every_window(ask: Callable[..., None], page_of: SignedIn, size: Any) -> None:
    ask({"title": "Canteen", "questions": [SCORE | {"page": False}, FAR, SINCE, MATRIX, EATS], **asking.REQUIRED})
    page = page_of("nora", viewport=size)
    begin(page)
    assert not sticks_out(page)
    assert violations(page) == []


def test_a_condition_is_written_in_the_editor_and_tried_in_its_preview(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/surveys/new")
    page.locator("#f-title").fill("Canteen")
    page.locator("#f-label-q1").fill("Do you eat here?")
    page.locator("#f-type-q1").select_option("single_choice")
    page.locator("#f-ready_made-q1").select_option("Frequency")
    expect(page.locator("#f-options-q1")).to_have_value("Never\nRarely\nSometimes\nOften\nAlways")
    page.locator("#add-question").click()
    page.locator("#f-label-q2").fill("Why not?")
    page.locator("#f-type-q2").select_option("free_text")
    page.locator("[data-row=q2] summary").click()
    page.locator("#f-show_if-q2").select_option(label="Only if 1. Do you eat here?")
    row = page.locator("[data-row=q2]")
    preview = page.locator("#preview-frame")
    # What is tried in the preview goes when a newer one comes: the one with both answers has to be there.
    row.get_by_role("checkbox", name="Never").check()
    with page.expect_response(lambda answer: "values-q2=Never&values-q2=Rarely" in (answer.request.post_data or "")):
        row.get_by_role("checkbox", name="Rarely").check()
    expect(preview).not_to_have_class(re.compile(r"\bhtmx-request\b"))
    expect(preview.get_by_role("radio", name="Never")).to_be_visible()
    expect(preview.get_by_role("textbox", name="Why not?", include_hidden=True)).to_be_hidden()
    preview.get_by_role("radio", name="Rarely").check()
    expect(preview.get_by_label("Why not?")).to_be_visible()
    # The copy asks the same; an option that is renamed is not forgotten, but said to be gone.
    page.locator("#duplicate-q2").click()
    copied = page.locator("[data-row=q3]")
    expect(copied.get_by_role("checkbox", name="Rarely")).to_be_checked()
    page.locator("#f-options-q1").fill("Never\nSeldom")
    expect(row.get_by_role("checkbox", name="Rarely (no longer an answer)")).to_be_checked()
    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#f-show_if-q2-error")).to_contain_text("“Rarely” is not an answer of question 1.")
    page.locator("[data-row=q2]").get_by_role("checkbox", name="Rarely").uncheck()
    page.locator("[data-row=q3]").get_by_role("checkbox", name="Rarely").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#flashes")).to_contain_text("Saved as a draft.")
    expect(page.locator("[data-row=q3]").get_by_role("checkbox", name="Never")).to_be_checked()


def test_without_script_the_editor_shows_the_answers_by_a_button(page_of: SignedIn) -> None:
    page = page_of("alice", java_script_enabled=False)
    page.goto("/surveys/new")
    page.locator("#f-label-q1").fill("Stars?")
    page.locator("#add-question").click()
    page.locator("[data-row=q2] summary").click()
    page.locator("#f-show_if-q2").select_option("q1")
    page.locator("[data-row=q2]").get_by_role("button", name="Show its answers").click()
    page.locator("[data-row=q2]").get_by_role("checkbox", name="5").check()
    expect(page.locator("[data-row=q2] .question-answers input")).to_have_count(5)
