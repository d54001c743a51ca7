"""Forgotten passwords, links for new accounts, and what a person is told of their account."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, event, func, select, update

from app.accounts import signing_in
from app.accounts.models import Job, OneTimeLink, Tenant, User
from app.db.session import Database
from app.mail.account_letters import MOST_FOR_ADDRESS, MOST_FROM_IP, NOTICES
from app.mail.models import OutgoingMail
from app.parts import Parts
from tests.conftest import BASE_URL, Browser
from tests.fakes.mailbox import Mailbox, html_of, text_of
from tests.host.signing_in import ANOTHER, PASSWORD, change_user, fill_in, give_password, give_second_factor, user_of
from tests.mail.conftest import send

ROOT = Path(__file__).parents[2]
_TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
LINK = re.compile(r"http://testserver(/welcome/\S+)")
ZOE = {"name": "Zoe", "email": "zoe@example.org", "type": "staff"}


async def forget(browser: Browser, email: str) -> str:
    """The answer, less what differs with every answer."""
    shown = (await fill_in(browser, "/sign-in/forgot", {"email": email})).text
    return re.sub(r'"[\w=-]{60,}"', "", shown)


def link_in(mailbox: Mailbox) -> str:
    found = LINK.search(text_of(mailbox.messages[-1]))
    assert found
    return found[1]


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is asked of the database meanwhile."""
    texts: list[str] = []

    def note(*call: Any) -> None:
        texts.append(call[2])

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    yield texts
    event.remove(database.engine.sync_engine, "before_cursor_execute", note)


async def test_who_forgot_the_password_gets_a_link_and_a_new_one(
    parts: Parts, visitor: Browser, alice: Browser, mailbox: Mailbox
) -> None:
    await give_password(parts.database, "alice")
    await change_user(parts.database, "alice", failed_sign_ins=5, locked_until=func.now() + timedelta(minutes=15))
    assert "a link is on its way" in await forget(visitor, "Alice@example.org")
    await send(parts)
    assert "It works once" in text_of(mailbox.messages[-1])
    answer = await fill_in(visitor, link_in(mailbox), {"password": ANOTHER})
    assert answer.headers["location"] == "/"
    assert (await user_of(parts.database, "alice")).locked_until is None
    assert await signing_in.verify_password((await user_of(parts.database, "alice")).password_hash, ANOTHER)
    assert (await alice.get("/account")).status_code != 200, "the sessions from before have ended"
    await send(parts)
    assert mailbox.subjects == ["A new password for Muster", "Your password was changed in Muster"]


async def test_the_language_of_the_address_stays_on_the_way_there_and_back(visitor: Browser, mailbox: Mailbox) -> None:
    forgot = "/sign-in/forgot?lang=de"
    assert f'href="{forgot}"' in (await visitor.get("/sign-in?lang=de")).text
    asked = (await visitor.get(forgot)).text
    assert f'action="{forgot}"' in asked
    assert 'href="/sign-in?lang=de"' in asked
    sent = (await fill_in(visitor, forgot, {"email": "alice@example.org"})).text
    assert '<html lang="de"' in sent
    assert f'href="{forgot}"' in sent


async def test_a_link_works_once_and_for_half_an_hour(parts: Parts, visitor: Browser, mailbox: Mailbox) -> None:
    await forget(visitor, "alice@example.org")
    await send(parts)
    async with parts.database.shared_transaction() as db:
        life = await db.scalar(select(OneTimeLink.expires_at - func.now()))
    assert life is not None
    assert timedelta(minutes=29) < life <= timedelta(minutes=30)
    await fill_in(visitor, link_in(mailbox), {"password": ANOTHER})
    assert (await visitor.get(link_in(mailbox))).status_code == 404


