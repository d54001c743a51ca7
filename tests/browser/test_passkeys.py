"""Passkeys with a real browser and an authenticator that Chromium plays: made, used, refused, and looked at."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pyotp
import pytest
from playwright.sync_api import CDPSession, Page, expect
from sqlalchemy import delete

from app.accounts import accounts
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import User
from app.db.session import Database
from tests.browser.conftest import Portal, SignedIn, submit_sign_in
from tests.browser.in_database import in_database
from tests.browser.looking import turn_dark, turn_light
from tests.chromium import COLOURS, SIZES, sticks_out, violations
from tests.host.signing_in import PASSWORD

PHONE = {"width": 360, "height": 760}
INTERNAL = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip
KEY = {**INTERNAL, "transport": "usb"}

pytestmark = pytest.mark.browser


@pytest.fixture
def pia(portal: Portal) -> Iterator[None]:
    """Somebody of her own: what she changes signs her out elsewhere."""

    async def come(database: Database) -> None:
        async with database.transaction() as db:
            new = accounts.NewUser("pia@example.org", "Pia Pass", "staff", password=PASSWORD)
            await accounts.create(db, COMMAND_LINE, new)

    async def leave(database: Database) -> None:
        async with database.shared_transaction() as db:
            await db.execute(delete(User).where(User.email == "pia@example.org"))

    in_database(portal.database_url, come)
    yield
    in_database(portal.database_url, leave)


class Device:
    """What Chromium plays on one page: authenticators that press their button by themselves."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable")

    def plug_in(self, options: dict[str, Any]) -> str:
        return str(self.session.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"])

    def pull_out(self, authenticator: str) -> None:
        self.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": authenticator})

    def recognise(self, authenticator: str, *, person: bool) -> None:
        named = {"authenticatorId": authenticator, "isUserVerified": person}
        self.session.send("WebAuthn.setUserVerified", named)


def with_app(page: Page) -> str:
    """Pia signs in and sets her authenticator app up; returns its key."""
    submit_sign_in(page, "pia")
    page.goto("/account/second-factor")
    found = re.search(r"secret=([A-Z2-7]+)", page.content())
    assert found
    page.get_by_label("The six digits").fill(pyotp.TOTP(found[1]).now())
    page.get_by_role("textbox", name="Your password now").fill(PASSWORD)
    page.get_by_role("button", name="Switch it on").click()
    page.get_by_role("link", name="I have kept them").click()
    return found[1]


def begin(page: Page, name: str) -> None:
    page.goto("/account/passkeys/new")
    page.get_by_label("Name").fill(name)
    page.get_by_role("textbox", name="Your password now").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Make the passkey")).to_be_visible()


def add(page: Page, name: str) -> None:
    begin(page, name)
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_text(f"The passkey {name} was added.")).to_be_visible()


def sign_out(page: Page) -> None:
    page.goto("/account")
    page.get_by_text("Pia Pass").first.click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")


def test_passkeys_are_added_by_their_page_and_sign_in_after_the_password(page_of: SignedIn, pia: None) -> None:
    page = page_of("")
    device = Device(page)
    with_app(page)
    laptop = device.plug_in(INTERNAL)
    page.goto("/account")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("textbox", name="Your password now").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Make the passkey").click()
    rows = page.get_by_role("region", name="Your passkeys").locator("tbody tr")
    expect(rows).to_have_count(1)
    device.pull_out(laptop)
    device.plug_in(KEY)
    add(page, "Key ring")
    expect(rows).to_have_count(2)
    sign_out(page)
    submit_sign_in(page, "pia")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    page.goto("/account")
    expect(rows.filter(has_text="Laptop")).to_contain_text("Never")
    expect(rows.filter(has_text="Key ring")).not_to_contain_text("Never")


