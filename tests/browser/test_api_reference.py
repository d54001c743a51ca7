"""The API reference in a browser: a GET is tried with a token, and the page reads well without script."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import SignedIn
from tests.chromium import sticks_out, violations

pytestmark = pytest.mark.browser
COUNT, SURVEYS = "/v1/api/me/surveys/count", "/api/v1/surveys"


def new_token(page: Page, scope: str) -> str:
    page.goto("/account/tokens/new")
    page.get_by_role("textbox", name="Name").fill("To try the reference")
    page.locator(f"input[name=scopes][value='{scope}']").check()
    page.get_by_role("button", name="Make").click()
    return page.locator(".copyable code, [data-secret]").first.inner_text()


def tried(page: Page, path: str, **given: str) -> Locator:
    """The answer below the form."""
    form = page.locator(f'[data-api-try="{path}"]')
    for name, value in given.items():
        form.locator(f"input[name={name}]").fill(value)
    form.get_by_role("button", name="Try it").click()
    expect(form.locator("[data-status]")).to_contain_text(re.compile(r"^\d"))
    return form.locator("[data-answer]")


def test_a_get_is_tried_with_a_token_that_stays_in_the_page(page_of: SignedIn) -> None:
    page = page_of("alice")
    token = new_token(page, "me")
    page.goto("/help/api/end-user")
    page.get_by_label("Token for trying a GET").fill(token)
    answer = tried(page, COUNT)
    expect(answer).to_contain_text("200")
    expect(answer).to_contain_text('"required"')
    assert violations(page) == []
    page.reload()
    assert page.get_by_label("Token for trying a GET").input_value() == ""


def test_what_is_part_of_the_path_is_sent_in_the_path(page_of: SignedIn) -> None:
    page = page_of("alice")
    token = new_token(page, "surveys:read")
    page.goto("/help/api/integration")
    page.get_by_label("Token for trying a GET").fill(token)
    listed = tried(page, SURVEYS, per_page="1")
    uid = json.loads(listed.locator("[data-body]").inner_text())["data"][0]["uid"]
    results = f"{SURVEYS}/{{uid}}/results"
    form = page.locator(f'[data-api-try="{results}"]')
    form.get_by_role("button", name="Try it").click()
    expect(form.locator("input[name=uid]")).to_be_focused()  # it is needed
    answer = tried(page, results, uid=uid, version="1")
    expect(answer).to_contain_text("200")
    expect(answer).to_contain_text(f'"survey": "{uid}"')
    heights = page.locator("nav .api-method").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert len(set(heights)) == 1, "GET stands in one line beside a long path, too"


def test_it_fits_a_phone_and_needs_no_script(page_of: SignedIn) -> None:
    page = page_of("alice", java_script_enabled=False, viewport={"width": 360, "height": 800})
    page.goto("/help/api/integration")
    expect(page.get_by_role("button", name="Try it")).to_have_count(0)
    expect(page.get_by_role("heading", name="GET /api/v1/clock/transactions")).to_be_visible()
    wide = page_of("alice", viewport={"width": 360, "height": 800})
    wide.goto("/help/api/integration")
    assert not sticks_out(wide)
    assert violations(wide) == []
