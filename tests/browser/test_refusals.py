"""A refusal is shown where the person looks: in the box that was to open, or beside what they were doing."""

from collections.abc import Callable

from playwright.sync_api import Browser, StorageState, expect

from app.web.errors.refusals import WRONG_HERE
from app.web.templating import render
from tests.browser.conftest import DESK, Portal, SignedIn
from tests.browser.each_look import NEXT_FRAME, PHONE
from tests.browser.test_queue import MATCHED_OR_BOUND, queue
from tests.chromium import violations

__all__ = ["queue"]

_APPROVE = "act => htmx.ajax('POST', act, {source: '#drawer', target: '#drawer', values: {status: 'approved'}})"


def test_a_box_that_may_not_open_says_which_right_is_missing(page_of: SignedIn) -> None:
    page = page_of("vera")
    page.goto("/clock_employees")
    page.evaluate("htmx.ajax('GET', '/admin/users/new', {target: '#drawer', swap: 'innerHTML'})")
    drawer = page.locator("#drawer-box")
    expect(drawer.get_by_role("alert")).to_contain_text("You need the right “Keep users” for this.")
    drawer.get_by_role("link", name="Close").click()
    expect(drawer).to_be_hidden()


def test_an_act_that_is_refused_says_why_and_leaves_what_stands(page_of: SignedIn) -> None:
    page = page_of("vera")
    page.goto("/clock_employees")
    page.evaluate("htmx.ajax('POST', '/clock_sync/pause', {target: '#main', swap: 'innerHTML'})")
    expect(page.locator("#flashes")).to_contain_text("You need the right “Run a sync” for this.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Employees & Bindings")
    page.get_by_role("row").nth(1).get_by_role("link").first.click()
    drawer = page.locator("#drawer-box")
    expect(drawer.locator(".drawer-content")).to_be_visible()
    page.evaluate("htmx.ajax('POST', '/clock_sync/pause', {target: '#drawer', swap: 'innerHTML'})")
    expect(drawer.locator("[aria-live=polite] [data-toast]")).to_contain_text("You need the right “Run a sync”")


def test_an_act_that_went_wrong_here_says_under_which_number_the_log_has_it(
    browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]
) -> None:
    said = {"status": 500, "heading": "Wrong", "message": WRONG_HERE, "details": (), "request_id": "4711-abc"}
    answer = render("errors/fragment.html", target="main", **said)
    # Not watched: the console tells of the 500.
    with browser.new_context(base_url=portal.url, storage_state=signed_in_as("vera")) as window:
        page = window.new_page()
        page.route(
            "**/clock_sync/pause", lambda route: route.fulfill(status=500, body=answer, headers={"X-Refusal": "500"})
        )
        page.goto("/clock_employees")
        page.evaluate("htmx.ajax('POST', '/clock_sync/pause', {target: '#main', swap: 'innerHTML'})")
        toast = page.locator("#flashes [data-toast]")
        expect(toast).to_contain_text("The log has the details under the number below.")
        expect(toast).to_contain_text("Error 500 · Request 4711-abc")
        assert violations(page) == []
        expect(page.get_by_role("heading", level=1)).to_have_text("Employees & Bindings")


def test_after_a_conflict_the_message_leaves_the_buttons_free(page_of: SignedIn) -> None:
    stale, other = page_of("bob"), page_of("bob")
    for page in (stale, other):
        page.goto(MATCHED_OR_BOUND)
        page.locator("tbody tr:has([data-row-act]) a[data-drawer]").first.click()
        expect(page.locator("#drawer .drawer-foot")).to_be_visible()
    foot = stale.locator("#drawer .drawer-foot")
    other.locator("#drawer .drawer-foot").get_by_role("button", name="Accept").click()
    expect(other.locator("#drawer-box [data-toast]")).to_contain_text("was bound to")
    foot.get_by_role("button", name="Accept").click()
    toast = stale.locator("#drawer-box [data-toast=danger]")
    expect(toast).to_be_visible()
    expect(foot.get_by_role("button", name="Accept")).to_have_count(0)
    for viewport in (DESK, PHONE):
        stale.set_viewport_size(viewport)  # type: ignore[arg-type]
        stale.evaluate(NEXT_FRAME)
        buttons, said = foot.bounding_box(), toast.bounding_box()
        assert buttons
        assert said
        assert said["y"] + said["height"] <= buttons["y"]


def test_what_is_gone_is_said_once(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto("/attendance")
    gone = "/attendance/999999"
    page.evaluate("gone => htmx.ajax('GET', gone, {target: '#drawer', swap: 'innerHTML'})", gone)
    drawer = page.locator("#drawer-box")
    expect(drawer.locator("[data-refusal]")).to_contain_text("There is no such record, or it was deleted.")
    # As an act that comes after somebody else deleted the record: the drawer fetches it again.
    with page.expect_response(lambda answer: answer.url.endswith(gone)):
        page.evaluate(_APPROVE, f"{gone}/decide")
    expect(drawer.locator("[data-refusal]")).to_be_visible()
    expect(drawer.locator("[data-toast]")).to_have_count(0)
