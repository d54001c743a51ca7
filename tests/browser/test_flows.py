"""What an operator does all day, clicked and typed as they would: find out why, bind, retry, decide, lock, sync."""

import json
import re
import time
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PATIENCE_MS, Portal, SignedIn, submit_sign_in
from tests.chromium import violations

pytestmark = pytest.mark.browser
_IS_UNCOVERED = """one => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""

# What a screen reader says: what comes into the region once the page stands.
_HEARS = """addEventListener('DOMContentLoaded', () => new MutationObserver(changes => {
  for (const { addedNodes } of changes) for (const one of addedNodes) document.body.dataset.heard = one.innerText.trim();
}).observe(document.getElementById('flashes'), { childList: true }))"""


def total(page: Page) -> int:
    """How many rows the list says its filter has."""
    counted = page.locator(".pager-count")
    return number(counted.locator("strong")) if counted.locator("strong").count() else 0


def number(place: Locator) -> int:
    return int(re.sub(r"\D", "", place.first.inner_text()))


def again_until(page: Page, address: str, shown: Callable[[], Locator]) -> None:
    """Loads a page again while a worker does its part in the background."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    page.goto(address)
    while not shown().is_visible():
        assert time.monotonic() < deadline, f"it never showed on {address}"
        page.wait_for_timeout(100)
        page.goto(address)


def counted(link: Locator) -> int:
    """What a link of the Dashboard promises: the number in it, or the one in its row."""
    inside = link.locator("strong")
    return number(inside if inside.count() else link.locator("xpath=ancestor::tr").locator("td.num").first)


def test_a_number_of_the_dashboard_leads_to_exactly_as_many_rows(page_of: SignedIn) -> None:
    page = page_of("")
    page.goto("/clock")
    assert "/sign-in?next=" in page.url
    submit_sign_in(page, "bob")
    page.goto("/clock")
    links = page.locator("[aria-labelledby=h-person] a, [aria-labelledby=h-states] .legend a:not(.legend-zero)")
    promised = [(str(link.get_attribute("href")), counted(link)) for link in links.all()]
    assert len(promised) > 4
    links.first.click()
    page.wait_for_url("**/clock_transactions?**")
    kept = {}
    for address, _ in promised:
        page.goto(address)
        kept[address] = total(page)
    assert kept == dict(promised)