def test_a_device_that_holds_one_already_says_so(page_of: SignedIn, pia: None) -> None:
    page = page_of("")
    device = Device(page)
    device.plug_in(INTERNAL)
    with_app(page)
    add(page, "Laptop")
    begin(page, "Laptop again")
    page.get_by_role("button", name="Make the passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("already has a passkey of yours")
    expect(page.get_by_role("button", name="Make the passkey")).to_be_enabled()


def test_a_device_that_does_not_know_the_person_gives_none_and_the_digits_sign_in(page_of: SignedIn, pia: None) -> None:
    page = page_of("")
    device = Device(page)
    laptop = device.plug_in(INTERNAL)
    secret = with_app(page)
    add(page, "Laptop")
    sign_out(page)
    device.recognise(laptop, person=False)
    submit_sign_in(page, "pia")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The browser gave no passkey")
    expect(page.get_by_role("button", name="Use a passkey")).to_be_focused()
    device.recognise(laptop, person=True)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    sign_out(page)
    submit_sign_in(page, "pia")
    next_code = pyotp.TOTP(secret).at(int(datetime.now(UTC).timestamp()) + 30)
    page.get_by_label("Authenticator code").fill(next_code)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


def test_at_another_address_of_the_portal_the_page_says_where_passkeys_work(
    page_of: SignedIn, portal: Portal, pia: None
) -> None:
    page = page_of("")
    Device(page).plug_in(INTERNAL)
    with_app(page)
    add(page, "Laptop")
    elsewhere = page_of("", base_url=f"http://127.0.0.1:{urlsplit(portal.url).port}")
    submit_sign_in(elsewhere, "pia")
    elsewhere.get_by_role("button", name="Use a passkey").click()
    expect(elsewhere.get_by_role("alert")).to_contain_text(f"Passkeys work only at {portal.url}.")


def test_without_script_the_page_says_what_a_passkey_needs_and_the_digits_sign_in(page_of: SignedIn, pia: None) -> None:
    page = page_of("")
    Device(page).plug_in(INTERNAL)
    secret = with_app(page)
    add(page, "Laptop")
    plain = page_of("", java_script_enabled=False)
    submit_sign_in(plain, "pia")
    expect(plain.get_by_text("A passkey needs JavaScript")).to_be_visible()
    expect(plain.get_by_role("button", name="Use a passkey")).to_be_hidden()
    plain.get_by_label("Authenticator code").fill(pyotp.TOTP(secret).at(int(datetime.now(UTC).timestamp()) + 30))
    plain.get_by_role("button", name="Sign in").click()
    plain.wait_for_url(lambda url: "/sign-in" not in url)
    plain.goto("/account/passkeys/new")
    expect(plain.get_by_text("A passkey needs JavaScript")).to_be_visible()


def test_a_browser_that_knows_no_passkeys_says_so(page_of: SignedIn, pia: None) -> None:
    page = page_of("")
    Device(page).plug_in(INTERNAL)
    with_app(page)
    add(page, "Laptop")
    old = page_of("")
    old.add_init_script("delete window.PublicKeyCredential")
    submit_sign_in(old, "pia")
    expect(old.get_by_role("alert")).to_contain_text("This browser can't use passkeys.")
    expect(old.get_by_role("button", name="Use a passkey")).to_be_hidden()


def test_its_pages_are_accessible_and_fit_in_light_in_the_dark_and_on_a_phone(page_of: SignedIn, pia: None) -> None:
    page = page_of("", color_scheme="light")
    Device(page).plug_in(INTERNAL)
    with_app(page)
    add(page, "The laptop with a long name that stands at home")
    faults = []
    rename, remove = (
        str(page.get_by_role("link", name=re.compile(f"^{act}")).get_attribute("href")) for act in ("Rename", "Remove")
    )
    steps: dict[str, Callable[[], Any]] = {
        "/account": lambda: page.goto("/account"),
        "new": lambda: page.goto("/account/passkeys/new"),
        "rename": lambda: page.goto(rename),
        "remove": lambda: page.goto(remove),
        "make": lambda: begin(page, "Another"),
        "not made": lambda: _garble(page, "The passkey was not added"),
        "sign in": lambda: (sign_out(page), submit_sign_in(page, "pia"), _button(page, "Use a passkey")),
        "refused": lambda: (_garble(page, "The passkey was not accepted"), _button(page, "Use a passkey")),
    }
    for name, step in steps.items():
        step()
        faults += [f"{name}: {fault}" for fault in _looked_at(page)]
    assert faults == []


def _looked_at(page: Page) -> Iterator[str]:
    yield from violations(page)
    turn_dark(page)
    yield from violations(page, COLOURS)
    turn_light(page)
    before = page.viewport_size
    for width in (PHONE["width"], 320):
        page.set_viewport_size({"width": width, "height": PHONE["height"]})
        if sticks_out(page):
            yield f"wider than {width} px"
    yield from violations(page, SIZES)
    page.set_viewport_size(before)  # type: ignore[arg-type]


def _button(page: Page, name: str) -> None:
    expect(page.get_by_role("button", name=name)).to_be_visible()


def _garble(page: Page, said: str) -> None:
    """Sends an answer that proves nothing."""
    with page.expect_navigation():
        page.evaluate("""() => {
          const form = document.querySelector('form[data-passkey]');
          form.querySelector('[data-answer]').value = '{}';
          form.submit();
        }""")
    expect(page.get_by_text(said)).to_be_visible()
