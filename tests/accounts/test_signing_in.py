"""Sign-in, lock-out, second factor and sessions."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from argon2 import Parameters, PasswordHasher, extract_parameters
from sqlalchemy import select, update

from app.accounts import one_time_links, second_factor, signing_in
from app.accounts.models import OneTimeLink, Session, Tenant
from app.accounts.signing_in import Attempt, SecondFactorNeeded, SignInRefused
from app.db.session import Database
from app.parts import Parts
from tests.accounts.test_one_time_links import link_for
from tests.conftest import Browser, SignIn
from tests.host.signing_in import (
    ANOTHER,
    PASSWORD,
    change_user,
    code_of,
    fill_in,
    give_costly_password,
    give_password,
    give_second_factor,
    submit_sign_in,
    user_of,
    wrong_code,
)

REFUSED = "E-mail or password is wrong, or the account is locked for some minutes."


async def attempt(parts: Parts, short: str, password: str, otp: str | None = None) -> str:
    """How one attempt ends."""
    try:
        await signing_in.authenticate(parts.database, parts.keys, Attempt(f"{short}@example.org", password, otp))
    except (SignInRefused, SecondFactorNeeded) as refused:
        return type(refused).__name__
    return "in"


async def test_the_right_password_opens_a_session_and_leads_to_where_one_wanted_to_go(
    visitor: Browser, database: Database
) -> None:
    await give_password(database, "alice")
    answer = await fill_in(
        visitor,
        "/sign-in?next=%2Fadmin%2Faudit",
        {"email": "Alice@Example.org ", "password": PASSWORD, "next": "/admin/audit"},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin/audit")
    assert (await visitor.get("/admin/audit")).status_code == 200
    alice = await user_of(database, "alice")
    assert alice.last_sign_in_at
    assert datetime.now(UTC) - alice.last_sign_in_at < timedelta(minutes=1)


@pytest.mark.parametrize(
    "next_url", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_signing_in_never_leads_to_another_site(visitor: Browser, database: Database, next_url: str) -> None:
    await give_password(database, "alice")
    answer = await submit_sign_in(visitor, "alice", next=next_url)
    assert answer.headers["location"] == "/"


async def test_one_message_stands_for_every_reason_of_refusal(visitor: Browser, database: Database) -> None:
    for short in ("alice", "bob", "vera", "eve"):
        await give_password(database, short)
    await change_user(database, "bob", active=False)
    await change_user(database, "vera", locked_until=datetime.now(UTC) + timedelta(minutes=1))
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(active=False))
    shown = set()
    for short, password in [
        ("alice", "not her password"),
        ("stranger", PASSWORD),
        ("nora", PASSWORD),  # never chose a password
        ("bob", PASSWORD),  # deactivated
        ("vera", PASSWORD),  # locked
        ("eve", PASSWORD),  # her tenant is deactivated
    ]:
        answer = await submit_sign_in(visitor, short, password)
        assert answer.status_code == 422
        assert REFUSED in answer.text
        shown.add(re.sub(r'(?:csrf_token" value|X-CSRF-Token": ")[^>]*|value="[^"]*@example.org"', "", answer.text))
    assert len(shown) == 1


async def test_the_fifth_failure_locks_for_fifteen_minutes_even_against_the_right_password(
    parts: Parts, database: Database
) -> None:
    await give_password(database, "bob")
    for _ in range(4):
        assert await attempt(parts, "bob", "wrong") == "SignInRefused"
    assert (await user_of(database, "bob")).locked_until is None
    assert await attempt(parts, "bob", "wrong") == "SignInRefused"
    locked_until = (await user_of(database, "bob")).locked_until
    assert locked_until is not None
    assert timedelta(minutes=14) < locked_until - datetime.now(UTC) <= timedelta(minutes=15)
    assert await attempt(parts, "bob", PASSWORD) == "SignInRefused"


async def test_attempts_during_the_lock_do_not_lengthen_it(parts: Parts, database: Database) -> None:
    await give_password(database, "bob")
    for _ in range(5):
        await attempt(parts, "bob", "wrong")
    first = (await user_of(database, "bob")).locked_until
    await attempt(parts, "bob", "wrong")
    assert (await user_of(database, "bob")).locked_until == first


async def test_after_the_lock_the_count_begins_again(parts: Parts, database: Database) -> None:
    await give_password(database, "bob")
    past = datetime.now(UTC) - timedelta(seconds=1)
    await change_user(database, "bob", failed_sign_ins=5, locked_until=past)
    assert await attempt(parts, "bob", "wrong") == "SignInRefused"
    assert (await user_of(database, "bob")).failed_sign_ins == 1
    assert await attempt(parts, "bob", PASSWORD) == "in"
    assert (await user_of(database, "bob")).failed_sign_ins == 0


async def test_thirty_at_once_get_no_more_tries_than_five(parts: Parts, database: Database) -> None:
    """Were failures counted after the password is looked at, all thirty would be compared."""
    await give_password(database, "bob")
    ends = await asyncio.gather(*(attempt(parts, "bob", f"guess {n}") for n in range(30)))
    assert set(ends) == {"SignInRefused"}
    bob = await user_of(database, "bob")
    assert bob.failed_sign_ins == signing_in.LOCK_AFTER
    assert bob.locked_until is not None
    assert await attempt(parts, "bob", PASSWORD) == "SignInRefused"


async def test_a_refused_sign_in_is_counted_although_its_request_is_rolled_back(
    visitor: Browser, database: Database
) -> None:
    await give_password(database, "bob")
    assert (await submit_sign_in(visitor, "bob", "wrong")).status_code == 422
    assert (await user_of(database, "bob")).failed_sign_ins == 1


async def test_a_form_without_a_password_costs_no_try(visitor: Browser, database: Database) -> None:
    await give_password(database, "bob")
    assert (await submit_sign_in(visitor, "bob", "")).status_code == 422
    assert (await user_of(database, "bob")).failed_sign_ins == 0


async def test_the_second_factor_is_asked_for_and_its_code_signs_in(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    asked = await submit_sign_in(visitor, "alice")
    assert asked.status_code == 422
    assert 'name="otp"' in asked.text
    assert (await user_of(database, "alice")).failed_sign_ins == 0
    assert (await visitor.get("/account")).status_code == 303
    assert (await submit_sign_in(visitor, "alice", otp=code_of(secret))).status_code == 303
    assert (await visitor.get("/account")).status_code == 200


async def test_wrong_digits_are_told_at_their_field_and_the_password_is_not_typed_again(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    asked = await submit_sign_in(visitor, "alice", next="/admin/audit")
    assert 'class="alert alert-danger error-summary"' not in asked.text  # there is no error yet
    wrong = await digits(visitor, asked, wrong_code(secret))
    assert wrong.status_code == 422
    assert "Authenticator code: These digits are not valid now." in wrong.text
    assert 'id="f-otp-error"' in wrong.text
    assert f'value="{wrong_code(secret)}"' in wrong.text
    assert 'name="password"' not in wrong.text
    entered = await digits(visitor, wrong, code_of(secret))
    assert (entered.status_code, entered.headers["location"]) == (303, "/admin/audit")


async def test_what_stands_for_the_password_is_of_one_person_one_password_and_some_minutes(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    for short in ("alice", "bob"):
        await give_password(database, short)
    secret, of_bob = await give_second_factor(parts, "alice"), await give_second_factor(parts, "bob")
    asked = await submit_sign_in(visitor, "alice")
    taken = await digits(visitor, asked, code_of(of_bob), email="bob@example.org")
    assert "Sign in again" in taken.text
    old = second_factor.seal_passed(
        parts.keys, await user_of(database, "alice"), datetime.now(UTC) - second_factor.PASSED_FOR
    )
    assert "Sign in again" in (await digits(visitor, asked, code_of(secret), passed=old)).text
    await give_password(database, "alice", ANOTHER)
    assert "Sign in again" in (await digits(visitor, asked, code_of(secret))).text
    assert (await visitor.get("/account")).status_code == 303


async def test_wrong_digits_do_not_renew_what_stands_for_the_password(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    asked = await submit_sign_in(visitor, "alice")
    wrong = await digits(visitor, asked, wrong_code(secret))
    assert passed_in(wrong) == passed_in(asked)


def passed_in(shown: httpx.Response) -> str:
    return re.findall(r'name="passed" value="([^"]+)"', shown.text)[0]


async def digits(browser: Browser, shown: httpx.Response, code: str, **other: str) -> httpx.Response:
    """Fills in the form that asks for the digits alone."""
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', shown.text.partition("<main")[2]))
    return await browser.post("/sign-in", data={**hidden, "otp": code, **other})


async def test_a_stranger_without_the_password_never_learns_that_there_is_a_second_factor(
    visitor: Browser, parts: Parts, database: Database
) -> None:
    await give_password(database, "alice")
    await give_second_factor(parts, "alice")
    answer = await submit_sign_in(visitor, "alice", "wrong")
    assert 'name="otp"' not in answer.text


async def test_leaving_the_digits_out_gives_no_tries_back(parts: Parts, database: Database) -> None:
    """Wrong digits, then none, then wrong ones …: the fifth wrong ones lock all the same."""
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    for _ in range(4):
        assert await attempt(parts, "alice", PASSWORD, wrong_code(secret)) == "SecondFactorWrong"
        assert await attempt(parts, "alice", PASSWORD) == "SecondFactorNeeded"
    assert (await user_of(database, "alice")).failed_sign_ins == 4
    assert await attempt(parts, "alice", PASSWORD, wrong_code(secret)) == "SecondFactorWrong"
    assert await attempt(parts, "alice", PASSWORD) == "SignInRefused"
    assert await attempt(parts, "alice", PASSWORD, code_of(secret)) == "SignInRefused"


async def test_digits_left_out_at_the_same_moment_give_no_tries_back_either(parts: Parts, database: Database) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    without = [attempt(parts, "alice", PASSWORD) for _ in range(15)]
    wrong = [attempt(parts, "alice", PASSWORD, wrong_code(secret)) for _ in range(15)]
    await asyncio.gather(*(one for pair in zip(without, wrong, strict=True) for one in pair))
    for _ in range(5):
        await attempt(parts, "alice", PASSWORD, wrong_code(secret))
    assert await attempt(parts, "alice", PASSWORD, code_of(secret)) == "SignInRefused"


async def test_a_code_works_once(parts: Parts, database: Database) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    code = code_of(secret)
    assert await attempt(parts, "alice", PASSWORD, code) == "in"
    assert await attempt(parts, "alice", PASSWORD, code) == "SecondFactorWrong"
    assert await attempt(parts, "alice", PASSWORD, code_of(secret, steps=1)) == "in"


async def test_of_many_with_the_same_code_at_once_one_gets_in(parts: Parts, database: Database) -> None:
    await give_password(database, "alice")
    secret = await give_second_factor(parts, "alice")
    ends = await asyncio.gather(*(attempt(parts, "alice", PASSWORD, code_of(secret)) for _ in range(4)))
    assert sorted(ends) == ["SecondFactorWrong"] * 3 + ["in"]


@pytest.mark.parametrize("code", ["12345", "1234567", "abcdef", "１２３４５６", "000 000 0"])
async def test_what_is_not_a_code_is_refused(parts: Parts, database: Database, code: str) -> None:
    await give_password(database, "alice")
    await give_second_factor(parts, "alice")
    assert await attempt(parts, "alice", PASSWORD, code) == "SecondFactorWrong"


async def test_an_unknown_address_costs_the_same_hash_as_a_known_one(
    parts: Parts, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: a path that skipped the hash, or had a cheaper one,
    would tell by its haste who has an account."""
    await give_costly_password(database, "bob")
    costs: list[Parameters] = []
    verify = PasswordHasher.verify

    def counting(hasher: PasswordHasher, of: str, password: str) -> bool:
        costs.append(extract_parameters(of))
        return verify(hasher, of, password)

    monkeypatch.setattr(PasswordHasher, "verify", counting)
    await attempt(parts, "bob", "wrong")
    known, costs[:] = costs[:], []
    await attempt(parts, "stranger", "wrong")
    assert len(known) == 1
    assert costs == known


