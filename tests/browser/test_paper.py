"""What is printed: dark on white in either theme, and an open dialog whole, without the page behind it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser
_PROMPT = """() => {
  document.documentElement.style.setProperty("--prompt-end", "900px");
  const card = document.createElement("div");
  card.className = "prompt-corner";
  document.querySelector(".shell-page").append(card);
}"""


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
    expect(dialog.locator(".btn").first).to_be_hidden()
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


def test_a_list_longer_than_a_sheet_begins_below_its_heading(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_transactions")
    assert page.locator("#transactions tbody tr").count() == 50
    assert _sheets(page) == 2


def test_the_room_for_the_card_of_a_survey_is_not_printed(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_devices")
    page.evaluate(_PROMPT)
    assert page.locator(".shell-page").evaluate("one => parseFloat(getComputedStyle(one).paddingBottom)") > 900
    assert _sheets(page) == 1


def _sheets(page: Page) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
