"""One portal, one Chromium, and who is signed in. The sign-in itself is a test; everybody else begins behind it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, StorageState

from tests.chromium import chromium, watched
from tests.cluster import ROOT, TestCluster
from tests.host.signing_in import PASSWORD

DESK = {"width": 1440, "height": 900}
PATIENCE_MS = 20_000  # a deadline for what would else hang, on a busy machine too


class Portal(NamedTuple):
    url: str
    clock_url: str
    database_url: str


SignedIn = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="package")
def portal(
    browser: Browser, cluster: TestCluster, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Portal]:
    """Asked for after the browser: where there is none, nothing is started."""
    urls = cluster.clone(template)
    folder = tmp_path_factory.mktemp("portal")
    # A file, no pipe: whatever the portal writes, it never waits for somebody to read it.
    log = folder / "said"
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.portal", urls.app, str(folder)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
    with process:
        yield Portal(**_ready(process, log), database_url=urls.app)
        process.kill()
    cluster.drop(urls)


def _ready(process: "subprocess.Popen[bytes]", log: Path) -> Any:
    while process.poll() is None:
        for line in log.read_text().splitlines(keepends=True):
            if line.startswith("{") and line.endswith("\n"):
                return json.loads(line)
        time.sleep(0.05)
    pytest.fail(f"the portal did not start:\n{log.read_text()}")


@pytest.fixture(scope="package")
def signed_in_as(browser: Browser, portal: Portal) -> Callable[[str], StorageState]:
    """The cookies of that person of the cast, who signed in once, by the form."""
    kept: dict[str, StorageState] = {}

    def state(short: str) -> StorageState:
        if short not in kept:
            context = browser.new_context(base_url=portal.url)
            page = context.new_page()
            submit_sign_in(page, short)
            page.wait_for_url(lambda url: "/sign-in" not in url)
            kept[short] = context.storage_state()
            context.close()
        return kept[short]

    return state


@pytest.fixture
def page_of(browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]) -> Iterator[SignedIn]:
    """`page_of("alice")`: a page in a window of their own; `page_of("")`: a stranger's. Options go to the context."""
    with ExitStack() as opened:

        def open_page(short: str, **options: Any) -> Page:
            state = signed_in_as(short) if short else None
            settings = {"base_url": portal.url, "viewport": DESK, "reduced_motion": "reduce", **options}
            context = browser.new_context(storage_state=state, **settings)
            context.set_default_timeout(PATIENCE_MS)
            return opened.enter_context(watched(context))

        yield open_page


def submit_sign_in(page: Page, short: str, password: str = PASSWORD) -> None:
    page.goto("/sign-in")
    page.get_by_label("E-mail").fill(f"{short}@example.org")
    page.get_by_role("textbox", name="Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
