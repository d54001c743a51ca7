"""Details of questions through their life: stored and read, copied, told to a stale form,
and what needs a new version."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as with_details
from sqlalchemy import select, text

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.actions import NeedsNewVersion, StaleForm
from app.surveys.authoring.definition import QuestionDefinition
from app.surveys.authoring.stored import Stored
from app.surveys.models import Question, Survey
from app.surveys.question_details import Condition
from tests.surveys.authored import ANN, BEN, answer, make, read, save, save_as
from tests.surveys.authoring.test_hashes_kept import OLD
from tests.surveys.drafted import HOW_WAS_IT, LUNCH

FAR = {"label": "How far?", "type": "number", "min": 0, "max": 0.000001, "unit": "km", "page": True}
WHY = {**HOW_WAS_IT, "show_if": {"question": 1, "is": "not_in", "values": ["Good"]}}
RATED = {"label": "Rate", "type": "matrix", "options": ["a", "b"], "rows": ["x", "y"]}
SCORE = {"label": "Score", "type": "nps", "low_label": "never", "high_label": "ever"}
ALL = [LUNCH, FAR, WHY, RATED, SCORE]


def with_condition(stored: Stored, values: tuple[str, ...]) -> tuple[QuestionDefinition, ...]:
    """The questions, the third shown for other answers."""
    third = stored.questions[2]
    details = with_details(third.details, show_if=Condition(1, values))
    return (*stored.questions[:2], replace(third, details=details), *stored.questions[3:])


async def test_what_is_stored_is_read_again_and_says_what_an_app_needs(database: Database) -> None:
    stored = await make(database, questions=ALL)
    assert stored.definition.content_hash == stored.content_hash
    assert [one.details.show_if for one in stored.questions][2] == Condition(1, ("Good",), negated=True)
    assert (stored.questions[1].details.max, stored.questions[3].details.rows) == (0.000001, ("x", "y"))
    async with database.transaction() as db:
        assert await db.scalar(select(Survey.needs)) == ["nps", "number", "matrix", "conditions"]


async def test_a_survey_without_details_has_no_value_in_the_new_columns(database: Database) -> None:
    await make(database, questions=[LUNCH, HOW_WAS_IT])
    async with database.transaction() as db:
        assert await db.scalar(select(Survey.needs)) == []
        assert (await db.scalars(select(Question.key).where(text("details IS NULL")))).all() != []
        assert (await db.scalars(select(Question.key).where(text("details IS NOT NULL")))).all() == []


@pytest.mark.parametrize(("definition", "content_hash"), OLD[2:4])
async def test_a_stored_survey_that_uses_nothing_new_keeps_its_hash(
    database: Database, definition: authoring.Definition, content_hash: str
) -> None:
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, definition, "full")
        assert (await authoring.load(db, uid)).content_hash == content_hash


async def test_a_copy_asks_by_the_same_conditions(database: Database) -> None:
    stored = await make(database, questions=ALL)
    async with database.transaction() as db:
        copy = await authoring.load(db, await authoring.duplicate(db, ANN, stored.uid, "full"))
    assert [one.details for one in copy.questions] == [one.details for one in stored.questions]
    assert copy.questions[0].key != stored.questions[0].key


async def test_a_question_that_moves_keeps_what_its_condition_asks(database: Database) -> None:
    stored = await make(database, questions=ALL)
    lunch, far, why, *rest = stored.questions
    moved = replace(why, details=with_details(why.details, show_if=Condition(2, ("Good",), negated=True)))
    await save(
        database, stored, questions=(replace(far, details=with_details(far.details, page=False)), lunch, moved, *rest)
    )
    assert (await read(database, stored.uid)).questions[2].details.show_if == Condition(2, ("Good",), negated=True)


async def test_a_stale_form_is_told_the_condition_in_words(database: Database) -> None:
    stored = await make(database, questions=ALL)
    await save(database, stored, questions=with_condition(stored, ("Bad",)))
    with pytest.raises(StaleForm) as refused:
        await save_as(database, stored, replace(stored.definition, title="Mine"), actor=BEN)
    assert refused.value.then == stored.definition
    (told,) = refused.value.differences
    assert (told.before, told.after) == (
        "Only if the answer to “How was lunch?” is not “Good”.",
        "Only if the answer to “How was lunch?” is “Bad”.",
    )


async def test_a_version_with_answers_takes_no_other_condition(database: Database, parts: Parts) -> None:
    stored = await make(database, "published", questions=ALL)
    await answer(parts, stored)
    with pytest.raises(NeedsNewVersion) as refused:
        await save(database, stored, questions=with_condition(stored, ("Bad",)))
    assert [one.name for one in refused.value.differences] == ["Question 3, condition"]
    saved = await save(database, stored, questions=with_condition(stored, ("Bad",)), new_version=True)
    assert saved.stored.version == 2
