"""What somebody chose or typed in a survey outlives a reload, a lost connection and an ended session,
and meets no one else."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, StorageState, expect
from sqlalchemy import update

from app.accounts.models import User
from app.db.session import Database
from tests.browser.asking import REQUIRED, STARS, WHERE, WHY
from tests.browser.conftest import PATIENCE_MS, Portal, SignedIn, submit_sign_in
from tests.browser.in_database import in_database
from tests.browser.test_survey_prompt import CORNER, SOMEWHERE, ask
from tests.host.signing_in import PASSWORD

__all__ = ["ask"]
TICKS = {"label": "What else?", "type": "multiple_choice", "options": ["Soup", "Fish", "Rice"]}
DRAFTS = "Object.keys(localStorage).filter(key => key.startsWith('muster-draft:'))"
OPEN_FORM = ".prompt-form"

pytestmark = pytest.mark.browser


@pytest.fixture
def window(browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]) -> Iterator[BrowserContext]:
    """Nora's. Not watched: the console tells of requests that fail on purpose."""
    with browser.new_context(base_url=portal.url, storage_state=signed_in_as("nora")) as opened:
        opened.set_default_timeout(PATIENCE_MS)
        yield opened


def fill_in(page: Page, at: str = SOMEWHERE) -> None:
    page.goto(at)
    form = page.locator(OPEN_FORM)
    form.get_by_role("radio", name="Desk").check()
    form.get_by_role("checkbox", name="Rice").check()
    form.get_by_label("Why?").fill("A long story")


def expect_filled_in(page: Page) -> None:
    form = page.locator(OPEN_FORM)
    expect(form.get_by_role("radio", name="Desk")).to_be_checked()
    expect(form.get_by_role("checkbox", name="Rice")).to_be_checked()
    expect(form.get_by_role("checkbox", name="Soup")).not_to_be_checked()
    expect(form.get_by_label("Why?")).to_have_value("A long story")


def expect_empty(page: Page) -> None:
    expect(page.locator(OPEN_FORM).get_by_label("Why?")).to_have_value("")
    assert page.locator(f"{OPEN_FORM} :checked").count() == 0


def publish(ask: Callable[..., None], **more: Any) -> None:
    ask({"title": "Lunch", "questions": [WHERE, TICKS, WHY], **more})


@pytest.mark.parametrize("more", [{}, REQUIRED], ids=["optional", "required"])
def test_it_survives_a_reload_and_a_lost_connection(
    ask: Callable[..., None], window: BrowserContext, more: dict[str, Any]
) -> None:
    publish(ask, **more)
    nora = window.new_page()
    fill_in(nora)
    nora.reload()
    expect_filled_in(nora)
    expect(nora.get_by_text("12 of 5,000").first).to_be_visible()  # the other scripts know of it
    expect(nora.get_by_role("button", name="Clear the choice for “Where do you eat?”")).to_be_visible()
    window.set_offline(True)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#prompt-failure")).to_contain_text("The server cannot be reached.")
    expect(nora.locator("#prompt-failure")).to_be_focused()
    expect_filled_in(nora)
    window.set_offline(False)
    nora.reload()
    expect_filled_in(nora)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#flashes")).to_contain_text("Your answer was recorded. Receipt")
    nora.wait_for_function(f"{DRAFTS}.length === 0")


def test_the_same_on_its_own_page_and_on_that_of_the_prompt(ask: Callable[..., None], page_of: SignedIn) -> None:
    publish(ask)
    nora = page_of("nora")
    nora.goto("/me/questions")
    nora.get_by_role("link", name="Lunch").click()
    fill_in(nora, nora.url)
    nora.goto("/survey_prompt")
    expect_filled_in(nora)
    nora.goto("/account")  # no question whether to leave
    nora.goto("/survey_prompt")
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#flashes")).to_contain_text("Your answer was recorded.")
    assert nora.evaluate(DRAFTS) == []
    publish(ask)
    nora.goto("/me/questions")
    nora.get_by_role("link", name="Lunch").click()
    expect_empty(nora)
    fill_in(nora, nora.url)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("main")).to_contain_text("Your answer was recorded.")
    assert nora.evaluate(DRAFTS) == []


