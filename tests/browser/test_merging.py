"""Two people edit one thing, each in a browser of their own: the second one sees what changed, and merges."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, SignedIn
from tests.chromium import violations

pytestmark = pytest.mark.browser
PHONE = {"width": 360, "height": 800}


def box(page: Page) -> str:
    """What stands in the box above the form."""
    return " ".join(page.locator(".stale").inner_text().split())


@pytest.mark.parametrize("script", [True, False])
def test_two_edits_of_one_person_are_merged_field_by_field(page_of: SignedIn, script: bool) -> None:
    hers, his = page_of("alice", java_script_enabled=script), page_of("bob")
    hers.goto("/people?sort=name&per_page=10")
    address = hers.locator("tbody a").nth(3 if script else 4).get_attribute("href") or ""
    edit = re.sub(r"\?.*", "", address) + "/edit"
    for page in (hers, his):
        page.goto(edit)
    email = hers.get_by_label("E-mail").input_value()
    his.get_by_label("Department").fill("Sales")
    his.get_by_label("Position").fill("Head of everything " * 5)
    his.get_by_label("E-mail").fill("his@example.org")
    his.get_by_role("button", name="Save").click()
    his.wait_for_url(re.compile(r"/people/\d+$"))
    hers.get_by_label("Department").fill("Canteen")
    hers.get_by_label("E-mail").fill("hers@example.org")
    hers.get_by_role("button", name="Save").click()
    expect(hers.locator(".stale")).to_be_visible()
    assert "Not saved: Bob Brandt changed this after you opened the form" in box(hers)
    assert "Department is now Sales; it was" in box(hers)
    assert f"E-mail is now his@example.org; it was {email or 'empty'} when you opened this form." in box(hers)
    expect(hers.get_by_label("Department")).to_have_value("Canteen")
    expect(hers.get_by_label("Position")).to_have_value(("Head of everything " * 5).strip())
    if script:
        _look_at(hers)
    hers.get_by_role("group", name=re.compile("Department")).get_by_label("Take theirs").check()
    hers.get_by_role("button", name="Save").click()
    hers.wait_for_url(re.compile(r"/people/\d+$"))
    shown = hers.locator("main").inner_text()
    assert "Sales" in shown
    assert "hers@example.org" in shown


def _look_at(page: Page) -> None:
    """The box is what is read first, in both themes and on a phone."""
    expect(page.locator(".stale")).to_be_focused()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, ["color-contrast"]) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


def test_a_choice_in_a_list_that_became_stale_is_asked_about_in_the_dialog(page_of: SignedIn) -> None:
    hers, his = page_of("alice"), page_of("bob")
    for page in (hers, his):
        page.goto("/clock_devices")
    his.get_by_label("Kind of").first.select_option("access")
    his.locator("#dialog").get_by_role("button", name="Set it").click()
    expect(his.get_by_text("is “Door reader” now")).to_be_visible()
    hers.get_by_label("Kind of").first.select_option("attendance")
    expect(hers.locator("#dialog .stale")).to_be_visible()
    assert "Kind is now Door reader; it was As the server says when you opened this form." in box(hers)
    assert violations(hers) == []