async def test_signing_in_gives_a_new_id_and_never_keeps_one_that_the_browser_brought(
    visitor: Browser, database: Database
) -> None:
    await give_password(database, "alice")
    visitor.cookies.set("muster", "an-id-that-an-attacker-chose")
    await submit_sign_in(visitor, "alice")
    fresh = {cookie.value for cookie in visitor.cookies.jar if cookie.name == "muster"} - {
        "an-id-that-an-attacker-chose"
    }
    assert len(fresh) == 1
    stolen = Browser(transport=visitor._transport, base_url="http://testserver")
    stolen.cookies.set("muster", "an-id-that-an-attacker-chose")
    assert (await stolen.get("/account")).status_code == 303


async def test_signing_in_again_ends_the_session_before(sign_in: SignIn, database: Database) -> None:
    await give_password(database, "alice")
    alice = await sign_in("alice")
    old = dict(alice.cookies)
    await alice.submit("/sign-in", {"email": "alice@example.org", "password": PASSWORD})
    with_old_id = Browser(transport=alice._transport, base_url="http://testserver", cookies=old)
    assert (await with_old_id.get("/account")).status_code == 303


async def test_the_cookie_is_for_this_site_alone_and_no_script_reads_it(visitor: Browser, database: Database) -> None:
    await give_password(database, "alice")
    answer = await submit_sign_in(visitor, "alice")
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith("muster="))
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


