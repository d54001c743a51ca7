"""Every page of the portal, as people meet it: usable with assistive technology, nothing sticks out, the console is silent."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from app.main import build_site
from tests.browser.conftest import DESK, Portal, SignedIn, submit_sign_in
from tests.browser.looking import turn_dark, turn_light, violations_apart_from_shell
from tests.browser.seldom import seldom
from tests.browser.walking import walk
from tests.chromium import COLOURS, CONTRAST, SIZES, sticks_out, violations

PHONE = {"width": 360, "height": 760}
LAPTOP = {"width": 1280, "height": 800}
WIDE = {"width": 1920, "height": 1080}
# Answers that are not looked at as a page: parts of one, pictures, streams, programs' addresses.
_PARTS = re.compile(
    r"^/(api|v1|health|metrics|ping|static)\b|/(options|hosts|photo|icon|schedule|live|now|rejudging)\b|/view/[^/]+/people$"
    r"|^/surveys/file/|/download$"
)
# Pages for who is not signed in, or that need what this portal does not hold (a token, a role of its own): the same forms, lists and
# confirmations as others here.
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
# Rows are alike: some of them are enough to look at, and hundreds take seconds.
_SHORTEN = "for (const row of document.querySelectorAll('tbody tr:nth-child(n+7)')) row.remove()"
# The shadows at the edges of a table are gradients, before which axe-core measures no contrast. Between them lies this paper.
_WITHOUT_SHADOWS = (
    "for (const one of document.querySelectorAll('.table-scroll')) one.style.background = 'var(--m-paper)'"
)
# What is wider than its frame is scrolled in there: the page itself does not show it.
_SLIDES = """[...document.querySelectorAll('main *')].filter(one =>
  one.clientWidth && one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)
).map(one => one.getAttribute('aria-label') ?? one.className ?? one.tagName).join('; ')"""
# What has a scroll bar beside it for a pixel or two.
_SLIVERS = """[...document.querySelectorAll('main *')].filter(one => {
  const beyond = one.scrollHeight - one.clientHeight;
  return one.clientHeight && beyond > 0 && beyond < 3 && one.offsetWidth - one.clientWidth > 5
    && /auto|scroll/.test(getComputedStyle(one).overflowY);
}).map(one => one.getAttribute('aria-label') ?? one.className ?? one.tagName).join('; ')"""
_SCRIPTLESS = "document.documentElement.classList.toggle('js')"
# The tables of charts are folded away: a person opens them.
_UNFOLD = "for (const one of document.querySelectorAll('details.chart-table')) one.open = true"
# A list whose rows had to become cards since its table is too wide.
_GIVES_WAY = "document.querySelector('.list .table-scroll.is-narrow') !== null"
# From the phone to the laptop: below, at and above each width at which pages change their shape.
_WIDTHS = (320, PHONE["width"], 577, 768, 992, 1280)
_LOOKED_AT = (320, PHONE["width"], 768)
# A choice of a row as wide as its longest word would have it, beside what it has.
_CUT = """[...document.querySelectorAll('.list tbody select')].filter(one => {
  const given = one.offsetWidth;
  one.style.setProperty('flex', 'none', 'important');
  one.style.setProperty('width', 'max-content', 'important');
  const wanted = one.offsetWidth;
  one.removeAttribute('style');
  return wanted > given;
}).map(one => one.name)"""
_LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
_LENGTHEN = (
    f"for (const one of document.querySelectorAll('.list [data-title] a:not(:has(time))')) one.textContent = '{_LONG}'"
)
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
_NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_LENGTHEN_CELLS = f"""names => {{
  const heads = [...document.querySelectorAll('.list thead th')].map(head => head.innerText.trim());
  const cells = names.map(name => document.querySelector(`.list tbody td:nth-child(${{heads.indexOf(name) + 1}})`)).filter(Boolean);
  for (const cell of cells) (cell.querySelector('a, span') ?? cell).textContent = '{_LONG}';
  return cells.length;
}}"""
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
    page, faults, seen = page_of("alice", color_scheme="light"), [], []
    page.goto("/surveys/list")
    survey = page.locator("a[href*='/surveys/view/']").first.get_attribute("href")
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
        *rare,
    ):
        look = violations_apart_from_shell if seen else violations
        page.evaluate(_SHORTEN)
        page.evaluate(_WITHOUT_SHADOWS)
        faults += [f"{address}: {fault}" for fault in _at_a_desk(page, look)]
        faults += [f"{address} in the dark: {fault}" for fault in _in_the_dark(page, look)]
        faults += [f"{address} in forced colours: {fault}" for fault in _in_forced_colours(page, look)]
        faults += [f"{address}: {fault}" for fault in _at_each_width(page, look)]
        _as_before(page)
        seen.append(urlsplit(address).path)
    page.goto(_OTHER_STATES)
    page.evaluate(_SHORTEN)
    page.evaluate(_WITHOUT_SHADOWS)
    faults += [f"{_OTHER_STATES} in the dark: {fault}" for fault in _in_the_dark(page, violations_apart_from_shell)]
    assert faults == []
    missing = [route for route, pattern in _pages() if not any(pattern.fullmatch(path) for path in seen)]
    assert missing == [], "no link led there"


def test_the_words_of_lists_have_enough_contrast(page_of: SignedIn) -> None:
    page, faults = page_of("alice", color_scheme="light"), []
    for address in _NAMES:
        page.goto(address)
        page.evaluate(_SHORTEN)
        page.evaluate(_WITHOUT_SHADOWS)
        faults += [f"{address}: {fault}" for fault in violations(page, CONTRAST)]
        turn_dark(page)
        faults += [f"{address} in the dark: {fault}" for fault in violations(page, CONTRAST)]
        turn_light(page)
    assert faults == []
    page.evaluate("document.querySelector('#people tbody td:nth-child(3)').style.color = '#ccc'")
    assert violations(page, CONTRAST) != []


Look = Callable[..., list[str]]


def _at_a_desk(page: Page, look: Look) -> Iterator[str]:
    yield from look(page)
    page.evaluate(_UNFOLD)
    if slid := page.evaluate(_SLIDES):
        yield f"wider than its place at {DESK['width']} px: {slid}"
    for how in ("with", "without"):
        if slid := page.evaluate(_SLIVERS):
            yield f"a scroll bar for a pixel, {how} script: {slid}"
        page.evaluate(_SCRIPTLESS)


def _in_the_dark(page: Page, look: Look) -> list[str]:
    """As it stands: what a theme changes are colours."""
    turn_dark(page)
    return look(page, COLOURS)


def _in_forced_colours(page: Page, look: Look) -> list[str]:
    """In those of a dark system, which differ most from the colours of the sheets."""
    page.emulate_media(forced_colors="active")
    found = look(page, COLOURS)
    page.emulate_media(forced_colors="none")
    turn_light(page)
    return found


def _at_each_width(page: Page, look: Look) -> Iterator[str]:
    page.evaluate(_LENGTHEN)
    for width in (WIDE["width"], *_WIDTHS):
        page.set_viewport_size({"width": width, "height": PHONE["height"]})
        if sticks_out(page):
            yield f"wider than {width} px"
        page.evaluate(_NEXT_FRAME)
        if slid := page.evaluate(_SLIDES):
            yield f"wider than its place at {width} px: {slid}"
        if width in _LOOKED_AT:
            yield from (f"at {width} px: {fault}" for fault in look(page, SIZES))


def _as_before(page: Page) -> None:
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


def _pages() -> Iterator[tuple[str, re.Pattern[str]]]:
    for route in build_site().routes:
        if "GET" in getattr(route, "methods", ()) and not _PARTS.search(route.path) and route.path not in _NEEDS_MORE:
            yield route.path, re.compile(re.sub(r"\{[^}]*\}", "[^/]+", route.path))


def test_a_laptop_shows_every_column_of_the_lists_however_long_a_word_is(page_of: SignedIn) -> None:
    page, faults = page_of("alice", viewport=LAPTOP), []
    for address, cells in _NAMES.items():
        page.goto(address)
        page.evaluate(_SHORTEN)
        if page.evaluate(_SLIDES) or page.evaluate(_GIVES_WAY):
            faults.append(f"{address} is wider than its place")
        faults += [f"{address} cuts the words of {name}" for name in dict.fromkeys(page.evaluate(_CUT))]
        if page.evaluate(_LENGTHEN_CELLS, list(cells)) < len(cells):
            faults.append(f"{address} lacks one of {cells}")
        page.evaluate(_NEXT_FRAME)
        if page.evaluate(_SLIDES) or page.evaluate(_GIVES_WAY):
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
    page.get_by_role("alert").first.wait_for()
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