def test_without_a_network_its_own_page_stays_and_says_so(ask: Callable[..., None], window: BrowserContext) -> None:
    publish(ask)
    nora = window.new_page()
    nora.goto("/me/questions")
    nora.get_by_role("link", name="Lunch").click()
    fill_in(nora, nora.url)
    window.set_offline(True)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#flashes")).to_contain_text("The server cannot be reached.")
    expect_filled_in(nora)
    window.set_offline(False)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("main")).to_contain_text("Your answer was recorded.")


@pytest.mark.parametrize(
    ("at", "said"), [(SOMEWHERE, "#prompt-failure"), ("", "#flashes")], ids=["over a page", "its own"]
)
def test_where_no_draft_can_be_kept_the_browser_asks_before_leaving_what_could_not_be_sent(
    ask: Callable[..., None], window: BrowserContext, at: str, said: str
) -> None:
    publish(ask)
    nora = window.new_page()
    nora.add_init_script("""const set = Storage.prototype.setItem;
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith("muster-draft:")) throw new Error("full");
        set.call(this, key, value); };""")
    nora.goto("/me/questions")
    nora.get_by_role("link", name="Lunch").click()
    fill_in(nora, at or nora.url)
    window.set_offline(True)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator(said)).to_contain_text("The server cannot be reached.")
    window.set_offline(False)
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    nora.on("dialog", leave)
    nora.goto("/account")
    assert asked == ["beforeunload"]


def test_back_does_not_show_what_was_typed_to_who_signs_in_next(
    ask: Callable[..., None], window: BrowserContext
) -> None:
    """The browser itself fills a page in again that one goes back to. Here no draft is left, as for another person."""
    publish(ask)
    nora = window.new_page()
    nora.goto("/me/questions")
    nora.get_by_role("link", name="Lunch").click()
    asked_at = nora.url
    fill_in(nora, asked_at)
    nora.wait_for_function(f"{DRAFTS}.length === 1")
    nora.evaluate("localStorage.clear()")
    window.clear_cookies()
    submit_sign_in(nora, "nora")
    nora.wait_for_url(lambda url: not url.endswith("/sign-in"))
    while nora.url != asked_at:
        nora.go_back()
    expect_empty(nora)


def test_a_refused_answer_is_newer_than_the_draft(ask: Callable[..., None], page_of: SignedIn) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]})
    nora = page_of("nora")
    nora.goto(SOMEWHERE)
    nora.get_by_label("Why?").fill("First")
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator(".error-summary")).to_be_focused()
    nora.get_by_label("Why?").fill("")
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator(".error-summary")).to_be_focused()
    expect(nora.get_by_label("Why?")).to_have_value("")
    assert nora.evaluate(DRAFTS) == []


@pytest.mark.parametrize("more", [{}, REQUIRED], ids=["optional", "required"])
def test_a_session_that_ended_while_writing_leads_back_to_the_survey_filled_in(
    ask: Callable[..., None], window: BrowserContext, more: dict[str, Any]
) -> None:
    publish(ask, **more)
    nora = window.new_page()
    fill_in(nora)
    window.clear_cookies()
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#prompt-failure")).to_contain_text("You were signed out meanwhile, so nothing was sent.")
    nora.get_by_role("link", name="Sign in and come back to it").click()
    type_sign_in(nora, "nora")
    nora.wait_for_url("**/me/questions/*")
    expect_filled_in(nora)
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("main")).to_contain_text("Thank you. Your answer was recorded.")


@pytest.fixture
def german_nora(portal: Portal) -> Iterator[None]:
    """She chose German in *Account*; her browser prefers English."""

    async def choose(database: Database, language: str | None) -> None:
        async with database.transaction() as db:
            await db.execute(update(User).where(User.email == "nora@example.org").values(language=language))

    in_database(portal.database_url, partial(choose, language="de"))
    yield
    in_database(portal.database_url, partial(choose, language=None))


