"""Ending mails of one topic by the link in them, without signing in."""

import re

import pytest
from sqlalchemy import delete

from app.accounts.models import User
from app.errors import NotFound
from app.mail import unsubscribing
from app.mail.unsubscribing import SURVEYS, TOPICS, Wish
from app.parts import Parts
from app.secrets import KeyRing, new_key_text
from tests.conftest import Browser
from tests.host.signing_in import user_id_of

OLD, NEW = new_key_text("old"), new_key_text("new")
WISH = Wish(7, SURVEYS)
TOKEN = unsubscribing.token(KeyRing.from_text(OLD), WISH)


async def path_to(parts: Parts, short: str, topic: str = SURVEYS) -> str:
    user_id = await user_id_of(parts.database, short)
    return unsubscribing.link(parts, user_id, topic).removeprefix(parts.settings.base_url)


async def refused(parts: Parts, short: str) -> frozenset[str]:
    user_id = await user_id_of(parts.database, short)
    async with parts.database.shared_transaction() as db:
        return await unsubscribing.refused_by(db, user_id)


async def test_what_the_page_loads_does_not_name_its_address(parts: Parts, visitor: Browser) -> None:
    page = (await visitor.get(await path_to(parts, "vera"))).text
    assert '<meta name="referrer" content="strict-origin">' in page
    assert '<meta name="referrer" content="same-origin">' in (await visitor.get("/sign-in")).text


@pytest.mark.parametrize("topic", TOPICS)
def test_a_token_says_whose_mails_of_which_topic_end(topic: str) -> None:
    keys, wish = KeyRing.from_text(OLD), Wish(2**63 - 1, topic)
    assert unsubscribing.wish_of(keys, unsubscribing.token(keys, wish)) == wish


def test_a_token_works_while_its_key_is_in_the_ring() -> None:
    assert unsubscribing.wish_of(KeyRing.from_text(f"{NEW},{OLD}"), TOKEN) == WISH
    with pytest.raises(NotFound):
        unsubscribing.wish_of(KeyRing.from_text(NEW), TOKEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7.surveys",
        TOKEN.replace("7", "8", 1),
        TOKEN.replace(SURVEYS, "alerts"),
        TOKEN.replace(SURVEYS, "account"),
        TOKEN[:-1],
        TOKEN + "0",
        TOKEN + "\n",
        "0" + TOKEN,
        TOKEN.replace("7", "٧", 1),
        TOKEN.replace("7", "9" * 19, 1),
        TOKEN.upper(),
    ],
    ids=len,  # the keys differ with each process, and so do the tokens
)
def test_what_was_changed_is_no_token(text: str) -> None:
    with pytest.raises(NotFound):
        unsubscribing.wish_of(KeyRing.from_text(OLD), text)


async def test_a_mail_program_ends_mails_with_one_post(parts: Parts, visitor: Browser) -> None:
    """RFC 8058: no cookie, no token of a form, from anywhere, and a second time too."""
    path = await path_to(parts, "bob")
    for _ in range(2):
        headers = {"Origin": "https://mail.example", "Content-Type": "application/x-www-form-urlencoded"}
        answer = await visitor.post(path, content=b"List-Unsubscribe=One-Click", headers=headers)
        assert answer.status_code == 200
    assert await refused(parts, "bob") == {SURVEYS}
    assert await refused(parts, "alice") == frozenset()


async def test_a_person_looks_ends_and_undoes_it(parts: Parts, visitor: Browser) -> None:
    path = await path_to(parts, "bob", "alerts")
    shown = await visitor.get(path, headers={"Accept-Language": "de"})
    assert "Diese E-Mails abbestellen?" in shown.text
    assert await refused(parts, "bob") == frozenset(), "mail programs open links by themselves"
    assert "You get no more of these mails" in (await visitor.post(path)).text
    assert "Send me these mails again" in (await visitor.get(path)).text
    assert (await visitor.post(f"{path}/undo")).status_code == 403, "another site can't ask for it"
    form = re.search(r'action="([^"]+)".*?name="csrf_token" value="([^"]+)"', (await visitor.get(path)).text, re.DOTALL)
    assert form
    assert "You get these mails again" in (await visitor.post(form[1], data={"csrf_token": form[2]})).text
    assert await refused(parts, "bob") == frozenset()


async def test_a_link_of_an_account_that_is_gone_ends_nothing(parts: Parts, visitor: Browser) -> None:
    path = await path_to(parts, "bob")
    async with parts.database.shared_transaction() as db:
        await db.execute(delete(User).where(User.email == "bob@example.org"))
    answer = await visitor.post(path)
    assert (answer.status_code, "does not end any mail" in answer.text) == (404, True)