async def test_of_two_browsers_with_one_link_one_alone_sets_a_password(
    parts: Parts, app: Any, visitor: Browser, mailbox: Mailbox
) -> None:
    """Both have the form open, and send it at the same time. The other one is told that the link was used."""
    await forget(visitor, "alice@example.org")
    await send(parts)
    transport = httpx.ASGITransport(app=app)
    async with Browser(transport=transport, base_url=BASE_URL) as other:
        browsers, passwords = (visitor, other), (PASSWORD, ANOTHER)
        tokens = [_TOKEN.search((await one.get(link_in(mailbox))).text) for one in browsers]
        sent = [
            one.post(link_in(mailbox), data={"password": password, "csrf_token": token[1] if token else ""})
            for one, password, token in zip(browsers, passwords, tokens, strict=True)
        ]
        answers = await asyncio.gather(*sent)
    assert sorted(answer.status_code for answer in answers) == [303, 404]
    set_by_first = answers[0].status_code == httpx.codes.SEE_OTHER
    assert (
        "This link was used already or is too old. Ask for a new one on the sign-in page" in answers[set_by_first].text
    )
    kept = (await user_of(parts.database, "alice")).password_hash
    assert await signing_in.verify_password(kept, passwords[not set_by_first])


async def test_the_second_factor_is_still_asked(parts: Parts, visitor: Browser, mailbox: Mailbox) -> None:
    await give_password(parts.database, "alice")
    await give_second_factor(parts, "alice")
    await forget(visitor, "alice@example.org")
    await send(parts)
    answer = await fill_in(visitor, link_in(mailbox), {"password": ANOTHER})
    assert answer.headers["location"] == "/sign-in"


@pytest.mark.parametrize("who", ["stranger", "inactive", "of a deactivated tenant"])
async def test_the_page_does_not_tell_who_has_an_account(
    parts: Parts, visitor: Browser, mailbox: Mailbox, who: str
) -> None:
    known = (await forget(visitor, "vera@example.org")).replace("vera@", "X@")
    async with parts.database.shared_transaction() as db:
        await db.execute(update(User).where(User.email == "bob@example.org").values(active=False))
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(active=False))
        await db.execute(update(OutgoingMail).values(status="dropped"))
    email = {"stranger": "mallory", "inactive": "bob", "of a deactivated tenant": "eve"}[who] + "@example.org"
    assert (await forget(visitor, email)).replace(email.split("@")[0] + "@", "X@") == known
    await send(parts)
    assert mailbox.messages == []


async def test_a_person_of_a_tenant_gets_a_link_too(parts: Parts, visitor: Browser, mailbox: Mailbox) -> None:
    await forget(visitor, "eve@example.org")
    await send(parts)
    assert mailbox.messages[-1]["To"] == "eve@example.org"


async def test_no_account_is_looked_up_before_the_answer(parts: Parts, visitor: Browser) -> None:
    """A worker finds out whether there is one, so that the time until the answer tells nothing."""
    token = re.search(r'name="csrf_token" value="([^"]+)"', (await visitor.get("/sign-in/forgot")).text)
    assert token
    asked: list[list[str]] = []
    for email in ("vera@example.org", "mallory@example.org"):
        with statements(parts.database) as texts:
            await visitor.post("/sign-in/forgot", data={"email": email, "csrf_token": token[1]})
        asked.append(texts)
        async with parts.database.shared_transaction() as db:
            await db.execute(delete(Job))
    assert asked[0] == asked[1]
    assert not [one for one in asked[0] if "users" in one]


async def test_one_may_ask_a_few_times_an_hour(parts: Parts, visitor: Browser, mailbox: Mailbox) -> None:
    said = {await forget(visitor, "alice@example.org") for _ in range(MOST_FOR_ADDRESS + 2)}
    assert len(said) == 1
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(OutgoingMail)) == MOST_FOR_ADDRESS
        await db.execute(update(OutgoingMail).values(created_at=func.now() - timedelta(hours=1, minutes=1)))
    await forget(visitor, "alice@example.org")
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(OutgoingMail)) == MOST_FOR_ADDRESS + 1


async def test_one_ip_address_may_ask_for_some_people_alone(parts: Parts, visitor: Browser) -> None:
    for number in range(MOST_FROM_IP + 3):
        await forget(visitor, f"person{number}@example.org")
    async with parts.database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(OutgoingMail)) == MOST_FROM_IP


async def test_what_is_not_an_address_is_said_at_its_field(visitor: Browser, parts: Parts) -> None:
    answer = await fill_in(visitor, "/sign-in/forgot", {"email": "ada"})
    assert answer.status_code == 422
    assert "ada" in answer.text


