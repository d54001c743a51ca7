"""What a screen reader is given to say: how a test ends, when a text passes its limit, which section one is in; and
nothing twice."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import asking
from tests.browser.asking import REQUIRED, WHY
from tests.browser.conftest import Portal, SignedIn

LONGEST = 5000
# What comes into a live region is read aloud, unless it comes into a part of it that is not live.
LISTEN = """region => {
  window.heard = [];
  new MutationObserver((changes) => {
    for (const change of changes) {
      const place = change.target.nodeType === Node.ELEMENT_NODE ? change.target : change.target.parentElement;
      if (place.closest("[aria-live]") !== region) continue;
      for (const added of change.addedNodes) {
        const parts = added.nodeType === Node.ELEMENT_NODE ? [added, ...added.querySelectorAll("*")] : [];
        for (const part of parts) {
          const own = [...part.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE).map((one) => one.data.trim()).join("");
          if (own && part.closest("[aria-live]") === region) window.heard.push(own);
        }
      }
    }
  }).observe(region, { childList: true, subtree: true, characterData: true });
}"""

pytestmark = pytest.mark.browser


@pytest.fixture
def ask(portal: Portal) -> Iterator[Callable[..., None]]:
    yield lambda *several: asking.ask(portal.database_url, *several)
    asking.archive_all(portal.database_url)


def test_of_a_test_of_the_connection_one_hears_that_it_runs_and_how_it_ends(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    page.locator("#test-steps").evaluate(LISTEN)
    page.get_by_role("button", name="Test the connection").click()
    expect(page.locator("#test-steps .alert-success")).to_be_visible()
    assert page.evaluate("window.heard") == ["Testing… a slow server may take a minute.", "The connection works."]


def test_the_menu_says_in_which_section_of_the_page_one_is(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    menu = page.get_by_role("navigation", name="Sections of this page")
    menu.get_by_role("link", name="Warnings").click()
    expect(menu.locator("[aria-current=location]")).to_have_text(["Warnings"])


def test_a_note_of_the_page_is_not_read_again_as_a_box_closes(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    health = page.locator("#health .alert")
    expect(health).to_have_attribute("role", "status")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette-box")).not_to_be_visible()
    expect(health).not_to_have_attribute("role", "status")


def test_a_text_that_comes_to_its_limit_and_passes_it_is_said_once_each(
    ask: Callable[..., None], page_of: SignedIn
) -> None:
    ask({"title": "Lunch", "questions": [WHY], **REQUIRED})
    page: Page = page_of("nora")
    page.goto("/palette")
    field = page.get_by_label("Why?")
    said = page.locator(".field-counter").get_by_role("status")
    expect(field).to_have_accessible_description("0 of 5,000")
    for number, words in ((3, ""), (4800, "4,800 of 5,000"), (4810, "4,800 of 5,000"), (5001, "5,001 of 5,000")):
        field.fill("x" * number)
        expect(page.locator(".field-counter > span").first).to_have_text(f"{number:,} of {LONGEST:,}")
        expect(said).to_have_text(words)
        # Else it is read with each letter.
        expect(field).to_have_accessible_description("0 of 5,000")
    field.blur()
    expect(field).to_have_accessible_description("5,001 of 5,000")


def test_the_words_of_a_link_to_the_help_are_apart(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings")
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = {node["nodeId"]: node for node in tree}

    def text(node: dict[str, Any]) -> str:
        if node["role"]["value"] == "StaticText":
            return str(node["name"]["value"])
        return "".join(text(nodes[one]) for one in node["childIds"])

    texts = [text(node) for node in tree if node["role"]["value"] == "link"]
    assert "More about the address (opens in a new tab)" in texts
