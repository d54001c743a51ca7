"""Every page of the portal, as people meet it: usable with assistive technology, nothing sticks out,
the console is silent."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from app.main import build_site
from tests.browser.colours import Known
from tests.browser.conftest import Portal, SignedIn, submit_sign_in
from tests.browser.each_look import (
    LONG,
    NEXT_FRAME,
    PHONE,
    SHORTEN,
    SLIDES,
    WITHOUT_SHADOWS,
    looked_at,
    looked_at_whole,
)
from tests.browser.looking import turn_dark, violations_apart_from_shell
from tests.browser.seldom import seldom
from tests.browser.walking import walk
from tests.chromium import COLOURS, sticks_out, violations
from tests.web.transport.test_needed import without_rules

LAPTOP = {"width": 1280, "height": 800}
# Answers that are not looked at as a page: parts of one, pictures, streams, programs' addresses.
_PARTS = re.compile(
    r"^/(api|v1|health|metrics|ping|static)\b|/(options|hosts|photo|icon|schedule|live|now|rejudging|first_run)\b|/people/accounts$|/view/[^/]+/people$"
    r"|^/surveys/file/|/download$"
)
# Pages for who is not signed in, or that need what this portal does not hold (a token, a role of its own): the same
# forms, lists and confirmations as others here.
_NEEDS_MORE = (
    "/sign-in",
    "/welcome/{secret:str}",
    "/mail/unsubscribe/{token:str}",
    "/admin/roles/{role_id:int}/remove",
    "/admin/tenants/{key:str}/administrator/{user_id:int}",
    "/account/tokens/{token_id:int}/revoke",
    "/admin/tokens/{token_id:int}/revoke",
    # test_passkeys looks at them
    "/account/passkeys/{passkey_id:int}/rename",
    "/account/passkeys/{passkey_id:int}/remove",
    # shown once, and alike; test_shown_once looks at some
    "/webhooks/{webhook_id:int}/secret",
    "/account/tokens/made",
    "/account/second-factor/recovery/made",
    "/admin/tokens/made",
    "/admin/backups/address/made",
    "/admin/users/{user_id:int}/link/made",
    "/admin/tenants/{key:str}/administrator/{user_id:int}/made",
    # test_survey_prompt looks at the same card and page; here no survey asks an administrator
    "/me/questions/{uid:str}",
)
# A list whose rows had to become cards since its table is too wide.
_GIVES_WAY = "document.querySelector('.list .table-scroll.is-narrow') !== null"
# A choice of a row as wide as its longest word would have it, beside what it has.
_CUT = """[...document.querySelectorAll('.list tbody select')].filter(one => {
  const given = one.offsetWidth;
  one.style.setProperty('flex', 'none', 'important');
  one.style.setProperty('width', 'max-content', 'important');
  const wanted = one.offsetWidth;
  one.removeAttribute('style');
  return wanted > given;
}).map(one => one.name)"""
# What people and servers name at will, in the lists that a laptop shows whole beside the menu.
_NAMES = {
    "/attendance": ("Person",),
    "/clock_employees": ("Code", "Name", "Department", "Host employee"),
    "/clock_transactions": ("Employee", "Code", "Terminal"),
    "/clock_devices": ("Terminal", "Area"),
    "/clock_logs": ("Path",),
    "/clock_sync": (),
    "/surveys/list": ("Title", "Audience"),
    "/surveys/responses": ("Who", "Survey", "Answers"),
    "/people": ("Name", "ID number", "Department", "Position"),
}
_LENGTHEN_CELLS = f"""names => {{
  const heads = [...document.querySelectorAll('.list thead th')].map(head => head.innerText.trim());
  const cells = names.map(name => document.querySelector(`.list tbody td:nth-child(${{heads.indexOf(name) + 1}})`)).filter(Boolean);
  for (const cell of cells) (cell.querySelector('a, span') ?? cell).textContent = '{LONG}';
  return cells.length;
}}"""
_CLASSES = "[...document.querySelectorAll('[class]')].flatMap(one => [...one.classList])"
# The page of a menu in other states than those it opens with.
_OTHER_STATES = "/clock_transactions?outcome=imported"

pytestmark = pytest.mark.browser


@pytest.fixture
def rare(portal: Portal) -> Iterator[list[str]]:
    with seldom(portal.database_url) as addresses:
        yield addresses


def test_every_page_that_an_administrator_can_reach_is_accessible_in_each_look_and_fits_each_width(
    page_of: SignedIn, rare: list[str]
) -> None:
    page, faults, seen, known = page_of("alice", color_scheme="light"), [], [], Known()
    had: set[str] = set()
    page.goto("/surveys/list")
    survey = page.locator("a[href*='/surveys/view/']").first.get_attribute("href")
    page.goto("/admin/users?q=bob")
    # One's own page has no link for a new password.
    bob = page.locator("main a[href*='/admin/users/']").first.get_attribute("href")
    for address in walk(
        page,
        "/clock",
        "/clock_settings/setup",
        "/sign-in/forgot",
        "/surveys",
        "/survey_prompt",
        f"{survey}/why",
        f"{survey}/comments",
        f"{survey}/versions",
        f"{bob}/link",
        *rare,
    ):
        page.evaluate(SHORTEN)
        page.evaluate(WITHOUT_SHADOWS)
        faults += [f"{address}: {fault}" for fault in (looked_at(page, known) if seen else looked_at_whole(page))]
        seen.append(urlsplit(address).path)
        had.update(page.evaluate(_CLASSES))
    page.goto(_OTHER_STATES)
    page.evaluate(SHORTEN)
    page.evaluate(WITHOUT_SHADOWS)
    turn_dark(page)
    faults += [f"{_OTHER_STATES} in the dark: {fault}" for fault in violations_apart_from_shell(page, COLOURS)]
    assert faults == []
    missing = [route for route, pattern in _pages() if not any(pattern.fullmatch(path) for path in seen)]
    assert missing == [], "no link led there"
    assert without_rules(had) == set(), "app/web/transport/needed.py leaves them out"


def _pages() -> Iterator[tuple[str, re.Pattern[str]]]:
    for route in build_site().routes:
        if "GET" in getattr(route, "methods", ()) and not _PARTS.search(route.path) and route.path not in _NEEDS_MORE:
            yield route.path, re.compile(re.sub(r"\{[^}]*\}", "[^/]+", route.path))


def test_a_laptop_shows_every_column_of_the_lists_however_long_a_word_is(page_of: SignedIn) -> None:
    page, faults = page_of("alice", viewport=LAPTOP), []
    for address, cells in _NAMES.items():
        page.goto(address)
        page.evaluate(SHORTEN)
        if page.evaluate(SLIDES) or page.evaluate(_GIVES_WAY):
            faults.append(f"{address} is wider than its place")
        faults += [f"{address} cuts the words of {name}" for name in dict.fromkeys(page.evaluate(_CUT))]
        if page.evaluate(_LENGTHEN_CELLS, list(cells)) < len(cells):
            faults.append(f"{address} lacks one of {cells}")
        page.evaluate(NEXT_FRAME)
        if page.evaluate(SLIDES) or page.evaluate(_GIVES_WAY):
            faults.append(f"{address} is widened by a long word")
    assert faults == []


def test_on_a_phone_a_row_says_what_its_values_are_and_can_be_selected(page_of: SignedIn) -> None:
    page = page_of("alice", viewport=PHONE)
    page.goto("/people")
    card = page.locator("#people tbody tr").first
    assert card.locator("[data-title] a").count() == 1
    labels = card.locator("td[data-label]").evaluate_all("cells => cells.map(cell => cell.dataset.label)")
    heads = page.locator("#people thead th[scope=col]").all_inner_texts()
    assert labels == [head.strip() for head in heads[2:]]
    card.get_by_role("checkbox").check()
    assert page.locator("#people form[data-bulk]").is_visible()
    page.goto("/surveys/list")
    page.locator("#surveys tbody tr").first.get_by_role("button").click()
    assert page.locator("#surveys .row-menu:popover-open").is_visible()


def test_on_a_phone_the_hours_of_the_week_go_down_and_every_cell_stands_at_its_day_and_hour(page_of: SignedIn) -> None:
    page = page_of("alice", viewport=PHONE)
    page.goto("/clock_analytics")
    week = page.get_by_role("table", name="Punches by weekday and hour")
    assert week.evaluate("one => one.parentElement.scrollWidth <= one.parentElement.clientWidth")
    heads, hours = week.locator("tbody th"), week.locator("thead th")
    assert heads.all_inner_texts() == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    cell = week.get_by_title("Wednesday 08–09 h").bounding_box()
    day, hour = heads.nth(2).bounding_box(), hours.nth(8).bounding_box()
    assert cell is not None
    assert day is not None
    assert hour is not None
    assert cell["x"] + cell["width"] / 2 == pytest.approx(day["x"] + day["width"] / 2, abs=1)
    assert cell["y"] + cell["height"] / 2 == pytest.approx(hour["y"] + hour["height"] / 2, abs=1)


def test_an_empty_workspace_says_what_to_do_next_on_every_page_of_the_menu(page_of: SignedIn) -> None:
    page, faults, silent = page_of("eve"), [], []
    for number, address in enumerate(_menu(page)):
        page.goto(address)
        look = violations_apart_from_shell if number else violations
        faults += [f"{address}: {fault}" for fault in look(page)]
        if page.locator(".list").count() and not page.locator(".list tbody tr, .list .empty-subtitle").count():
            silent.append(address)
    assert faults == []
    assert silent == []


def _menu(page: Page) -> list[str]:
    page.goto("/")
    return [str(link.get_attribute("href")) for link in page.locator("#menu .shell-menu a").all()]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_signing_in_wrongly_is_told_at_the_field(page_of: SignedIn, look: str) -> None:
    page = page_of("", color_scheme=look, viewport=PHONE)
    submit_sign_in(page, "alice", "not the password")
    page.locator(".error-summary").first.wait_for()
    assert page.get_by_label("E-mail").input_value() == "alice@example.org"
    assert violations(page) == []
    assert not sticks_out(page)


@pytest.mark.parametrize(
    ("who", "address", "status"),
    [
        ("vera", "/admin/users", 403),
        ("bob", "/clock_employees/999999", 404),
        ("bob", "/nowhere", 404),
        ("", "/nowhere", 404),
    ],
)
def test_what_is_refused_or_missing_is_a_page_with_a_way_on(
    page_of: SignedIn, who: str, address: str, status: int
) -> None:
    page = page_of(who)
    answer = page.goto(address)
    assert answer
    assert answer.status == status
    assert page.get_by_role("main").get_by_role("link").count() > 0
    assert violations(page) == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert not sticks_out(page)
