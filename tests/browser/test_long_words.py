"""A title without a blank stays within every page of its survey, on a desk and on a phone."""

from collections.abc import Iterator

import pytest

from tests.browser import asking
from tests.browser.conftest import Portal, SignedIn
from tests.chromium import sticks_out, violations

LONG = {
    "title": f"{'X' * 140} {'X' * 50}",
    "questions": [{"label": "W" * 300, "type": "single_choice", "options": ["o" * 180, "p"]}],
}
PAGES = ("", "/versions", "/comments", "/why")

pytestmark = pytest.mark.browser


@pytest.fixture
def long_one(portal: Portal) -> Iterator[None]:
    asking.ask(portal.database_url, LONG)
    yield
    asking.archive_all(portal.database_url)


@pytest.mark.usefixtures("long_one")
@pytest.mark.parametrize("width", [1440, 360])
def test_a_long_word_widens_no_page(page_of: SignedIn, width: int) -> None:
    alice = page_of("alice", viewport={"width": width, "height": 900})
    alice.goto("/surveys/list?q=XXX")
    at = alice.locator(".list tbody a").first.get_attribute("href")
    assert at
    for address in (*(f"{at}{page}" for page in PAGES), at.replace("/view/", "/waiting/")):
        answer = alice.goto(address)
        assert answer
        assert answer.ok, address
        assert not sticks_out(alice), address
        assert violations(alice, ["target-size"]) == [], address
