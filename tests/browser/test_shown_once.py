"""Pages that show a secret once: accessible in every look, also with long names;
loading one again makes nothing and shows nothing."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK, Portal, SignedIn
from tests.browser.looking import turn_dark
from tests.chromium import COLOURS, SIZES, sticks_out, violations

PHONE = {"width": 360, "height": 760}
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"

pytestmark = pytest.mark.browser


def webhook(page: Page, portal: Portal) -> None:
    page.goto("/webhooks/new")
    page.get_by_label("Address").fill(f"{portal.clock_url}/{'a' * 120}")
    page.get_by_role("checkbox", name="rating.recorded").check()
    page.get_by_role("button", name="Add the webhook").click()


def token(page: Page, _: Portal) -> None:
    page.goto("/account/tokens/new")
    page.get_by_role("textbox", name="Name").fill(LONG)
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Make the token").click()


# What is made, the address of the page that follows, what the secret looks like,
# and where loading that page again leads.
MADE: dict[str, tuple[Callable[[Page, Portal], None], str, str, str]] = {
    "a webhook": (webhook, r"/webhooks/\d+/secret$", "^whsec_", r"/webhooks/\d+$"),
    "a token": (token, "/account/tokens/made$", "^muster_", "/account$"),
}


@pytest.mark.parametrize("made", MADE)
def test_a_secret_is_shown_once_on_a_page_that_is_accessible_in_each_look(
    page_of: SignedIn, portal: Portal, made: str
) -> None:
    make, address, secret, home = MADE[made]
    page = page_of("alice")
    make(page, portal)
    expect(page).to_have_url(re.compile(address))
    shown = page.get_by_text(re.compile(secret))
    expect(shown).to_be_visible()
    text = shown.inner_text()
    assert violations(page) == []
    turn_dark(page)
    assert violations(page, COLOURS) == []
    for size in (PHONE, DESK):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        assert violations(page, SIZES) == []
        assert not sticks_out(page)
    page.reload()
    expect(page).to_have_url(re.compile(home))
    assert text not in page.content()


def test_a_copied_secret_is_said_aloud(page_of: SignedIn, portal: Portal) -> None:
    page = page_of("alice")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    token(page, portal)
    text = page.get_by_text(re.compile("^muster_")).inner_text()
    copy = page.get_by_role("button", name="Copy the token")
    copy.click()
    expect(page.locator(".copyable [aria-live]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == text
    expect(copy).to_be_focused()
