"""What a page shows once: loading it again makes nothing twice, and another tab in between takes nothing away."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.accounts import second_factor
from app.accounts.models import ApiToken, Session
from app.db.session import Database
from app.parts import Parts
from app.web import sessions
from tests.conftest import Browser
from tests.host.signing_in import PASSWORD, acts, give_password, give_second_factor, user_id_of, user_of

TOKEN = {"name": "Payroll", "scopes": ["me"], "life": "30"}
ADA = {"name": "Ada", "email": "ada@example.org"}
# What is made: the act in the audit, the address and the fields of the form, and what its secret looks like.
MAKES: dict[str, tuple[str, str, dict[str, object], str]] = {
    "a token": ("token.create", "/account/tokens/new", TOKEN, r"muster_[\w-]+"),
    "a token of another person": (
        "token.create", "/admin/tokens/new", {**TOKEN, "email": "bob@example.org"}, r"muster_[\w-]+",
    ),
    "recovery codes": (
        "user.make_recovery_codes", "/account/second-factor/recovery", {"current": PASSWORD}, r"[A-Z2-7-]{19}",
    ),
    "an address for backups": ("backups.make_address", "/admin/backups/address", {}, r"/ping/[\w-]+"),
    "an account": ("user.create", "/admin/users/new", {**ADA, "type": "staff", "roles": ["Viewer"]}, r"/welcome/[\w-]+"),
    "a link": ("user.make_link", "/admin/users/{bob}/link", {}, r"/welcome/[\w-]+"),
    "an administrator": ("tenant.add_administrator", "/admin/tenants/acme/administrator", ADA, r"/welcome/[\w-]+"),
    "a webhook": (
        "webhook.add", "/webhooks/new", {"url": "https://a.example/1", "types": ["attendance.changed"]}, r"whsec_\S+",
    ),
}  # fmt: skip


@pytest.fixture(params=MAKES)
def made(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def make(alice: Browser, database: Database, parts: Parts, what: str) -> str:
    """The address of the page that follows."""
    _, url, fields, secret = MAKES[what]
    await give_password(database, "alice")
    if what == "recovery codes":
        await give_second_factor(parts, "alice")
    posted = await alice.submit(url.replace("{bob}", str(await user_id_of(database, "bob"))), fields)
    assert (posted.status_code, re.findall(secret, posted.text)) == (303, []), posted.text
    return posted.headers["location"]


async def test_it_is_shown_once_and_made_once(alice: Browser, database: Database, parts: Parts, made: str) -> None:
    act, *_, secret = MAKES[made]
    page = await make(alice, database, parts, made)
    assert "Payroll" not in (await alice.get("/people")).text, "another page in between"
    shown = await alice.get(page)
    found = re.findall(secret, shown.text)
    assert found
    assert shown.headers["cache-control"] == "no-store, no-transform"
    assert 'id="prompt-corner"' not in shown.text, "no survey covers it"
    again = await alice.get(page)
    assert again.status_code == 303
    home = await alice.get(again.headers["location"])
    assert (home.status_code, 'id="prompt-corner"' in home.text) == (200, True)
    assert not {*found} & {*re.findall(secret, home.text)}
    assert (await acts(database)).count(act) == 1


async def test_what_waits_is_sealed(alice: Browser, database: Database, parts: Parts, made: str) -> None:
    page = await make(alice, database, parts, made)
    async with database.shared_transaction() as db:
        kept = await db.scalar(select(Session.flash).where(Session.flash != []))
    found = re.findall(MAKES[made][3], (await alice.get(page)).text)
    assert found
    assert not [one for one in found if one in str(kept)]


async def test_another_person_does_not_see_it(alice: Browser, bob: Browser, database: Database, parts: Parts) -> None:
    page = await make(alice, database, parts, "a token")
    assert (await bob.get(page)).headers["location"] == "/account"
    assert "muster_" in (await alice.get(page)).text


async def test_it_does_not_wait_for_long(
    alice: Browser, database: Database, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "ONCE_WAITS", timedelta())
    page = await make(alice, database, parts, "a token")
    assert "The token was made." in (await alice.get("/account")).text
    assert (await alice.get(page)).headers["location"] == "/account"
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(ApiToken)) == 1


async def test_done_leads_back_to_where_the_form_was_opened(alice: Browser, database: Database) -> None:
    back = "/admin/users?q=bob"
    bob_id = await user_id_of(database, "bob")
    shown = await alice.submit(f"/admin/users/{bob_id}/link", {"back": back}, follow_redirects=True)
    assert f'href="{back}">Done' in shown.text


async def test_what_was_made_last_is_shown(alice: Browser, database: Database, parts: Parts) -> None:
    """A button that is pressed twice makes codes twice, and the first ones end."""
    await make(alice, database, parts, "recovery codes")
    page = await make(alice, database, parts, "recovery codes")
    shown = re.findall(MAKES["recovery codes"][3], (await alice.get(page)).text)
    assert shown
    assert await second_factor.use_code(database, parts.keys, await user_of(database, "alice"), shown[0])
    assert (await alice.get(page)).headers["location"] == "/account"


async def test_it_does_not_wait_for_long_for_its_own_page(
    alice: Browser, database: Database, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "ONCE_WAITS", timedelta())
    page = await make(alice, database, parts, "a token")
    assert (await alice.get(page)).headers["location"] == "/account"
