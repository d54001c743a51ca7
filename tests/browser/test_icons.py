"""Icons come from one picture: fetched once, drawn wherever one stands, in the colour of the words beside them."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser

_SPRITE = """() => performance.getEntriesByType('resource').filter(one => /\\/icons\\.[0-9a-f]{12}\\.svg(#|$)/.test(one.name))
  .map(one => one.transferSize).reduce((all, size) => [...all ?? [], size], null)"""
# An icon that is not drawn has no size, though its frame has one. One that is hidden has none either.
_ALL_DRAWN = """() => [...document.querySelectorAll('svg.icon')].filter(one => one.checkVisibility())
  .every(one => one.querySelector('use').getBBox().width > 0)"""


def test_icons_are_fetched_once(page_of: SignedIn) -> None:
    page = page_of("alice")
    fetched = []
    for address in ("/people", "/clock_transactions"):
        page.goto(address)
        page.wait_for_function(_ALL_DRAWN)
        # The browser notes what it fetched a moment after it has it.
        sizes = page.wait_for_function(_SPRITE).json_value()
        fetched.append([size > 0 for size in sizes])
    assert fetched == [[True], [False]]


def test_what_comes_later_is_drawn_too_and_so_is_paper(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/people")
    page.locator("#people tbody a").first.click()
    page.locator("#drawer-box[open] .icon").first.wait_for()
    for media in ("screen", "print"):
        page.emulate_media(media=media)  # type: ignore[arg-type]
        page.wait_for_function(_ALL_DRAWN)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_icon_has_the_colour_of_its_words(page_of: SignedIn, theme: str) -> None:
    page = page_of("alice", color_scheme=theme)
    page.goto("/people")
    for words in ("#menu [aria-current]", "#main .btn-primary"):
        assert _colour(page, f"{words} .icon", "stroke") == _colour(page, words, "color")
        assert _colour(page, f"{words} .icon", "fill") == "none"


def _colour(page: Page, part: str, name: str) -> str:
    return str(page.locator(part).first.evaluate(f"one => getComputedStyle(one).{name}"))
