"""Passkeys beside the authenticator app: what is taken in place of the six digits, and what is refused and counted."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update

from app.accounts import housekeeping, passkey_answers, passkeys, signing_in
from app.accounts.models import Passkey, PasskeyChallenge, User
from app.accounts.passkey_answers import WrongAnswer
from app.accounts.passkey_site import PasskeySite, site_of
from app.accounts.signing_in import Attempt
from app.config import Settings
from app.db.session import Database
from app.parts import Parts
from tests.accounts.soft_key import PRESENT, VERIFIED, SoftKey, in_base64
from tests.accounts.with_passkeys import (
    NAME,
    ORIGIN,
    add_passkey,
    begin_adding,
    request_in,
    send_passkey,
    soft_key,
)
from tests.conftest import Browser, SignIn
from tests.host.signing_in import (
    PASSWORD,
    acts,
    code_of,
    everything_audited,
    give_password,
    give_second_factor,
    submit_sign_in,
    user_id_of,
    user_of,
    wrong_code,
)
from tests.odd_values import JSON_VALUES

HERE = PasskeySite("localhost", ORIGIN)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, base_url=ORIGIN)


@pytest.fixture
async def secret(parts: Parts) -> str:
    """Bob's authenticator app."""
    await give_password(parts.database, "bob")
    return await give_second_factor(parts, "bob")


async def passkey_of(database: Database, short: str) -> Passkey:
    async with database.shared_transaction() as db:
        return (await db.scalars(select(Passkey).join(User).where(User.email == f"{short}@example.org"))).one()


async def count_of(database: Database, model: Any) -> int:
    async with database.shared_transaction() as db:
        return await db.scalar(select(func.count()).select_from(model)) or 0


