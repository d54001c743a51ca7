"""What is printed: dark on white in either theme, and an open dialog whole, without the page behind it."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser


def test_a_page_and_its_dialog_are_printed_on_white_paper(page_of: SignedIn) -> None:
    page = page_of("alice", color_scheme="dark", viewport={"width": 794, "height": 300})
    page.goto("/surveys/list")
    page.locator(".row-actions-cell button").first.click()
    page.locator(".row-menu:popover-open a[data-dialog]").first.click()
    dialog = page.locator("#dialog-box")
    expect(dialog).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "light")
    expect(dialog).to_be_visible()
    expect(page.locator(".shell")).to_be_hidden()
    assert dialog.evaluate(
        "box => box.scrollHeight <= box.clientHeight && box.getBoundingClientRect().top + scrollY === 0"
    )
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    expect(page.locator(".shell")).to_be_visible()


def test_a_list_is_printed_as_rows_that_fit_the_paper_without_what_is_pressed(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 718, "height": 1050})
    page.goto("/people")
    row = page.locator("#people tbody tr").first
    assert row.evaluate("row => getComputedStyle(row).display") == "grid"
    page.emulate_media(media="print")
    assert row.evaluate("row => getComputedStyle(row).display") == "table-row"
    expect(row.locator(".col-select")).to_be_hidden()
    expect(page.locator(".pager-count")).to_be_visible()
    expect(page.locator(".pager-sizes")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
