"""No response is recorded with words that were replaced between their reading and the record,
however close the two come."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from app.accounts.audit import Actor
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.stored import Stored
from app.surveys.ledger.errors import VersionSuperseded
from app.surveys.models import LedgerHead, Response
from tests.surveys.drafted import CONSENT, published
from tests.surveys.recording import record, user_id

ANN = Actor(None, "Ann")


async def consent(parts: Parts) -> Stored:
    async with parts.database.transaction() as db:
        return await published(db, type="consent", questions=[CONSENT])


async def test_words_that_changed_after_the_reading_are_not_agreed_to(parts: Parts) -> None:
    stored = await consent(parts)
    nora = await user_id(parts.database, "nora")
    async with parts.database.transaction() as db:
        definition = replace(stored.definition, message="And my firstborn.")
        await authoring.save(db, ANN, stored.uid, definition, revision=None, ceiling="full")
        late = asyncio.create_task(record(parts.database, parts.keys, stored, nora, None, outcome="agreed"))
        await asyncio.sleep(0.1)
        assert not late.done()
    with pytest.raises(VersionSuperseded):
        await late
    async with parts.database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Response)) == 0
        assert await db.scalar(select(LedgerHead.number)) in (0, None)
        current = await authoring.load(db, stored.uid)
    assert (await record(parts.database, parts.keys, current, nora, None, outcome="agreed")).fresh


async def test_an_answer_to_the_version_before_is_still_recorded_as_that(parts: Parts) -> None:
    stored = await consent(parts)
    nora = await user_id(parts.database, "nora")
    async with parts.database.transaction() as db:
        await authoring.save(db, ANN, stored.uid, stored.definition, revision=None, new_version=True, ceiling="full")
    assert (await record(parts.database, parts.keys, stored, nora, None, outcome="agreed")).version == 1
    async with parts.database.transaction() as db:
        assert (await authoring.load(db, stored.uid)).responses == 0