async def test_a_passkey_signs_in_after_the_password_in_place_of_the_digits(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    key = await add_passkey(bob)
    assert "Never" in (await bob.get("/account")).text
    asked = await submit_sign_in(visitor, "bob", next="/admin/jobs")
    assert (asked.status_code, 'name="otp"' in asked.text) == (422, True)
    entered = await send_passkey(visitor, asked, key.sign(request_in(asked)))
    assert (entered.status_code, entered.headers["location"]) == (303, "/admin/jobs")
    assert (await visitor.get("/account")).status_code == 200
    passkey = await passkey_of(database, "bob")
    assert passkey.last_used_at
    assert datetime.now(UTC) - passkey.last_used_at < timedelta(minutes=1)
    assert passkey.sign_count == 2
    assert (await user_of(database, "bob")).failed_sign_ins == 0


async def test_digits_and_recovery_codes_work_beside_it(
    bob: Browser, visitor: Browser, parts: Parts, database: Database, secret: str
) -> None:
    await add_passkey(bob)
    shown = await bob.submit("/account/second-factor/recovery", {"current": PASSWORD}, follow_redirects=True)
    recovery = re.findall(r"<li>([A-Z2-7-]{19})</li>", shown.text)[0]
    for otp in (code_of(secret), recovery):
        assert (await submit_sign_in(visitor, "bob", otp=otp)).status_code == 303
        visitor.cookies.clear()


async def test_the_api_takes_the_digits_of_a_person_with_a_passkey(bob: Browser, visitor: Browser, secret: str) -> None:
    await add_passkey(bob)
    body = {"email": "bob@example.org", "password": PASSWORD}
    assert (await visitor.post("/v1/api/auth/token", json=body)).status_code == 401
    assert (await visitor.post("/v1/api/auth/token", json={**body, "otp": code_of(secret)})).status_code == 201


async def test_a_device_that_does_not_count_signs_in_again_and_again(
    bob: Browser, visitor: Browser, secret: str
) -> None:
    key = await add_passkey(bob, count=None)
    for _ in range(3):
        asked = await submit_sign_in(visitor, "bob")
        assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 303
        visitor.cookies.clear()


async def test_it_is_offered_after_the_password_alone_and_only_where_it_was_made(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    assert "data-passkey" not in (await submit_sign_in(visitor, "bob")).text
    await add_passkey(bob)
    assert "data-passkey" not in (await submit_sign_in(visitor, "bob", "wrong")).text
    assert "data-passkey" in (await submit_sign_in(visitor, "bob")).text
    async with database.shared_transaction() as db:
        await db.execute(update(Passkey).values(site="old.example"))
    assert "data-passkey" not in (await submit_sign_in(visitor, "bob")).text
    assert "Works only at old.example" in (await bob.get("/account")).text


def client_data(challenge: str) -> bytes:
    return json.dumps({"type": "webauthn.get", "challenge": challenge, "origin": ORIGIN}).encode()


REFUSED: dict[str, dict[str, Any]] = {
    "a challenge that was never asked": {"challenge": in_base64(b"0" * 32)},
    "another origin": {"origin": "https://evil.example"},
    "the portal at another port": {"origin": "http://localhost:9000"},
    "another site": {"site": "evil.example"},
    "an answer for making one": {"type": "webauthn.create"},
    "a device that did not ask who it is": {"flags": PRESENT},
    "a device that no person touched": {"flags": VERIFIED},
    "a passkey that is not known": {"credential_id": b"0" * 32},
    "a signature of something else": {"parts": {"signature": b"0" * 70}},
    "data of something else": {"parts": {"authenticatorData": b"0" * 37}},
    "no data": {"parts": {"authenticatorData": b""}},
}


@pytest.mark.parametrize("wrong", REFUSED)
async def test_a_wrong_answer_is_refused_and_counts_as_wrong_digits_do(
    bob: Browser, visitor: Browser, database: Database, secret: str, wrong: str
) -> None:
    key = await add_passkey(bob)
    asked = await submit_sign_in(visitor, "bob")
    answer = await send_passkey(visitor, asked, key.sign(request_in(asked), **REFUSED[wrong]))
    assert (answer.status_code, passkeys.WRONG in answer.text) == (422, True)
    assert (await user_of(database, "bob")).failed_sign_ins == 1
    assert (await visitor.get("/account")).status_code == 303
    again = await send_passkey(visitor, answer, key.sign(request_in(answer)))
    assert again.status_code == 303


async def test_an_answer_works_once(bob: Browser, visitor: Browser, database: Database, secret: str) -> None:
    key = await add_passkey(bob, count=None)
    asked = await submit_sign_in(visitor, "bob")
    answer = key.sign(request_in(asked))
    assert (await send_passkey(visitor, asked, answer)).status_code == 303
    visitor.cookies.clear()
    asked_again = await submit_sign_in(visitor, "bob")
    assert (await send_passkey(visitor, asked_again, answer)).status_code == 422
    assert (await user_of(database, "bob")).failed_sign_ins == 1


async def test_a_wrong_answer_uses_the_challenge_up(bob: Browser, visitor: Browser, secret: str) -> None:
    key = await add_passkey(bob)
    asked = await submit_sign_in(visitor, "bob")
    await send_passkey(visitor, asked, key.sign(request_in(asked), flags=PRESENT))
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 422


async def attempt(parts: Parts, answer: str) -> str:
    """How one attempt of Bob's with that answer ends."""
    signed = passkeys.SignedChallenge(HERE, answer)
    try:
        await signing_in.authenticate(parts.database, parts.keys, Attempt("bob@example.org", PASSWORD, passkey=signed))
    except signing_in.SignInRefused as refused:
        return type(refused).__name__
    return "in"


async def test_of_many_with_the_same_answer_at_once_one_gets_in(
    bob: Browser, visitor: Browser, parts: Parts, secret: str
) -> None:
    key = await add_passkey(bob, count=None)
    answer = key.sign(request_in(await submit_sign_in(visitor, "bob")))
    ends = await asyncio.gather(*(attempt(parts, answer) for _ in range(4)))
    assert sorted(ends) == ["SecondFactorWrong"] * 3 + ["in"]


async def test_a_challenge_that_expired_is_refused(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    key = await add_passkey(bob)
    asked = await submit_sign_in(visitor, "bob")
    async with database.shared_transaction() as db:
        past = datetime.now(UTC) - timedelta(seconds=1)
        until = await db.scalar(select(PasskeyChallenge.expires_at))
        assert until
        assert timedelta(minutes=4) < until - datetime.now(UTC) <= passkeys.ANSWER_WITHIN
        await db.execute(update(PasskeyChallenge).values(expires_at=past))
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 422
    assert (await user_of(database, "bob")).failed_sign_ins == 1


async def test_a_challenge_of_another_person_is_refused(
    sign_in: SignIn, visitor: Browser, parts: Parts, secret: str
) -> None:
    await give_password(parts.database, "vera")
    await give_second_factor(parts, "vera")
    of_bob, of_vera = await add_passkey(await sign_in("bob")), await add_passkey(await sign_in("vera"))
    asked_bob, asked_vera = await submit_sign_in(visitor, "bob"), await submit_sign_in(visitor, "vera")
    assert (await send_passkey(visitor, asked_bob, of_bob.sign(request_in(asked_vera)))).status_code == 422
    assert (await send_passkey(visitor, asked_bob, of_vera.sign(request_in(asked_bob)))).status_code == 422
    assert (await visitor.get("/account")).status_code == 303


async def test_another_person_s_passkey_signs_no_person_in(
    sign_in: SignIn, visitor: Browser, parts: Parts, secret: str
) -> None:
    """Each challenge is Bob's own here: the passkey alone is Vera's."""
    await give_password(parts.database, "vera")
    await give_second_factor(parts, "vera")
    of_bob, of_vera = await add_passkey(await sign_in("bob")), await add_passkey(await sign_in("vera"))
    asked = await submit_sign_in(visitor, "bob")
    assert (await send_passkey(visitor, asked, of_vera.sign(request_in(asked)))).status_code == 422
    asked = await submit_sign_in(visitor, "bob")
    assert (await send_passkey(visitor, asked, of_bob.sign(request_in(asked)))).status_code == 303


async def test_a_challenge_for_adding_signs_no_person_in(bob: Browser, visitor: Browser, secret: str) -> None:
    key = await add_passkey(bob)
    to_add = json.loads(await begin_adding(bob, "Another"))
    asked = await submit_sign_in(visitor, "bob")
    answer = key.sign(json.dumps({"challenge": to_add["challenge"], "rpId": "localhost"}))
    assert (await send_passkey(visitor, asked, answer)).status_code == 422


async def test_a_count_that_does_not_go_up_is_refused_and_told(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    """Two devices with the same key: one of them is a copy."""
    key = await add_passkey(bob)
    key.count = 7
    asked = await submit_sign_in(visitor, "bob")
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 303
    visitor.cookies.clear()
    for count in (7, 3, 0):
        asked = await submit_sign_in(visitor, "bob")
        assert (await send_passkey(visitor, asked, key.sign(request_in(asked), count=count))).status_code == 422
    assert (await user_of(database, "bob")).failed_sign_ins == 3
    assert (await acts(database)).count("user.refuse_passkey") == 3
    assert NAME in await everything_audited(database)


async def test_a_tenant_s_people_have_passkeys_and_their_own_audit(
    eve: Browser, visitor: Browser, parts: Parts
) -> None:
    await give_password(parts.database, "eve")
    await give_second_factor(parts, "eve")
    key = await add_passkey(eve)
    asked = await submit_sign_in(visitor, "eve")
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked), count=1))).status_code == 422
    asked = await submit_sign_in(visitor, "eve")
    assert (await send_passkey(visitor, asked, key.sign(request_in(asked)))).status_code == 303
    assert await acts(parts.database, "globex") == ["user.add_passkey", "user.refuse_passkey"]
    assert await acts(parts.database) == []


