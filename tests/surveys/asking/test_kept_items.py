"""What a process keeps of surveys between two calls: their words until the next save, and nothing else."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, update

from app.db.session import Database
from app.surveys import languages_shown
from app.surveys.asking.kept_items import KeptItems
from app.surveys.authoring.stored import Stored
from app.surveys.item import Item
from app.surveys.models import Question, Survey
from tests.surveys.asking.test_languages import item, lunch
from tests.surveys.asking.test_queue import eve, nora, publish
from tests.surveys.authored import read, save, save_as
from tests.surveys.calling import App, statements
from tests.surveys.drafted import LUNCH, defined
from tests.surveys.translated import translated

__all__ = ["eve", "lunch", "nora"]
SOON = datetime(2999, 1, 1, tzinfo=UTC)


async def test_the_questions_are_read_once(nora: App, eve: App, database: Database, lunch: Stored) -> None:
    first = await item(nora, "&lang=de")
    with statements(database) as sent:
        assert await item(nora, "&lang=de") == await item(eve, "&lang=de") == first
    assert not [one for one in sent if "survey_questions" in one]
    assert (await item(nora))["title"] == "Lunch" != first["title"]


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        ({"title": "Dinner"}, "title", "Dinner"),
        ({"category": "Food"}, "category", "Food"),
        ({"ends_at": SOON}, "ends_at", "2999-01-01T00:00:00Z"),
        ({"enforcement": "required"}, "enforcement", "required"),
    ],
)
async def test_what_was_saved_comes_with_the_next_call(
    nora: App, database: Database, changed: dict[str, Any], field: str, value: str
) -> None:
    survey = await publish(database, "Lunch", cooldown_days=0, max_prompts=0)
    assert (await item(nora))[field] != value
    definition = defined(**{"title": "Lunch", "questions": [LUNCH], "cooldown_days": 0, "max_prompts": 0, **changed})
    if changed.get("enforcement"):
        definition = replace(definition, cooldown_days=None, max_prompts=None, snooze_hours=None)
    await save_as(database, survey, definition, new_version=True)
    assert (await item(nora))[field] == value


async def test_a_new_question_comes_with_the_next_call(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", cooldown_days=0)
    await item(nora)
    more = defined(questions=[LUNCH, {"label": "Why?", "type": "free_text"}]).questions
    await save(database, survey, questions=more, new_version=True)
    asked = [one["label"] for one in (await item(nora))["questions"]]
    assert asked == ["How was lunch?", "Why?"]
    after = await read(database, survey.uid)
    assert [one["question"] for one in (await item(nora))["questions"]] == [str(one.key) for one in after.questions]


async def test_what_was_saved_again_after_the_database_was_set_back_comes_with_the_next_call(
    nora: App, database: Database
) -> None:
    """A standby took over without the last commits, and the author did the lost work once more:
    the same numbers and words, and other ids."""
    survey = await publish(database, "Lunch", cooldown_days=0)
    await item(nora)
    async with database.transaction() as db:
        again = {"key": func.gen_random_uuid()}
        await db.execute(update(Question).where(Question.survey_id == survey.id).values(again))
        await db.execute(update(Survey).where(Survey.id == survey.id).values(updated_at=func.now()))
    after = await read(database, survey.uid)
    assert [one["question"] for one in (await item(nora))["questions"]] == [str(one.key) for one in after.questions]


async def test_what_the_row_says_beside_the_words_is_never_kept(nora: App, database: Database) -> None:
    survey = await publish(database, "Lunch", cooldown_days=0)
    await item(nora)
    async with database.transaction() as db:
        await db.execute(update(Survey).where(Survey.id == survey.id).values(ends_at=SOON, category="Food"))
    told = await item(nora)
    assert (told["ends_at"], told["category"]) == ("2999-01-01T00:00:00Z", "Food")


async def test_a_version_that_was_kept_is_noted_in_each_language_once_it_is_shown(
    nora: App, database: Database, lunch: Stored
) -> None:
    """Also where another version of the same words was shown before."""
    await item(nora, "&lang=de")
    await save_as(database, lunch, translated(enforcement="required"), new_version=True)
    await item(nora, "&lang=de")
    async with database.transaction() as db:
        assert await languages_shown.shown(db, lunch.id, 2) == {"de"}


@dataclass(frozen=True)
class Row:
    uid: UUID
    wording_id: int | None = 1
    revision: int = 1
    updated_at: datetime = SOON
    tag: str | None = None
    enforcement: str = "required"
    category: str | None = None
    ends_at: datetime | None = None
    was_shown: bool = False


def kept_of(row: Row, characters: int) -> Item:
    return Item("main", row.uid, 1, "x", "poll", "required", "t" * characters, "", None, None, ())


def test_the_oldest_goes_when_there_is_too_much() -> None:
    """A short survey takes more than its texts."""
    kept = KeptItems(most=2100)
    rows = [Row(UUID(int=number)) for number in range(4)]
    for row in rows[:3]:
        kept.keep(row, kept_of(row, 30))
    assert kept.find("main", rows[0])
    kept.keep(rows[3], kept_of(rows[3], 30))
    assert [bool(kept.find("main", row)) for row in rows] == [True, False, True, True]
    kept.keep(rows[1], kept_of(rows[1], 2000))
    assert not any(kept.find("main", row) for row in rows)


@pytest.mark.parametrize(
    "other",
    [{"revision": 2}, {"updated_at": SOON + timedelta(days=1)}, {"tag": "de"}, {"uid": UUID(int=2)}],
)
def test_other_words_are_not_found(other: dict[str, Any]) -> None:
    kept, row = KeptItems(), Row(UUID(int=1))
    kept.keep(row, kept_of(row, 5))
    assert kept.find("main", row)
    assert kept.find("globex", row) is None
    assert kept.find("main", replace(row, **other)) is None


def test_a_draft_is_not_kept() -> None:
    kept, row = KeptItems(), Row(UUID(int=1), wording_id=None)
    kept.keep(row, kept_of(row, 5))
    assert kept.find("main", row) is None


def test_the_first_person_in_a_language_is_told_apart_from_the_next() -> None:
    kept, row = KeptItems(), Row(UUID(int=1), tag="de")
    kept.keep(row, kept_of(row, 5))
    for now, first in ((row, True), (replace(row, was_shown=True), False)):
        found = kept.find("main", now)
        assert found is not None
        assert found.is_first_in is first
    own = replace(row, tag="en")
    kept.keep(own, kept_of(own, 5))
    found = kept.find("main", own)
    assert found is not None
    assert not found.is_first_in
    later = kept.find("main", replace(row, ends_at=SOON - timedelta(days=1)))
    assert later is not None
    assert later.ends_at == SOON - timedelta(days=1)
