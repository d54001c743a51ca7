"""How axe-core is asked about one page after the other of the portal:
their common shell once, and then what differs."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.chromium import settle, violations

# The same on every page, and most of a small one.
SHELL = ("#menu", ".shell-top", "#drawer-box", "#dialog-box", "#palette-box")
# Told to leave it out, axe-core asks for the style and the place of all its parts nevertheless. So they are taken out
# while it looks; the boxes stay, with their names, their ids and the room that they take.
_EMPTY_SHELL = f"""() => {{
  window.shell = [...document.querySelectorAll("{", ".join(SHELL)}")].map(box => [box, [...box.childNodes]]);
  for (const [box] of window.shell) box.replaceChildren();
}}"""
_FILL_SHELL = "() => { for (const [box, parts] of window.shell) box.replaceChildren(...parts); }"
# One of the page's may be the shell's: it would be missed if only one of them were looked at.
_DOUBLE_IDS = """() => [...document.querySelectorAll('[id]')].map(one => one.id)
  .filter((id, place, all) => all.indexOf(id) !== place)"""


@contextmanager
def apart_from_shell(page: Page) -> Iterator[None]:
    """The page without what was looked at on another one. It stands as before when the look is over."""
    page.evaluate(_EMPTY_SHELL)
    yield
    page.evaluate(_FILL_SHELL)


def double_ids(page: Page) -> list[str]:
    return [f"two have the id {one}" for one in page.evaluate(_DOUBLE_IDS)]


def violations_apart_from_shell(page: Page, rules: list[str] | None = None) -> list[str]:
    """As `violations`, of a page whose shell was looked at on another one."""
    double = [] if rules else double_ids(page)
    with apart_from_shell(page):
        return double + violations(page, rules, apart_from=SHELL)


def turn_dark(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    settle(page, "dark")


def turn_light(page: Page) -> None:
    page.emulate_media(color_scheme="light")
