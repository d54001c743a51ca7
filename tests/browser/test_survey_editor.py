"""Writing a survey as authors do: by keyboard, by dragging, without script;
the preview follows, and nothing is left by accident."""

import re

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from tests.browser.conftest import SignedIn
from tests.chromium import sticks_out, violations

pytestmark = pytest.mark.browser


def labels(page: Page) -> list[str]:
    """The texts of the questions that are there, in order."""
    return [text.input_value() for text in page.locator(".question:not(.is-removed) [data-text]").all()]


def add(page: Page, label: str) -> None:
    """By keyboard: the new row has the focus."""
    page.locator("#add-question").press("Enter")
    page.keyboard.type(label)


def test_a_survey_is_written_and_published_by_keyboard_and_seen_meanwhile(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/surveys/new")
    page.locator("#f-title").press_sequentially("Summer outing")
    page.locator("#f-label-q1").press_sequentially("Was it good?")
    add(page, "Where to?")
    page.locator("#f-type-q2").press("s")
    page.locator("#f-type-q2").select_option("single_choice")
    page.locator("#f-options-q2").press_sequentially("Lake\nHills")
    preview = page.locator("#preview-frame")
    expect(preview.get_by_text("Hills")).to_be_visible()
    expect(preview.get_by_role("heading", name="Summer outing")).to_be_visible()
    page.locator("#up-q2").press("Enter")
    assert labels(page) == ["Where to?", "Was it good?"]
    expect(page.locator("#down-q2")).to_be_focused()
    expect(page.locator("#questions-said")).to_have_text("Moved to place 1 of 2.")
    page.locator("#remove-q1").press("Enter")
    expect(page.locator("#restore-q1")).to_be_focused()
    expect(preview.get_by_text("Was it good?")).to_have_count(0)
    page.keyboard.press("Enter")
    assert labels(page) == ["Where to?", "Was it good?"]
    assert violations(page) == []
    page.get_by_label("Client").check()  # no person is: what other tests see stays as it was
    page.locator("#f-title").press("Enter")
    page.wait_for_url(re.compile("/surveys/edit/"))
    expect(page.locator("#flashes")).to_contain_text("Saved as a draft.")
    page.get_by_role("button", name="Save and publish…").click()
    expect(page.locator(".confirm-number")).to_contain_text("0 people are in its audience")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.wait_for_url("**/surveys/list")
    expect(page.get_by_role("row", name=re.compile("Summer outing"))).to_contain_text("Published")
    page.get_by_role("button", name="Actions for Summer outing").press("Enter")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Edit")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Actions for Summer outing")).to_be_focused()


def test_ticks_of_a_condition_go_when_another_question_with_the_same_answers_is_chosen(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/surveys/new")
    page.locator("#f-label-q1").fill("Stars for the soup?")
    for label in ("Stars for the cake?", "Why?"):
        add(page, label)
    page.locator("[data-row=q3] .question-more > summary").click()
    asked, answers = page.locator("#f-show_if-q3"), page.locator("[data-row=q3] [data-answers] input")
    asked.select_option("q1")
    answers.first.check()
    asked.select_option("q2")
    expect(answers).to_have_count(5)
    expect(page.locator("[data-row=q3] [data-answers] input:checked")).to_have_count(0)


def test_a_row_is_dragged_and_leaving_unsaved_asks_first(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/surveys/new")
    page.locator("#f-label-q1").fill("One")
    for label in ("Two", "Three"):
        add(page, label)
    page.locator("#questions").evaluate("list => list.scrollIntoView({ block: 'center' })")
    start, end = (page.locator(f"[data-row={row}] [data-grip]").bounding_box() for row in ("q1", "q3"))
    assert start
    assert end
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 100, steps=8)
    page.mouse.up()
    assert labels(page) == ["Two", "Three", "One"]
    assert page.locator("[data-row=q1] .question-number").inner_text() == "3"
    expect(page.locator("#preview-frame .prompt-label").last).to_contain_text("One")
    page.route("**/surveys/preview", lambda route: None, times=1)  # never answered: the next takes its place
    with page.expect_request("**/surveys/preview"):
        page.locator("#f-title").fill("Summer")
    page.locator("#f-title").fill("Summer outing")
    expect(page.locator("#preview-frame").get_by_role("heading", name="Summer outing")).to_be_visible()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", stay)
    page.goto("/surveys/list")
    assert asked == ["beforeunload"]


def test_a_required_survey_has_no_pacing_and_the_preview_fits_a_phone(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 360, "height": 760})
    page.goto("/surveys/new")
    assert page.locator("#f-snooze_hours").is_enabled()
    page.locator("[name=enforcement][value=required]").check()
    assert page.locator("#f-snooze_hours").is_disabled()
    expect(page.locator("#preview-frame .badge")).to_contain_text("Required")
    page.locator("#f-type-q1").select_option("single_choice")
    page.locator("#f-options-q1").fill("x" * 200)
    assert not sticks_out(page)
    page.locator("#f-type-q1").select_option("agreement")
    expect(page.get_by_text("Always required")).to_be_visible()
    expect(page.locator("#preview-frame").get_by_role("button", name="Disagree")).to_be_visible()
    assert not sticks_out(page)
    assert violations(page) == []


def press(button: Locator) -> None:
    """Without script every button loads a page. What is asked before it is whole finds rows that are not there yet, and
    a row that is hidden and one that did not come look the same."""
    with button.page.expect_navigation():
        button.click()


def test_all_of_it_works_without_script(page_of: SignedIn) -> None:
    page = page_of("alice", java_script_enabled=False)
    page.goto("/surveys/new")
    page.locator("#f-title").fill("Plain")
    page.locator("#f-label-q1").fill("First?")
    press(page.get_by_role("button", name="Add a question"))
    expect(page.locator("#f-label-q2")).to_be_focused()
    page.locator("#f-label-q2").fill("Second?")
    press(page.locator("#up-q2"))
    expect(page.locator(".question").first).to_have_attribute("data-row", "q2")
    press(page.locator("#duplicate-q1"))
    expect(page.locator("#f-label-q3")).to_have_value("First?")
    press(page.locator("#remove-q1"))
    expect(page.locator("#restore-q1")).to_be_visible()
    assert labels(page) == ["Second?", "First?"]
    press(page.locator("#restore-q1"))
    expect(page.locator("#restore-q1")).to_be_hidden()
    assert labels(page) == ["Second?", "First?", "First?"]
    press(page.get_by_role("button", name="Show what was typed"))
    expect(page.locator("#preview-frame").get_by_role("heading", name="Plain")).to_be_visible()
    page.locator("#f-title").press("Enter")
    page.wait_for_url(re.compile("/surveys/edit/"))
    assert page.locator(".question").count() == 3
    assert labels(page) == ["Second?", "First?", "First?"]
    page.goto("/surveys/list?q=plain")
    page.get_by_role("button", name="Actions for Plain").click()
    press(page.get_by_role("link", name="Delete the draft…"))
    press(page.get_by_role("button", name="Delete the draft"))
    expect(page.locator("main")).not_to_contain_text("Plain")
