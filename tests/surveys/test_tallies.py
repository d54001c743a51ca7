"""Counts of responses: what is kept and what comes after the mark always say together what the ledger says."""

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.surveys import tallies
from app.surveys.models import PromptState, Tally, TallyMark
from app.surveys.tallies import ASKED, WHOLE, Scope
from tests.surveys.ledger_rows import NOW, Placed, bury, respond, show, survey

# The ledger read row by row: nothing of app.surveys.tallies is in it.
PLAIN = """
WITH rows AS (
    SELECT r.* FROM survey_responses r WHERE NOT EXISTS (SELECT 1 FROM survey_tombstones t WHERE t.number = r.number)
        AND r.survey_id = :survey AND r.version = :version
)
SELECT outcome, NULL AS question, '' AS choice, count(*) AS people, count(*) FILTER (WHERE NOT prompted) FROM rows GROUP BY 1
UNION ALL
SELECT outcome, question_key, '', count(DISTINCT number), 0 FROM rows JOIN survey_answers a USING (number) GROUP BY 1, 2
UNION ALL
SELECT outcome, question_key, choice, count(*), 0 FROM rows JOIN survey_answers a USING (number) WHERE choice <> '' GROUP BY 1, 2, 3
UNION ALL
SELECT 'asked', NULL, '', count(*), 0 FROM survey_prompt_state
WHERE survey_id = :survey AND version = :version AND first_shown_at IS NOT NULL HAVING count(*) > 0
"""


async def counted(db: AsyncSession, scope: Scope) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in await db.execute(tallies.figures(scope))}


async def plain(db: AsyncSession, placed: Placed, version: int) -> set[tuple[Any, ...]]:
    rows = await db.execute(text(PLAIN), {"survey": placed.id, "version": version})
    return {(outcome, question or WHOLE, *rest) for outcome, question, *rest in rows}


async def kept(db: AsyncSession) -> int:
    return await db.scalar(select(func.count()).select_from(Tally)) or 0