async def test_signing_out_ends_the_session_on_the_server(alice: Browser) -> None:
    old = dict(alice.cookies)
    assert (await alice.submit("/sign-out")).headers["location"] == "/sign-in"
    again = Browser(transport=alice._transport, base_url="http://testserver", cookies=old)
    assert (await again.get("/account")).status_code == 303


@pytest.mark.parametrize(
    ("ago", "left", "holds"),
    [
        (timedelta(minutes=29), timedelta(hours=1), True),
        (timedelta(minutes=31), timedelta(hours=1), False),
        (timedelta(seconds=0), timedelta(seconds=-1), False),
    ],
    ids=["used 29 minutes ago", "idle for 31 minutes", "twelve hours over"],
)
async def test_a_session_ends_after_thirty_idle_minutes_and_in_any_case_after_twelve_hours(
    alice: Browser, database: Database, ago: timedelta, left: timedelta, *, holds: bool
) -> None:
    now = datetime.now(UTC)
    async with database.shared_transaction() as db:
        await db.execute(update(Session).values(last_seen_at=now - ago, expires_at=now + left))
    assert ((await alice.get("/account")).status_code == 200) is holds


async def test_using_a_session_keeps_it_from_going_idle_and_never_moves_its_end(
    alice: Browser, database: Database
) -> None:
    then = datetime.now(UTC) - timedelta(minutes=20)
    async with database.shared_transaction() as db:
        end = (await db.scalars(update(Session).values(last_seen_at=then).returning(Session.expires_at))).one()
    await alice.get("/account")
    async with database.shared_transaction() as db:
        row = (await db.execute(select(Session.last_seen_at, Session.expires_at))).one()
    assert row.last_seen_at > then + timedelta(minutes=19)
    assert row.expires_at == end


