"""Changes in the ledger: they take the next numbers of the one chain, each once, even at the same time."""

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
import rfc8785
from sqlalchemy import text

from app.accounts.audit import SYSTEM
from app.db.session import Database
from app.parts import Parts, make_parts
from app.surveys import erasing
from app.surveys.erasing import EvidenceOwner
from app.surveys.ledger import evidence
from app.surveys.ledger.evidence import Evidence
from tests.cluster import DatabaseUrls
from tests.surveys.authored import archive, save
from tests.surveys.changing import HEARD, agree, badges, change, close
from tests.surveys.recording import record, verify


async def rows(database: Database, query: str, **values: Any) -> list[Any]:
    async with database.transaction() as db:
        return list((await db.execute(text(query), values)).all())


async def test_a_change_says_which_response_it_changes_and_seals_what_is_personal(
    database: Database, parts: Parts
) -> None:
    survey = await badges(database)
    agreed = await agree(database, parts.keys, survey, 7)
    told = await change(database, parts.keys, agreed)
    ((entry, sealed, row_hash, before),) = await rows(
        database,
        "SELECT c.entry, c.sealed, c.row_hash, r.row_hash FROM survey_changes c JOIN survey_responses r ON r.number = 1",
    )
    said = {
        "number": 2,
        "change": "withdrawn",
        "survey": str(survey.uid),
        "version": 1,
        "response": agreed.receipt,
        "turn": 1,
        "user": 7,
        "source": "web",
        "recorded_at": "2026-11-21T08:00:00.250000Z",
        "evidence": hashlib.sha256(sealed.encode()).hexdigest(),
    }
    assert entry == rfc8785.dumps(said).decode()
    assert row_hash == hashlib.sha256(before + entry.encode()).digest()
    assert told is not None
    assert (told.number, told.kind, told.receipt) == (2, "withdrawn", row_hash.hex())


async def test_the_evidence_opens_with_the_persons_key_and_for_this_change_alone(
    database: Database, parts: Parts
) -> None:
    agreed = await agree(database, parts.keys, await badges(database), 7)
    await change(database, parts.keys, agreed)
    (row,) = await rows(
        database,
        "SELECT c.survey_id, c.version, c.user_id AS person, c.turn, c.key_id, c.sealed, k.sealed_key FROM survey_changes c"
        " JOIN survey_person_keys k ON k.id = c.key_id",
    )
    assert evidence.open_change(parts.keys, "main", row) == HEARD
    await erasing.erase(database, SYSTEM, EvidenceOwner(7, "seven@example.org", "main"))
    (erased,) = await rows(
        database, "SELECT k.sealed_key FROM survey_changes c JOIN survey_person_keys k ON k.id = c.key_id"
    )
    assert erased.sealed_key is None
    assert (await verify(database, "main")).fits


async def test_a_change_without_evidence_makes_no_key(database: Database, parts: Parts) -> None:
    agreed = await agree(database, parts.keys, await badges(database), 7, ip=None, browser=None)
    await change(database, parts.keys, agreed, Evidence())
    assert await rows(database, "SELECT sealed, key_id FROM survey_changes") == [(None, None)]
    assert await rows(database, "SELECT count(*) FROM survey_person_keys") == [(0,)]


async def test_withdrawing_and_agreeing_take_turns_in_one_chain_with_responses(
    database: Database, parts: Parts
) -> None:
    survey = await badges(database)
    agreed = await agree(database, parts.keys, survey, 7)
    for turns in range(3):
        await change(database, parts.keys, replace(agreed, turns=turns))
        await agree(database, parts.keys, survey, 20 + turns)
    held = await rows(
        database,
        "SELECT number, entry, row_hash, 'response' AS what FROM survey_responses UNION ALL"
        " SELECT number, entry, row_hash, kind FROM survey_changes ORDER BY number",
    )
    assert [one.what for one in held] == [
        "response", "withdrawn", "response", "agreed_again", "response", "withdrawn", "response",
    ]  # fmt: skip
    before = bytes(32)
    for number, one in enumerate(held, 1):
        before = hashlib.sha256(before + one.entry.encode()).digest()
        assert (one.number, one.row_hash) == (number, before)
    assert await rows(database, "SELECT number, row_hash FROM survey_ledger_head") == [(7, before)]


async def test_the_same_turn_is_taken_once(database: Database, parts: Parts) -> None:
    agreed = await agree(database, parts.keys, await badges(database), 7)
    assert await change(database, parts.keys, agreed)
    assert await change(database, parts.keys, agreed) is None
    assert await rows(database, "SELECT number FROM survey_ledger_head") == [(2,)]


async def test_many_at_once_leave_one_chain(urls: DatabaseUrls, settings: Any) -> None:
    wide = make_parts(settings, urls.app, pool_size=24)
    survey = await badges(wide.database)
    agreed = [await agree(wide.database, wide.keys, survey, person) for person in range(1, 6)]
    withdrawn = [change(wide.database, wide.keys, one) for one in agreed for _ in range(4)]
    more = [record(wide.database, wide.keys, survey, person, None, outcome="agreed") for person in range(50, 60)]
    told = await asyncio.gather(*withdrawn, *more)
    assert sum(one is not None for one in told[:20]) == 5
    verdict = await verify(wide.database, "main")
    assert (verdict.fits, verdict.rows) == (True, 20)
    await wide.close()


async def test_agreeing_again_is_written_only_while_that_version_is_published(database: Database, parts: Parts) -> None:
    for stop in (archive, lambda database, survey: save(database, survey, new_version=True)):
        survey = await badges(database)
        agreed = await agree(database, parts.keys, survey, 7)
        await change(database, parts.keys, agreed)
        await stop(database, survey)
        assert await change(database, parts.keys, replace(agreed, turns=1)) is None
    assert (await verify(database, "main")).rows == 4


async def test_withdrawing_is_written_whatever_became_of_the_survey(database: Database, parts: Parts) -> None:
    for stop in (archive, lambda database, survey: save(database, survey, new_version=True)):
        survey = await badges(database)
        agreed = await agree(database, parts.keys, survey, 7)
        await stop(database, survey)
        assert await change(database, parts.keys, agreed)


async def test_a_closing_says_how_many_ballots_there_were_and_names_no_person(database: Database, parts: Parts) -> None:
    survey = await badges(database)
    told = await close(database, survey)
    ((entry,),) = await rows(database, "SELECT entry FROM survey_changes")
    assert json.loads(entry) == {
        "number": 1,
        "change": "closed",
        "survey": str(survey.uid),
        "version": 1,
        "ballots": 0,
        "results": hashlib.sha256(b"[]").hexdigest(),
        "recorded_at": "2026-11-21T08:00:00.250000Z",
    }
    assert (told.number, (await verify(database, "main")).head) == (1, told.receipt)


async def test_a_version_closes_once(database: Database) -> None:
    survey = await badges(database)
    await close(database, survey)
    with pytest.raises(asyncpg.UniqueViolationError, match="survey_changes_closed"):
        await close(database, survey)
    assert (await verify(database, "main")).rows == 1