@pytest.mark.parametrize("seed", range(3))
async def test_kept_and_fresh_counts_equal_a_plain_count_whenever_they_were_counted_up(
    database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(tallies, "STEP", 4)
    dice = random.Random(seed)
    async with database.transaction() as db:
        placed = [await survey(db, f"S{n}", [("Ticks", "multiple_choice", ["a", "b"])]) for n in range(2)]
        everybody = [(one, version, user) for one in placed for version in (1, 2) for user in range(1, 10)]
        dice.shuffle(everybody)
        numbers: dict[int, int] = {}
        for step, (one, version, user) in enumerate(everybody):
            now = NOW - timedelta(hours=100 - step)
            monkeypatch.setattr(tallies, "SETTLED", datetime.now(UTC) - now)
            at = now - timedelta(hours=dice.randrange(72))
            prompted = dice.random() < 0.6
            if prompted:
                await show(db, one, user, version=version, at=now)
            if dice.random() < 0.8:
                ticks = dice.choice([[], ["a"], ["b"], ["a", "b"]])
                outcome = dice.choice(["answered", "agreed", "declined", "opted_out"])
                answers = {one.keys[0]: ticks} if outcome == "answered" and ticks else {}
                number = await respond(
                    db, one, user, outcome, answers, version=version, recorded_at=at, prompted=prompted
                )
                numbers[number] = one.id
            if dice.random() < 0.3:
                await tallies.count_up(db)
            if numbers and dice.random() < 0.1:
                number, survey_id = numbers.popitem()
                await bury(db, number)
                await tallies.recount(db, [survey_id])
            if step % 6 == 0:
                for each in placed:
                    for which in (1, 2):
                        assert await counted(db, Scope(each.id, which)) == await plain(db, each, which)
        assert await kept(db) > 0


async def test_a_mark_moves_in_steps_to_the_head_and_then_rests(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "STEP", 2)
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(5):
            await respond(db, placed, user)
        assert [await tallies.count_up(db) for _ in range(4)] == [2, 2, 1, 0]
        assert await counted(db, Scope(placed.id)) == {("answered", WHOLE, "", 5, 5)}


async def test_figures_go_by_version_day_and_outcome(database: Database) -> None:
    async with database.transaction() as db:
        placed = await survey(db)
        said = [(1, "agreed", 3), (2, "agreed", 2), (2, "declined", 1), (2, "declined", 0), (2, "opted_out", 0)]
        for user, (version, _, days) in enumerate(said):
            await show(db, placed, user, version=version, at=NOW - timedelta(days=days))
        for user, (version, outcome, days) in enumerate(said):
            at = NOW - timedelta(days=days)
            await respond(db, placed, user, outcome, version=version, recorded_at=at, prompted=True)
            if days == 1:
                await tallies.count_up(db)
        today, asked = NOW.date(), (ASKED, WHOLE, "", 4, 0)

        async def told(**narrowed: Any) -> set[tuple[Any, ...]]:
            return await counted(db, Scope(placed.id, 2, **narrowed))

        declined, agreed = ("declined", WHOLE, "", 2, 0), ("agreed", WHOLE, "", 1, 0)
        assert await told() == {agreed, declined, ("opted_out", WHOLE, "", 1, 0), asked}
        assert await told(outcomes=("declined",)) == {declined, asked}
        assert await told(days=(None, today - timedelta(days=2))) == {agreed, asked}
        assert await told(days=(today - timedelta(days=1), today), outcomes=("declined",)) == {declined, asked}
        everything = {(outcome, people) for outcome, _, _, people, _ in await counted(db, Scope())}
        assert everything == {("agreed", 2), ("declined", 2), ("opted_out", 1), (ASKED, 5)}


async def test_days_are_those_of_utc(database: Database) -> None:
    last_second = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    async with database.transaction() as db:
        await db.execute(text("SET LOCAL timezone = 'Asia/Tokyo'"))
        placed = await survey(db)
        await respond(db, placed, 1, recorded_at=last_second)
        await tallies.count_up(db)
        await respond(db, placed, 2, "declined", recorded_at=last_second + timedelta(seconds=1))
        assert await tallies.by_day(db, Scope()) == [
            (date(2026, 11, 21), "declined", 1),
            (date(2026, 11, 20), "answered", 1),
        ]


async def test_two_workers_count_no_row_twice(database: Database) -> None:
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(30):
            await respond(db, placed, user)

    async def work() -> None:
        async with database.transaction() as db:
            await tallies.count_up(db)

    await asyncio.gather(work(), work(), work())
    async with database.transaction() as db:
        assert await counted(db, Scope(placed.id)) == {("answered", WHOLE, "", 30, 30)}
        assert await db.scalar(select(func.sum(Tally.people))) == 30


async def test_impressions_of_the_last_minutes_are_counted_live(database: Database) -> None:
    """They may still be arriving from a slow transaction."""
    async with database.transaction() as db:
        placed = await survey(db)
        await show(db, placed, 1, at=datetime.now(UTC) - timedelta(hours=1))
        await show(db, placed, 2, at=datetime.now(UTC) - timedelta(minutes=1))
        await tallies.count_up(db)
        assert await db.scalar(select(Tally.people).where(Tally.outcome == ASKED)) == 1
        assert await counted(db, Scope(placed.id)) == {(ASKED, WHOLE, "", 2, 0)}
        # One that comes late, but before the mark's margin is over, is found all the same.
        await show(db, placed, 3, at=datetime.now(UTC) - timedelta(minutes=9))
        assert await counted(db, Scope(placed.id)) == {(ASKED, WHOLE, "", 3, 0)}


async def test_counting_anew_forgets_what_is_gone(database: Database) -> None:
    async with database.transaction() as db:
        placed, other = await survey(db), await survey(db, "Other")
        for one in (placed, other):
            await show(db, one, 1)
            first = await respond(db, one, 1)
        await tallies.count_up(db)
        await bury(db, first)
        await db.execute(delete(PromptState).where(PromptState.survey_id == other.id))
        await tallies.recount(db, [other.id])
        assert await counted(db, Scope(other.id)) == set()
        assert await counted(db, Scope(placed.id)) == {(ASKED, WHOLE, "", 1, 0), ("answered", WHOLE, "", 1, 1)}


async def test_counting_up_is_due_once_the_tail_is_long(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "LONGEST_TAIL", 2)
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(2):
            await respond(db, placed, user)
        assert not await tallies.is_due(db)
        await respond(db, placed, 3)
        assert await tallies.is_due(db)
        await tallies.count_up(db)
        assert not await tallies.is_due(db)
        await db.execute(text("UPDATE survey_tally_mark SET shown_until = :at"), {"at": NOW - timedelta(days=1)})
        for user in range(3):
            await show(db, placed, user, at=datetime.now(UTC) - timedelta(hours=1))
        await db.execute(text("UPDATE survey_tally_mark SET shown_until = now() - interval '1 day'"))
        assert await tallies.is_due(db)
        assert await tallies.count_up(db) == 0
        assert not await tallies.is_due(db)
        assert await db.scalar(select(TallyMark.number)) == 3
