"""`/v1/api/auth/token`: e-mail and password for a token; anything wrong is one and the same answer; and its end."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from app.accounts.models import ApiToken
from app.api.sign_in import MOST_SIGNED_IN, NAME
from app.db.session import Database
from app.parts import Parts
from tests.conftest import Browser
from tests.host.signing_in import (
    PASSWORD,
    acts,
    change_user,
    code_of,
    give_password,
    give_second_factor,
    user_of,
    wrong_code,
)
from tests.surveys.api.test_surveys import fits
from tests.surveys.calling import QUEUE, refused

URL = "/v1/api/auth/token"


async def sign_in(browser: Browser, short: str = "nora", password: str = PASSWORD, **more: Any) -> Any:
    return await browser.post(URL, json={"email": f"{short}@example.org", "password": password, **more})


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


async def test_a_token_is_made_that_opens_the_api(visitor: Browser, database: Database) -> None:
    await give_password(database, "nora")
    answer = await sign_in(visitor, email="  Nora@Example.org ")
    assert answer.status_code == 201
    fits(answer, "POST", URL)
    made = answer.json()["data"]
    assert (set(made), made["scopes"]) == ({"token", "expires_at", "scopes"}, ["me"])
    life = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=89) < life < timedelta(days=91)
    assert (await visitor.get(QUEUE, headers=bearer(made["token"]))).status_code == 200
    assert await acts(database) == ["token.create"]


async def test_a_tenants_token_is_the_tenants(visitor: Browser, database: Database) -> None:
    await give_password(database, "eve")
    assert (await sign_in(visitor, "eve")).status_code == 201
    assert await acts(database, "globex") == ["token.create"]


async def test_anything_wrong_is_one_and_the_same_answer(visitor: Browser, parts: Parts) -> None:
    for short in ("nora", "vera", "bob"):
        await give_password(parts.database, short)
    secret = await give_second_factor(parts, "vera")
    await change_user(parts.database, "bob", active=False)
    answers = [
        await sign_in(visitor, "stranger"),
        await sign_in(visitor, "nora", "not the password"),
        await sign_in(visitor, "alice", "who has no password"),
        await sign_in(visitor, "bob"),
        await sign_in(visitor, "vera"),
        await sign_in(visitor, "vera", otp=wrong_code(secret)),
    ]
    for answer in answers:
        assert refused(answer) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        fits(answer, "POST", URL)
    assert len({answer.text for answer in answers}) == 1


async def test_a_second_factor_is_asked_for(visitor: Browser, parts: Parts) -> None:
    await give_password(parts.database, "nora")
    secret = await give_second_factor(parts, "nora")
    assert (await sign_in(visitor, otp=code_of(secret))).status_code == 201
    assert refused(await sign_in(visitor, otp=code_of(secret))) == (401, "unauthorized"), "a code works once"


async def test_five_failures_lock_the_account_and_look_no_different(visitor: Browser, database: Database) -> None:
    await give_password(database, "nora")
    for _ in range(5):
        wrong = await sign_in(visitor, password="not the password")
    right = await sign_in(visitor)
    assert (right.status_code, right.text) == (wrong.status_code, wrong.text)
    assert (await user_of(database, "nora")).locked_until


async def test_more_at_once_than_connections_all_get_their_turn(visitor: Browser, database: Database) -> None:
    await give_password(database, "nora")
    async with asyncio.timeout(9):  # waiting for a connection is given up after ten seconds
        answers = await asyncio.gather(*(sign_in(visitor, "stranger") for _ in range(12)), sign_in(visitor))
    assert [answer.status_code for answer in answers] == [401] * 12 + [201]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"email", "password"}),
        ({"email": "", "password": ""}, {"email", "password"}),
        ({"email": 1, "password": "x", "pin": "1"}, {"email", "pin"}),
        ({"email": "a\x00", "password": "x", "otp": 123456}, {"email", "otp"}),
        ({"email": "a" * 321, "password": "x" * 1001}, {"email", "password"}),
    ],
)
async def test_a_wrong_shape_is_named(visitor: Browser, body: Any, fields: set[str]) -> None:
    answer = await visitor.post(URL, json=body)
    assert refused(answer) == (422, "invalid_body")
    assert {detail["field"] for detail in answer.json()["error"]["details"]} == fields


async def test_no_answer_repeats_the_password(visitor: Browser) -> None:
    answer = await visitor.post(URL, json={"email": [], "password": ["hunter2hunter2"], "otp": {"hunter2": 1}})
    assert answer.status_code == 422
    assert "hunter2hunter2" not in answer.text


async def test_ending_it_ends_the_very_token_that_was_sent(visitor: Browser, database: Database) -> None:
    await give_password(database, "nora")
    first, second = [(await sign_in(visitor)).json()["data"]["token"] for _ in range(2)]
    answer = await visitor.delete(URL, headers=bearer(first))
    assert (answer.status_code, answer.json()) == (200, {"success": True, "data": None})
    fits(answer, "DELETE", URL)
    assert refused(await visitor.get(QUEUE, headers=bearer(first))) == (401, "unauthorized")
    assert refused(await visitor.delete(URL, headers=bearer(first))) == (401, "unauthorized")
    assert (await visitor.get(QUEUE, headers=bearer(second))).status_code == 200
    assert await acts(database) == ["token.create", "token.create", "token.revoke"]


async def test_phones_that_never_sign_out_do_not_fill_the_account(visitor: Browser, database: Database) -> None:
    user_id = await give_password(database, "nora")
    first = (await sign_in(visitor)).json()["data"]["token"]
    async with database.shared_transaction() as db:
        for number in range(MOST_SIGNED_IN - 1):
            db.add(ApiToken(user_id=user_id, name=NAME, token_hash=bytes([number]), hint="0000", scopes=["me"]))
        db.add(ApiToken(user_id=user_id, name="By hand", token_hash=b"hand", hint="hand", scopes=["me"]))
    assert (await sign_in(visitor)).status_code == 201
    assert refused(await visitor.get(QUEUE, headers=bearer(first))) == (401, "unauthorized")
    async with database.shared_transaction() as db:
        live = select(func.count()).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
        assert await db.scalar(live) == MOST_SIGNED_IN + 1
