"""A list as a queue: an act leads to the next row, the focus stays where one works,
and messages stand where one looks."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Binding, ClockEmployee
from app.db.session import Database
from tests.browser.conftest import Portal, SignedIn
from tests.browser.in_database import in_database
from tests.browser.test_flows import add_person
from tests.chromium import violations

pytestmark = pytest.mark.browser
FOCUSED_ROW = "document.activeElement.closest('tbody tr')?.querySelector('a[data-drawer]').innerText ?? null"
WAITING = "/clock_employees?state=unbound"
MATCHED = "/clock_employees?state=auto_matched"
MATCHED_OR_BOUND = f"{MATCHED}&state=bound&sort=state"
# A link of the row that the bar covers; the focus lands there without scrolling.
_FOCUS_UNDER_THE_BAR = """() => {
  const bar = document.querySelector('form.bulk').getBoundingClientRect();
  const links = [...document.querySelectorAll('tbody a')];
  const under = links.find(link => link.getBoundingClientRect().bottom > bar.top + 4);
  under.focus({ preventScroll: true });
  return under.getBoundingClientRect().bottom - bar.top;
}"""
_IS_CLEAR = """() => document.activeElement.matches('tbody a')
  && document.activeElement.getBoundingClientRect().bottom <= document.querySelector('form.bulk').getBoundingClientRect().top"""
# A press that comes right after the form did. Nothing is sent: whether htmx would have done so is what counts.
_SEND_AT_ONCE = """() => {
  document.body.addEventListener("htmx:beforeRequest", event => { if (event.detail.requestConfig.verb === "post") event.preventDefault(); });
  document.addEventListener("submit", event => {
    document.body.dataset.taken = event.defaultPrevented;
    event.preventDefault();
  });
  new MutationObserver((_, seen) => {
    const form = document.querySelector("#drawer form.noted");
    if (!form) return;
    seen.disconnect();
    setTimeout(() => form.requestSubmit());
  }).observe(document.getElementById("drawer"), { childList: true, subtree: true });
}"""
_NOTE_THE_WAY = """document.addEventListener('focusin', ({ target }) => {
  document.body.dataset.way = `${document.body.dataset.way ?? ''}${target.localName} `;
})"""
_KEPT = (Binding.state, Binding.method, Binding.host_employee_id, Binding.cleared, Binding.decided_by, Binding.reason)
_MARK_BELOW = """all => {
  for (const one of all) one.toggleAttribute('data-below', one.getBoundingClientRect().top >= innerHeight);
}"""


@pytest.fixture(autouse=True)
def queue(portal: Portal) -> Iterator[None]:
    """Four codes were cleared by hand, and three are auto matches; afterwards all bindings are as before."""
    before: list[Any] = []

    async def fill(database: Database) -> None:
        async with database.transaction() as db:
            before.extend((await db.execute(select(Binding.id, *_KEPT))).all())
            linked = await _linked(db)
            unlinked = {"state": "unbound", "method": None, "host_employee_id": None, "cleared": True}
            await db.execute(update(Binding).where(Binding.id.in_(linked[:4])).values(unlinked))
            matched = {"state": "auto_matched", "method": "id_number", "cleared": False}
            await db.execute(update(Binding).where(Binding.id.in_(linked[4:7])).values(matched))

    async def restore(database: Database) -> None:
        async with database.transaction() as db:
            for row in before:
                await db.execute(update(Binding).where(Binding.id == row.id).values(**row._mapping))

    in_database(portal.database_url, fill)
    yield
    in_database(portal.database_url, restore)


async def _linked(db: AsyncSession) -> list[int]:
    """Bindings of people with a name."""
    rows = select(Binding.id).join(ClockEmployee, ClockEmployee.id == Binding.clock_employee_id)
    found = rows.where(Binding.host_employee_id.is_not(None), ClockEmployee.full_name != "").order_by(Binding.id)
    return list(await db.scalars(found))


def codes(page: Page) -> list[str]:
    return page.locator("tbody td[data-label=Code] a").all_inner_texts()


def open_first(page: Page) -> Locator:
    """The drawer of the first code that waits."""
    page.goto(WAITING)
    page.locator("tbody a[data-drawer]").first.click()
    return page.locator("#drawer-box")


def two_at_a_match(page_of: SignedIn) -> tuple[Page, Page, str]:
    """Two pages of one person at the same list, where accepted codes stay; and the first code to accept."""
    pages = page_of("bob"), page_of("bob")
    for page in pages:
        page.goto(MATCHED_OR_BOUND)
    code = pages[0].locator("tbody tr:has([data-row-act]) a[data-drawer]").first.inner_text()
    return *pages, code


def choose(page: Page, name: str) -> None:
    drawer = page.locator("#drawer-box")
    drawer.get_by_role("combobox", name="Host employee").fill(name)
    drawer.get_by_role("option", name=name).click()


def test_the_drawer_goes_from_row_to_row_and_closes_at_the_row_it_shows(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    rows = codes(page)
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("#drawer-box")
    expect(drawer.get_by_role("button", name="Previous row")).to_be_disabled()
    for code in rows[1:3]:
        drawer.get_by_role("button", name="Next row").click()
        expect(page.locator("#drawer .drawer-head p")).to_have_text(f"Code {code}")
    drawer.get_by_role("button", name="Previous row").click()
    expect(page.locator("#drawer .drawer-head p")).to_have_text(f"Code {rows[1]}")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    assert page.evaluate(FOCUSED_ROW) == rows[1]


def test_a_row_with_the_focus_is_called_by_its_name(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    row = page.locator("tbody tr").first
    page.keyboard.press("j")
    expect(row).to_be_focused()
    expect(row).to_have_accessible_name(row.locator("[data-title]").inner_text())


def test_after_an_act_the_drawer_shows_from_its_top_what_became_of_it(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    page.locator("tbody a[data-drawer]").first.click()
    box = page.locator("#drawer-box")
    act = box.get_by_role("button", name="Match again")
    act.wait_for()
    assert box.evaluate("box => (box.scrollTop = 200, box.scrollTop)") == 200
    act.click()
    expect(page.locator("body")).to_contain_text("was matched again")
    assert box.evaluate("box => box.scrollTop") == 0


def test_what_a_filter_finds_and_what_is_ticked_is_read_aloud_once(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    line = page.locator("#aloud[aria-live=polite]")
    page.get_by_role("searchbox", name="Search").fill("a name that is not there")
    expect(line).to_have_text("No mirrored people")
    page.get_by_role("searchbox", name="Search").fill("")
    expect(line).to_contain_text("1–4 of 4")
    page.locator("[data-bulk-item]").first.check()
    expect(line).to_contain_text("1 selected")
    # What stays there would be read again when the drawer closes.
    page.locator("tbody a[data-drawer]").first.click()
    expect(page.locator("#drawer-box")).to_be_visible()
    expect(line).to_be_empty()
    assert page.locator("main").get_by_role("status").count() == 0


def test_a_search_that_finds_no_person_says_so_where_a_screen_reader_reads(page_of: SignedIn) -> None:
    page = page_of("bob")
    drawer = open_first(page)
    field = drawer.get_by_role("combobox", name="Host employee")
    field.fill("zzxxqq")
    expect(drawer.get_by_role("option")).to_have_text(["No person found"])
    none = drawer.get_by_role("option").get_attribute("id")
    assert none
    expect(field).to_have_attribute("aria-activedescendant", none)
    page.keyboard.press("Enter")
    expect(field).to_have_value("zzxxqq")


def test_bind_and_next_opens_the_next_code_and_says_in_the_drawer_what_was_done(page_of: SignedIn) -> None:
    page = page_of("bob")
    add_person(page, "Quentin Queue", "Q-100")
    page.goto("/clock_employees?state=not_found")
    rows = codes(page)
    page.get_by_role("link", name=rows[0], exact=True).click()
    drawer = page.locator("#drawer-box")
    field = drawer.get_by_role("combobox", name="Host employee")
    name = drawer.locator("h2").inner_text()
    expect(field).to_have_value(name)
    # What stands there is looked for at once; nothing is bound by words alone.
    field.focus()
    expect(drawer.locator(".combo-list")).to_be_visible()
    page.keyboard.press("Escape")
    choose(page, "Quentin Queue")
    drawer.get_by_role("button", name="Bind and next", exact=True).click()
    expect(page.locator("#drawer .drawer-head p")).to_have_text(f"Code {rows[1]}")
    said = drawer.locator("[aria-live=polite] [data-toast]")
    expect(said).to_contain_text(f"{rows[0]} is bound to")
    expect(drawer.locator("#drawer h2")).to_be_focused()
    # A screen reader may pass over the focus that comes from a button which is gone.
    following = drawer.locator("#drawer h2").inner_text()
    expect(drawer.locator("[aria-live=polite][data-aloud]")).to_have_text(f"Next: {following}, Code {rows[1]}")
    expect(page.get_by_role("link", name=rows[0], exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    assert page.evaluate(FOCUSED_ROW) == rows[1]
    # The message is not lost with the drawer.
    expect(page.locator("#flashes")).to_contain_text(f"{rows[0]} is bound to")


def test_a_question_in_between_keeps_that_the_next_code_is_wanted(page_of: SignedIn) -> None:
    page = page_of("bob")
    add_person(page, "Zita Zweite", "Q-101")
    page.goto(WAITING)
    rows = codes(page)
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("#drawer-box")
    # Its punches are part of records of another person.
    choose(page, "Zita Zweite")
    drawer.get_by_role("button", name="Bind and next", exact=True).click()
    question = drawer.get_by_role("heading", name="to Zita Zweite?")
    expect(question).to_be_focused()
    expect(question).to_have_accessible_description(re.compile("judged as Zita Zweite's|part of"))
    expect(drawer.locator("[data-aloud]")).to_contain_text(question.inner_text())
    drawer.locator("form.confirm").get_by_role("button", name="Bind").click()
    expect(page.locator("#drawer .drawer-head p")).to_have_text(f"Code {rows[1]}")


def test_a_match_is_accepted_in_its_row_and_the_focus_continues(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(MATCHED)
    rows = codes(page)
    buttons = page.locator("tbody [data-row-act]")
    assert buttons.count() >= 2
    buttons.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#flashes")).to_contain_text(f"{rows[0]} was bound to")
    expect(page.get_by_role("link", name=rows[0], exact=True)).to_have_count(0)
    expect(buttons.first).to_be_focused()
    assert page.evaluate(FOCUSED_ROW) == rows[1]


def test_a_refused_act_shows_the_row_as_it_is_now(page_of: SignedIn) -> None:
    stale, other, code = two_at_a_match(page_of)
    accept = f"tbody tr:has(a[data-drawer]:text-is('{code}')) [data-row-act]"
    other.locator(accept).click()
    expect(other.locator("#flashes")).to_contain_text(f"{code} was bound to")
    stale.locator(accept).click()
    expect(stale.locator("#flashes")).to_contain_text("is bound now")
    expect(stale.locator(accept)).to_have_count(0)
    expect(stale.locator("#flashes")).to_contain_text("is bound now")
    stale.wait_for_function(f"{FOCUSED_ROW} === {code!r}")


def test_the_focus_is_on_what_stays_before_what_has_it_is_replaced(page_of: SignedIn) -> None:
    """Of a focus that comes from what is gone a screen reader says nothing."""
    page = page_of("bob")
    page.goto(WAITING)
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("#drawer-box")
    expect(drawer.locator("#drawer h2")).to_be_focused()
    page.evaluate(_NOTE_THE_WAY)
    drawer.get_by_role("button", name="Next row").click()
    expect(drawer.locator("#drawer h2")).to_be_focused()
    expect(page.locator("body")).to_have_attribute("data-way", "button span h2 ")


def test_a_refused_act_in_a_drawer_shows_it_and_its_row_as_they_are_now(page_of: SignedIn) -> None:
    stale, other, code = two_at_a_match(page_of)
    row = f"tbody tr:has(a[data-drawer]:text-is('{code}'))"
    stale.locator(f"{row} a[data-drawer]").first.click()
    drawer = stale.locator("#drawer-box")
    accept = drawer.locator(".drawer-foot button:has-text('Accept')")
    expect(accept).to_be_visible()
    other.locator(f"{row} [data-row-act]").click()
    expect(other.locator("#flashes")).to_contain_text(f"{code} was bound to")
    accept.click()
    expect(drawer.locator("[data-flashes]")).to_contain_text("is bound now")
    expect(stale.locator(f"{row} [data-row-act]")).to_have_count(0)
    expect(accept).to_have_count(0)
    expect(drawer.locator(".badge").first).to_have_text("Bound")
    expect(drawer.locator("#drawer h2")).to_be_focused()
    expect(drawer.locator("[data-flashes]")).to_contain_text("is bound now")


def test_a_refused_act_leaves_what_is_typed_in_its_drawer(page_of: SignedIn) -> None:
    stale, other = page_of("bob"), page_of("bob")
    for page in (stale, other):
        page.goto(MATCHED)
    code = codes(stale)[0]
    stale.locator("tbody a[data-drawer]").first.click()
    drawer = stale.locator("#drawer-box")
    note = drawer.get_by_label("Your note, which no sync changes")
    note.fill("Ask the foreman")
    other.locator("tbody [data-row-act]").first.click()
    expect(other.locator("#flashes")).to_contain_text(f"{code} was bound to")
    stale.on("dialog", lambda dialog: dialog.accept())
    drawer.locator(".drawer-foot button:has-text('Accept')").click()
    expect(drawer.locator("[data-flashes]")).to_contain_text("is bound now")
    expect(stale.locator(f"tbody a[data-drawer]:text-is('{code}')")).to_have_count(0)
    expect(note).to_have_value("Ask the foreman")


def test_without_script_a_match_is_accepted_in_its_row(page_of: SignedIn) -> None:
    page = page_of("bob", java_script_enabled=False)
    page.goto(MATCHED)
    code = codes(page)[0]
    page.locator("tbody [data-row-act]").first.click()
    expect(page.locator("#flashes")).to_contain_text(f"{code} was bound to")
    assert page.url.endswith("state=auto_matched")


def test_after_an_act_on_many_the_focus_is_at_the_row_after_them(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    rows = codes(page)
    for n in (0, 1):
        page.locator("[data-bulk-item]").nth(n).check()
    bar = page.locator("form.bulk")
    expect(bar).to_be_in_viewport()
    bar.get_by_role("button", name="Ignore").click()
    question = page.get_by_role("alertdialog", name="Ignore: 2 people?")
    expect(question).to_have_accessible_description(re.compile("left out on purpose"))
    expect(question.locator("h2")).to_be_focused()
    page.locator("#dialog form.confirm button[type=submit]").click()
    expect(page.locator("#flashes")).to_contain_text("2 codes were ignored.")
    assert page.evaluate(FOCUSED_ROW) == rows[2]


def test_all_in_the_filter_is_offered_only_while_the_filter_has_more(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(WAITING)
    page.locator("[data-bulk-page]").check()
    bar = page.locator("form.bulk")
    expect(bar.locator("[data-bulk-count]")).to_have_text("4 selected")
    expect(bar.get_by_text("in this filter")).to_be_hidden()
    page.locator("[data-bulk-item]").first.uncheck()
    expect(bar.locator("[data-bulk-count]")).to_have_text("3 selected, or")
    bar.get_by_text("all 4 in this filter").check()
    expect(bar).to_contain_text("Selected:")
    bar.get_by_text("all 4 in this filter").uncheck()
    # As in a list that is counted to 10,000.
    bar.locator(".bulk-all").evaluate("label => { label.dataset.amount = '10,000 or more' }")
    page.locator("[data-bulk-page]").check()
    page.locator("[data-bulk-page]").uncheck()
    expect(bar.locator("[data-bulk-count]")).to_have_text("All 10,000 or more in this filter:")


def test_wherever_one_scrolls_to_what_the_bar_leaves_in_sight_can_be_pressed(page_of: SignedIn) -> None:
    page = page_of("bob", viewport={"width": 1280, "height": 500})
    page.goto("/clock_employees")
    page.locator("[data-bulk-item]").nth(1).check()
    # The heads of page and table lie over the rows, too, and are not what is looked at here.
    for head in (".shell-top", ".dense thead th"):
        page.locator(head).evaluate_all("heads => { for (const one of heads) one.style.position = 'static'; }")
    for place in range(0, 48, 4):
        page.evaluate("top => scrollTo(0, top)", 200 + place)
        # The bar hangs below the window, and what it leaves of a link down there is not in sight.
        page.locator("tbody :is(a, button)").evaluate_all(_MARK_BELOW)
        assert violations(page, ["target-size"], apart_from=["[data-below]"]) == [], place
    page.locator("form.bulk button").first.focus()
    assert page.evaluate("scrollY") == 200 + place, "the page jumped when the bar got the focus"


def test_a_link_that_is_reached_by_keyboard_is_clear_of_the_bar(page_of: SignedIn) -> None:
    page = page_of("bob", viewport={"width": 1280, "height": 800})
    page.goto("/clock_transactions?outcome=imported&outcome=only_one_punch")
    expect(page.locator("form.bulk.is-whole")).to_be_in_viewport()
    assert page.evaluate(_FOCUS_UNDER_THE_BAR) > 0
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(_IS_CLEAR)


@pytest.mark.parametrize("width", [1280, 768, 577])
def test_a_link_is_clear_of_a_bar_of_several_lines(page_of: SignedIn, width: int) -> None:
    page = page_of("bob", viewport={"width": width, "height": 760})
    page.goto("/clock_employees?state=auto_matched&state=unbound&state=bound")
    page.locator("[data-bulk-item]").first.check()
    expect(page.locator("form.bulk.is-live")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 300)")
    assert page.evaluate(_FOCUS_UNDER_THE_BAR) > 0
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.evaluate(_IS_CLEAR)


def test_a_form_that_came_is_sent_with_script_from_its_first_moment_on(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock_transactions?outcome=only_one_punch&settled=no")
    page.evaluate(_SEND_AT_ONCE)
    page.locator("tbody .badge").first.click()
    expect(page.locator("body")).to_have_attribute("data-taken", "true")


def test_a_period_and_dates_replace_each_other_and_a_phone_folds_the_filters(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/attendance")
    page.get_by_label("Days, period").select_option("last-week")
    expect(page.locator(".chip")).to_contain_text("Last week, ")
    assert "period=last-week" in page.url
    page.get_by_label("Days, from").fill("2026-01-02")
    expect(page.locator(".chip")).to_contain_text("from Fri 2 Jan")
    period = page.get_by_label("Days, period")
    expect(period).to_have_value("")
    expect(period.locator("option:checked")).to_have_text("Chosen days")
    assert "period" not in page.url
    page.reload()
    expect(period.locator("option:checked")).to_have_text("Chosen days")
    page.set_viewport_size({"width": 360, "height": 760})
    folded = page.get_by_text("Filters (1)")
    expect(page.get_by_label("Days, from")).to_be_hidden()
    folded.click()
    expect(page.get_by_label("Days, from")).to_be_visible()
    page.locator("select[name=department]").select_option(index=1)
    expect(page.get_by_text("Filters (2)")).to_be_visible()


def test_last_week_s_records_of_a_department_are_approved_in_five_clicks(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/attendance?status=pending&period=last-week")
    departments = page.locator("select[name=department] option").all_inner_texts()[1:]
    for department in departments:
        page.goto(f"/attendance?status=pending&period=last-week&department={quote(department)}")
        if page.locator("[data-bulk-page]").count():
            break
    page.goto("/clock")
    bar = page.locator("form.bulk")
    clicks = (
        lambda: page.locator("#menu").get_by_role("link", name="Attendance", exact=True).click(),
        lambda: page.get_by_label("Days, period").select_option("last-week"),
        lambda: page.locator("select[name=department]").select_option(department),
        lambda: bar.get_by_role("button", name="Approve").click(),
        lambda: page.locator("#dialog form.confirm button[type=submit]").click(),
    )
    for click, chips in zip(clicks, (0, 1, 2, 2, 2), strict=True):
        click()
        expect(page.locator(".chip")).to_have_count(chips)
    expect(page.locator("#flashes")).to_contain_text("approved")
    assert len(clicks) == 5
    expect(page.locator(".list tr:focus")).to_have_count(1)
    expect(bar).to_contain_text("in this filter:")
    expect(bar.get_by_role("button", name="Delete")).to_be_hidden()
    assert "period=last-week" in page.url
    assert "department=" in page.url


def test_the_form_that_why_leads_to_begins_at_the_time_that_is_missing(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock_transactions?outcome=only_one_punch&settled=no")
    page.locator("tbody .badge").first.click()
    drawer = page.locator("#drawer")
    for act, then in (("Mark as settled", "Not settled"), ("Not settled", "Mark as settled")):
        drawer.get_by_role("button", name=act).click()
        expect(drawer.get_by_role("button", name=then)).to_be_visible()
        expect(drawer.get_by_role("heading", name="Why? Only one punch")).to_be_focused()
    fix = drawer.get_by_role("link", name=re.compile("^Add the clock-(in|out)$"))
    missing = fix.inner_text().removeprefix("Add the ").capitalize()
    fix.click()
    expect(drawer.get_by_role("heading", name="Add a record")).to_be_visible()
    expect(drawer.get_by_label(missing)).to_be_focused()
    expect(drawer.get_by_label(missing)).to_have_value("")


def test_bind_names_the_words_that_are_no_choice_and_leads_to_them(page_of: SignedIn) -> None:
    page = page_of("bob")
    drawer = open_first(page)
    host = drawer.get_by_role("combobox", name="Host employee")
    typed = host.input_value()
    assert typed
    drawer.get_by_role("button", name="Bind", exact=True).click()
    expect(host).to_be_focused()
    assert host.evaluate("field => field.validationMessage") == f"Choose one from the list: “{typed}” isn’t in it."


def test_what_is_wrong_with_the_employee_stands_at_the_field_with_the_focus(page_of: SignedIn) -> None:
    page = page_of("bob")
    drawer = open_first(page)
    host = drawer.get_by_role("combobox", name="Host employee")
    host.evaluate("field => { field.form.noValidate = true; }")
    drawer.get_by_role("button", name="Bind", exact=True).click()
    expect(drawer.locator("#f-host-error")).to_have_text("Choose a host employee first.")
    expect(host).to_be_focused()


def test_the_acts_of_the_rows_are_not_printed(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(MATCHED)
    expect(page.locator("tbody").get_by_role("button", name="Accept").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("tbody a[data-drawer]").first).to_be_visible()
    expect(page.locator("tbody .btn").filter(visible=True)).to_have_count(0)