async def test_asking_takes_no_link_away_and_a_new_password_ends_them_all(
    parts: Parts, alice: Browser, visitor: Browser, mailbox: Mailbox
) -> None:
    """A stranger who knows an address must not end the link that an administrator handed over."""
    shown = await alice.submit("/admin/users/new", ZOE, follow_redirects=True)
    handed = LINK.search(shown.text)
    assert handed
    invitation = handed[1].split('"')[0].split("<")[0]
    await forget(visitor, "zoe@example.org")
    await send(parts)
    assert (await visitor.get(invitation)).status_code == 200
    await fill_in(visitor, link_in(mailbox), {"password": ANOTHER})
    assert (await visitor.get(invitation)).status_code == 404


async def test_a_changed_password_ends_the_links_that_were_asked_for(
    parts: Parts, alice: Browser, visitor: Browser, mailbox: Mailbox
) -> None:
    await give_password(parts.database, "alice")
    await forget(visitor, "alice@example.org")
    await send(parts)
    assert (await visitor.get(link_in(mailbox))).status_code == 200
    await alice.submit("/account/password", {"current": PASSWORD, "password": ANOTHER})
    assert (await visitor.get(link_in(mailbox))).status_code == 404


async def test_a_new_account_gets_its_link_by_mail(parts: Parts, alice: Browser, mailbox: Mailbox) -> None:
    form = {"name": "Zoe Zander", "email": "zoe@example.org", "type": "staff"}
    assert "They get the link by mail" in (await alice.get("/admin/users/new")).text
    shown = await alice.submit("/admin/users/new", form, follow_redirects=True)
    assert "on its way by mail" in shown.text
    await send(parts)
    assert mailbox.messages[-1]["To"] == "zoe@example.org"
    assert link_in(mailbox) in shown.text


async def test_a_link_that_was_used_meanwhile_is_not_mailed(
    parts: Parts, alice: Browser, visitor: Browser, mailbox: Mailbox
) -> None:
    shown = await alice.submit("/admin/users/new", ZOE, follow_redirects=True)
    found = LINK.search(shown.text)
    assert found
    await fill_in(visitor, found[1].split('"')[0].split("<")[0], {"password": ANOTHER})
    await send(parts)
    assert "Choose your password for Muster" not in mailbox.subjects


async def test_an_administrator_of_a_tenant_gets_the_link_too(parts: Parts, alice: Browser, mailbox: Mailbox) -> None:
    await alice.submit("/admin/tenants/acme/administrator", {"name": "Ann", "email": "ann@example.org", "known": "0"})
    await send(parts)
    assert mailbox.messages[-1]["To"] == "ann@example.org"


def test_each_notice_has_its_sentence_and_each_is_told_somewhere() -> None:
    sources = [path.read_text() for path in (ROOT / "app/host/pages/admin").glob("*.py")]
    for act in NOTICES:
        assert any(re.search(rf'tell_of\([^)]*"{act}"', source) for source in sources), act


async def test_letters_and_the_page_behind_them_speak_the_language_of_the_person(
    parts: Parts, visitor: Browser, mailbox: Mailbox
) -> None:
    await change_user(parts.database, "alice", language="de")
    await forget(visitor, "alice@example.org")
    await send(parts)
    assert mailbox.subjects == ["Ein neues Passwort für Muster"]
    assert '<html lang="de" dir="ltr">' in html_of(mailbox.messages[-1])
    in_german = {"Accept-Language": "de"}
    shown = await visitor.get(link_in(mailbox), headers=in_german)
    assert "Mindestens 12 Zeichen; ein Satz lässt sich am leichtesten merken." in shown.text
    token = re.search(r'name="csrf_token" value="([^"]+)"', shown.text)
    assert token
    short = {"password": "kurz", "csrf_token": token[1]}
    assert "Mindestens 12 Zeichen." in (await visitor.post(link_in(mailbox), data=short, headers=in_german)).text
    await visitor.post(link_in(mailbox), data={**short, "password": ANOTHER})
    await send(parts)
    assert mailbox.subjects[-1] == "Ihr Passwort in Muster wurde geändert"
