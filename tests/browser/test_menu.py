"""The menu between a tablet and a desk: its icons, which open for a pointer and for the keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.chromium import violations

pytestmark = pytest.mark.browser
WIDTH = "menu => Math.round(menu.getBoundingClientRect().width)"


def test_the_menu_is_its_icons_and_opens_over_the_page(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 1024, "height": 800}, reduced_motion="reduce")
    page.goto("/people")
    page.mouse.move(600, 400)
    menu, main = page.locator("#menu"), page.locator("main")
    narrow, left = menu.evaluate(WIDTH), main.evaluate("main => main.getBoundingClientRect().left")
    assert narrow < 60
    assert violations(page) == []
    menu.get_by_role("link", name="Attendance", exact=True).focus()
    page.keyboard.press("Shift+Tab")
    page.wait_for_function("document.getElementById('menu').getBoundingClientRect().width > 200")
    expect(menu.get_by_text("Day Locks")).to_be_visible()
    assert main.evaluate("main => main.getBoundingClientRect().left") == left
    assert violations(page) == []


def test_a_finger_has_the_menu_behind_a_button(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 1024, "height": 800}, is_mobile=True, has_touch=True)
    page.goto("/people")
    expect(page.locator("#menu")).to_be_hidden()
    page.get_by_role("button", name="Menu").tap()
    expect(page.locator("#menu").get_by_text("Day Locks")).to_be_visible()