@pytest.mark.usefixtures("german_nora")
def test_who_must_sign_in_again_does_so_in_their_language(ask: Callable[..., None], window: BrowserContext) -> None:
    publish(ask)
    nora = window.new_page()
    fill_in(nora)
    window.clear_cookies()
    nora.locator(".prompt-send").click()
    nora.locator("[data-way-back]:visible").click()
    expect(nora.get_by_role("button", name="Anmelden")).to_be_visible()
    expect(nora.locator("html")).to_have_attribute("lang", "de")


def type_sign_in(page: Page, short: str) -> None:
    page.get_by_label("E-mail").fill(f"{short}@example.org")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_a_page_of_an_older_sign_in_says_what_to_do_and_keeps_it(
    ask: Callable[..., None], window: BrowserContext
) -> None:
    publish(ask)
    nora = window.new_page()
    fill_in(nora)
    window.clear_cookies()
    elsewhere = window.new_page()
    submit_sign_in(elsewhere, "nora")
    elsewhere.wait_for_url("**/survey_prompt")
    nora.get_by_role("button", name="Send").click()
    expect(nora.locator("#prompt-failure")).to_contain_text("Reload the page, then send it again.")
    nora.reload()
    expect_filled_in(nora)


def test_without_script_it_travels_through_the_sign_in(
    ask: Callable[..., None], browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]
) -> None:
    publish(ask)
    state = signed_in_as("nora")
    with browser.new_context(base_url=portal.url, storage_state=state, java_script_enabled=False) as window:
        nora = window.new_page()
        fill_in(nora, "/survey_prompt")
        window.clear_cookies()
        nora.get_by_role("button", name="Send").click()
        expect(nora.locator("main")).to_contain_text("what you wrote is back on its page")
        type_sign_in(nora, "nora")
        nora.wait_for_url("**/me/questions/*")
        expect_filled_in(nora)
        expect(nora.locator("main")).to_contain_text("is back. Nothing was sent yet.")
        nora.reload()
        expect_filled_in(nora)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_of_two_people_on_one_browser_neither_sees_what_the_other_wrote(
    ask: Callable[..., None],
    browser: Browser,
    portal: Portal,
    signed_in_as: Callable[[str], StorageState],
    script: bool,
) -> None:
    ask({"title": "Lunch", "questions": [WHERE, TICKS, WHY], "user_types": ["admin", "employee", "staff"]})
    state = signed_in_as("nora")
    with browser.new_context(base_url=portal.url, storage_state=state, java_script_enabled=script) as window:
        page = window.new_page()
        fill_in(page, "/survey_prompt")
        window.clear_cookies()
        page.get_by_role("button", name="Send").click()
        type_sign_in(page, "bob")
        page.wait_for_url(lambda url: "/sign-in" not in url)
        page.goto("/me/questions")
        page.get_by_role("link", name="Lunch").click()
        expect_empty(page)
        assert not script or page.evaluate(DRAFTS) == []


def test_signing_out_forgets_it(ask: Callable[..., None], page_of: SignedIn) -> None:
    publish(ask)
    nora = page_of("")
    submit_sign_in(nora, "nora")
    nora.wait_for_url("**/survey_prompt")
    fill_in(nora)
    expect(nora.locator(CORNER)).to_be_visible()
    assert len(nora.evaluate(DRAFTS)) == 1
    assert "nora" not in str(nora.evaluate(DRAFTS))
    nora.locator(".shell-user summary").click()
    nora.get_by_role("button", name="Sign out").click()
    nora.wait_for_url("**/sign-in")
    assert nora.evaluate(DRAFTS) == []


def test_after_seven_days_it_is_gone(ask: Callable[..., None], page_of: SignedIn) -> None:
    publish(ask)
    nora = page_of("nora")
    fill_in(nora)
    age = """days => { for (const key of Object.keys(localStorage).filter(key => key.startsWith("muster-draft:"))) {
      const draft = JSON.parse(localStorage[key]);
      localStorage[key] = JSON.stringify({ ...draft, at: draft.at - days * 86400000 }); } }"""
    nora.evaluate(age, 6.9)
    nora.reload()
    expect_filled_in(nora)
    nora.evaluate(age, 0.2)
    nora.reload()
    expect(nora.locator(CORNER)).to_be_visible()
    expect_empty(nora)
    assert nora.evaluate(DRAFTS) == []
