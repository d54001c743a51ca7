"""A button that is pressed twice acts once, and the drawer stays with the row that one is at."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.browser.conftest import SignedIn
from tests.browser.test_queue import MATCHED, codes, queue

__all__ = ["queue"]
pytestmark = pytest.mark.browser
Press = Callable[[Locator], object]
SETTLED = "/clock_transactions?outcome=only_one_punch&settled=no"
# The second press comes when the first is answered, and what was pressed is not replaced yet.
_PRESS_AGAIN_ONCE_ANSWERED = """button => {
  document.body.addEventListener("htmx:afterRequest", () => setTimeout(() => button.click()), { once: true });
  button.click();
}"""


@pytest.fixture(params=["at once", "once it is answered"])
def press_twice(request: pytest.FixtureRequest) -> Press:
    if request.param == "at once":
        return lambda button: button.evaluate("button => { button.click(); button.click(); }")
    return lambda button: button.evaluate(_PRESS_AGAIN_ONCE_ANSWERED)


def requests_of(page: Page, method: str) -> list[str]:
    """The addresses that the page asks for from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.method == method and request.header_value("HX-Request"):
            asked.append(request.url)

    page.on("request", note)
    return asked


def open_first(page: Page, address: str) -> Locator:
    page.goto(address)
    page.locator("tbody a[data-drawer]").first.click()
    return page.locator("#drawer-box")


def accept_and_next(drawer: Locator) -> Locator:
    button = drawer.locator(".drawer-foot [data-leads-on]")
    expect(button.locator("[data-and-next]")).to_be_visible()
    return button


def heading(page: Page) -> Locator:
    return page.locator("#drawer .drawer-head p")


def test_an_act_that_is_pressed_twice_is_sent_once(page_of: SignedIn, press_twice: Press) -> None:
    page = page_of("bob")
    page.goto(SETTLED)
    page.locator("tbody .badge").first.click()
    drawer = page.locator("#drawer-box")
    for act, then in (("Mark as settled", "Not settled"), ("Not settled", "Mark as settled")):
        sent = requests_of(page, "POST")
        button = drawer.get_by_role("button", name=act)
        button.wait_for()
        press_twice(button)
        expect(drawer.get_by_role("button", name=then)).to_be_visible()
        assert len(sent) == 1, sent
    expect(page.locator("[data-toast=danger]")).to_have_count(0)


def test_an_act_that_leads_on_and_is_pressed_twice_leads_to_the_next_row(page_of: SignedIn, press_twice: Press) -> None:
    page = page_of("bob")
    drawer = open_first(page, MATCHED)
    rows = codes(page)
    accept = accept_and_next(drawer)
    sent = requests_of(page, "POST")
    press_twice(accept)
    expect(drawer.locator("[aria-live=polite] [data-toast]")).to_contain_text(f"{rows[0]} was bound to")
    expect(heading(page)).to_have_text(f"Code {rows[1]}")
    assert len(sent) == 1, sent
    drawer.get_by_role("button", name="Next row").click()
    expect(heading(page)).to_have_text(f"Code {rows[2]}")


def test_an_act_in_a_row_that_is_pressed_twice_is_sent_once(page_of: SignedIn, press_twice: Press) -> None:
    page = page_of("bob")
    page.goto(MATCHED)
    rows = codes(page)
    sent = requests_of(page, "POST")
    press_twice(page.locator("tbody [data-row-act]").first)
    expect(page.get_by_role("link", name=rows[0], exact=True)).to_have_count(0)
    expect(page.locator("#flashes")).to_contain_text(f"{rows[0]} was bound to")
    assert len(sent) == 1, sent
    # The row after it is acted on as always.
    page.locator("tbody [data-row-act]").first.click()
    expect(page.locator("#flashes")).to_contain_text(f"{rows[1]} was bound to")
    assert len(sent) == 2, sent


def test_the_acts_of_two_rows_that_are_pressed_at_once_are_both_sent(page_of: SignedIn) -> None:
    page = page_of("bob")
    page.goto(MATCHED)
    rows = codes(page)
    second = page.locator("tbody [data-row-act]").nth(1).get_attribute("formaction") or ""
    with page.expect_response(lambda answer: answer.url.endswith(second)):
        page.evaluate("""() => {
          const [first, second] = document.querySelectorAll("tbody [data-row-act]");
          document.body.addEventListener("htmx:afterRequest", () => second.click(), { once: true });
          first.click();
        }""")
    page.goto(MATCHED)
    assert codes(page) == rows[2:]


def _hold(page: Page, link: str) -> list[Route]:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(lambda url: url.endswith(link), hold)
    return held


def test_a_row_that_one_has_left_is_not_acted_on(page_of: SignedIn) -> None:
    page = page_of("bob")
    drawer = open_first(page, MATCHED)
    rows = codes(page)
    following = page.locator("tbody td[data-label=Code] a").nth(1).get_attribute("href")
    assert following
    accept = accept_and_next(drawer)
    held = _hold(page, following)
    sent = requests_of(page, "POST")
    with page.expect_request(lambda request: request.url.endswith(following)):
        drawer.get_by_role("button", name="Next row").click()
    accept.click()
    held[0].continue_()
    expect(heading(page)).to_have_text(f"Code {rows[1]}")
    assert sent == []
    accept.click()
    expect(heading(page)).to_have_text(f"Code {rows[2]}")
    assert len(sent) == 1


def test_a_refusal_does_not_lead_back_to_a_row_that_one_has_left(page_of: SignedIn) -> None:
    stale, other = page_of("bob"), page_of("bob")
    for page in (stale, other):
        page.goto(MATCHED)
    rows = codes(stale)
    links = [link.get_attribute("href") or "" for link in stale.locator("tbody td[data-label=Code] a").all()]
    stale.locator("tbody a[data-drawer]").first.click()
    drawer = stale.locator("#drawer-box")
    accept_and_next(drawer)
    other.locator("tbody [data-row-act]").first.click()
    expect(other.locator("#flashes")).to_contain_text(f"{rows[0]} was bound to")
    held = _hold(stale, links[1])
    fetched = requests_of(stale, "GET")
    stale.evaluate("""() => {
      document.querySelector("#drawer button[data-leads-on]").click();
      document.querySelector("#drawer [data-step='1']").click();
    }""")
    expect(drawer.locator("[data-flashes]")).to_contain_text("is bound now")
    held[0].continue_()
    expect(heading(stale)).to_have_text(f"Code {rows[1]}")
    assert [url for url in fetched if url.endswith(links[0])] == []
