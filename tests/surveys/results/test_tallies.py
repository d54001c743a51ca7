"""Counts of responses: what is kept and what comes after the mark always say together what the ledger says."""

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Job
from app.db.session import Database
from app.jobs import Claim
from app.parts import Parts
from app.surveys.authoring.stored import RESPONSES
from app.surveys.jobs import FUNCTIONS, schedule
from app.surveys.models import WHOLE, PromptState, Response, Survey, Tally, TallyMark
from app.surveys.results import tallies, tally_marks
from app.surveys.results.tallies import TallyScope
from app.surveys.results.tally_rows import ASKED
from tests.surveys.ledger_rows import NOW, Placed, bury, change, respond, show, survey

# The ledger read row by row: nothing of app.surveys.results.tallies is in it.
PLAIN = """
WITH rows AS (
    SELECT r.number, r.prompted, CASE
        WHEN (SELECT count(*) FROM survey_changes c WHERE c.response_number = r.number) % 2 = 1 THEN 'withdrawn' ELSE r.outcome
    END AS outcome
    FROM survey_responses r WHERE NOT EXISTS (SELECT 1 FROM survey_tombstones t WHERE t.number = r.number)
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


async def counted(db: AsyncSession, scope: TallyScope) -> set[tuple[Any, ...]]:
    """(outcome, question, choice, people, unprompted), days summed."""
    found: dict[tuple[Any, ...], tuple[int, int]] = {}
    for _, outcome, question, choice, people, unprompted in await db.execute(tallies.figures(scope)):
        before = found.get((outcome, question, choice), (0, 0))
        found[outcome, question, choice] = (before[0] + people, before[1] + unprompted)
    return {(*key, *numbers) for key, numbers in found.items() if any(numbers)}


async def plain(db: AsyncSession, placed: Placed, version: int) -> set[tuple[Any, ...]]:
    rows = await db.execute(text(PLAIN), {"survey": placed.id, "version": version})
    return {(outcome, question or WHOLE, *rest) for outcome, question, *rest in rows}


async def change_some(db: AsyncSession, turns: dict[int, int], dice: random.Random) -> None:
    """Withdraws one of the agreements, or agrees to it again, mostly; `turns` counts the changes of each."""
    if turns and dice.random() < 0.7:
        changed = dice.choice([*turns])
        turns[changed] += 1
        await change(db, changed, turns[changed])


async def kept(db: AsyncSession) -> int:
    return await db.scalar(select(func.count()).select_from(Tally)) or 0


@pytest.mark.parametrize("seed", range(3))
async def test_kept_and_fresh_counts_equal_a_plain_count_whenever_they_were_counted_up(
    database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(tally_marks, "STEP", 4)
    dice = random.Random(seed)
    async with database.transaction() as db:
        placed = [await survey(db, f"S{n}", [("Ticks", "multiple_choice", ["a", "b"])], demo=True) for n in range(2)]
        everybody = [(one, version, user) for one in placed for version in (1, 2) for user in range(1, 10)]
        dice.shuffle(everybody)
        numbers: dict[int, int] = {}
        turns: dict[int, int] = {}
        for step, (one, version, user) in enumerate(everybody):
            now = NOW - timedelta(hours=100 - step)
            monkeypatch.setattr(tally_marks, "SETTLED", datetime.now(UTC) - now)
            at = now - timedelta(hours=dice.randrange(72))
            prompted = dice.random() < 0.6
            if prompted:
                await show(db, one, user, version=version, at=now)
            if dice.random() < 0.8:
                ticks = dice.choice([[], ["a"], ["b"], ["a", "b"]])
                outcome = dice.choice(["answered", "agreed", "declined", "opted_out"])
                answers = {one.keys[0]: ticks} if outcome in ("answered", "agreed") and ticks else {}
                number = await respond(
                    db, one, user, outcome, answers, version=version, recorded_at=at, prompted=prompted
                )
                numbers[number] = one.id
                if outcome == "agreed":
                    turns[number] = 0
            await change_some(db, turns, dice)
            if dice.random() < 0.3:
                await tally_marks.count_up(db)
            if numbers and dice.random() < 0.1:
                number, survey_id = numbers.popitem()
                await bury(db, number)
                await tally_marks.recount(db, [survey_id])
            if step % 6 == 0:
                for each in placed:
                    for which in (1, 2):
                        assert await counted(db, TallyScope(each.id, which)) == await plain(db, each, which)
                    rows = select(func.count()).where(Response.survey_id == each.id, Response.version == 1)
                    assert await db.scalar(select(RESPONSES).where(Survey.id == each.id)) == await db.scalar(rows)
        assert await kept(db) > 0


async def test_a_mark_moves_in_steps_to_the_head_and_then_rests(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally_marks, "STEP", 2)
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(5):
            await respond(db, placed, user)
        assert [await tally_marks.count_up(db) for _ in range(4)] == [2, 2, 1, 0]
        assert await counted(db, TallyScope(placed.id)) == {("answered", WHOLE, "", 5, 5)}


async def test_days_and_outcomes_narrow_the_answers_and_never_whom_a_version_asked(database: Database) -> None:
    today = NOW.date()
    said = [(1, "agreed", 3, "a"), (2, "agreed", 2, "a"), (2, "agreed", 1, "b"), (2, "answered", 0, "b")]
    async with database.transaction() as db:
        placed = await survey(db, questions=[("Which?", "single_choice", ["a", "b"])])
        for user, (version, _, days, _) in enumerate(said):
            await show(db, placed, user, version=version, at=NOW - timedelta(days=days))
        for user, (version, outcome, days, choice) in enumerate(said):
            at = NOW - timedelta(days=days)
            answers = {placed.keys[0]: [choice]}
            await respond(db, placed, user, outcome, answers, version=version, recorded_at=at, prompted=True)
            if days == 1:
                await tally_marks.count_up(db)

        async def chosen(**narrowed: Any) -> dict[str, int]:
            rows = list(await db.execute(tallies.figures(TallyScope(placed.id, 2, **narrowed))))
            whole = {(row.day, row.outcome): row[4] for row in rows if row.question_key == WHOLE}
            assert sum(people for (_, outcome), people in whole.items() if outcome == ASKED) == 3
            assert {key: people for key, people in whole.items() if key[1] != ASKED} == {
                (today - timedelta(days=2), "agreed"): 1,
                (today - timedelta(days=1), "agreed"): 1,
                (today, "answered"): 1,
            }
            found: dict[str, int] = {}
            for row in rows:
                if row.question_key != WHOLE:
                    found[row.choice] = found.get(row.choice, 0) + row[4]
            return found

        assert await chosen() == {"": 3, "a": 1, "b": 2}
        assert await chosen(outcomes=("answered",)) == {"": 1, "b": 1}
        assert await chosen(days=(None, today - timedelta(days=2))) == {"": 1, "a": 1}
        assert await chosen(days=(today - timedelta(days=1), today), outcomes=("agreed",)) == {"": 1, "b": 1}
        everything = {
            outcome: people for outcome, question, _, people, _ in await counted(db, TallyScope()) if question == WHOLE
        }
        assert everything == {"agreed": 3, "answered": 1, ASKED: 4}


async def test_totals_per_day_go_by_everything_a_list_is_narrowed_to(database: Database) -> None:
    today = NOW.date()
    async with database.transaction() as db:
        placed = await survey(db, questions=[("Which?", "multiple_choice", ["a", "b"])])
        other = await survey(db, "Other")
        for user in range(3):
            at = NOW - timedelta(days=user)
            await respond(db, placed, user, answers={placed.keys[0]: ["a", "b"] if user else ["a"]}, recorded_at=at)
            await respond(db, other, user, "declined", recorded_at=at, version=2)
            if user == 1:
                await tally_marks.count_up(db)

        async def total(**narrowed: Any) -> int:
            return sum(people for _, _, people in await tallies.by_day(db, TallyScope(**narrowed)))

        assert await total() == 6
        assert await total(survey_id=placed.id) == 3
        assert await total(outcomes=("declined",)) == 3
        assert await total(version=2, days=(today, today)) == 1
        assert await total(survey_id=placed.id, answer=(placed.keys[0], "")) == 3
        assert await total(answer=(placed.keys[0], "b")) == 2
        assert await total(answer=(placed.keys[0], "b"), days=(today, None)) == 0


async def test_days_are_those_of_utc(database: Database) -> None:
    last_second = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)
    async with database.transaction() as db:
        await db.execute(text("SET LOCAL timezone = 'Asia/Tokyo'"))
        placed = await survey(db)
        await respond(db, placed, 1, recorded_at=last_second)
        await tally_marks.count_up(db)
        await respond(db, placed, 2, "declined", recorded_at=last_second + timedelta(seconds=1))
        assert await tallies.by_day(db, TallyScope()) == [
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
            await tally_marks.count_up(db)

    await asyncio.gather(work(), work(), work())
    async with database.transaction() as db:
        assert await counted(db, TallyScope(placed.id)) == {("answered", WHOLE, "", 30, 30)}
        assert await db.scalar(select(func.sum(Tally.people))) == 30


async def test_impressions_of_the_last_minutes_are_counted_live(database: Database) -> None:
    """They may still be arriving from a slow transaction."""
    async with database.transaction() as db:
        placed = await survey(db)
        await show(db, placed, 1, at=datetime.now(UTC) - timedelta(hours=1))
        await show(db, placed, 2, at=datetime.now(UTC) - timedelta(minutes=1))
        await tally_marks.count_up(db)
        assert await db.scalar(select(Tally.people).where(Tally.outcome == ASKED)) == 1
        assert await counted(db, TallyScope(placed.id)) == {(ASKED, WHOLE, "", 2, 0)}
        # One that comes late, but before the mark's margin is over, is found all the same.
        await show(db, placed, 3, at=datetime.now(UTC) - timedelta(minutes=9))
        assert await counted(db, TallyScope(placed.id)) == {(ASKED, WHOLE, "", 3, 0)}


async def test_counting_again_forgets_what_is_gone(database: Database) -> None:
    async with database.transaction() as db:
        placed, other = await survey(db), await survey(db, "Other")
        for one in (placed, other):
            await show(db, one, 1)
            first = await respond(db, one, 1)
        await tally_marks.count_up(db)
        await bury(db, first)
        await db.execute(delete(PromptState).where(PromptState.survey_id == other.id))
        await tally_marks.recount(db, [other.id])
        assert await counted(db, TallyScope(other.id)) == set()
        assert await counted(db, TallyScope(placed.id)) == {(ASKED, WHOLE, "", 1, 0), ("answered", WHOLE, "", 1, 1)}


async def test_counting_up_is_due_once_the_tail_is_long(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_marks, "LONGEST_TAIL", 2)
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(2):
            await respond(db, placed, user)
        assert not await tally_marks.is_due(db)
        await respond(db, placed, 3)
        assert await tally_marks.is_due(db)
        await tally_marks.count_up(db)
        assert not await tally_marks.is_due(db)
        await db.execute(text("UPDATE survey_tally_mark SET shown_until = :at"), {"at": NOW - timedelta(days=1)})
        for user in range(3):
            await show(db, placed, user, at=datetime.now(UTC) - timedelta(hours=1))
        await db.execute(text("UPDATE survey_tally_mark SET shown_until = now() - interval '1 day'"))
        assert await tally_marks.is_due(db)
        assert await tally_marks.count_up(db) == 0
        assert not await tally_marks.is_due(db)
        assert await db.scalar(select(TallyMark.number)) == 3


async def test_the_minute_s_round_asks_for_counting_up_and_the_job_does_all_of_it(
    database: Database, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally_marks, "LONGEST_TAIL", 4)
    monkeypatch.setattr(tally_marks, "STEP", 2)
    async with database.transaction() as db:
        placed = await survey(db)
        for user in range(4):
            await respond(db, placed, user)
    await schedule(parts, "main")
    assert await asked_for(database) == 0
    async with database.transaction() as db:
        await respond(db, placed, 5)
    await schedule(parts, "main")
    assert await asked_for(database) == 1
    await FUNCTIONS["surveys_tally"](parts, Claim(1, 1, "main", "surveys_tally", {}))
    async with database.transaction() as db:
        assert await db.scalar(select(TallyMark.number)) == 5
        assert not await tally_marks.is_due(db)


async def asked_for(database: Database) -> int:
    async with database.shared_transaction() as db:
        return await db.scalar(select(func.count()).select_from(Job).where(Job.name == "surveys_tally")) or 0


@pytest.mark.parametrize(
    "statement",
    [
        tallies.figures(TallyScope(1, 1), [UUID(int=1)]),
        tallies.whole(TallyScope(current=True)),
        tallies.answers(TallyScope(1, 1, ("agreed", "withdrawn")), [(1, UUID(int=1))]),
        tallies.by_version(1, [1, 2], [UUID(int=1)]),
    ],
    ids=["figures", "whole", "answers", "by version"],
)
def test_a_statement_is_compiled_once(statement: Any) -> None:
    """SQLAlchemy compiles a statement without a key again in each call:
    of these that takes longer than the statement."""
    assert statement._generate_cache_key() is not None
