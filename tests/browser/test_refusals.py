"""A refusal is shown where the person looks: in the box that was to open, or beside what they were doing."""

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn


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
    expect(drawer.get_by_role("alert")).to_contain_text("You need the right “Run a sync”")
