"""The first connection in a browser: the zone that the browser is in is offered, and can be changed."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from app.clock.connection import saved as connection
from app.clock.models import Connection
from app.db.session import Database
from app.problems import looking
from tests.browser.conftest import Portal, SignedIn
from tests.browser.in_database import in_database
from tests.chromium import sticks_out

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("zone", ["Asia/Manila", "America/Argentina/Salta"])
def test_the_zone_of_the_browser_is_offered(page_of: SignedIn, zone: str) -> None:
    page = page_of("eve", timezone_id=zone)
    page.goto("/clock_settings")
    field = page.get_by_label("Time zone")
    expect(field).to_have_value(zone)
    field.select_option("Europe/Berlin")
    expect(field).to_have_value("Europe/Berlin")


def test_after_a_good_test_the_way_on_leads_and_has_the_focus(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings/setup?step=2")
    button = page.get_by_role("button", name="Test the connection")
    button.focus()
    page.keyboard.press("Enter")
    on = page.get_by_role("link", name="Continue to the first sync")
    expect(on).to_be_focused()
    expect(page.locator("main .btn-primary")).to_have_count(1)


def test_a_page_that_has_just_opened_leaves_the_focus_at_its_beginning(page_of: SignedIn) -> None:
    page = page_of("alice")
    page.goto("/clock_settings/setup?step=2")
    # As without script: the answer is a whole page.
    page.locator("form[action='/clock_settings/setup/test']").evaluate("form => form.submit()")
    on = page.get_by_role("link", name="Continue to the first sync")
    expect(on).to_be_visible()
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(on).not_to_be_focused()


@pytest.fixture
def unreachable(portal: Portal) -> Iterator[str]:
    """The server's name is as long as no line is, and does not exist."""
    name = "a" * 280

    async def lead_away(database: Database) -> None:
        async with database.transaction() as db:
            await db.execute(update(Connection).values(base_url=f"http://{name}"))

    async def lead_back(database: Database) -> None:
        async with database.transaction() as db:
            await db.execute(update(Connection).values(base_url=portal.clock_url))
            await connection.mark_working(db, datetime.now(UTC))
            await looking.look_soon(db)

    in_database(portal.database_url, lead_away)
    yield name
    in_database(portal.database_url, lead_back)


def _test_by_keyboard(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Test the connection").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#test-steps .alert-danger")).to_be_visible()


@pytest.mark.parametrize("address", ["/clock_settings/setup?step=2", "/clock_settings"])
def test_after_a_failed_test_the_button_has_the_focus_and_no_name_widens_the_page(
    page_of: SignedIn, unreachable: str, address: str
) -> None:
    page = page_of("alice", viewport={"width": 1280, "height": 900})
    _test_by_keyboard(page, address)
    expect(page.get_by_role("button", name="Test the connection")).to_be_focused()
    expect(page.locator("#test-steps .step-failed")).to_contain_text(unreachable)
    assert not sticks_out(page)
    page.set_viewport_size({"width": 360, "height": 760})
    assert not sticks_out(page)
