"""The API reference in a browser: a GET is tried with a token, and the page reads well without script."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.chromium import sticks_out, violations

pytestmark = pytest.mark.browser
COUNT = "/v1/api/me/surveys/count"


def test_a_get_is_tried_with_a_token_that_stays_in_the_page(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/account/tokens/new")
    page.get_by_role("textbox", name="Name").fill("To try the reference")
    page.locator("input[name=scopes][value=me]").check()
    page.get_by_role("button", name="Make").click()
    token = page.locator(".copyable code, [data-secret]").first.inner_text()
    page.goto("/help/api/end-user")
    asked = page.locator(f'[data-api-try="{COUNT}"]')
    page.get_by_label("Token for trying a GET").fill(token)
    asked.get_by_role("button", name="Try it").click()
    expect(asked.locator("[data-status]")).to_contain_text("200")
    expect(asked.locator("[data-body]")).to_contain_text('"required"')
    assert violations(page) == []
    page.reload()
    assert page.get_by_label("Token for trying a GET").input_value() == ""


def test_it_fits_a_phone_and_needs_no_script(page_of: SignedIn) -> None:
    page = page_of("alice", java_script_enabled=False, viewport={"width": 360, "height": 800})
    page.goto("/help/api/integration")
    expect(page.get_by_role("button", name="Try it")).to_have_count(0)
    expect(page.get_by_role("heading", name="GET /api/v1/clock/transactions")).to_be_visible()
    wide = page_of("alice", viewport={"width": 360, "height": 800})
    wide.goto("/help/api/integration")
    assert not sticks_out(wide)
    assert violations(wide) == []
