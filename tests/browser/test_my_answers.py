"""*My answers* in the browser: an agreement is withdrawn by keyboard alone and given again, in every look,
and on paper."""

from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser import asking
from tests.browser.asking import AGREE, WHY
from tests.browser.conftest import Portal, SignedIn
from tests.chromium import sticks_out, violations

pytestmark = pytest.mark.browser
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LONG = "Fotografieeinwilligungserklärung" * 5


@pytest.fixture
def ask(portal: Portal) -> Iterator[Callable[..., None]]:
    """`ask(dict(title=…), …)`: published for Nora, the employee; no person is asked once the test is over."""
    yield lambda *several: asking.ask(portal.database_url, *several)
    asking.archive_all(portal.database_url)


@pytest.fixture
def nora(page_of: SignedIn) -> Page:
    return page_of("nora")


def answered(page: Page, title: str) -> None:
    """Agrees to what is asked, and opens the answer."""
    page.goto("/me/questions")
    page.get_by_role("link", name=title).click()
    for box in page.get_by_role("textbox").all():
        box.fill("Because " + "everybodyelseisinthepicture" * 8)
    page.get_by_role("button", name="Agree", exact=True).click()
    confirming = page.get_by_role("button", name="Yes, I agree")
    if confirming.count():
        confirming.click()
    # A screen reader begins with what became of the answer.
    expect(page.locator(".prompt-said")).to_be_focused()
    page.get_by_role("link", name="This answer in full").click()


def test_one_withdraws_by_keyboard_alone_and_agrees_again(ask: Callable[..., None], nora: Page) -> None:
    nora.goto("/me/answers")
    look(nora)
    ask({"title": LONG, "type": "consent", "message": "<p>" + "Words. " * 400 + "</p>", "questions": [AGREE, WHY]})
    answered(nora, LONG)
    for act, now, said in (
        ("Withdraw agreement", "Withdraw now", "Your agreement is withdrawn"),
        ("Agree again", "Agree now", "It is recorded that you agree again."),
    ):
        nora.locator("summary", has_text=act).focus()
        nora.keyboard.press("Enter")
        nora.keyboard.press("Tab")
        expect(nora.get_by_role("button", name=now)).to_be_focused()
        nora.keyboard.press("Enter")
        expect(nora.get_by_text(said)).to_be_visible()
    look(nora)
    nora.goto("/me/answers")
    look(nora)


def test_at_phone_width_the_ways_on_after_an_answer_stand_apart(ask: Callable[..., None], page_of: SignedIn) -> None:
    page = page_of("nora", viewport={"width": 360, "height": 740})
    ask({"title": "Badge", "questions": [WHY]})
    page.goto("/me/questions")
    page.get_by_role("link", name="Badge").click()
    page.get_by_role("textbox").fill("Because")
    page.get_by_role("button", name="Send", exact=True).click()
    first, second = (page.get_by_role("link", name=one).last for one in ("Questions for you", "This answer in full"))
    expect(second).to_be_visible()
    above, below = first.bounding_box(), second.bounding_box()
    assert above
    assert below
    assert below["y"] >= above["y"] + above["height"] + 4


def look(page: Page) -> None:
    """Nothing is wrong with it or sticks out, in both colours, wide and narrow; on paper no button is left."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 760})
            assert violations(page) == []
            assert not sticks_out(page)
    page.emulate_media(media="print", color_scheme="light")
    assert [one for one in page.locator("main").get_by_role("button").all() if one.is_visible()] == []
    page.emulate_media(media="screen")
