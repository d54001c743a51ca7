"""Very many different numbers: a job counts them, and the result is the one of every single number."""

import asyncio
import re
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any, cast
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select, text, update

from app.jobs import Claim, Job
from app.parts import Parts
from app.surveys import jobs as survey_jobs
from app.surveys.models import KeptNumbers, Response, SurveyRound, Tally
from app.surveys.results import kept_numbers, of_version, of_versions, table, tallies, tally_marks
from app.surveys.results.breakdowns import Breakdown, breakdown
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope
from tests.conftest import Browser
from tests.surveys.drafted import Stored, published
from tests.surveys.ledger_rows import NOW, Placed, bury, respond, survey, wording
from tests.surveys.recording import record

FAR = [str(number * number) for number in range(20)]
LATER = NOW + timedelta(days=1)
_MANY_DAYS = """
INSERT INTO survey_tallies (survey_id, version, day, outcome, question_key, choice, people)
SELECT :survey, version, CAST(:first AS date) + day, 'answered', lpad(to_hex(key), 32, '0')::uuid,
    CASE WHEN choice < 0 THEN '' ELSE choice::text END, CASE WHEN choice < 0 THEN 11 ELSE 1 END
FROM generate_series(1, 12) AS version, generate_series(1, 10) AS day, generate_series(1, 10) AS key, generate_series(-1, 10) AS choice
"""


