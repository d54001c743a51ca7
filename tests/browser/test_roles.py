"""The form of a role: one box for all of a group is ticked, not ticked or partly, by mouse and by keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DESK, SignedIn
from tests.chromium import violations

pytestmark = pytest.mark.browser
SIZES = (DESK, {"width": 360, "height": 800})


def group(page: Page) -> Locator:
    return page.get_by_role("group", name="People and attendance")


def state(page: Page) -> tuple[bool, bool, str]:
    """Whether the box for all is ticked, whether it is partly, and the number beside the group's name."""
    whole = group(page).locator("[data-group-whole]")
    ticked, partly = whole.evaluate("box => [box.checked, box.indeterminate]")
    return (
        ticked,
        partly,
        " ".join(group(page).locator("legend").inner_text().split()).removeprefix("People and attendance "),
    )


def test_the_box_for_all_of_a_group_follows_the_group_and_the_group_follows_it(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/admin/roles/new")
    whole = group(page).get_by_label("All of it")
    assert state(page) == (False, False, "0 of 4")
    group(page).get_by_label("Keep people").check()
    assert state(page) == (False, True, "1 of 4")
    whole.focus()
    page.keyboard.press("Space")
    assert state(page) == (True, False, "4 of 4")
    group(page).get_by_label("Lock days").uncheck()
    assert state(page) == (False, True, "3 of 4")
    whole.check()
    whole.uncheck()
    assert state(page) == (False, False, "0 of 4")


def test_what_is_unticked_below_the_box_is_not_saved(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/admin/roles/new")
    page.get_by_role("textbox", name="Name").fill("Shift lead")
    group(page).get_by_label("All of it").check()
    group(page).get_by_label("Lock days").uncheck()
    page.get_by_role("button", name="Make the role").click()
    page.get_by_role("link", name="Shift lead", exact=True).click()
    assert state(page) == (False, True, "3 of 4")
    expect(group(page).get_by_label("Lock days")).not_to_be_checked()


@pytest.mark.parametrize("size", SIZES)
def test_the_form_is_within_reach_of_everybody(page_of: SignedIn, size: dict[str, int]) -> None:
    page = page_of("alice", viewport=size)
    page.goto("/admin/roles/new")
    group(page).get_by_label("Keep people").check()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, ["color-contrast"]) == []
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
