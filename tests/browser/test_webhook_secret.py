"""The secret of a webhook: seen once, by whom it was made for, in every look; loading its page again makes nothing."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESK, Portal, SignedIn
from tests.browser.looking import turn_dark
from tests.chromium import COLOURS, SIZES, sticks_out, violations

PHONE = {"width": 360, "height": 760}

pytestmark = pytest.mark.browser


def test_a_new_secret_is_shown_once_and_its_page_is_accessible_in_each_look(page_of: SignedIn, portal: Portal) -> None:
    page = page_of("alice")
    page.goto("/webhooks/new")
    page.get_by_label("Address").fill(f"{portal.clock_url}/{'a' * 120}")
    page.get_by_role("checkbox", name="rating.recorded").check()
    page.get_by_role("button", name="Add the webhook").click()
    expect(page).to_have_url(re.compile(r"/webhooks/\d+/secret$"))
    expect(page.get_by_text(re.compile("^whsec_"))).to_be_visible()
    assert violations(page) == []
    turn_dark(page)
    assert violations(page, COLOURS) == []
    for size in (PHONE, DESK):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        assert violations(page, SIZES) == []
        assert not sticks_out(page)
    page.reload()
    expect(page).to_have_url(re.compile(r"/webhooks/\d+$"))
    assert "whsec_" not in page.content()
