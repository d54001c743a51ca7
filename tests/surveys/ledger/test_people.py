"""Person numbers: that of the account, or one that no account has;
and every reader of the ledger finds the account behind it."""

import asyncio
import json
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.accounts import audit
from app.accounts.audit import SYSTEM
from app.db.direct import driver
from app.db.session import Database
from app.parts import Parts, make_parts
from app.surveys import erasing
from app.surveys.asking import situations
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import append as ledger
from app.surveys.ledger import people
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.surveys.drafted import Stored
from tests.surveys.recording import lunch, open_evidence, record, user_id, verify

FROM_ELSEWHERE = text("INSERT INTO survey_people (number, user_id) VALUES (:number, :account)")


async def rows(database: Database, query: str) -> list[Any]:
    async with database.transaction() as db:
        return [tuple(row) for row in await db.execute(text(query))]


@pytest.fixture
async def bob_id(database: Database) -> int:
    return await user_id(database, "bob")


@pytest.fixture
async def nora_id(database: Database) -> int:
    return await user_id(database, "nora")


@pytest.fixture
async def moved(database: Database, parts: Parts, bob_id: int, nora_id: int) -> Stored:
    """Lunch in a workspace from elsewhere, where Nora had the number that is Bob's account here.
    Nora answered it, then Bob."""
    async with database.transaction() as db:
        await db.execute(FROM_ELSEWHERE, {"number": bob_id, "account": nora_id})
    stored = await lunch(database)
    await record(database, parts.keys, stored, nora_id)
    await record(database, parts.keys, stored, bob_id, 3)
    return stored


async def test_the_number_is_that_of_the_account_and_noted_with_the_first_answer(
    database: Database, parts: Parts
) -> None:
    await record(database, parts.keys, await lunch(database), 7)
    await record(database, parts.keys, await lunch(database), 7)
    assert await rows(database, "SELECT number, user_id FROM survey_people") == [(7, 7)]


async def test_an_account_whose_number_is_another_persons_gets_one_that_no_account_has(
    database: Database, moved: Stored, bob_id: int, nora_id: int
) -> None:
    assert await rows(database, "SELECT number, user_id FROM survey_people ORDER BY 1") == [
        (-1, bob_id),
        (bob_id, nora_id),
    ]
    said = await rows(database, "SELECT user_id, entry FROM survey_responses ORDER BY number")
    assert [(number, json.loads(entry)["user"]) for number, entry in said] == [(bob_id, bob_id), (-1, -1)]
    assert (await verify(database, "main")).problem is None


async def test_numbers_that_are_given_at_once_differ_and_an_account_keeps_its_own(
    urls: DatabaseUrls, settings: Any, database: Database
) -> None:
    wide = make_parts(settings, urls.app, pool_size=20)

    async def give(account: int) -> int:
        async with wide.database.transaction() as db:
            return await people.give(driver(db), "main", account)

    first = await asyncio.gather(*(give(account) for account in (*range(1, 9), *range(1, 9))))
    await wide.close()
    assert sorted(first[:8]) == list(range(-8, 0))
    assert first[:8] == first[8:]


async def test_what_a_person_recorded_is_found_by_the_account(
    database: Database, parts: Parts, moved: Stored, bob_id: int, nora_id: int
) -> None:
    async with database.transaction() as db:
        of_nora = await ledger.recorded(db, parts.keys, moved.id, 1, nora_id)
        of_bob = await ledger.recorded(db, parts.keys, moved.id, 1, bob_id)
        met = await situations.one(db, nora_id, moved.uid)
        assert (await open_evidence(db, parts.keys, 1)).texts
    assert of_nora is not None
    assert of_bob is not None
    assert (of_nora.number, of_bob.number) == (1, 2)
    assert met is not None
    assert (met.person, met.situation.state.outcome) == (bob_id, "answered")


async def test_the_list_names_the_account_behind_the_number(
    alice: Browser, moved: Stored, bob_id: int, nora_id: int
) -> None:
    for account, other in ((nora_id, bob_id), (bob_id, nora_id)):
        page = (await alice.get(f"/surveys/responses?user={account}")).text
        assert f'/surveys/responses?user={account}">' in page
        assert f'/surveys/responses?user={other}">' not in page
    searched = (await alice.get("/surveys/responses?q=nora")).text
    assert f'/surveys/responses?user={nora_id}">' in searched
    assert f'/surveys/responses?user={bob_id}">' not in searched


async def test_erasing_destroys_the_key_of_the_account_and_no_other(
    database: Database, parts: Parts, moved: Stored, nora_id: int
) -> None:
    nora = EvidenceOwner(nora_id, "nora@example.org", "main")
    assert (await erasing.held(database, nora)).responses == 1
    assert (await erasing.erase(database, SYSTEM, nora)).keys == 1
    async with database.transaction() as db:
        assert await open_evidence(db, parts.keys, 1) is None
        assert await open_evidence(db, parts.keys, 2) is not None
    assert (await verify(database, "main")).problem is None


async def test_a_person_whose_account_is_gone_is_named_as_the_audit_names_it(
    database: Database, parts: Parts, alice: Browser
) -> None:
    await record(database, parts.keys, await lunch(database), 4711)
    called = "An account that no longer exists here, number 4711"
    async with database.transaction() as db:
        await audit.record(db, SYSTEM, "x", "user", 4711)
    for page in ("/surveys/responses", "/admin/audit"):
        assert called in (await alice.get(page)).text, page


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE main.survey_people SET user_id = NULL",
        "DELETE FROM main.survey_people",
        "TRUNCATE main.survey_people",
    ],
)
async def test_a_number_never_gets_another_account(
    database: Database, urls: DatabaseUrls, moved: Stored, change: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        await rows(database, change)
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only")
    with psycopg.connect(urls.owner, autocommit=True) as owner, refused:
        owner.execute(change)
