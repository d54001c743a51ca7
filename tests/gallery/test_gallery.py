"""The components, rendered strictly and looked at in a browser: no violation, nothing sticks out, everything reacts."""

import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import product

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looking import violations_apart_from_shell
from tests.chromium import COLOURS, SIZES, chromium, settle, sticks_out, violations, watched
from tests.gallery.site import FRAGMENTS, PAGES, fragment, render, serve

FORBIDDEN = re.compile(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:")
LOOKS = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 760}, "color_scheme": "light"},
    "wide": {"viewport": {"width": 1920, "height": 1080}, "color_scheme": "dark"},
}
_SLIDING = """[...document.querySelectorAll('.table-scroll, .bars, .day-bars, .plot')]
  .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""
# In this order, each page being loaded once: the first by every rule.
CHECKED = {"light": None, "phone": SIZES, "dark": COLOURS, "wide": []}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_renders_strictly_and_without_inline_script_or_style(name: str) -> None:
    html = render(f"/{name}")
    assert "<h1>" in html
    assert FORBIDDEN.search(html) is None


def test_fragments_render_strictly_and_escape_names() -> None:
    for call in FRAGMENTS.values():
        assert FORBIDDEN.search(fragment(call)) is None
    assert "O&#39;Neill &lt;b&gt;Sam&lt;/b&gt;" in fragment(FRAGMENTS["people"])


def test_a_drawer_is_the_block_alone() -> None:
    html = render("/why", block="drawer")
    assert "Double tap" in html
    assert "<html" not in html


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    server = serve()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, base: str) -> Iterator[Page]:
    with look("light", browser, base) as opened:
        yield opened


def look(name: str, browser: Browser, base: str) -> AbstractContextManager[Page]:
    return watched(browser.new_context(base_url=base, reduced_motion="reduce", **LOOKS[name]))  # type: ignore[arg-type]


@pytest.mark.browser
def test_every_page_is_accessible_fits_and_keeps_the_policy_in_every_look(page: Page) -> None:
    # Dark differs from light in colours alone, the phone in size; the widest look shares its colours with dark.
    for address, (name, rules) in product(PAGES, CHECKED.items()):
        if name == "light":
            page.goto(f"/{address}")
        turn_to(page, name)
        found = violations if address == PAGES[0] else violations_apart_from_shell
        assert rules == [] or found(page, rules) == [], (address, name)
        assert not sticks_out(page), f"{address} is too wide in the {name} look"


def turn_to(page: Page, name: str) -> None:
    """The page as it stands, in another size and theme."""
    page.set_viewport_size(LOOKS[name]["viewport"])  # type: ignore[arg-type]
    page.emulate_media(color_scheme=LOOKS[name]["color_scheme"])  # type: ignore[arg-type]
    settle(page, LOOKS[name]["color_scheme"])  # type: ignore[arg-type]


@pytest.mark.browser
def test_a_selection_is_counted_and_the_whole_filter_can_be_taken(page: Page) -> None:
    page.goto("/list")
    boxes = page.locator("[data-bulk-item]")
    boxes.nth(1).check()
    boxes.nth(4).click(modifiers=["Shift"])
    assert page.locator("[data-bulk-count]").inner_text() == "4 selected, or"
    page.locator(".bulk-all input").check()
    assert page.locator("tr.is-selected").count() == 24
    page.get_by_role("button", name="Ignore…").click()
    page.get_by_role("heading", name="Ignore 1,397 people?").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H2"
    page.keyboard.press("Escape")
    assert page.locator("#dialog-box[open]").count() == 0


@pytest.mark.browser
def test_a_bulk_act_of_a_menu_opens_in_the_bar_and_leaves_the_menu_closed_behind_its_question(page: Page) -> None:
    page.set_viewport_size(LOOKS["phone"]["viewport"])  # type: ignore[arg-type]
    page.goto("/list")
    page.locator("[data-bulk-item]").first.check()
    menu = page.locator(".bulk summary", has_text="Site")
    menu.press("Enter")
    assert violations(page) == []
    assert not sticks_out(page)
    act = page.get_by_role("button", name="Mill…")
    expect(act).to_be_in_viewport(ratio=1)
    with page.expect_request("**/bulk?**") as sent:
        act.press("Enter")
    assert "action=site_mill" in (sent.value.post_data or "")
    page.get_by_role("heading", name="Ignore 1,397 people?").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#dialog-box[open], details.menu[open]").count() == 0
    expect(menu).to_be_focused()


@pytest.mark.browser
def test_a_filter_sends_itself_keeps_the_cursor_and_leaves_empty_values_out_of_the_address(page: Page) -> None:
    page.goto("/list")
    page.get_by_label("Code or name").fill("ana")
    page.wait_for_url("**/list?q=ana&state=conflict&from=2026-11-01&sort=-waiting&per_page=50")
    assert page.evaluate("document.activeElement.name") == "q"


@pytest.mark.browser
def test_sorting_replaces_the_rows_and_the_address(page: Page) -> None:
    page.goto("/list")
    page.evaluate("window.sameDocument = true")
    page.locator(".sort", has_text="Name").click()
    page.wait_for_url("**/list?sort=name&per_page=50")
    assert page.evaluate("window.sameDocument")


@pytest.mark.browser
def test_the_drawer_takes_focus_and_gives_it_back(page: Page) -> None:
    page.goto("/list")
    page.get_by_role("link", name="1000", exact=True).click()
    page.get_by_role("heading", name="Why? Double tap").wait_for()
    page.wait_for_function("document.activeElement.tagName === 'H2'")
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "1000"


@pytest.mark.browser
def test_the_combobox_sends_the_number_of_whom_was_chosen_and_unsaved_work_is_guarded(page: Page) -> None:
    page.goto("/list")
    page.get_by_role("link", name="Bind", exact=True).first.click()
    search = page.locator("#drawer").get_by_role("combobox")
    search.fill("b")
    page.get_by_role("option", name="Björk").wait_for()
    search.press("ArrowDown")
    search.press("Enter")
    assert page.locator("#drawer input[name=host_employee_id]").input_value() == "1"
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.keyboard.press("Escape")
    assert asked == ["Leave without saving what you changed?"]
    assert page.locator("#drawer-box[open]").count() == 1


@pytest.mark.browser
def test_the_palette_opens_by_key_and_goes_where_the_arrows_chose(page: Page) -> None:
    page.goto("/visuals")
    page.keyboard.press("Control+k")
    page.locator('.palette-item[aria-selected="true"]').wait_for()
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/list")


@pytest.mark.browser
def test_the_theme_is_remembered(page: Page) -> None:
    page.goto("/list")
    page.locator("[data-theme-menu] summary").click()
    page.get_by_role("button", name="Dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "dark"


@pytest.mark.browser
def test_who_wants_no_motion_gets_a_changed_theme_at_once(page: Page) -> None:
    page.goto("/list")
    moving = page.evaluate("document.documentElement.dataset.bsTheme = 'dark', document.getAnimations().length")
    assert moving == 0, "every element fades by itself, which keeps a core busy for seconds"


@pytest.mark.browser
def test_a_table_stands_below_each_chart_and_opens_by_key(page: Page) -> None:
    page.goto("/charts")
    assert page.locator("figure.plot details.chart-table:not([open])").count() == 5
    opens = page.locator("figure.plot summary").first
    opens.press("Enter")
    assert page.locator("figure.plot table").first.is_visible()


@pytest.mark.browser
def test_no_chart_and_no_table_of_one_slides_at_any_width_and_every_day_is_wide_enough_to_press(page: Page) -> None:
    page.goto("/charts")
    page.evaluate("for (const one of document.querySelectorAll('details.chart-table')) one.open = true")
    for width in (320, 360, 577, 768, 992, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert not sticks_out(page), width
        assert page.evaluate(_SLIDING) == [], width
        assert page.locator(".day-row a").evaluate_all("days => Math.min(...days.map(one => one.offsetWidth))") >= 24


@pytest.mark.browser
def test_without_script_the_menu_opens_the_filters_send_and_a_chart_is_drawn(browser: Browser, base: str) -> None:
    context = browser.new_context(base_url=base, java_script_enabled=False, **LOOKS["phone"])  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/list")
    page.get_by_role("button", name="Menu").click()
    assert page.get_by_role("link", name="Sync Center").is_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Code or name").fill("ana")
    page.get_by_role("button", name="Filter", exact=True).click()
    assert "q=ana" in page.url
    page.goto("/charts")
    assert page.locator(".plot-area").first.is_visible()
    assert page.locator(".plot-area path").first.bounding_box() is not None
    page.goto("/forms")
    assert page.locator("input[name=host_employee_id]").is_visible()
    context.close()
