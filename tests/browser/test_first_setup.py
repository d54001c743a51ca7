"""The first connection in a browser: the zone that the browser is in is offered, and can be changed."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("zone", ["Asia/Manila", "America/Argentina/Salta"])
def test_the_zone_of_the_browser_is_offered(page_of: SignedIn, zone: str) -> None:
    page = page_of("eve", timezone_id=zone)
    page.goto("/clock_settings")
    field = page.get_by_label("Time zone")
    expect(field).to_have_value(zone)
    field.select_option("Europe/Berlin")
    expect(field).to_have_value("Europe/Berlin")


def test_after_a_good_test_the_way_on_leads_and_has_the_focus(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings/setup?step=2")
    button = page.get_by_role("button", name="Test the connection")
    button.focus()
    page.keyboard.press("Enter")
    on = page.get_by_role("link", name="Continue to the first sync")
    expect(on).to_be_focused()
    expect(page.locator("main .btn-primary")).to_have_count(1)


def test_a_page_that_has_just_opened_leaves_the_focus_at_its_beginning(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings/setup?step=2")
    # As without script: the answer is a whole page.
    page.locator("form[action='/clock_settings/setup/test']").evaluate("form => form.submit()")
    on = page.get_by_role("link", name="Continue to the first sync")
    expect(on).to_be_visible()
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(on).not_to_be_focused()
