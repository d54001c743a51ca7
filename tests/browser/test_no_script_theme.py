"""Where no script runs: the dark theme follows the system, paper stays white, and fields are whole."""

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


@pytest.mark.browser
def test_without_script_the_password_s_field_ends_like_the_others(page_of: SignedIn) -> None:
    page = page_of("", java_script_enabled=False)
    page.goto("/sign-in")
    edge = "one => ['borderRightWidth', 'borderRightColor', 'borderTopRightRadius'].map(name => getComputedStyle(one)[name])"
    mail, password = (page.locator(f"#f-{name}, [name={name}]").first.evaluate(edge) for name in ("email", "password"))
    assert password == mail
