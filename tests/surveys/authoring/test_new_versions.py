"""What people answered stays what they answered: corrections, and what needs a new version."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from app.db.session import Database
from app.errors import Conflict, Invalid
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.actions import NeedsNewVersion
from app.surveys.authoring.definition import QuestionDefinition
from app.surveys.models import Response
from tests.surveys.authored import BEN, NOW, answer, archive, make, read, save
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH

FREE = [
    {"title": "Dinner"},
    {"message": "<p>Sorry, a typo</p>"},
    {"category": "Food"},
    {"user_types": ("staff",)},
    {"tenants": ("acme",)},
    {"ends_at": NOW + timedelta(days=9)},
    {"snooze_hours": 2, "cooldown_days": 0, "max_prompts": 0},
]


async def test_a_version_with_answers_takes_corrections(database: Database, parts: Parts) -> None:
    stored = await make(database, "published")
    await answer(parts, stored)
    for changed in FREE:
        saved = await save(database, stored, **changed)
        assert {one.field for one in saved.differences} == set(changed)
        stored = saved.stored
    assert (stored.version, stored.responses) == (1, 1)


@pytest.mark.parametrize("status", ["published", "archived"])
async def test_a_version_with_answers_takes_no_other_change_of_content(
    database: Database, parts: Parts, status: str
) -> None:
    stored = await make(database, "published", questions=[LUNCH, HOW_WAS_IT])
    await answer(parts, stored)
    if status == "archived":
        await archive(database, stored)
    before = await read(database, stored.uid)
    first, second = stored.questions
    refused: list[tuple[dict[str, Any], str]] = [
        ({"type": "poll"}, "type"),
        ({"enforcement": "required"}, "enforcement"),
        ({"questions": (replace(first, type="scale"), second)}, "questions.0.type"),
        ({"questions": (replace(first, options=("Good", "Fair")), second)}, "questions.0.options"),
        ({"questions": (replace(first, required=False), second)}, "questions.0.required"),
        ({"questions": (first, second, QuestionDefinition(None, "Why?", "free_text"))}, "questions.2"),
        ({"questions": (first,)}, "questions"),
        ({"questions": (first, replace(second, key=None))}, "questions.1"),
        ({"questions": (second, first)}, "questions"),
    ]
    for changed, field in refused:
        with pytest.raises(
            NeedsNewVersion, match=r"^People have responded to version 1, so this needs a new one: "
        ) as raised:
            await save(database, before, **changed)
        assert raised.value.details[0].field == field
        assert ("Publish it, then" in raised.value.message) == (status == "archived")
    assert await read(database, stored.uid) == before


async def test_a_label_is_corrected_under_its_answers(database: Database, parts: Parts) -> None:
    stored = await make(database, "published", questions=[LUNCH])
    await answer(parts, stored)
    saved = await save(database, stored, questions=(replace(stored.questions[0], label="How was your lunch?"),))
    assert [one.name for one in saved.differences] == ["Question 1, text"]


@pytest.mark.parametrize("changed", [{"title": "Other"}, {"message": "More"}])
async def test_an_agreement_does_not_hold_for_words_that_replaced_its_own(
    database: Database, parts: Parts, changed: dict[str, Any]
) -> None:
    stored = await make(database, "published", type="consent", questions=[CONSENT])
    saved = await save(database, stored, **changed)  # no person agreed yet
    await answer(parts, saved.stored)
    current = await read(database, stored.uid)
    with pytest.raises(NeedsNewVersion):
        await save(database, current, title="Another one")
    assert (await save(database, current, category="b")).differences


async def test_without_answers_a_published_version_takes_any_change(database: Database) -> None:
    stored = await make(database, "published", questions=[LUNCH])
    saved = await save(
        database,
        stored,
        type="poll",
        enforcement="required",
        questions=(QuestionDefinition(None, "New?", "free_text"),),
    )
    assert (saved.stored.version, saved.stored.definition.type) == (1, "poll")


@pytest.mark.parametrize("changed", [{}, {"questions": (QuestionDefinition(None, "New?", "free_text"),)}])
async def test_a_new_version_asks_everyone_again_whether_or_not_its_content_changed(
    database: Database, parts: Parts, changed: dict[str, Any]
) -> None:
    stored = await make(database, "published", published_at=NOW)
    await answer(parts, stored, "nora", "vera")
    async with database.transaction() as db:
        assert await authoring.people_to_ask_again(db, stored.uid) == 2
    saved = await save(database, stored, new_version=True, **changed)
    after = saved.stored
    assert (after.version, after.status, after.responses) == (2, "published", 0)
    assert after.published_at is not None
    assert after.published_at > NOW
    assert after.wording_id not in (None, stored.wording_id)
    async with database.transaction() as db:
        assert await authoring.people_to_ask_again(db, stored.uid) == 0
        assert await db.scalar(select(func.count()).select_from(Response)) == 2


@pytest.mark.parametrize("status", ["draft", "archived"])
async def test_only_a_published_survey_gets_a_new_version(database: Database, status: str) -> None:
    stored = await make(database, status)
    with pytest.raises(Conflict, match="Only a published survey"):
        await save(database, stored, new_version=True)
    assert (await read(database, stored.uid)).version == 1


async def test_a_new_version_is_not_made_of_what_is_over(database: Database) -> None:
    stored = await make(database, "published", ends_at=datetime(2020, 1, 1, tzinfo=UTC))
    with pytest.raises(Invalid) as refused:
        await save(database, stored, new_version=True)
    assert [one.field for one in refused.value.details] == ["ends_at"]


async def test_a_copy_is_a_draft_with_ids_of_its_own(database: Database) -> None:
    stored = await make(
        database, "published", title="L" * 200, questions=[LUNCH, HOW_WAS_IT], tenants=("acme",), category="Food"
    )
    async with database.transaction() as db:
        copy = await authoring.load(db, await authoring.duplicate(db, BEN, stored.uid, "full"))
    assert (copy.status, copy.version, copy.created_by) == ("draft", 1, "Ben")
    assert copy.definition.title == "Copy of " + "L" * 192
    assert not {one.key for one in copy.questions} & {one.key for one in stored.questions}
    again = replace(
        copy.definition,
        title=stored.definition.title,
        questions=tuple(replace(one, key=was.key) for one, was in zip(copy.questions, stored.questions, strict=True)),
    )
    assert again == stored.definition
