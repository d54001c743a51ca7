"""The dark theme where no script chooses one: it follows the system, and paper stays white."""

import pytest

from app import dark_sheet
from tests.browser.conftest import SignedIn

DARK, LIGHT = "rgb(15, 22, 32)", "rgb(246, 247, 249)"
GROUND = "getComputedStyle(document.body).backgroundColor"


def test_the_sheet_for_it_holds_what_the_other_sheets_say() -> None:
    assert dark_sheet.SHEET.read_text() == dark_sheet.written(), "run `python -m app.dark_sheet`"


@pytest.mark.browser
@pytest.mark.parametrize(("system", "ground"), [("dark", DARK), ("light", LIGHT)])
def test_without_script_a_page_is_as_dark_as_the_system(page_of: SignedIn, system: str, ground: str) -> None:
    page = page_of("", java_script_enabled=False, color_scheme=system)
    page.goto("/sign-in")
    assert page.evaluate(GROUND) == ground
    page.emulate_media(media="print")
    assert page.evaluate(GROUND) != DARK
