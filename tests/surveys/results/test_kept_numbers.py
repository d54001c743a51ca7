"""Very many different numbers: a job counts them, and the result is the one of every single number."""

import re
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from app.jobs import Claim, Job
from app.parts import Parts
from app.surveys import jobs as survey_jobs
from app.surveys.models import KeptNumbers
from app.surveys.results import kept_numbers, of_version, of_versions, tally_marks
from app.surveys.results.breakdowns import Breakdown, breakdown
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope
from tests.conftest import Browser
from tests.surveys.drafted import Stored, published
from tests.surveys.ledger_rows import NOW, Placed, respond, survey
from tests.surveys.recording import record

FAR = [str(number * number) for number in range(20)]


@pytest.fixture
async def walk(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> Placed:
    """A survey to which twenty people gave twenty numbers, which are more than may be counted live."""
    monkeypatch.setattr(kept_numbers, "MOST_LIVE", 15)
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


async def test_pages_and_api_say_what_waits_and_ask_for_the_count_once(
    parts: Parts, vera: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_numbers, "MOST_LIVE", 3)
    async with parts.database.transaction() as db:
        walk = await published(db, title="Walk", questions=[{"label": "How far?", "type": "number"}])
    for user, far in enumerate((1.25, 4, 9.5, 20), 1000):
        await record(parts.database, parts.keys, walk, user, far)
    async with parts.database.transaction() as db:
        await tally_marks.count_up(db)
    view = f"/surveys/view/{walk.uid}"
    assert "There are very many different numbers: they are being counted." in await words(vera, view)
    for page in (f"{view}/versions", f"{view}/rounds"):
        assert (await vera.get(page)).status_code == 200
    async with parts.database.shared_transaction() as db:
        asked = (await db.scalars(select(Job.arguments).where(Job.name == "surveys_numbers"))).all()
    assert asked == [{"survey_id": walk.id, "version": 1}]
    assert "has very many different numbers: they are being counted" in await words(vera, f"{view}/versions")
    await count(parts, walk)
    page = await words(vera, view)
    assert "8.69 mean of 4, median 6.75, from 1.25 to 20" in page
    assert "There are very many different numbers. They were counted" in page
    compared = await words(vera, f"{view}/versions")
    assert "Median 6.75 n 4" in compared
    assert "being counted" not in compared


async def words(browser: Browser, url: str) -> str:
    answer = await browser.get(url)
    assert answer.status_code == 200, answer.text
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())
