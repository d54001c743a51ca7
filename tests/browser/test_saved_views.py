"""The menu *Views* of a list: how the keyboard gets into the dialog that renames a view, and out of it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser
NAME = "The night shift"


@pytest.fixture
def renaming(page_of: SignedIn) -> Page:
    """Alice has a view, and has just opened the dialog that renames it."""
    page = page_of("alice")
    page.goto("/people?sort=-name")
    views = page.locator("details.menu summary", has_text="Views")
    views.click()
    page.get_by_label("Save the list as it is now").fill(NAME)
    page.get_by_role("button", name="Save the view").click()
    expect(page.get_by_text(f"The view “{NAME}” was saved.").first).to_be_visible()
    views.click()
    page.get_by_role("link", name=f"Rename the view {NAME}").press("Enter")
    expect(page.locator("#dialog-box")).to_be_visible()
    return page


def test_one_types_over_the_name_and_enter_saves_it(renaming: Page) -> None:
    expect(renaming.locator("#dialog-box").get_by_label("Name")).to_be_focused()
    renaming.keyboard.type("Nights")
    renaming.keyboard.press("Enter")
    expect(renaming.get_by_text(f"The view “{NAME}” is called “Nights” now.").first).to_be_visible()
    renaming.locator("details.menu summary", has_text="Views").click()
    renaming.get_by_role("button", name="Remove the view Nights").click()
    expect(renaming.get_by_text("The view “Nights” was removed.").first).to_be_visible()


def test_escape_closes_the_dialog_and_leads_back_to_the_menu(renaming: Page) -> None:
    renaming.keyboard.press("Escape")
    expect(renaming.locator("#dialog-box")).to_be_hidden()
    views = renaming.locator("details.menu summary", has_text="Views")
    expect(views).to_be_focused()
    views.click()
    renaming.get_by_role("button", name=f"Remove the view {NAME}").click()
    expect(renaming.get_by_text(f"The view “{NAME}” was removed.").first).to_be_visible()


def test_a_name_of_blanks_is_told_at_the_field(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people?sort=-name")
    page.locator("details.menu summary", has_text="Views").click()
    field = page.get_by_label("Save the list as it is now")
    field.fill("   ")
    page.get_by_role("button", name="Save the view").click()
    expect(field).to_be_focused()
    assert field.evaluate("one => one.validity.patternMismatch")
    assert page.url.endswith("/people?sort=-name")
