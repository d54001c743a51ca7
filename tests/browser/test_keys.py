"""Single keys in lists: they move, select and search; in a field they are letters, and a person can switch them off."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser
_GAP = "box => box.querySelector('h2').getBoundingClientRect().left - box.getBoundingClientRect().left"
IN_ROW = "document.activeElement.closest('tbody tr')?.rowIndex ?? null"


def row_of(page: Page) -> int | None:
    """The row that has the focus, from 1; None outside of the rows."""
    found: int | None = page.evaluate(IN_ROW)
    return found


def test_rows_are_walked_selected_and_opened(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    for key, row in (("j", 1), ("j", 2), ("j", 3), ("k", 2), ("k", 1), ("k", 1)):
        page.keyboard.press(key)
        assert row_of(page) == row, key
    page.keyboard.press("x")
    expect(page.locator("[data-bulk-count]")).to_have_text("1 selected, or")
    assert row_of(page) == 1
    page.keyboard.press("x")
    expect(page.locator("form.bulk")).not_to_have_class("is-live")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer-box")).to_be_visible()
    # The same press of the key did not reach the button *Close*: the drawer still knows its row.
    expect(page.locator("#drawer-box [data-step='1']")).to_be_visible()
    # Behind an open box they are dead, and the focus comes back to the row.
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer-box")).to_be_hidden()
    assert row_of(page) == 1


def test_a_key_leads_from_the_selected_rows_to_their_acts(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.keyboard.press("b")
    assert page.evaluate("document.activeElement.closest('form.bulk')") is None
    for key in ("j", "x", "j", "x", "b"):
        page.keyboard.press(key)
    expect(page.locator("form.bulk button:not([hidden])").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#dialog-box")).to_contain_text("2 people")


def test_the_slash_searches_and_letters_in_a_field_are_letters(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.keyboard.press("/")
    search = page.locator("form[data-filters] input[type=search]")
    expect(search).to_be_focused()
    page.keyboard.type("jkx/?")
    expect(search).to_have_value("jkx/?")
    assert row_of(page) is None
    page.goto("/account")
    page.keyboard.press("/")
    expect(page.locator("#palette-input")).to_be_focused()


def test_a_question_mark_shows_the_keys_and_account_switches_them_off(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.keyboard.press("?")
    expect(page.locator("#dialog-box")).to_contain_text("The next row of a list")
    # Its words stand clear of the edges.
    assert page.locator("#dialog-box").evaluate(_GAP) > 15
    page.goto("/account")
    page.get_by_label("Single-key shortcuts in lists").uncheck()
    page.locator('form[action="/preferences/keys"] button').click()
    expect(page.locator("[data-toast]")).to_contain_text("Single keys are off.")
    page.goto("/people")
    for key in ("j", "?", "/"):
        page.keyboard.press(key)
    assert row_of(page) is None
    expect(page.locator("#dialog-box")).to_be_hidden()
    page.goto("/account")
    page.get_by_label("Single-key shortcuts in lists").check()
    page.locator('form[action="/preferences/keys"] button').click()
    page.goto("/people")
    page.keyboard.press("j")
    assert row_of(page) == 1


def test_the_palette_says_aloud_that_nothing_was_found(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/problems")
    page.keyboard.press("Control+k")
    said = page.locator("#palette-box [aria-live]")
    page.locator("#palette-input").fill("a name that is not there")
    expect(said).to_contain_text("Nothing found.")
    page.locator("#palette-input").fill("add a person")
    expect(page.locator('#palette-results [aria-selected="true"]')).to_contain_text("Add a person")
    expect(said).to_be_empty()


def test_an_act_of_the_palette_is_chosen_with_the_keyboard(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.keyboard.press("Control+k")
    page.locator("#palette-input").fill("add a person")
    expect(page.locator('#palette-results [aria-selected="true"]')).to_contain_text("Add a person")
    page.keyboard.press("Enter")
    page.wait_for_url("**/people/add")