def test_why_opens_by_keyboard_closes_by_escape_and_gives_the_focus_back(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock_transactions?outcome=imported")
    page.locator("tbody .badge").nth(2).focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Why? Imported").wait_for()
    expect(page.locator("#drawer h2")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("tbody .badge").nth(2)).to_be_focused()
    assert page.locator("dialog[open]").count() == 0


def test_a_drawer_is_never_wider_than_a_phone_however_long_a_name_is(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/clock_transactions?outcome=imported")
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("#drawer-box")
    drawer.locator(".drawer-head p").evaluate("(one, name) => { one.textContent = name; }", "Donaudampfschifffahrt" * 4)
    assert drawer.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_binding_an_unknown_code_in_its_drawer_imports_its_punches(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.add_init_script(_HEARS)
    add_person(page, "Nele Neumann", "N-100")
    expect(page.locator("body")).to_have_attribute("data-heard", "Nele Neumann was added.")
    page.goto("/clock_employees?state=not_found")
    row = page.locator("tbody tr").first
    code = row.locator("a[data-drawer]").first.inner_text()
    row.locator("a[data-drawer]").first.click()
    drawer = page.locator("#drawer")
    drawer.get_by_role("combobox", name="Host employee").fill("nele")
    drawer.get_by_role("option", name=re.compile("Nele Neumann")).click()
    drawer.get_by_role("button", name="Bind", exact=True).click()
    drawer.locator(".badge[data-state=bound]").first.wait_for()
    assert violations(page) == []
    page.keyboard.press("Escape")
    # The list behind the drawer has noticed: the code is in this filter no more.
    expect(page.get_by_role("link", name=code, exact=True)).to_have_count(0)
    imported = f"/clock_transactions?emp_code={code}&outcome=imported"
    again_until(page, imported, lambda: page.locator("tbody .badge[data-state=imported]").first)
    page.goto(f"/clock_transactions?emp_code={code}&outcome=not_bound")
    assert total(page) == 0


def test_a_deleted_record_shows_on_its_punches_and_a_retry_brings_it_back(page_of: SignedIn) -> None:
    page = page_of("bob")
    punch = open_why(page, "/clock_transactions?outcome=imported", 0)
    page.locator("#drawer dd a[href^='/attendance/']").first.click()
    page.locator("#drawer").get_by_role("link", name="Delete…").click()
    page.locator("#dialog").get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.locator("#flashes")).to_contain_text("deleted")
    again_until(page, punch, lambda: page.locator("main .badge[data-state=attendance_deleted]").first)
    page.get_by_role("button", name="Retry").click()
    again_until(page, punch, lambda: page.locator("main .badge[data-state=imported]").first)


def test_punches_are_settled_in_why_and_in_bulk_and_the_dashboard_counts_them_no_more(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock")
    person = page.locator("[aria-labelledby=h-person] a").filter(has_text="Only one punch")
    before, waiting = counted(person), "/clock_transactions?outcome=only_one_punch&settled=no"
    open_why(page, waiting, 0)
    drawer = page.locator("#drawer")
    buttons = drawer.locator(".drawer-foot button")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert buttons.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth).length") == 0
    drawer.get_by_label("Note (optional)").fill("Sent home")
    drawer.get_by_role("button", name="Mark as settled").click()
    expect(drawer.locator("#settled")).to_contain_text("Settled by Bob Brandt: “Sent home”")
    assert violations(page) == []
    page.goto(waiting)
    for place in (0, 1):
        page.locator("[data-bulk-item]").nth(place).check()
    page.locator("[data-bulk]").get_by_role("button", name="Mark as settled").click()
    dialog = page.locator("#dialog")
    expect(dialog.get_by_role("heading", name="Mark 2 punches as settled?")).to_be_visible()
    dialog.get_by_label("Note (optional)").fill("Checked with the foreman")
    assert violations(page) == []
    dialog.get_by_role("button", name="Mark as settled").click()
    expect(page.locator("#flashes")).to_contain_text("2 punches are settled")
    page.goto("/clock")
    assert counted(person) == before - 3
    page.goto(str(person.get_attribute("href")))
    assert total(page) == before - 3
    page.goto("/clock_transactions?outcome=only_one_punch&settled=yes")
    page.locator("[data-bulk-item]").first.check()
    page.get_by_label(re.compile("in this filter")).check()
    page.locator("[data-bulk]").get_by_role("button", name="Not settled").click()
    dialog.get_by_role("button", name="Not settled").click()
    page.goto("/clock")
    assert counted(person) == before


def test_an_approved_record_is_shown_as_decided_by_whom(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/attendance?status=pending")
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("#drawer")
    drawer.get_by_role("button", name="Approve").click()
    expect(drawer.locator("dd").first).to_contain_text("Approved by Bob Brandt")
    drawer.get_by_role("button", name="Set back to pending").click()
    expect(drawer.locator("dd").first).to_contain_text("Pending")


def test_a_record_by_hand_is_refused_at_its_field_and_then_stands_in_the_list(page_of: SignedIn) -> None:
    page = page_of("bob")
    add_person(page, "Hanno Hand", "H-200")
    page.goto("/attendance")
    page.locator("a[href^='/attendance/add']").first.click()
    drawer = page.locator("#drawer")
    drawer.get_by_role("combobox", name="Person").fill("hanno")
    drawer.get_by_role("option", name=re.compile("Hanno Hand")).click()
    drawer.get_by_label("Clock-in").fill("2026-01-05T17:00")
    drawer.get_by_label("Clock-out").fill("2026-01-05T08:00")
    drawer.get_by_role("button", name="Add", exact=True).click()
    page.locator(".field-error").first.wait_for()
    assert page.get_by_label("Clock-in").input_value() == "2026-01-05T17:00"
    page.get_by_label("Clock-in").fill("2026-01-05T07:00")
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_url(re.compile(r"/attendance$"))
    page.goto("/attendance/days/2026-01-05")
    expect(page.locator("tbody")).to_contain_text("Hanno Hand")


def test_what_is_saved_over_a_list_leads_back_to_it_as_it_was(page_of: SignedIn) -> None:
    page = page_of("bob")
    add_person(page, "Rita Return", "R-500")
    page.goto("/people?sort=-name&per_page=25")
    page.get_by_role("searchbox", name="Search").fill("rita ret")
    page.wait_for_url(re.compile("q=rita%20ret"))
    there = page.url
    expect(page.locator("#people-menus").get_by_role("link", name="CSV", include_hidden=True)).to_have_attribute(
        "href", re.compile("q=rita")
    )
    page.locator("tbody").get_by_role("link", name="Rita Return").click()
    drawer = page.locator("#drawer")
    drawer.get_by_role("link", name="Edit").click()
    drawer.get_by_label("Position").fill("Clerk")
    drawer.get_by_role("button", name="Save").click()
    expect(page.locator("#flashes")).to_contain_text("saved")
    page.wait_for_load_state()  # until its scripts run, a link leads to a page instead of the drawer
    assert page.url == there
    another = page.get_by_role("link", name="Add a person")
    assert another.evaluate(_IS_UNCOVERED), "what was said lies over what one continues with"
    another.click()
    drawer.get_by_label("Name").fill("Rita Returned")
    drawer.get_by_label("ID number").fill("R-501")
    drawer.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("tbody")).to_contain_text("Rita Returned")
    page.wait_for_load_state()
    assert page.url == there
    page.locator("tbody").get_by_role("link", name="Rita Returned").click()
    drawer.get_by_role("link", name="Deactivate…").click()
    page.locator("#dialog").get_by_role("button", name=re.compile("^Deactivate")).click()
    expect(page.locator("tbody")).to_contain_text("Inactive")
    assert page.url == there


def test_the_menu_of_a_row_stays_until_its_button_moves_away_under_it(page_of: SignedIn) -> None:
    page = page_of("alice", viewport={"width": 794, "height": 300})
    page.goto("/surveys/list")
    page.locator(".row-actions-cell button").first.click()
    menu = page.locator(".row-menu:popover-open")
    expect(menu).to_be_visible()
    page.evaluate("() => { document.dispatchEvent(new Event('scroll')); }")
    expect(menu).to_be_visible()
    page.evaluate("() => { scrollBy(0, 100); }")
    expect(menu).to_have_count(0)


def test_an_arrow_pressed_while_the_menu_of_a_row_opens_counts_from_its_first_item(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/surveys/list")
    page.locator(".row-actions-cell button").first.evaluate(
        "button => { button.click(); button.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })); }"
    )
    items = page.locator(".row-menu:popover-open .menu-item")
    expect(items.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.first).to_be_focused()


def test_a_locked_day_says_its_number_before_and_holds_its_records(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/attendance?sort=workday")
    record = page.locator("tbody a[data-drawer]").first
    address = str(record.get_attribute("href"))
    day = str(page.locator("tbody td a").first.get_attribute("href")).rpartition("/")[2]
    page.goto(f"/attendance/days/{day}")
    records = total(page)
    for act in ("Lock", "Unlock"):
        page.goto("/attendance/locks")
        page.locator("#f-from").fill(day)
        page.locator("#f-to").fill(day)
        page.get_by_role("button", name=f"{act} these days…", exact=True).click()
        page.get_by_role("heading", level=1, name=re.compile(f"^{act}")).wait_for()
        assert violations(page) == []
        if act == "Lock":
            assert str(records) in page.locator(".confirm").inner_text()
        page.locator(".confirm").get_by_role("button").first.click()
        page.locator("#flashes .toast, #flashes .alert").first.wait_for()
        page.goto(address)
        assert page.get_by_text("This day is locked").count() == (1 if act == "Lock" else 0)


def test_a_bulk_act_over_a_filter_names_its_number_and_does_it(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock_employees?state=auto_matched")
    people = total(page)
    assert people > 5
    page.locator("[data-bulk-item]").first.check()
    page.locator(".bulk-all input").check()
    page.get_by_role("button", name="Accept…").click()
    question = page.locator("#dialog").get_by_role("heading", name=f"Accept: {people} people?")
    question.wait_for()
    expect(question).to_be_focused()
    assert violations(page) == []
    page.locator("#dialog").get_by_role("button", name=f"Accept: {people} people").click()
    expect(page.locator("#flashes")).to_contain_text(f"{people} codes were bound.")
    page.goto("/clock_employees?state=auto_matched")
    assert total(page) == 0


def test_chosen_columns_are_remembered_for_that_person_alone(page_of: SignedIn) -> None:
    bob, alice = page_of("bob"), page_of("alice")
    bob.goto("/people")
    shown = headers(bob)
    assert "Department" in shown
    bob.locator("summary", has_text="Columns").click()
    bob.locator("details.menu[open]").get_by_label("Department").uncheck()
    bob.get_by_role("button", name="Apply").click()
    expect(bob.locator("thead")).not_to_contain_text("Department")
    bob.goto("/people")
    assert headers(bob) == [header for header in shown if header != "Department"]
    alice.goto("/people")
    assert "Department" in headers(alice)
    bob.locator("summary", has_text="Columns").click()
    bob.get_by_role("button", name="Defaults").click()
    expect(bob.locator("thead")).to_contain_text("Department")


def headers(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("thead th").all_inner_texts() if text.strip()]


def test_exports_hold_the_rows_of_the_filter(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/clock_transactions?outcome=imported")
    rows = total(page)
    lines = {}
    for kind in ("CSV", "JSON Lines"):
        page.locator("summary", has_text="Export").click()
        with page.expect_download() as download:
            page.locator("details.menu[open]").get_by_role("link", name=kind).click()
        lines[kind] = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
        page.goto("/clock_transactions?outcome=imported")
    assert len(lines["CSV"]) == rows + 1
    assert len([json.loads(line) for line in lines["JSON Lines"]]) == rows


def test_the_palette_finds_a_person_and_goes_there(page_of: SignedIn) -> None:
    page = page_of("bob")
    add_person(page, "Paula Palette", "P-300")
    page.goto("/clock")
    page.keyboard.press("Control+k")
    page.locator("#palette-input").fill("Paula Pal")
    page.locator("#palette-results [role=option]", has_text="Paula Palette").first.wait_for()
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/people/\d+|/people\?"))
    expect(page.locator("main")).to_contain_text("Paula Palette")


def test_a_run_is_watched_live_and_stopped_after_its_page(page_of: SignedIn, portal: Portal) -> None:
    page = page_of("bob")
    with simulator_with(portal, "slow=0.4"):
        page.goto("/clock_sync")
        before = total(page)
        page.get_by_role("button", name="Start a run").click()
        page.get_by_role("heading", name="Run in progress").wait_for()
        page.evaluate("window.sameDocument = true")
        # Without another load: the events bring what it reads.
        page.locator("#run-now .badge[data-state=running]").wait_for()
        page.locator("#run-now").get_by_text("Rows read").wait_for()
        assert violations(page) == []
        page.get_by_role("button", name="Stop after this page").click()
        page.locator("#run-now").get_by_text("It stops after this page.").or_(
            page.get_by_role("heading", name="No run in progress")
        ).first.wait_for()
    page.get_by_role("heading", name="No run in progress").wait_for()
    assert total(page) == before + 1
    newest = page.locator("#sync_runs-results tbody tr").first
    expect(newest).to_contain_text("Truncated")
    newest.get_by_role("link").first.click()
    expect(page.locator("main")).to_contain_text("Bob Brandt")


@contextmanager
def simulator_with(portal: Portal, *faults: str) -> Any:
    """The simulated time clock misbehaves so while the block runs."""
    for set_ in (list(faults), []):
        asked = urllib.request.Request(
            f"{portal.clock_url}/_control/faults",
            json.dumps({"set": set_}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
        if set_:
            yield


def test_without_script_one_signs_in_filters_corrects_a_form_and_confirms_a_deletion(page_of: SignedIn) -> None:
    page = page_of("", java_script_enabled=False)
    submit_sign_in(page, "bob")
    page.goto("/people")
    everybody = total(page)
    page.locator("main input[name=q]").fill("unknown name")
    page.get_by_role("button", name="Filter", exact=True).click()
    assert "q=unknown" in page.url
    assert 0 == total(page) < everybody
    fill_in_person(page, "Nora Noscript", "S-400")
    page.get_by_label("E-mail").fill("nora@nowhere")  # the browser by itself lets it pass
    page.locator("main form[data-guard]").get_by_role("button", name="Add").click()
    page.locator("#f-email-error").wait_for()
    assert page.locator("input[name=name]").input_value() == "Nora Noscript"
    assert page.get_by_label("E-mail").input_value() == "nora@nowhere"
    page.get_by_label("E-mail").fill("nora.noscript@example.org")
    page.locator("main form[data-guard]").get_by_role("button", name="Add").click()
    page.wait_for_url(re.compile(r"/people/\d+$"))
    page.get_by_role("link", name="Delete…").click()
    assert "Nora Noscript" in page.locator(".confirm").inner_text()
    page.locator(".confirm").get_by_role("button", name=re.compile("^Delete")).click()
    expect(page.locator("#flashes")).to_contain_text("deleted")
    page.goto("/people?q=Noscript&state=deleted")
    assert total(page) == 1


def add_person(page: Page, name: str, id_number: str) -> None:
    fill_in_person(page, name, id_number)
    page.locator("main form[data-guard]").get_by_role("button", name="Add").click()
    page.wait_for_url(re.compile(r"/people/\d+$"))


def fill_in_person(page: Page, name: str, id_number: str) -> None:
    page.goto("/people/add")
    page.locator("input[name=name]").fill(name)
    page.locator("input[name=id_number]").fill(id_number)


def open_why(page: Page, address: str, row: int) -> str:
    """Opens the drawer of a punch of that list; its address as a page."""
    page.goto(address)
    link = page.locator("tbody .badge").nth(row)
    punch = str(link.get_attribute("href"))
    link.click()
    page.locator("#drawer").get_by_role("heading", name=re.compile(r"^Why\?")).wait_for()
    return punch
