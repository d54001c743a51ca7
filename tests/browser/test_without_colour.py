"""What a colour says is said without it too: with the reader's own colours (forced colours) and on paper."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn
from tests.browser.looking import turn_dark, turn_light
from tests.chromium import violations

pytestmark = pytest.mark.browser

_FORCED = {"forced_colors": "active"}
_PAPER = {"media": "print"}
_NO_HATCH = "none"
# How a legend and the bars say each tone: the colour, whether a browser may take it away, and the hatch.
_SWATCHES = """parts => parts.map(one => {
  const look = getComputedStyle(one);
  return [one.dataset.tone, look.backgroundColor, look.forcedColorAdjust, look.printColorAdjust, look.maskImage];
})"""
_BARS = "parts => parts.map(one => [one.dataset.tone, getComputedStyle(one).fill, getComputedStyle(one).maskImage])"
_LINE = "one => getComputedStyle(one).borderTopStyle"


@pytest.mark.parametrize("media", [_FORCED, _PAPER], ids=["forced", "paper"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_legend_keeps_the_colours_of_its_bars_and_each_has_a_hatch_of_its_own(
    page_of: SignedIn, media: dict[str, Any], theme: str
) -> None:
    page = page_of("alice", color_scheme=theme)
    page.emulate_media(**media)
    page.goto("/clock")
    legend = page.locator(".day-bars .swatch").evaluate_all(_SWATCHES)
    assert len({hatch for *_, hatch in legend}) == len(legend) == 4
    assert {(forced, paper) for _, _, forced, paper, _ in legend} == {("none", "exact")}
    bars = page.locator(".day-bars .bar-part").evaluate_all(_BARS)
    assert {tuple(bar) for bar in bars} <= {(tone, colour, hatch) for tone, colour, _, _, hatch in legend}
    assert len({tone for tone, *_ in bars}) > 1


def test_where_there_are_colours_nothing_is_hatched(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock")
    assert {hatch for *_, hatch in page.locator(".day-bars .swatch").evaluate_all(_SWATCHES)} == {_NO_HATCH}


@pytest.mark.parametrize("media", [_FORCED, _PAPER], ids=["forced", "paper"])
def test_a_badge_says_by_its_edge_what_waits_and_what_broke(page_of: SignedIn, media: dict[str, Any]) -> None:
    page = page_of("alice")
    page.emulate_media(**media)
    page.goto("/people")
    badge = page.locator("#people tbody .badge").first
    edges = {}
    for state in ("active", "not_found", "conflict", "failed", "ignored"):
        badge.evaluate("(one, state) => { one.dataset.state = state; }", state)
        edges[state] = badge.evaluate(_LINE)
    assert edges == {
        "active": "solid", "not_found": "dashed", "conflict": "dashed", "failed": "double", "ignored": "dotted",
    }  # fmt: skip


def test_what_is_chosen_shows_in_forced_colours(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.emulate_media(**_FORCED)
    page.goto("/people")
    box = page.locator("#people tbody [data-bulk-item]").first
    box.check()
    assert box.evaluate("one => getComputedStyle(one).appearance") == "auto"
    assert _outlined(page, "#people tr.is-selected")
    assert _outlined(page, "#menu [aria-current]")
    assert not _outlined(page, "#menu a:not([aria-current])")
    page.keyboard.press("Control+k")
    page.locator('.palette-item[aria-selected="true"]').wait_for()
    assert _outlined(page, '.palette-item[aria-selected="true"]')


def _outlined(page: Page, part: str) -> bool:
    return page.locator(part).first.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_the_theme_menu_is_read_in_both_themes(page_of: SignedIn) -> None:
    page = page_of("", color_scheme="light")
    page.goto("/sign-in")
    menu = page.get_by_role("group", name="Theme")
    page.locator("[data-theme-menu] summary").click()
    expect(menu).to_be_visible()
    for turn in (turn_light, turn_dark):
        turn(page)
        assert violations(page, ["color-contrast"]) == []
