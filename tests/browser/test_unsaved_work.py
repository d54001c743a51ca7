"""What a person typed in a drawer is never lost without a question, whichever way they leave it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, StorageState, expect

from tests.browser.conftest import DESK, PATIENCE_MS, Portal, SignedIn
from tests.browser.test_queue import codes, open_first, queue

__all__ = ["queue"]
NOTE = "Your note, which no sync changes"
TYPED = "Ask the foreman about this card"
QUESTION = "Leave without saving what you changed?"
BESIDE_THE_DRAWER = (5, 400)

pytestmark = pytest.mark.browser


@pytest.fixture
def bob(page_of: SignedIn) -> Page:
    return page_of("bob")


@pytest.fixture
def unwatched(browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]) -> Iterator[Page]:
    """Bob's. The console tells of requests that fail on purpose."""
    with browser.new_context(base_url=portal.url, storage_state=signed_in_as("bob"), viewport=DESK) as opened:
        opened.set_default_timeout(PATIENCE_MS)
        yield opened.new_page()


def answer(page: Page, *, leaves: bool) -> list[str]:
    """Answers each question like this. Returns the questions, also those that come later."""
    asked: list[str] = []

    def decide(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if leaves:
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", decide)
    return asked


def type_a_note(page: Page, text: str = TYPED) -> None:
    open_first(page).get_by_label(NOTE).fill(text)


def press_beside(page: Page) -> None:
    page.mouse.click(*BESIDE_THE_DRAWER)


def press_escape(page: Page) -> None:
    page.keyboard.press("Escape")


def press(name: str) -> Callable[[Page], None]:
    return lambda page: page.locator("#drawer-box").get_by_role("button", name=name, exact=True).click()


WAYS = {
    "beside the drawer": press_beside,
    "Escape": press_escape,
    "Close": press("Close"),
    "Next row": press("Next row"),
    "Match again": press("Match again"),
}


@pytest.mark.parametrize("leave", WAYS.values(), ids=WAYS)
def test_who_stays_keeps_the_note(bob: Page, leave: Callable[[Page], None]) -> None:
    asked = answer(bob, leaves=False)
    type_a_note(bob)
    leave(bob)
    expect(bob.locator("#drawer-box").get_by_label(NOTE)).to_have_value(TYPED)
    assert asked == [QUESTION]
    assert not bob.locator("#drawer-box.is-loading").count()


def test_escape_asks_each_time(bob: Page) -> None:
    """The browser itself closes a box at the third one, whatever the page says."""
    asked = answer(bob, leaves=False)
    type_a_note(bob)
    for _ in range(4):
        press_escape(bob)
    expect(bob.locator("#drawer-box").get_by_label(NOTE)).to_have_value(TYPED)
    expect(bob.locator("#drawer-box")).to_be_visible()
    assert asked == [QUESTION] * 4


@pytest.mark.parametrize("leave", [press_beside, press_escape], ids=["beside the drawer", "Escape"])
def test_who_leaves_closes_the_drawer(bob: Page, leave: Callable[[Page], None]) -> None:
    asked = answer(bob, leaves=True)
    type_a_note(bob)
    leave(bob)
    expect(bob.locator("#drawer-box")).to_be_hidden()
    assert asked == [QUESTION]


def test_next_row_leads_on_from_the_row_where_one_stayed(bob: Page) -> None:
    asked = answer(bob, leaves=False)
    type_a_note(bob, "Saved on the way")
    rows = codes(bob)
    press("Next row")(bob)
    press("Save the remarks")(bob)
    expect(bob.locator("#drawer-box")).to_contain_text("The remarks were saved.")
    for code in rows[1:3]:
        press("Next row")(bob)
        expect(bob.locator("#drawer .drawer-head p")).to_have_text(f"Code {code}")
    assert asked == [QUESTION]


def test_the_next_row_is_opened_when_one_leaves(bob: Page) -> None:
    asked = answer(bob, leaves=True)
    type_a_note(bob)
    press("Next row")(bob)
    expect(bob.locator("#drawer .drawer-head p")).to_have_text(f"Code {codes(bob)[1]}")
    assert asked == [QUESTION]


def test_an_act_is_done_when_one_leaves_the_note(bob: Page) -> None:
    asked = answer(bob, leaves=True)
    type_a_note(bob, "To be given up")
    press("Match again")(bob)
    expect(bob.locator("#drawer-box").get_by_label(NOTE)).not_to_have_value("To be given up")
    assert asked == [QUESTION]


@pytest.mark.parametrize(
    "fail", [lambda route: route.abort(), lambda route: route.fulfill(status=502)], ids=["no answer", "502"]
)
def test_a_note_stays_unsaved_when_what_one_left_it_for_fails(unwatched: Page, fail: Callable[[Route], None]) -> None:
    bob = unwatched
    asked = answer(bob, leaves=True)
    type_a_note(bob)
    bob.route("**/match_again*", fail)
    press("Match again")(bob)
    expect(bob.locator("#drawer-box [data-toast=danger]")).to_be_visible()
    expect(bob.locator("#drawer-box").get_by_label(NOTE)).to_have_value(TYPED)
    press_escape(bob)
    expect(bob.locator("#drawer-box")).to_be_hidden()
    assert asked == [QUESTION] * 2


def test_what_was_typed_and_taken_back_is_no_question(bob: Page) -> None:
    asked = answer(bob, leaves=False)
    type_a_note(bob)
    note = bob.locator("#drawer-box").get_by_label(NOTE)
    note.fill(note.evaluate("note => note.defaultValue"))
    press_escape(bob)
    expect(bob.locator("#drawer-box")).to_be_hidden()
    assert asked == []


def test_what_was_chosen_and_set_back_is_no_question(bob: Page) -> None:
    asked = answer(bob, leaves=False)
    bob.goto("/attendance")
    bob.get_by_role("link", name="Add a record").click()
    kind = bob.locator("#drawer-box").get_by_label("Kind")
    before = kind.input_value()
    kind.select_option(index=1)
    assert kind.input_value() != before
    press_escape(bob)
    expect(kind).to_be_visible()
    assert asked == [QUESTION]
    kind.select_option(before)
    press_escape(bob)
    expect(bob.locator("#drawer-box")).to_be_hidden()
    assert asked == [QUESTION]


def test_looking_for_an_employee_asks_nothing(bob: Page) -> None:
    """The answer goes into a part of the drawer that holds no note."""
    asked = answer(bob, leaves=False)
    type_a_note(bob)
    drawer = bob.locator("#drawer-box")
    drawer.get_by_role("combobox", name="Host employee").fill("a")
    expect(drawer.get_by_role("option").first).to_be_visible()
    assert asked == []


def test_a_press_beside_a_form_asks_first(bob: Page) -> None:
    asked = answer(bob, leaves=False)
    bob.goto("/people")
    bob.locator("tbody a[data-drawer]").first.click()
    drawer = bob.locator("#drawer-box")
    drawer.get_by_role("link", name="Edit").click()
    drawer.get_by_label("Position").fill("Foreman of the night shift")
    press_beside(bob)
    expect(drawer.get_by_label("Position")).to_have_value("Foreman of the night shift")
    assert asked == [QUESTION]


def test_a_saved_section_of_the_settings_leaves_what_is_typed_in_another(page_of: SignedIn) -> None:
    page = page_of("alice")
    asked = answer(page, leaves=False)
    page.goto("/clock_settings")
    hours = page.get_by_label("No punch for")
    before = hours.input_value()
    page.locator("#f-run_budget_calls").fill("4321")
    hours.fill("37")
    page.get_by_role("button", name="Save warnings").click()
    expect(page.locator("#flashes")).to_contain_text("Saved: Warnings.")
    expect(page.get_by_role("button", name="Save warnings")).to_be_focused()
    expect(hours).to_have_value("37")
    expect(page.locator("#f-run_budget_calls")).to_have_value("4321")
    assert asked == []
    # What was saved is no question; what was not is one.
    hours.fill(before)
    page.get_by_role("button", name="Save warnings").click()
    expect(page.locator("#flashes [data-toast]")).to_have_count(2)
    page.locator("#f-run_budget_calls").fill(page.locator("#f-run_budget_calls").evaluate("one => one.defaultValue"))
    page.goto("/clock")
    assert asked == []


def test_a_form_whose_answer_takes_long_shows_that_it_works(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    held: list[Route] = []
    page.route("**/clock_settings/sections/rules", lambda route: held.append(route))  # noqa: PLW0108 - Playwright can wrap no built-in method
    save = page.get_by_role("button", name="Save import rules")
    page.locator("#f-double_tap_minutes").fill("29")
    save.click()
    expect(save).to_have_css("cursor", "progress")
    expect(save).to_be_focused()
    held[0].continue_()
    page.locator("#dialog-box").get_by_role("link", name="Cancel").click()
    expect(save).not_to_have_css("cursor", "progress")


def test_a_rule_that_is_asked_about_is_unsaved_until_one_agrees(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    minutes = page.locator("#f-double_tap_minutes")
    before = minutes.input_value()
    for typed in ("29", before):
        page.locator("#f-run_budget_calls").fill("4321")
        minutes.fill(typed)
        save = page.get_by_role("button", name="Save import rules")
        save.click()
        question = page.locator("#dialog-box")
        question.get_by_role("link", name="Cancel").click()
        expect(question).to_be_hidden()
        expect(minutes).to_have_value(typed)
        expect(save).to_be_focused()
        save.click()
        question.get_by_role("button", name="Save the settings").click()
        expect(question).to_be_hidden()
        expect(page.locator("#flashes [data-toast]").last).to_contain_text("Saved: Import rules.")
        expect(minutes).to_have_value(typed)
        expect(page.locator("#save-rules")).to_be_focused()
        expect(page.locator("#f-run_budget_calls")).to_have_value("4321")
