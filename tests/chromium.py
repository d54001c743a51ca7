"""Chromium as the tests use it: found on the machine, quiet, complaining loudly.
What is looked at lives in the tests."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from app.vendor import TESTS

# The shell is the same browser without windows, menus and profiles: it takes half the time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--no-first-run", "--disable-component-update", "--disable-sync",
    # A page lives for a second: code that was made fast for longer, and the rubbish of most pages,
    # are never needed again.
    "--js-flags=--no-opt,--no-maglev,--min-semi-space-size=64,--max-semi-space-size=64",
]  # fmt: skip
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What a theme alone can break, once everything else was looked at in the other one.
CONTRAST = ["color-contrast"]
COLOURS = [*CONTRAST, "link-in-text-block"]
# What a size alone can break: targets too close, words that hide and leave a control without a name.
SIZES = [
    "target-size", "scrollable-region-focusable", "button-name", "link-name", "summary-name", "label", "select-name",
    "aria-hidden-focus", "empty-heading", "empty-table-header",
]  # fmt: skip

# Transitions end; what spins for ever, or moves with the scrolling, is always running.
_SETTLE = """async theme => {
  const fades = one => one instanceof CSSTransition && one.playState === "running";
  const calm = () => document.documentElement.dataset.bsTheme === theme && !document.getAnimations().some(fades);
  for (let frames = 0; frames < 600 && !calm(); frames++) await new Promise(requestAnimationFrame);
}"""
_REFUSAL = re.compile(r"^Failed to load resource: the server responded with a status of (403|404|409|422)")
# htmx tells so of a request whose place a newer one took (`hx-sync`).
# What really fails has another line beside `afterRequest`.
_REPLACED = re.compile(r"^htmx:(afterRequest|sendAbort)")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; skips where the machine has none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium on this machine: nothing was looked at in a browser")
    with sync_playwright() as playwright:
        # Bars that take their room, as on Windows and Linux: without them a page is wider than most people have it.
        started = playwright.chromium.launch(
            executable_path=program, args=FLAGS, ignore_default_args=["--hide-scrollbars"]
        )
        yield started
        started.close()


@contextmanager
def watched(context: BrowserContext) -> Iterator[Page]:
    """A page that fails its test when the browser's console complains (a refused inline style, a broken script)."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == [], complaints  # pytest shows what it compares in the tests' own files alone


def _is_complaint(message: ConsoleMessage) -> bool:
    """A refusal is told to the console too; whether it was meant is for the test to say."""
    return message.type == "error" and not _REFUSAL.search(message.text) and not _REPLACED.search(message.text)


def violations(
    page: Page, rules: list[str] | None = None, apart_from: Sequence[str] = (), without: Sequence[str] = ()
) -> list[str]:
    """What axe-core finds on the page as it is now: by all of WCAG 2.2 AA and good practice but the rules `without`, or
    by some of its rules; not within what the selectors `apart_from` choose."""
    bring_axe(page)
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": RULES}
    # It would fetch every style sheet once more, for the one rule on screens that may not be turned.
    options: dict[str, Any] = {"runOnly": only, "resultTypes": ["violations"], "preload": False}
    options["rules"] = {one: {"enabled": False} for one in without}
    where = {"exclude": [[one] for one in apart_from]}
    found = page.evaluate("given => axe.run(...given)", [where, options])["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def bring_axe(page: Page) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())  # through the debugger, which the page's policy does not bind


def settle(page: Page, theme: str) -> None:
    """Waits until the page stands in that theme; a changed one fades in."""
    page.evaluate(_SETTLE, theme)


def sticks_out(page: Page) -> bool:
    """Whether the document is wider than its place in the window, beside the scroll bar."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@cache
def _axe() -> str:
    return (next(TESTS.glob("axe-core@*")) / "axe.min.js").read_text(encoding="utf-8")
