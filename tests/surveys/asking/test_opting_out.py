"""An opt-out of one round holds for all later ones, wherever somebody is asked, listed or counted."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import update

from app.parts import Parts
from app.surveys.asking import situations
from app.surveys.authoring import opening
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey
from app.surveys.rounds.repeats import Repeat
from tests.surveys import authored
from tests.surveys.asking.test_open_surveys import both
from tests.surveys.recording import record, user_id

DAILY = Repeat("days", 1, datetime.now(UTC).date(), days=1)


async def begun(parts: Parts) -> Stored:
    draft = await authored.make(parts.database, repeat=DAILY)
    await authored.publish(parts.database, draft, datetime.now(UTC))
    return await authored.read(parts.database, draft.uid)


async def next_round(parts: Parts, uid: UUID) -> None:
    """That of today, as if the one before had been yesterday's."""
    async with parts.database.transaction("main") as db:
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        await db.execute(update(Survey).where(Survey.uid == uid).values(rounds_after=yesterday))
    async with parts.database.transaction("main") as db:
        assert await opening.open_due(db, uid, datetime.now(UTC)) is not None


@pytest.mark.parametrize(("outcome", "asked_again"), [("opted_out", False), ("answered", True)])
async def test_who_opted_out_of_a_round_is_not_asked_in_later_ones(
    parts: Parts, outcome: str, asked_again: bool
) -> None:
    stored = await begun(parts)
    someone = await user_id(parts.database, "nora")
    await record(parts.database, parts.keys, stored, someone, None, outcome=outcome)
    for _ in range(2):
        await next_round(parts, stored.uid)
    titles, counted = await both(parts, "nora")
    assert (len(titles), counted.open) == (asked_again, asked_again)
    async with parts.database.transaction("main") as db:
        met = await situations.one(db, someone, stored.uid)
    assert met is not None
    assert met.situation.state.outcome == (None if asked_again else "opted_out_of_rounds")


async def test_a_version_that_a_person_publishes_asks_everybody_again(parts: Parts) -> None:
    stored = await begun(parts)
    someone = await user_id(parts.database, "nora")
    await record(parts.database, parts.keys, stored, someone, None, outcome="opted_out")
    await authored.save_as(parts.database, stored, replace(stored.definition, title="Dinner"), new_version=True)
    async with parts.database.transaction("main") as db:
        met = await situations.one(db, someone, stored.uid)
    assert met is not None
    assert met.situation.state.outcome is None
