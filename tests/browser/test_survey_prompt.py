"""The survey prompt as an employee meets it: by keyboard alone, refused, put off, closed, without script,
in every look."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, StorageState, expect

from tests.browser import asking
from tests.browser.asking import AGREE, EVERY_TYPE, REQUIRED, STARS, WHERE, WHY
from tests.browser.conftest import Portal, SignedIn, submit_sign_in
from tests.chromium import COLOURS, SIZES, sticks_out, violations

PHONE = {"width": 360, "height": 760}
FINGER = 44
# A page that everybody may open, and over which the prompt opens.
SOMEWHERE = "/palette"
OPEN = "dialog.prompt-box[open]"
CORNER = "#prompt-corner"

pytestmark = pytest.mark.browser


@pytest.fixture
def ask(portal: Portal) -> Iterator[Callable[..., None]]:
    """`ask(dict(title=…), …)`: published for Nora, the employee; no person is asked once the test is over."""
    yield lambda *several: asking.ask(portal.database_url, *several)
    asking.archive_all(portal.database_url)


@pytest.fixture
def nora(page_of: SignedIn) -> Page:
    """In a window that remembers nothing of what was closed before."""
    return page_of("nora")


def open_prompt(page: Page, title: str) -> None:
    """A required one, in its dialog."""
    page.goto(SOMEWHERE)
    expect(page.locator(OPEN).get_by_role("heading", name=title)).to_be_focused()


def meet_card(page: Page, title: str, *, at: str = SOMEWHERE) -> Locator:
    """An optional one, in the corner."""
    page.goto(at)
    card = page.get_by_role("complementary", name="A question for you")
    expect(card.get_by_role("heading", name=title)).to_be_visible()
    return card


def test_one_answers_by_keyboard_alone_and_the_queue_continues(ask: Callable[..., None], nora: Page) -> None:
    consent: dict[str, Any] = {"title": "Photographs", "type": "consent", "questions": [AGREE]}
    ask({"title": "Lunch", "questions": [STARS, WHERE, WHY], **REQUIRED}, {**consent, **REQUIRED})
    open_prompt(nora, "Lunch")
    nora.keyboard.press("Tab")
    nora.keyboard.press("Space")
    for _ in range(3):
        nora.keyboard.press("ArrowRight")
    expect(nora.get_by_role("radio", name="4 stars")).to_be_checked()
    nora.keyboard.press("Tab")
    nora.keyboard.press("ArrowDown")
    expect(nora.get_by_role("radio", name="Desk")).to_be_checked()
    clear = nora.get_by_role("button", name="Clear the choice for “Where do you eat?”")
    nora.keyboard.press("Tab")
    expect(clear).to_be_focused()
    nora.keyboard.press("Enter")
    expect(nora.get_by_role("radio", name="Desk")).not_to_be_checked()
    nora.keyboard.press("Tab")
    nora.keyboard.type("Tasty")
    nora.keyboard.press("Tab")
    nora.keyboard.press("Enter")
    expect(nora.get_by_role("heading", name="Photographs")).to_be_focused()
    expect(nora.locator("#prompt-status")).to_have_text("Thank you. Your answer was recorded.")
    nora.keyboard.press("Tab")
    expect(nora.get_by_role("button", name="Agree", exact=True)).to_be_focused()
    nora.keyboard.press("Tab")
    nora.keyboard.press("Enter")
    expect(nora.get_by_role("group", name="Are you sure that you disagree?")).to_be_focused()
    nora.keyboard.press("Enter")  # a second press of the same key records nothing
    nora.keyboard.press("Tab")
    expect(nora.get_by_role("button", name="Back", exact=True)).to_be_focused()
    nora.keyboard.press("Tab")
    expect(nora.get_by_role("button", name="Yes, I disagree")).to_be_focused()
    nora.keyboard.press("Enter")
    expect(nora.locator("#flashes")).to_contain_text("It is recorded that you disagree. Receipt")
    expect(nora.locator(OPEN)).to_have_count(0)
    expect(nora.locator("#flashes").get_by_role("button", name="Copy the whole receipt")).to_be_visible()
    expect(nora.locator(".prompt-badge-count")).to_be_hidden()
    expect(nora.locator("#prompt-badge")).to_have_accessible_name("Questions for you")
    assert violations(nora) == []


def test_a_required_one_cannot_be_closed_and_loses_nothing_when_refused(
    ask: Callable[..., None], page_of: SignedIn
) -> None:
    ask({"title": "Rules", "questions": [STARS, WHY, AGREE], **REQUIRED})
    nora = page_of("")
    submit_sign_in(nora, "nora")  # ends by signing out
    nora.wait_for_url("**/survey_prompt")
    open_prompt(nora, "Rules")
    for _ in range(3):
        nora.keyboard.press("Escape")
    nora.mouse.click(5, 5)
    expect(nora.locator(OPEN)).to_be_visible()
    expect(nora.get_by_role("button", name="Close for now")).to_be_hidden()
    nora.get_by_label("Why?").fill("What I typed")
    nora.get_by_role("button", name="Agree", exact=True).click()
    expect(nora.locator(".error-summary")).to_be_focused()
    assert nora.get_by_label("Why?").input_value() == "What I typed"
    assert violations(nora) == []
    nora.get_by_role("link", name=re.compile("How was the food")).click()
    expect(nora.get_by_role("radiogroup", name="How was the food?")).to_be_focused()
    nora.get_by_role("radio", name="2 stars").press("Space")
    nora.get_by_role("radio", name="2 stars").press("Enter")
    expect(nora.locator(OPEN)).to_contain_text("Nothing was sent yet.")
    expect(nora.get_by_role("radio", name="2 stars")).to_be_checked()
    nora.on("dialog", lambda asked: asked.accept())
    nora.get_by_role("button", name="Sign out").click()
    nora.wait_for_url("**/sign-in")
    submit_sign_in(nora, "nora")
    nora.wait_for_url("**/survey_prompt")
    expect(nora.get_by_role("heading", name="Rules")).to_be_visible()


def test_a_person_who_was_signed_out_meanwhile_keeps_what_they_wrote(
    ask: Callable[..., None], browser: Browser, portal: Portal, signed_in_as: Callable[[str], StorageState]
) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]})
    # Not watched: the console tells of the 401.
    with browser.new_context(base_url=portal.url, storage_state=signed_in_as("nora")) as window:
        nora = window.new_page()
        meet_card(nora, "Lunch")
        nora.get_by_label("Why?").fill("A long story")
        window.clear_cookies()
        nora.get_by_role("button", name="Send").click()
        expect(nora.locator("#prompt-failure")).to_contain_text("You were signed out meanwhile")
        expect(nora.get_by_label("Why?")).to_have_value("A long story")


def test_agree_and_disagree_are_alike(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Photographs", "questions": [AGREE]})
    meet_card(nora, "Photographs")
    looks = """button => { const box = button.getBoundingClientRect(), look = getComputedStyle(button);
      return [box.width, box.height, look.color, look.backgroundColor, look.borderColor, look.fontSize, look.fontWeight] }"""
    agree, decline = (nora.get_by_role("button", name=name, exact=True) for name in ("Agree", "Disagree"))
    assert agree.evaluate(looks) == decline.evaluate(looks)
    asked = []
    for first, sure in ((agree, "Yes, I agree"), (decline, "Yes, I disagree")):
        first.click()
        yes = nora.get_by_role("button", name=sure)
        asked.append(yes.evaluate(looks))
        assert violations(nora) == []
        nora.get_by_role("button", name="Back").click()
        expect(first).to_be_visible()
        expect(yes).to_have_count(0)
    assert asked[0] == asked[1]
    expect(nora.locator("#prompt-badge")).to_have_accessible_name(
        "Questions for you: 1 waiting"
    )  # nothing was recorded


def test_one_click_more_records_an_agreement_and_what_was_typed_comes_along(
    ask: Callable[..., None], nora: Page
) -> None:
    ask({"title": "Photographs", "questions": [WHY, AGREE]})
    card = meet_card(nora, "Photographs")
    card.get_by_label("Why?").fill("Because")
    card.get_by_role("button", name="Agree", exact=True).click()
    expect(card.get_by_role("group", name="Are you sure that you agree?")).to_be_focused()
    expect(card.get_by_label("Why?")).to_have_value("Because")
    card.get_by_role("button", name="Back").click()
    expect(card.get_by_label("Why?")).to_have_value("Because")
    card.get_by_role("button", name="Agree", exact=True).click()
    card.get_by_role("button", name="Yes, I agree").click()
    expect(nora.locator("#flashes")).to_contain_text("It is recorded that you agree. Receipt")


@pytest.mark.parametrize("name", ["Agree", "Disagree"])
def test_a_double_click_decides_nothing(ask: Callable[..., None], nora: Page, name: str) -> None:
    ask({"title": "Photographs", "questions": [AGREE]})
    card = meet_card(nora, "Photographs")
    card.get_by_role("button", name=name, exact=True).click()
    yes = card.get_by_role("button", name="Yes, I")
    second = "button => button.dispatchEvent(new MouseEvent('click', { detail: 2, bubbles: true, cancelable: true }))"
    assert yes.evaluate(second) is False  # it was stopped
    expect(card.get_by_role("group", name="Are you sure")).to_be_in_viewport()
    expect(nora.locator("#prompt-badge")).to_have_accessible_name("Questions for you: 1 waiting")
    yes.click()
    expect(nora.locator("#flashes")).to_contain_text("Receipt")


def test_a_decision_on_the_last_page_is_asked_once_more_there(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Photographs", "questions": [WHY, {**AGREE, "page": True}]})
    card = meet_card(nora, "Photographs")
    card.get_by_label("Why?").fill("Because")
    card.get_by_role("button", name="Next").click()
    for way in ("Back", "Yes, I disagree"):
        card.get_by_role("button", name="Disagree", exact=True).click()
        expect(card.get_by_role("group", name="Are you sure that you disagree?")).to_be_focused()
        card.locator(".prompt-confirm").get_by_role("button", name=way).click()
    expect(nora.locator("#flashes")).to_contain_text("It is recorded that you disagree.")


def test_an_optional_one_is_a_card_that_interrupts_nothing(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]})
    card = meet_card(nora, "Lunch", at="/account")
    expect(nora.get_by_text("A question for you, at the end of the page: Lunch")).to_have_attribute(
        "aria-live", "polite"
    )
    assert nora.evaluate("document.activeElement === document.body")
    expect(nora.locator(OPEN)).to_have_count(0)
    nora.get_by_role("link", name="Account", exact=True).first.focus()  # nothing beneath it is inert
    assert violations(nora) == []
    for size in ({"width": 1440, "height": 900}, {"width": 800, "height": 700}):
        nora.set_viewport_size(size)  # type: ignore[arg-type]
        nora.evaluate("scrollTo(0, document.body.scrollHeight)")
        last = nora.locator("main").evaluate("main => main.getBoundingClientRect().bottom")
        assert last <= card.evaluate("card => card.getBoundingClientRect().top"), size


def test_at_phone_width_it_stands_in_the_flow_of_the_page(ask: Callable[..., None], page_of: SignedIn) -> None:
    ask({"title": "Lunch", "questions": EVERY_TYPE})
    nora = page_of("nora", viewport=PHONE)
    card = meet_card(nora, "Lunch", at="/account")
    assert card.evaluate("card => getComputedStyle(card).position") == "relative"
    assert card.evaluate("card => card.scrollHeight <= card.clientHeight + 1")
    assert not sticks_out(nora)
    assert violations(nora, SIZES) == []
    nora.get_by_role("link", name="Questions for you: 1 waiting").click()
    expect(card.get_by_role("heading", name="Lunch")).to_be_focused()
    expect(card.get_by_role("heading", name="Lunch")).to_be_in_viewport()


def test_one_that_was_put_away_stays_away_for_the_sign_in_and_waits_behind_the_badge(
    ask: Callable[..., None], nora: Page
) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]}, {"title": "Dinner", "questions": [STARS]})
    card = meet_card(nora, "Lunch")
    nora.keyboard.press("Escape")
    expect(card).to_be_visible()  # the focus is elsewhere: this Escape was not meant for it
    card.get_by_role("button", name="Answer", exact=True).click()
    nora.get_by_label("Why?").fill("Half a sentence")
    nora.keyboard.press("Escape")
    expect(card).to_be_hidden()
    badge = nora.locator("#prompt-badge")
    expect(badge).to_be_focused()
    expect(badge).to_have_accessible_name("Questions for you: 2 waiting")
    badge.press("Enter")
    expect(nora.get_by_label("Why?")).to_have_value("Half a sentence")
    nora.get_by_label("Why?").fill("")
    nora.get_by_role("button", name="Close for now").click()
    nora.on("dialog", lambda asked: asked.accept())
    nora.reload()
    expect(badge).to_have_accessible_name("Questions for you: 2 waiting")
    expect(card).to_be_hidden()
    nora.goto("/me/questions")
    expect(nora.get_by_role("link", name="Lunch")).to_be_visible()  # it was not snoozed
    nora.goto(SOMEWHERE)
    expect(badge).to_have_accessible_name("Questions for you: 2 waiting")
    badge.click()
    nora.get_by_role("button", name="Ask me later").click()
    expect(nora.get_by_role("heading", name="Dinner")).to_be_focused()
    nora.get_by_role("button", name="Don’t ask me again").click()
    expect(nora.locator("#flashes")).to_contain_text("You won’t be asked this again.")
    expect(card).to_be_hidden()
    expect(badge).to_have_accessible_name("Questions for you: 1 waiting")
    badge.click()
    nora.wait_for_url("**/me/questions")


def test_a_required_one_comes_before_a_card_and_a_card_after_it(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Lunch", "questions": [STARS]}, {"title": "Rules", "questions": [STARS], **REQUIRED})
    open_prompt(nora, "Rules")
    nora.locator(OPEN).get_by_role("radio", name="4 stars").check(force=True)
    nora.locator(OPEN).get_by_role("button", name="Send").click()
    card = nora.get_by_role("complementary", name="A question for you")
    expect(card.get_by_role("heading", name="Lunch")).to_be_focused()
    expect(card).to_contain_text("Thank you. Your answer was recorded. Receipt")
    expect(nora.locator(OPEN)).to_have_count(0)


@pytest.mark.parametrize(("more", "where"), [({}, CORNER), (REQUIRED, OPEN)], ids=["optional", "required"])
def test_the_authors_closing_words_stand_where_the_survey_stood(
    ask: Callable[..., None], nora: Page, more: dict[str, Any], where: str
) -> None:
    said = {"closing_html": "<p>The <strong>kitchen</strong> reads it.</p>"}
    ask(
        {"title": "Lunch", "questions": [STARS], **said, **more},
        {"title": "Dinner", "questions": [STARS], **said, **more},
    )
    nora.goto(SOMEWHERE)
    for following in ("Next question", "Close"):
        nora.locator(where).get_by_role("radio", name="4 stars").check(force=True)
        nora.locator(where).get_by_role("button", name="Send").click()
        expect(nora.locator(where).get_by_role("heading", name="Thank you")).to_be_focused()
        expect(nora.locator(where)).to_contain_text("Your answer was recorded. Receipt")
        expect(nora.locator(where)).to_contain_text("The kitchen reads it.")
        assert violations(nora) == []
        nora.locator(where).get_by_role("button", name=following, exact=True).press("Enter")
        if following == "Next question":
            expect(nora.locator(where).get_by_role("heading", name="Dinner")).to_be_focused()
    expect(nora.locator(f"{CORNER}:not([hidden]), {OPEN}")).to_have_count(0)
    if where == CORNER:
        expect(nora.locator("#prompt-badge")).to_be_focused()


@pytest.mark.parametrize(("more", "opens"), [({}, 0), (REQUIRED, 1)], ids=["optional", "required"])
def test_an_optional_one_takes_no_focus_from_a_field_in_which_somebody_types(
    ask: Callable[..., None], nora: Page, more: dict[str, Any], opens: int
) -> None:
    ask({"title": "Lunch", "questions": [STARS], **more})
    held: list[Route] = []
    nora.route("**/survey_prompt", lambda route: held.append(route))  # noqa: PLW0108 - Playwright can wrap no built-in method
    nora.goto("/account/password", wait_until="domcontentloaded")
    nora.get_by_label("New password").focus()
    nora.keyboard.type("half a sent")
    for _ in range(100):
        if held:
            break
        nora.wait_for_timeout(50)
    held[0].continue_()
    expect(nora.locator(".prompt-badge-count")).to_have_text("1")
    nora.keyboard.type("ence")
    expect(nora.locator(OPEN)).to_have_count(opens)
    if not opens:
        expect(nora.locator(CORNER)).to_be_visible()
        expect(nora.get_by_label("New password")).to_have_value("half a sentence")


@pytest.mark.parametrize(("more", "where"), [({}, CORNER), (REQUIRED, OPEN)], ids=["optional", "required"])
def test_every_type_of_question_is_accessible_and_fits_desk_and_phone(
    ask: Callable[..., None], nora: Page, more: dict[str, Any], where: str
) -> None:
    ask({"title": "A title as long as one can be, " * 6, "questions": EVERY_TYPE, "category": "Canteen", **more})
    refuse_every_type(nora, where)
    assert violations(nora) == []
    nora.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert not sticks_out(nora)
    assert nora.locator(where).evaluate("box => box.scrollWidth <= box.clientWidth")
    assert violations(nora, SIZES) == []
    targets = nora.locator(f"{where} :is(.prompt-choice, .prompt-star, .prompt-actions button:not([hidden]))")
    sizes = "all => all.map(one => one.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"
    assert min(targets.evaluate_all(sizes)) >= FINGER


@pytest.mark.parametrize(("more", "where"), [({}, CORNER), (REQUIRED, OPEN)], ids=["optional", "required"])
def test_it_keeps_its_contrast_in_the_dark(
    ask: Callable[..., None], page_of: SignedIn, more: dict[str, Any], where: str
) -> None:
    ask({"title": "A title as long as one can be, " * 6, "questions": EVERY_TYPE, "category": "Canteen", **more})
    nora = page_of("nora", color_scheme="dark")
    refuse_every_type(nora, where)
    nora.get_by_role("radio", name="Right").check()
    assert violations(nora, COLOURS) == []


def refuse_every_type(page: Page, where: str) -> None:
    """Every type with its error, as far as it can have one."""
    page.goto(SOMEWHERE)
    page.locator(where).get_by_role("button", name="Agree", exact=True).click()
    expect(page.locator(".error-summary")).to_be_focused()


def test_without_script_one_is_asked_on_a_page_of_its_own(ask: Callable[..., None], page_of: SignedIn) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]}, {"title": "Photographs", "questions": [AGREE]})
    page = page_of("nora", java_script_enabled=False)
    page.goto("/survey_prompt")
    page.get_by_label("Why?").fill("Typed without script")
    page.get_by_role("button", name="Send").click()
    assert page.locator("#prompt-1-error").is_visible()
    assert page.get_by_label("Why?").input_value() == "Typed without script"
    page.get_by_role("radio", name="5 stars").check(force=True)
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Agree", exact=True).click()
    expect(page.get_by_role("group", name="Are you sure that you agree?")).to_be_visible()
    page.get_by_role("button", name="Yes, I agree").click()
    expect(page.locator("#flashes")).to_contain_text(re.compile("Receipt [0-9a-f]{64}"))
    expect(page.locator("main")).to_contain_text("Nothing waits for an answer")


COVERED = """element => { const box = element.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
  return !element.contains(document.elementFromPoint(x, y)) }"""
FOLD = {"name": "Answer", "exact": True}


def test_while_one_works_on_the_page_it_is_one_line_and_covers_no_focus(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Lunch", "questions": [STARS, WHY]})
    nora.set_viewport_size({"width": 1280, "height": 640})
    card = meet_card(nora, "Lunch", at="/account")
    answer = card.get_by_role("button", **FOLD)
    expect(answer).to_be_hidden()
    nora.keyboard.press("Shift")
    expect(card.get_by_role("heading", name="Lunch")).to_be_visible()
    length = nora.evaluate("document.documentElement.scrollHeight")
    nora.keyboard.press("Tab")
    expect(card.get_by_role("heading", name="Lunch")).to_be_hidden()
    expect(answer).to_have_attribute("aria-expanded", "false")
    expect(answer).to_have_accessible_description("Lunch")
    assert card.evaluate("card => card.offsetHeight") < 72
    assert nora.evaluate("document.documentElement.scrollHeight") == length, "what is pressed stays where it is"
    assert violations(nora) == []
    for _ in range(60):
        nora.keyboard.press("Tab")
        focused = nora.locator(":focus")
        if focused.count() and card.evaluate("card => !card.contains(document.activeElement)"):
            assert not focused.evaluate(COVERED), focused.evaluate("one => one.outerHTML")
        elif focused.count():
            break
    expect(answer).to_be_focused()
    answer.press("Enter")
    expect(card.get_by_role("heading", name="Lunch")).to_be_focused()
    nora.keyboard.press("Tab")
    expect(card.get_by_role("heading", name="Lunch")).to_be_visible()


def test_it_stays_folded_on_later_pages_and_the_next_survey_comes_in_full(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Lunch", "questions": [STARS]}, {"title": "Dinner", "questions": [STARS]})
    card = meet_card(nora, "Lunch", at="/account")
    nora.mouse.click(700, 20)
    answer = card.get_by_role("button", **FOLD)
    expect(answer).to_be_visible()
    nora.goto("/account/password")
    expect(answer).to_be_visible()
    expect(card).to_contain_text("Lunch")
    expect(nora.locator("#prompt-arrived")).to_have_text("")
    nora.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(card.get_by_role("heading", name="Lunch")).to_be_visible()  # there it covers nothing
    nora.set_viewport_size({"width": 1024, "height": 640})
    nora.reload()
    answer.click()
    card.get_by_role("radio", name="4 stars").check(force=True)
    card.get_by_role("button", name="Send").click()
    expect(card.get_by_role("heading", name="Dinner")).to_be_focused()
    nora.reload()
    expect(card.get_by_role("heading", name="Dinner")).to_be_visible()


def test_a_folded_one_is_put_away_and_comes_back_in_full_behind_the_badge(ask: Callable[..., None], nora: Page) -> None:
    ask({"title": "Lunch", "questions": [STARS]})
    card = meet_card(nora, "Lunch", at="/account")
    nora.keyboard.press("Tab")
    card.get_by_role("button", name="Close for now").click()
    expect(card).to_be_hidden()
    nora.locator("#prompt-badge").press("Enter")
    expect(card.get_by_role("heading", name="Lunch")).to_be_focused()


def test_without_storage_it_folds_on_each_page(ask: Callable[..., None], nora: Page) -> None:
    """As in the private mode of some browsers."""
    nora.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError') }")
    ask({"title": "Lunch", "questions": [STARS]})
    card = meet_card(nora, "Lunch", at="/account")
    nora.keyboard.press("Tab")
    expect(card.get_by_role("button", **FOLD)).to_be_visible()
    meet_card(nora, "Lunch", at="/account/password")


@pytest.mark.parametrize("folded", [True, False])
def test_a_required_one_is_never_folded(ask: Callable[..., None], nora: Page, *, folded: bool) -> None:
    ask({"title": "Rules", "questions": [STARS], **REQUIRED})
    open_prompt(nora, "Rules")
    if folded:
        nora.keyboard.press("Tab")
    nora.mouse.click(5, 5)
    expect(nora.locator(OPEN).get_by_role("heading", name="Rules")).to_be_visible()


def test_a_folded_one_leaves_the_buttons_at_the_foot_of_a_page_free(
    ask: Callable[..., None], page_of: SignedIn
) -> None:
    alice = page_of("alice")
    alice.goto("/people")
    alice.locator("tbody a[data-drawer]").first.click()
    person = alice.locator("#drawer-box .drawer-open").get_attribute("href") or ""
    ask({"title": "Lunch", "questions": [STARS], "user_types": ["admin"]})
    card = meet_card(alice, "Lunch", at=person)
    alice.keyboard.press("Tab")
    expect(card.get_by_role("button", **FOLD)).to_be_visible()
    delete = alice.locator("main .drawer-foot").get_by_role("link", name="Delete…")
    delete.focus()
    assert not delete.evaluate(COVERED)