@pytest.fixture
async def walk(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> Placed:
    """A survey to which twenty people gave twenty numbers, which are more than may be counted live."""
    monkeypatch.setattr(kept_numbers, "MOST_LIVE", 15)
    monkeypatch.setattr(kept_numbers, "FEW", 12)
    async with parts.database.transaction() as db:
        placed = await survey(db, "Walk", questions=[("How far?", "number", []), ("Which?", "single_choice", ["a"])])
        for user, far in enumerate(FAR):
            await answer(db, placed, user, far)
        await tally_marks.count_up(db)
    return placed


async def answer(db: Any, placed: Placed, user: int, far: str, **values: Any) -> None:
    await respond(db, placed, user, answers={placed.keys[0]: [far], placed.keys[1]: ["a"]}, **values)


async def figures(parts: Parts, placed: Placed, **narrowed: Any) -> tuple[Breakdown, Breakdown, bool]:
    asked = [
        AskedQuestion(placed.keys[0], "How far?", "number"),
        AskedQuestion(placed.keys[1], "", "single_choice", ("a",)),
    ]
    async with parts.database.transaction() as db:
        found = await of_version.read(db, scope=TallyScope(placed.id, 1, **narrowed), questions=asked)
        row = type("Row", (), {"id": placed.id, "anonymity": "named"})
        together = await of_versions.read(db, row, [1], asked)
    if not narrowed:
        assert tuple(together.breakdown(one, 1) for one in asked) == found.questions
        assert set(together.due) == ({1} if found.due else set())
    far, which = found.questions
    return far, which, found.due


async def count(parts: Parts, placed: Placed | Stored) -> None:
    about = {"survey_id": placed.id, "version": 1}
    await survey_jobs.count_numbers(parts, Claim(1, 1, "main", "surveys_numbers", about))


async def test_until_they_are_counted_the_people_are_known_and_the_figures_wait(parts: Parts, walk: Placed) -> None:
    far, which, due = await figures(parts, walk)
    assert (far.people, far.middle, far.bars, far.waits, due) == (20, None, (), True, True)
    assert (which.people, which.bars[0].people, which.waits) == (20, 20, False)


async def test_the_job_counts_what_every_single_number_comes_to(parts: Parts, walk: Placed) -> None:
    await count(parts, walk)
    far, which, due = await figures(parts, walk)
    wanted = breakdown(far.question, {"": 20, **Counter(FAR)})
    assert (far.people, far.bars, far.middle) == (20, wanted.bars, wanted.middle)
    assert far.counted_at
    assert (far.waits, due, which.counted_at) == (False, False, None)


async def test_days_narrow_what_few_gave_and_otherwise_the_people(parts: Parts, walk: Placed) -> None:
    await count(parts, walk)
    whole, *_ = await figures(parts, walk)
    async with parts.database.transaction() as db:
        for user in (101, 102):
            await answer(db, walk, user, "7", recorded_at=NOW + timedelta(days=3))
        await tally_marks.count_up(db)
    later, *_ = await figures(parts, walk, days=((NOW + timedelta(days=2)).date(), None))
    assert (later.people, later.counted_at, later.bars[0].label) == (2, None, "7")
    first, *_ = await figures(parts, walk, days=(None, NOW.date()))
    assert (first.people, first.middle) == (20, whole.middle)
    assert first.counted_at


@pytest.mark.parametrize(("age", "due"), [(timedelta(minutes=5), False), (timedelta(minutes=15), True)])
async def test_a_count_is_made_again_some_time_after_more_answers_came(
    parts: Parts, walk: Placed, age: timedelta, due: bool
) -> None:
    await count(parts, walk)
    async with parts.database.transaction() as db:
        await answer(db, walk, 99, "4.5")
        await tally_marks.count_up(db)
        await db.execute(update(KeptNumbers).values(counted_at=func.now() - age))
    far, _, is_due = await figures(parts, walk)
    assert (far.people, far.middle and far.middle.people, is_due) == (21, 20, due)
    await count(parts, walk)
    far, _, is_due = await figures(parts, walk)
    assert (far.people, far.middle and far.middle.people, is_due) == (21, 21, False)


async def test_an_old_count_to_which_nothing_was_added_stands(parts: Parts, walk: Placed) -> None:
    await count(parts, walk)
    async with parts.database.transaction() as db:
        await db.execute(update(KeptNumbers).values(counted_at=func.now() - timedelta(days=400)))
    assert not (await figures(parts, walk))[2]


async def test_answers_that_were_removed_leave_no_count_behind(parts: Parts, walk: Placed) -> None:
    await count(parts, walk)
    async with parts.database.transaction() as db:
        await tally_marks.recount(db, [walk.id])
        assert await db.scalar(select(func.count()).select_from(KeptNumbers)) == 0


async def test_few_different_numbers_never_wait_on_however_many_days(parts: Parts) -> None:
    """Eleven numbers on ten days in twelve versions of ten questions."""
    asked = [AskedQuestion(UUID(int=number), "How likely?", "number") for number in range(1, 11)]
    async with parts.database.transaction() as db:
        placed = await survey(db, "Ten", version=12)
        days = {"survey": placed.id, "first": NOW.date()}
        await db.execute(text(_MANY_DAYS), days)
        row = type("Row", (), {"id": placed.id, "anonymity": "named"})
        together = await of_versions.read(db, row, range(1, 13), asked)
        found = [together.breakdown(one, version) for one in asked for version in range(1, 13)]
        assert {(one.people, len(one.bars), one.waits) for one in found} == {(110, 11, False)}
        one = await of_version.read(db, scope=TallyScope(placed.id, 12), questions=asked)
    assert {(each.people, len(each.bars), each.waits, one.due) for each in one.questions} == {(110, 11, False, False)}


async def test_few_numbers_that_the_job_counted_have_a_bar_each(parts: Parts, walk: Placed) -> None:
    """Eighteen of twenty numbers were taken back."""
    async with parts.database.transaction() as db:
        await db.execute(
            update(Tally)
            .where(Tally.question_key == walk.keys[0], Tally.choice.not_in(["", *FAR[:2]]))
            .values(people=0)
        )
    await count(parts, walk)
    far, *_ = await figures(parts, walk)
    assert [(bar.label, bar.people) for bar in far.bars] == [("0", 1), ("1", 1)]


async def test_answers_to_an_earlier_type_do_not_wait_for_numbers(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first version asks for a day, the second for a number; a comparison asks both for numbers."""
    monkeypatch.setattr(kept_numbers, "MOST_LIVE", 3)
    monkeypatch.setattr(kept_numbers, "FEW", 3)
    async with parts.database.transaction() as db:
        walk = await survey(db, "Walk", questions=[("When?", "date", [])])
        await wording(db, walk.uid, "Walk", [("How far?", "number", [])], walk.keys, version=2)
        for user, day in enumerate(("2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"), 1000):
            await respond(db, walk, user, answers={walk.keys[0]: [day]})
        await tally_marks.count_up(db)
    row = type("Row", (), {"id": walk.id, "anonymity": "named"})
    for waits in (True, False):
        async with parts.database.transaction() as db:
            asked = await table.asked_in(db, walk.uid, None)
            found = await of_versions.read(db, row, [1, 2], asked)
        one = found.breakdown(asked[0], 1)
        assert (one.people, one.middle, one.waits, set(found.due)) == (4, None, waits, {1} if waits else set())
        await count(parts, walk)
        async with parts.database.transaction() as db:
            await db.execute(update(KeptNumbers).values(counted_at=func.now() - timedelta(days=1)))


async def test_a_count_during_an_erasure_has_no_erased_answer(parts: Parts, walk: Placed) -> None:
    async with parts.database.transaction() as db:
        last = await db.scalar(select(func.max(Response.number)))
        await bury(db, last or 0)
        await tally_marks.recount(db, [walk.id])
        counting = asyncio.create_task(count(parts, walk))
        await until_it_waits(parts, counting)
    await counting
    far, *_ = await figures(parts, walk)
    assert (far.people, far.middle and far.middle.highest) == (19, int(FAR[-2]))


async def until_it_waits(parts: Parts, task: asyncio.Task[None]) -> None:
    """Until the task waits for a lock, or ends."""
    waits = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    while not task.done():
        async with parts.database.transaction() as db:
            if await db.scalar(waits):
                return
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("numbers", [2, 40])
async def test_an_answer_between_two_statements_makes_no_share_above_all(parts: Parts, numbers: int) -> None:
    async with parts.database.transaction() as db:
        placed = await survey(db, "Walk", questions=[("How far?", "number", []), ("Which?", "single_choice", ["a"])])
        for user in range(40):
            await answer(db, placed, user, str(user % numbers))
    asked = [AskedQuestion(placed.keys[0], "How far?", "number")]
    async with parts.database.transaction() as db, parts.database.transaction() as other:
        between = Between(db, after=tallies.figures(TallyScope(placed.id, 1), []), act=partial(late, other, placed))
        found = await of_version.read(cast("Any", between), scope=TallyScope(placed.id, 1), questions=asked)
    assert between.acted
    (far,) = found.questions
    assert far.people == sum(bar.people for bar in far.bars) == far.middle.people == 41  # type: ignore[union-attr]


async def late(other: Any, placed: Placed) -> None:
    await answer(other, placed, 99, "0")
    await other.commit()


class Between:
    """A session in which somebody acts after a statement."""

    def __init__(self, db: Any, *, after: Any, act: Any) -> None:
        self.db, self.after, self.act, self.acted = db, str(after), act, False

    async def execute(self, statement: Any, *given: Any) -> Any:
        found = await self.db.execute(statement, *given)
        if str(statement) == self.after:
            await self.act()
            self.acted = True
        return found


async def test_pages_and_api_say_what_waits_and_ask_for_the_count_once(
    parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_numbers, "MOST_LIVE", 3)
    monkeypatch.setattr(kept_numbers, "FEW", 3)
    async with parts.database.transaction() as db:
        walk = await published(db, title="Walk", questions=[{"label": "How far?", "type": "number"}])
    for user, far in enumerate((1.25, 4, 9.5, 20), 1000):
        await record(parts.database, parts.keys, walk, user, far)
    async with parts.database.transaction() as db:
        await tally_marks.count_up(db)
    view = f"/surveys/view/{walk.uid}"
    assert "There are very many different numbers: they are being counted." in await words(vera, view)
    assert "has very many different numbers: they are being counted" in await words(vera, f"{view}/versions")
    assert "being counted" not in await words(vera, f"{view}/rounds"), "it has no rounds"
    async with parts.database.transaction() as db:
        await db.execute(
            insert(SurveyRound).values(survey_id=walk.id, day=NOW.date(), starts_at=NOW, ends_at=LATER, version=1)
        )
    assert "How far? A round has very many different numbers: they are being counted. Reload the page" in await words(
        vera, f"{view}/rounds"
    )
    async with parts.database.shared_transaction() as db:
        asked = (await db.scalars(select(Job.arguments).where(Job.name == "surveys_numbers"))).all()
    assert asked == [{"survey_id": walk.id, "version": 1}]
    await count(parts, walk)
    page = await words(vera, view)
    assert "8.69 mean of 4, median 6.75, from 1.25 to 20" in page
    assert "There are very many different numbers. They were counted" in page
    assert "for the whole version." in page
    assert "for the whole version: days and outcome do not narrow them." in await words(
        vera, f"{view}?outcome=answered"
    )
    assert "being counted" not in await words(vera, f"{view}/rounds")
    compared = await words(vera, f"{view}/versions")
    assert "Median 6.75 n 4" in compared
    assert "being counted" not in compared


async def words(browser: Browser, url: str) -> str:
    answer = await browser.get(url)
    assert answer.status_code == 200, answer.text
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())
