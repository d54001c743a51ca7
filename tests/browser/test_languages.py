"""A survey in the language of the person, and its translation by the author, in a browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.db.session import Database
from app.surveys.authoring import actions as authoring
from tests.browser import asking
from tests.browser.conftest import Portal, SignedIn
from tests.browser.in_database import in_database
from tests.chromium import sticks_out, violations
from tests.surveys.authored import ANN, NOW
from tests.surveys.translated import translated

pytestmark = pytest.mark.browser


@pytest.fixture
def lunch(portal: Portal) -> str:
    """Published for employees, in English, German and, in part, Arabic; its address ends with this."""
    found: list[str] = []

    async def publish(database: Database) -> None:
        async with database.transaction() as db:
            definition = translated(user_types=tuple(asking.EMPLOYEES), title="Lunch in languages")
            uid = await authoring.create(db, ANN, definition, "full")
            await authoring.publish(db, ANN, uid, NOW, "full")
            found.append(str(uid))

    in_database(portal.database_url, publish)
    return found[0]


@pytest.fixture
def nora(page_of: SignedIn) -> Page:
    return page_of("nora")


def test_a_person_answers_in_german_and_the_condition_holds(nora: Page, lunch: str, portal: Portal) -> None:
    nora.goto(f"/me/questions/{lunch}?lang=de")
    expect(nora.locator("#prompt-title")).to_have_attribute("lang", "de")
    why = nora.get_by_label("Warum?")
    expect(why).to_be_hidden()
    nora.get_by_label("Schlecht").check()
    expect(why).to_be_visible()
    nora.get_by_label("Gut").check()
    expect(why).to_be_hidden()
    assert violations(nora) == []
    nora.goto(f"/me/questions/{lunch}?lang=ar")
    expect(nora.locator("#prompt-title")).to_have_attribute("dir", "rtl")
    # What was chosen in German stays chosen: it is the same option.
    expect(nora.get_by_label("Good", exact=True)).to_be_checked()
    # The words for the ends lie under the stars that they are about, also where these go from right to left.
    low, first = nora.get_by_text("bad", exact=True).bounding_box(), nora.locator(".prompt-star").first.bounding_box()
    high = nora.get_by_text("good", exact=True).bounding_box()
    assert low
    assert high
    assert first
    assert abs(low["x"] - first["x"]) < abs(high["x"] - first["x"])
    nora.set_viewport_size({"width": 360, "height": 740})
    assert not sticks_out(nora)
    assert violations(nora) == []
    asking.archive_all(portal.database_url)


def test_an_author_translates_by_keyboard_beside_the_own_texts(page_of: SignedIn, lunch: str, portal: Portal) -> None:
    page = page_of("alice")
    page.goto(f"/surveys/languages/{lunch}")
    page.get_by_label("Add a language").fill("tr")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("to=tr"))
    page.get_by_label("Title in Türkçe (tr)").fill("Öğle yemeği")
    page.keyboard.press("Enter")
    expect(page.locator("#flashes")).to_contain_text("Saved.")
    expect(page.locator(".translate-languages")).to_contain_text("19 of 20 missing")
    assert violations(page) == []
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert not sticks_out(page)
    asking.archive_all(portal.database_url)
