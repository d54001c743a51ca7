"""Nothing hides what a person works with: neither the heads of a list what the keys lead to,
nor a message what is pressed next."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SignedIn

pytestmark = pytest.mark.browser

STEPS = 40
# How far a focused link or field of a row begins above the lower edge of the columns' heads; None outside of the rows.
_UNDER_THE_HEADS = """() => {
  const one = document.activeElement;
  if (!one.closest('tbody')) return null;
  return Math.round(document.querySelector('.list thead th').getBoundingClientRect().bottom - one.getBoundingClientRect().top);
}"""
# How much less room a field has than it would take by itself.
_CUT_OFF = """one => {
  const room = one.offsetWidth;
  one.style.flex = 'none';
  return one.offsetWidth - room;
}"""
_COVERED = """one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [2, height / 2, height - 2].some(down => !one.contains(document.elementFromPoint(x + width / 2, y + down)));
}"""


@pytest.mark.parametrize("address", ["/clock_employees", "/people", "/clock_devices"])
def test_what_one_goes_back_to_by_keyboard_stands_clear_of_the_heads_of_the_list(
    page_of: SignedIn, address: str
) -> None:
    page = page_of("alice", viewport={"width": 1280, "height": 500})
    page.goto(address)
    page.locator(".list tbody a").last.focus()
    under = [step for _ in range(STEPS) if (step := _back(page)) is not None]
    assert len(under) >= STEPS / 2
    assert max(under) <= 0


def _back(page: Page) -> int | None:
    page.keyboard.press("Shift+Tab")
    found: int | None = page.evaluate(_UNDER_THE_HEADS)
    return found


def test_a_name_of_two_lines_beside_its_bar_can_be_pressed_between_them(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock")
    name = page.locator("[aria-labelledby=h-person] tbody th a").first
    name.evaluate("one => { one.textContent = 'A long name of an outcome, in several lines'; }")
    box = name.bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 4
    places = [[middle, box["y"] + down] for down in range(2, int(box["height"]) - 1)]
    missed = name.evaluate("(one, all) => all.filter(([x, y]) => document.elementFromPoint(x, y) !== one)", places)
    assert missed == []


@pytest.mark.parametrize("height", [480, 560, 640, 760])
def test_on_a_phone_a_message_covers_nothing_that_one_cannot_scroll_clear_of_it(page_of: SignedIn, height: int) -> None:
    page = page_of("alice", viewport={"width": 360, "height": height})
    page.goto("/account/tokens/new")
    page.get_by_role("textbox", name="Name").fill("Payroll")
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Make the token").click()
    expect(page).to_have_url(re.compile("/account/tokens/made$"))
    message = page.locator("#flashes [data-toast]")
    expect(message).to_be_visible()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert not page.get_by_role("link", name="Done").evaluate(_COVERED)
    assert page.get_by_role("link", name="Done").is_visible()
    expect(message).to_be_in_viewport()


@pytest.mark.parametrize("width", [320, 360, 700])
@pytest.mark.parametrize("address", ["/clock_employees?state=bound&q=a", "/attendance", "/problems", "/surveys/list"])
def test_on_a_phone_the_filters_open_below_their_button_and_nothing_above_moves(
    page_of: SignedIn, width: int, address: str
) -> None:
    page = page_of("alice", viewport={"width": width, "height": 640})
    page.goto(address)
    button, menus = page.locator(".filter-fold > summary"), page.locator(".list-menus")
    before = button.bounding_box(), menus.bounding_box()
    button.click()
    expect(page.locator(".filter-rest")).to_be_visible()
    assert (button.bounding_box(), menus.bounding_box()) == before
    assert before[0]
    assert before[1]
    rest = page.locator(".filter-rest").bounding_box()
    assert rest
    assert rest["y"] >= before[0]["y"] + before[0]["height"]
    assert rest["y"] >= before[1]["y"] + before[1]["height"]
    button.click()
    assert button.bounding_box() == before[0]


@pytest.mark.parametrize("width", [320, 360])
def test_on_a_phone_dates_of_a_filter_are_shown_whole(page_of: SignedIn, width: int) -> None:
    page = page_of("alice", viewport={"width": width, "height": 640})
    page.goto("/clock_transactions")
    page.locator(".filter-fold > summary").click()
    dates = page.locator(".filter-range input[type=date]")
    expect(dates).to_have_count(2)
    for one in dates.all():
        assert one.evaluate(_CUT_OFF) <= 0


def test_a_message_on_the_page_of_a_person_stands_above_its_buttons(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 1440, "height": 700})
    page.goto("/people")
    page.locator("tbody a[data-drawer]").first.click()
    page.goto(page.locator("#drawer-box .drawer-open").get_attribute("href") or "")
    page.get_by_role("link", name="Edit", exact=True).click()
    page.locator("#drawer-box").get_by_role("button", name="Save", exact=True).click()
    message = page.locator("#flashes [data-toast]")
    expect(message).to_be_visible()
    for height in (0, 10_000):
        page.evaluate("height => scrollTo(0, height)", height)
        page.evaluate("new Promise(requestAnimationFrame)")
        foot, said = page.locator("main .drawer-foot").bounding_box(), message.bounding_box()
        assert foot
        assert said
        assert said["y"] + said["height"] <= foot["y"], height


def test_on_a_phone_the_question_before_other_import_rules_shows_its_numbers_whole(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 360, "height": 740})
    page.goto("/clock_settings")
    page.get_by_label("Default direction of a terminal").select_option("undirected")
    page.get_by_role("button", name="Save import rules").click()
    table = page.get_by_role("region", name="What would change")
    expect(table).to_be_visible()
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