async def test_a_session_made_by_signing_in_lives_twelve_hours(visitor: Browser, database: Database) -> None:
    await give_password(database, "alice")
    await submit_sign_in(visitor, "alice")
    async with database.shared_transaction() as db:
        life = (await db.execute(select(Session.expires_at - Session.created_at))).scalar_one()
    assert timedelta(hours=11, minutes=59) < life < timedelta(hours=12, minutes=1)


async def test_the_database_holds_neither_session_ids_nor_link_secrets(visitor: Browser, database: Database) -> None:
    user_id = await give_password(database, "alice")
    await submit_sign_in(visitor, "alice")
    async with database.shared_transaction() as db:
        secret = await one_time_links.make_link(db, user_id)
        kept = (await db.scalars(select(Session.id_hash))).all() + (
            await db.scalars(select(OneTimeLink.token_hash))
        ).all()
    assert {len(one) for one in kept} == {32}
    assert visitor.cookies["muster"].encode() not in kept
    assert secret.encode() not in kept


@pytest.mark.parametrize(("length", "taken"), [(11, False), (12, True)])
async def test_a_password_has_twelve_characters_or_more(
    visitor: Browser, database: Database, length: int, *, taken: bool
) -> None:
    answer = await fill_in(
        visitor, f"/welcome/{await link_for(database, 'nora')}", {"password": "pass phrase!"[:length]}
    )
    assert answer.status_code == (303 if taken else 422)


async def test_no_password_opens_an_account_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the one that is looked at in its place."""
    hashed = await signing_in.hash_password(PASSWORD)
    assert await signing_in.verify_password(hashed, PASSWORD)
    monkeypatch.setattr(signing_in, "_NO_ACCOUNT", hashed)
    assert not await signing_in.verify_password(None, PASSWORD)


async def test_a_form_of_another_site_signs_no_person_in(visitor: Browser, database: Database) -> None:
    """Else somebody could be signed in as the attacker, and type their secrets into the attacker's account."""
    await give_password(database, "alice")
    data = {"email": "alice@example.org", "password": PASSWORD}
    assert (await visitor.post("/sign-in", data=data)).status_code == 403
    foreign = await visitor.post("/sign-in", data=data, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403