@pytest.mark.parametrize(
    ("before", "now", "up"), [(0, 0, True), (0, 1, True), (1, 2, True), (2, 2, False), (2, 1, False), (2, 0, False)]
)
def test_a_count_goes_up_or_is_always_nought(before: int, now: int, *, up: bool) -> None:
    assert passkey_answers.goes_up(before, now) is up


async def test_the_fifth_wrong_answer_locks_against_everything(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    key = await add_passkey(bob)
    asked = await submit_sign_in(visitor, "bob")
    for _ in range(3):
        asked = await send_passkey(visitor, asked, key.sign(request_in(asked), origin="https://evil.example"))
    asked = await submit_sign_in(visitor, "bob", otp=wrong_code(secret))
    right = key.sign(request_in(asked))
    locked = await send_passkey(visitor, asked, "{}")
    assert (await user_of(database, "bob")).locked_until is not None
    assert "data-passkey" in locked.text
    assert "Sign in again" in (await send_passkey(visitor, asked, right)).text
    assert (await submit_sign_in(visitor, "bob", otp=code_of(secret))).status_code == 422


async def test_a_passkey_without_the_password_signs_no_person_in(bob: Browser, visitor: Browser, secret: str) -> None:
    key = await add_passkey(bob)
    asked = await submit_sign_in(visitor, "bob")
    answer = key.sign(request_in(asked))
    for passed in ("", "nonsense"):
        told = await send_passkey(visitor, asked, answer, passed=passed)
        assert told.status_code == 422
        assert 'name="password"' in told.text
    assert (await visitor.get("/account")).status_code == 303


async def test_a_passkey_is_no_password(visitor: Browser, database: Database) -> None:
    """Of a person without a second factor neither."""
    await give_password(database, "vera")
    assert (await submit_sign_in(visitor, "vera", passkey="{}")).status_code == 422
    assert (await visitor.get("/account")).status_code == 303


async def test_where_no_passkey_works_none_is_taken(bob: Browser, visitor: Browser, parts: Parts, secret: str) -> None:
    key = await add_passkey(bob)
    answer = key.sign(request_in(await submit_sign_in(visitor, "bob")))
    user = await user_of(parts.database, "bob")
    assert site_of("http://192.0.2.1") is None
    assert not await passkeys.use(parts.database, user, passkeys.SignedChallenge(None, answer))


async def test_housekeeping_takes_expired_challenges_away(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    await add_passkey(bob)
    await submit_sign_in(visitor, "bob")
    await housekeeping.tidy(database.shared_transaction)
    assert await count_of(database, PasskeyChallenge) == 1
    async with database.shared_transaction() as db:
        await db.execute(update(PasskeyChallenge).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    await housekeeping.tidy(database.shared_transaction)
    assert await count_of(database, PasskeyChallenge) == 0


async def test_a_person_s_next_challenge_takes_the_expired_ones_away(
    bob: Browser, visitor: Browser, database: Database, secret: str
) -> None:
    await add_passkey(bob)
    for _ in range(2):
        await submit_sign_in(visitor, "bob")
    assert await count_of(database, PasskeyChallenge) == 2
    async with database.shared_transaction() as db:
        await db.execute(update(PasskeyChallenge).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    await submit_sign_in(visitor, "bob")
    assert await count_of(database, PasskeyChallenge) == 1


async def test_an_account_that_goes_takes_its_passkeys_along(bob: Browser, database: Database, secret: str) -> None:
    await add_passkey(bob)
    await begin_adding(bob, "Another")
    async with database.shared_transaction() as db:
        await db.execute(delete(User).where(User.email == "bob@example.org"))
    assert (await count_of(database, Passkey), await count_of(database, PasskeyChallenge)) == (0, 0)


def test_an_answer_is_read_strictly_before_it_is_believed() -> None:
    for text in ("", "[]", "{}", '{"id": "", "response": {}}', '{"id": 1, "response": {"clientDataJSON": "e30"}}'):
        with pytest.raises(WrongAnswer):
            passkey_answers.challenge_in(text)
    challenge = in_base64(b"challenge")
    answer = {"id": in_base64(b"id"), "response": {"clientDataJSON": in_base64(client_data(challenge))}}
    assert passkey_answers.challenge_in(json.dumps(answer)) == b"challenge"
    assert passkey_answers.credential_in(json.dumps(answer)) == b"id"


def made_and_asked(key: SoftKey) -> tuple[passkey_answers.NewKey, str]:
    """What the answer of `key` says of it, and what it is asked to sign next."""
    asked = passkey_answers.ask_to_make(
        HERE, b"0" * 32, user_id=1, email="a@example.org", name="A", known=[], timeout_s=300
    )
    made = passkey_answers.new_key(HERE, b"0" * 32, key.make(asked))
    known = [passkey_answers.KnownKey(made.credential_id, ["usb", "internal"])]
    return made, passkey_answers.ask_to_sign(HERE, b"1" * 32, known=known, timeout_s=300)


def test_the_soft_key_is_a_fair_judge() -> None:
    """What it answers unaltered is right: else every refusal here would prove nothing."""
    key = soft_key()
    made, to_sign = made_and_asked(key)
    options = json.loads(to_sign)
    assert (options["userVerification"], options["timeout"]) == ("required", 300_000)
    assert options["allowCredentials"] == [
        {"id": in_base64(made.credential_id), "type": "public-key", "transports": ["usb", "internal"]}
    ]
    assert passkey_answers.sign_count_in(HERE, b"1" * 32, made.public_key, key.sign(to_sign)) == 2


@pytest.mark.parametrize("raw", [*JSON_VALUES, '"!"', '"AAAA"', "{", "%", '"\\ud800"'])
def test_what_is_not_an_answer_is_wrong_and_breaks_nothing(raw: str) -> None:
    key = soft_key()
    made, to_sign = made_and_asked(key)
    to_make = json.dumps({"challenge": in_base64(b"0" * 32), "rp": {"id": "localhost"}})
    for right, read in (
        (key.make(to_make), lambda answer: passkey_answers.new_key(HERE, b"0" * 32, answer)),
        (key.sign(to_sign), lambda answer: passkey_answers.sign_count_in(HERE, b"1" * 32, made.public_key, answer)),
    ):
        read(right)
        for answer in with_one_replaced(json.loads(right), raw):
            for reader in (read, passkey_answers.challenge_in, passkey_answers.credential_in):
                try:
                    reader(answer)
                except WrongAnswer:
                    continue
                assert reader is not read, answer


def with_one_replaced(right: dict[str, Any], raw: str) -> Iterator[str]:
    """`raw` in the place of the whole, and of each part that counts."""
    yield raw
    for name in set(right) & {"id", "rawId", "type", "response"}:
        yield json.dumps({**right, name: "HERE"}).replace('"HERE"', raw)
    for name in right["response"]:
        yield json.dumps({**right, "response": {**right["response"], name: "HERE"}}).replace('"HERE"', raw)


async def test_user_ids_are_all_that_a_device_learns_beside_name_and_address(
    bob: Browser, database: Database, secret: str
) -> None:
    asked = json.loads(await begin_adding(bob))
    bob_id = await user_id_of(database, "bob")
    assert asked["user"] == {
        "id": in_base64(str(bob_id).encode()), "name": "bob@example.org", "displayName": "Bob Brandt",
    }  # fmt: skip
    assert asked["rp"] == {"name": "Muster", "id": "localhost"}
    assert asked["attestation"] == "none"
    assert asked["authenticatorSelection"]["userVerification"] == "required"
