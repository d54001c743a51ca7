"""`/account/passkeys`: adding, renaming and removing one's own passkeys; the authenticator app stays on beside them."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, insert, select, update

from app.accounts import passkeys, second_factor
from app.accounts.audit import Actor
from app.accounts.models import AuditEntry, Passkey, PasskeyChallenge
from app.accounts.passkey_site import PasskeySite
from app.config import Settings
from app.db.session import Database
from app.errors import Conflict
from app.parts import Parts
from tests.accounts.soft_key import PRESENT
from tests.accounts.with_passkeys import NAME, ORIGIN, add_passkey, begin_adding, request_in, send_passkey, soft_key
from tests.conftest import Browser, SignIn
from tests.host.signing_in import (
    PASSWORD,
    acts,
    change_user,
    give_password,
    give_second_factor,
    submit_sign_in,
    user_id_of,
    user_of,
)

OFF = "/account/second-factor/off"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, base_url=ORIGIN)


@pytest.fixture
async def ready(parts: Parts) -> int:
    """Bob has a password and an authenticator app."""
    await give_second_factor(parts, "bob")
    return await give_password(parts.database, "bob")


async def names(database: Database) -> list[str]:
    async with database.shared_transaction() as db:
        return list(await db.scalars(select(Passkey.name).order_by(Passkey.id)))


async def id_of(database: Database, name: str = NAME) -> int:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(Passkey.id).where(Passkey.name == name))).one()


async def test_several_are_added_and_listed_with_their_names(bob: Browser, database: Database, ready: int) -> None:
    assert "No passkeys" in (await bob.get("/account")).text
    await add_passkey(bob, "Work laptop")
    await add_passkey(bob, "Blue <key>")
    shown = (await bob.get("/account")).text
    assert "The passkey Blue &lt;key&gt; was added." in shown
    assert "of your authenticator app or a passkey" in shown
    assert await names(database) == ["Work laptop", "Blue <key>"]
    assert await acts(database) == ["user.add_passkey", "user.add_passkey"]


async def test_adding_ends_no_session(sign_in: SignIn, ready: int) -> None:
    here, elsewhere = await sign_in("bob"), await sign_in("bob")
    await add_passkey(here)
    assert (await elsewhere.get("/account")).status_code == 200


async def test_a_device_is_asked_for_no_second_passkey(bob: Browser, ready: int) -> None:
    key = await add_passkey(bob)
    asked = json.loads(await begin_adding(bob, "Another"))
    assert [one["type"] for one in asked["excludeCredentials"]] == ["public-key"]
    again = soft_key(credential_id=key.credential_id)
    answer = await bob.submit("/account/passkeys", {"name": "Another", "answer": again.make(json.dumps(asked))})
    assert (answer.status_code, "in the list already" in answer.text) == (409, True)


async def test_without_an_authenticator_app_there_is_none(bob: Browser, database: Database) -> None:
    await give_password(database, "bob")
    assert "Set up a second factor first" in (await bob.get("/account")).text
    for answer in (
        await bob.get("/account/passkeys/new"),
        await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD}),
    ):
        assert (answer.status_code, passkeys.NO_APP in answer.text) == (409, True)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"current": "wrong"}, "not your password"), ({"current": ""}, "needed"), ({"name": ""}, "needed")],
)
async def test_adding_wants_a_name_and_the_password(
    bob: Browser, database: Database, ready: int, changed: dict[str, str], said: str
) -> None:
    answer = await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD, **changed})
    assert answer.status_code == 422
    assert said in answer.text
    assert "data-request" not in answer.text
    assert (await user_of(database, "bob")).failed_sign_ins == (1 if changed.get("current") else 0)


async def test_a_name_is_taken_once_by_each_person(bob: Browser, vera: Browser, parts: Parts, ready: int) -> None:
    await add_passkey(bob)
    answer = await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD})
    assert (answer.status_code, passkeys.TAKEN in answer.text) == (422, True)
    await give_password(parts.database, "vera")
    await give_second_factor(parts, "vera")
    await add_passkey(vera)


async def test_a_name_that_was_taken_meanwhile_is_refused(bob: Browser, database: Database, ready: int) -> None:
    slow = await begin_adding(bob)
    await add_passkey(bob)
    answer = await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(slow)})
    assert (answer.status_code, passkeys.TAKEN in answer.text) == (422, True)
    assert await names(database) == [NAME]


async def test_there_is_room_for_so_many(bob: Browser, database: Database, ready: int) -> None:
    slow = await begin_adding(bob)
    many = [
        {"user_id": ready, "name": str(number), "site": "localhost", "credential_id": bytes([number]),
         "public_key": b"", "sign_count": 0}
        for number in range(passkeys.MOST)
    ]  # fmt: skip
    async with database.shared_transaction() as db:
        await db.execute(insert(Passkey), many)
    for answer in (
        await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD}),
        await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(slow)}),
    ):
        assert (answer.status_code, "Remove one first" in answer.text) == (409, True)


WRONG = {
    "another origin": {"origin": "https://evil.example"},
    "another site": {"site": "evil.example"},
    "an answer for signing": {"type": "webauthn.get"},
    "a device that did not ask who it is": {"flags": PRESENT},
    "a challenge that was never asked": {"challenge": "MDAwMDAwMDA"},
    "no key": {"parts": {"attestationObject": b""}},
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_answer_adds_nothing(bob: Browser, database: Database, ready: int, wrong: str) -> None:
    asked = await begin_adding(bob)
    answer = soft_key().make(asked, **WRONG[wrong])
    told = await bob.submit("/account/passkeys", {"name": NAME, "answer": answer})
    assert (told.status_code, passkeys.NOT_MADE in told.text) == (422, True)
    assert await names(database) == []


@pytest.mark.parametrize("sent", [{"name": NAME}, {"name": NAME, "answer": ""}, {"answer": "{}"}, {}])
async def test_a_form_without_name_or_answer_adds_nothing(bob: Browser, ready: int, sent: dict[str, str]) -> None:
    assert (await bob.submit("/account/passkeys", sent)).status_code == 422


async def test_a_challenge_adds_one_passkey_and_expires(bob: Browser, database: Database, ready: int) -> None:
    asked = await begin_adding(bob)
    for name, status in (("First", 303), ("Second", 422)):
        answer = await bob.submit("/account/passkeys", {"name": name, "answer": soft_key().make(asked)})
        assert answer.status_code == status
    late = await begin_adding(bob)
    async with database.shared_transaction() as db:
        await db.execute(update(PasskeyChallenge).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert (await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(late)})).status_code == 422
    assert await names(database) == ["First"]


async def test_a_wrong_answer_uses_the_challenge_up(bob: Browser, database: Database, ready: int) -> None:
    asked = await begin_adding(bob)
    await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(asked, flags=PRESENT)})
    answer = await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(asked)})
    assert answer.status_code == 422


async def test_another_person_s_challenge_adds_nothing(bob: Browser, vera: Browser, parts: Parts, ready: int) -> None:
    """Else one could be made to sign in with a key that another person holds."""
    await give_password(parts.database, "vera")
    await give_second_factor(parts, "vera")
    asked = await begin_adding(vera)
    answer = await bob.submit("/account/passkeys", {"name": NAME, "answer": soft_key().make(asked)})
    assert answer.status_code == 422
    assert await names(parts.database) == []


async def test_a_challenge_for_signing_in_adds_nothing(
    bob: Browser, visitor: Browser, database: Database, ready: int
) -> None:
    """It is given to a person with the password alone, who has not given the second factor yet."""
    await add_passkey(bob)
    signing = json.loads(request_in(await submit_sign_in(visitor, "bob")))
    asked = json.dumps({"challenge": signing["challenge"], "rp": {"id": "localhost"}})
    answer = await bob.submit("/account/passkeys", {"name": "Another", "answer": soft_key().make(asked)})
    assert answer.status_code == 422
    assert await names(database) == [NAME]


async def test_one_is_renamed_with_the_password(bob: Browser, database: Database, ready: int) -> None:
    await add_passkey(bob)
    await add_passkey(bob, "Another")
    url = f"/account/passkeys/{await id_of(database)}/rename"
    assert f'value="{NAME}"' in (await bob.get(url)).text
    for sent in ({"name": "Old laptop", "current": "wrong"}, {"name": "Another", "current": PASSWORD}):
        assert (await bob.submit(url, sent)).status_code == 422
    assert (await bob.submit(url, {"name": NAME, "current": PASSWORD})).status_code == 303
    assert (await bob.submit(url, {"name": "Old laptop", "current": PASSWORD})).status_code == 303
    assert await names(database) == ["Old laptop", "Another"]
    async with database.shared_transaction() as db:
        told = select(AuditEntry.before, AuditEntry.after).where(AuditEntry.act == "user.rename_passkey")
        assert [tuple(row) for row in await db.execute(told)] == [({"passkey": NAME}, {"passkey": "Old laptop"})]


async def test_one_is_removed_with_the_password_and_the_other_browsers_are_signed_out(
    sign_in: SignIn, visitor: Browser, database: Database, ready: int
) -> None:
    here, elsewhere = await sign_in("bob"), await sign_in("bob")
    key = await add_passkey(here)
    await add_passkey(here, "Another")
    url = f"/account/passkeys/{await id_of(database)}/remove"
    assert (await here.submit(url, {"current": "wrong"})).status_code == 422
    assert (await elsewhere.get("/account")).status_code == 200
    assert (await here.submit(url, {"current": PASSWORD})).status_code == 303
    assert await names(database) == ["Another"]
    assert (await elsewhere.get("/account")).status_code == 303
    assert (await here.get(url)).status_code == 404
    assert "user.remove_passkey" in await acts(database)
    asked = await submit_sign_in(visitor, "bob")
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 422


async def test_no_person_touches_another_person_s(bob: Browser, vera: Browser, database: Database, ready: int) -> None:
    await add_passkey(bob)
    await give_password(database, "vera")
    for act in ("rename", "remove"):
        url = f"/account/passkeys/{await id_of(database)}/{act}"
        assert (await vera.get(url)).status_code == 404
        assert (await vera.submit(url, {"name": "Mine", "current": PASSWORD})).status_code == 404
    assert await names(database) == [NAME]


async def test_switching_the_second_factor_off_removes_them(
    bob: Browser, visitor: Browser, database: Database, ready: int
) -> None:
    await add_passkey(bob)
    await add_passkey(bob, "Another")
    await begin_adding(bob, "Third")
    assert "Your 2 passkeys are removed too." in (await bob.get("/account/second-factor")).text
    assert (await bob.submit(OFF, {"current": PASSWORD})).status_code == 303
    assert await names(database) == []
    async with database.shared_transaction() as db:
        assert await db.scalar(select(func.count()).select_from(PasskeyChallenge)) == 0
        told = select(AuditEntry.before).where(AuditEntry.act == "user.drop_second_factor")
        assert await db.scalar(told) == {"passkeys": ["Another", NAME]}
    assert (await submit_sign_in(visitor, "bob")).status_code == 303


async def test_an_administrator_who_switches_it_off_removes_them_too(
    alice: Browser, bob: Browser, visitor: Browser, database: Database, ready: int
) -> None:
    await add_passkey(bob)
    url = f"/admin/users/{ready}"
    assert "passkeys are removed" in (await alice.get(f"{url}/second-factor")).text
    await alice.submit(f"{url}/second-factor")
    assert await names(database) == []
    assert (await submit_sign_in(visitor, "bob")).status_code == 303


async def test_no_passkey_outlives_the_authenticator_app(bob: Browser, database: Database, ready: int) -> None:
    """Asked for before the second factor went off, answered after it."""
    asked = json.loads(await begin_adding(bob))
    async with database.transaction() as db:
        await second_factor.forget(db, Actor(ready, "Bob Brandt"), ready)
    with pytest.raises(Conflict):
        await added(database, ready, asked)
    assert await names(database) == []


async def test_one_that_is_added_at_the_very_moment_waits_and_is_refused(
    bob: Browser, database: Database, ready: int
) -> None:
    asked = json.loads(await begin_adding(bob))
    async with database.transaction() as db:
        await second_factor.forget(db, Actor(ready, "Bob Brandt"), ready)
        adding = asyncio.create_task(added(database, ready, asked))
        through, _ = await asyncio.wait({adding}, timeout=0.5)
        assert not through
    with pytest.raises(Conflict):
        await adding
    assert await names(database) == []


async def added(database: Database, user_id: int, asked: dict[str, str]) -> None:
    challenge = passkeys.passkey_answers._bytes(asked["challenge"])
    answer = soft_key().make(json.dumps(asked))
    site, actor = PasskeySite("localhost", ORIGIN), Actor(user_id, "Bob Brandt")
    async with database.transaction() as db:
        await passkeys.add(db, actor, user_id, site=site, challenge=challenge, name=NAME, answer=answer)


async def test_what_others_see_is_that_there_is_a_second_factor(
    alice: Browser, bob: Browser, database: Database, ready: int
) -> None:
    await add_passkey(bob)
    shown = (await alice.get(f"/admin/users/{await user_id_of(database, 'bob')}")).text
    assert "On, with 1 passkey" in shown


class TestAtAnAddressWithoutName:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, base_url="https://192.0.2.1")

    async def test_the_account_says_why_and_no_passkey_is_added(
        self, bob: Browser, database: Database, ready: int
    ) -> None:
        why = "Passkeys need a name in the address of the portal, and this one is https://192.0.2.1."
        assert why in (await bob.get("/account")).text
        for answer in (
            await bob.get("/account/passkeys/new"),
            await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD}),
            await bob.submit("/account/passkeys", {"name": NAME, "answer": "{}"}),
        ):
            assert (answer.status_code, why in answer.text) == (409, True)

    async def test_those_from_another_address_can_be_removed(
        self, bob: Browser, database: Database, ready: int
    ) -> None:
        values = {"user_id": ready, "name": NAME, "site": "muster.example", "credential_id": b"1", "public_key": b""}
        async with database.shared_transaction() as db:
            await db.execute(insert(Passkey).values(**values, sign_count=0))
        shown = (await bob.get("/account")).text
        assert "Passkeys need a name" in shown
        assert NAME in shown
        url = f"/account/passkeys/{await id_of(database)}/remove"
        assert (await bob.submit(url, {"current": PASSWORD})).status_code == 303
        assert await names(database) == []


async def test_a_borrowed_session_is_no_place_to_guess_the_password(
    bob: Browser, database: Database, ready: int
) -> None:
    for _ in range(5):
        await bob.submit("/account/passkeys/new", {"name": NAME, "current": "wrong"})
    assert (await user_of(database, "bob")).locked_until is not None
    answer = await bob.submit("/account/passkeys/new", {"name": NAME, "current": PASSWORD})
    assert (answer.status_code, "data-request" in answer.text) == (422, False)
    await change_user(database, "bob", locked_until=None, failed_sign_ins=0)
    assert await begin_adding(bob)
