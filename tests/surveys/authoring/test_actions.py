"""The life of a survey: who may do what to it when, which words and ids are kept, and what the audit says of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import func, select, update

from app.accounts.models import AuditEntry
from app.db.session import Database
from app.errors import Conflict, Invalid, NotFound
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.models import Question, Survey, Wording
from tests.surveys.authored import ANN, NOW, answer, archive, make, publish, read, remove, save, save_as
from tests.surveys.drafted import HOW_WAS_IT, LUNCH, defined


async def test_a_new_survey_is_a_draft_of_version_1_with_ids_of_its_own(database: Database) -> None:
    definition = defined(questions=[{**HOW_WAS_IT, "key": uuid4()}, LUNCH], message="<b>Hi</b>")
    async with database.transaction() as db:
        uid = await authoring.create(db, ANN, definition, "full")
        stored = await authoring.load(db, uid)
    assert (stored.status, stored.version, stored.revision, stored.published_at) == ("draft", 1, 1, None)
    assert (stored.created_by, stored.updated_by, stored.responses, stored.wording_id) == ("Ann", "Ann", 0, None)
    assert stored.content_hash == definition.content_hash == stored.definition.content_hash
    assert [replace(one, key=None) for one in stored.questions] == [
        replace(one, key=None) for one in definition.questions
    ]
    assert stored.questions[0].key not in (None, definition.questions[0].key)


async def test_what_cannot_be_kept_is_refused_at_its_field_and_nothing_is_made(database: Database) -> None:
    wrong = Definition(title="", type="poll", enforcement="optional", user_types=("pirate",))
    with pytest.raises(Invalid) as refused:
        async with database.transaction() as db:
            await authoring.create(db, ANN, wrong, "full")
    assert [one.field for one in refused.value.details] == ["title", "user_types"]
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Survey)) == 0


LIFE = [
    # (status, act, what it is then or what refuses it, whether anything changed)
    ("draft", publish, "published", True),
    ("published", publish, "published", False),
    ("archived", publish, "published", True),
    ("draft", archive, Conflict, None),
    ("published", archive, "archived", True),
    ("archived", archive, "archived", False),
    ("published", remove, Conflict, None),
    ("archived", remove, Conflict, None),
]


@pytest.mark.parametrize(("status", "act", "then", "changed"), LIFE)
async def test_each_act_leads_where_the_table_says(
    database: Database, status: str, act: Any, then: Any, changed: bool | None
) -> None:
    stored = await make(database, status)
    before = await read(database, stored.uid)
    if isinstance(then, str):
        assert await act(database, stored) is changed
        after = await read(database, stored.uid)
        assert (after.status, after.version) == (then, 1)
        assert after.revision == before.revision + (1 if changed else 0)
    else:
        with pytest.raises(then):
            await act(database, stored)
        assert await read(database, stored.uid) == before


async def test_a_deleted_draft_is_gone_with_its_questions(database: Database) -> None:
    stored = await make(database)
    await remove(database, stored)
    with pytest.raises(NotFound):
        await read(database, stored.uid)
    async with database.transaction() as db:
        assert await db.scalar(select(func.count()).select_from(Question)) == 0


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"questions": []}, "questions"),
        ({"questions": [{**LUNCH, "options": ["one"]}]}, "questions.0.options"),
        ({"ends_at": NOW}, "ends_at"),
    ],
)
@pytest.mark.parametrize("archived", [False, True])
async def test_what_cannot_be_asked_is_not_published(
    database: Database, fields: dict[str, Any], wrong: str, archived: bool
) -> None:
    stored = await make(database, **fields)
    async with database.transaction() as db:
        if archived:
            await db.execute(update(Survey).values(status="archived"))
    with pytest.raises(Invalid) as refused:
        await publish(database, stored)
    assert [one.field for one in refused.value.details] == [wrong]
    assert (await read(database, stored.uid)).status != "published"


async def test_publishing_keeps_the_exact_words_and_the_ids_of_their_questions(database: Database) -> None:
    stored = await make(database, title="Lunch", message="<p>Hi</p>", questions=[LUNCH, HOW_WAS_IT])
    await publish(database, stored)
    after = await read(database, stored.uid)
    assert after.published_at == NOW
    async with database.transaction() as db:
        (wording,) = (await db.scalars(select(Wording))).all()
    assert (wording.id, wording.survey_uid, wording.version) == (after.wording_id, stored.uid, 1)
    assert (wording.content, wording.content_hash) == (stored.definition.content, stored.content_hash)
    assert wording.question_keys == [str(one.key) for one in stored.questions]


async def test_an_archived_survey_comes_back_as_the_version_that_it_was(database: Database, parts: Parts) -> None:
    stored = await make(database)
    await publish(database, stored)
    first = await read(database, stored.uid)
    await answer(parts, first)
    await archive(database, stored)
    await publish(database, stored, NOW + timedelta(days=3))
    again = await read(database, stored.uid)
    assert (again.version, again.responses, again.published_at) == (1, 1, NOW)
    assert again.wording_id == first.wording_id


async def test_saving_keeps_the_ids_of_questions_that_stay_and_gives_ids_to_new_ones(database: Database) -> None:
    stored = await make(database, questions=[HOW_WAS_IT, LUNCH, {"label": "Why?", "type": "free_text"}])
    first, second, third = stored.questions
    new = QuestionDefinition(None, "New?", "free_text")
    foreign = QuestionDefinition(uuid4(), "Whose?", "free_text")
    saved = await save(database, stored, questions=(third, replace(first, label="How?"), new, foreign))
    keys = [one.key for one in saved.stored.questions]
    assert keys[:2] == [third.key, first.key]
    assert None not in keys
    assert foreign.key not in keys
    assert len(set(keys)) == 4
    assert second.key not in keys
    assert [one.label for one in saved.stored.questions] == ["Why?", "How?", "New?", "Whose?"]
    assert [one.name for one in saved.differences] == [
        "Question 2, text",
        "Question 3, added",
        "Question 4, added",
        "Question 2, removed",
        "Order of the questions",
    ]


async def test_a_published_question_that_comes_back_has_the_id_that_it_had(database: Database) -> None:
    stored = await make(database, "published", questions=[HOW_WAS_IT, LUNCH])
    shorter = await save(database, stored, questions=stored.questions[:1], new_version=True)
    again = await save(database, shorter.stored, questions=stored.questions[::-1], new_version=True)
    assert [one.key for one in again.stored.questions] == [one.key for one in stored.questions[::-1]]
    async with database.transaction() as db:
        (*_, wording) = (await db.scalars(select(Wording).order_by(Wording.version))).all()
    assert wording.question_keys == [str(one.key) for one in stored.questions[::-1]]


async def test_the_id_of_another_surveys_question_is_not_taken_over(database: Database) -> None:
    one, other = await make(database), await make(database, "published", title="Other")
    await save(database, one, questions=other.questions)
    assert (await read(database, other.uid)).questions == other.questions


async def test_saving_what_is_there_already_changes_nothing(database: Database) -> None:
    stored = await make(database, "published", questions=[LUNCH], category="Food", user_types=("staff",))
    saved = await save_as(database, stored, replace(stored.definition, title=" Lunch "))
    assert saved.differences == ()
    assert await read(database, stored.uid) == stored


async def test_a_published_survey_gets_its_new_words_at_each_save_and_the_old_ones_again(database: Database) -> None:
    stored = await make(database, "published")
    changed = (await save(database, stored, title="Dinner")).stored
    assert changed.wording_id not in (None, stored.wording_id)
    back = (await save(database, changed, title="Lunch")).stored
    assert back.wording_id == stored.wording_id
    assert (back.version, back.published_at) == (1, stored.published_at)


async def test_a_published_survey_never_becomes_one_that_cannot_be_asked(database: Database) -> None:
    stored = await make(database, "published")
    with pytest.raises(Invalid) as refused:
        await save(database, stored, questions=())
    assert [one.field for one in refused.value.details] == ["questions"]
    over = await save(database, stored, ends_at=NOW - timedelta(days=999))
    assert over.stored.status == "published"


async def test_another_workspaces_survey_is_not_there_and_a_removed_one_neither(database: Database) -> None:
    theirs = await make(database, workspace="globex")
    removed = await make(database)
    async with database.transaction() as db:
        await db.execute(update(Survey).values(deleted_at=NOW))
    for stored in (replace(theirs, workspace="main"), removed):
        for act in (publish, archive, remove, save):
            with pytest.raises(NotFound):
                await act(database, stored)
        with pytest.raises(NotFound):
            await read(database, stored.uid)


async def test_every_act_is_audited_with_what_it_changed(database: Database) -> None:
    stored = await make(database)
    await save(database, stored, title="Dinner")
    await publish(database, stored)
    current = await read(database, stored.uid)
    await save(database, current, new_version=True)
    await archive(database, stored)
    async with database.transaction() as db:
        copy = await authoring.duplicate(db, ANN, stored.uid, "full")
        await authoring.delete(db, ANN, copy)
        rows = (
            await db.scalars(select(AuditEntry).where(AuditEntry.subject_type == "survey").order_by(AuditEntry.id))
        ).all()
    assert [(row.act, row.subject_id) for row in rows] == [
        ("survey.create", str(stored.uid)),
        ("survey.save", str(stored.uid)),
        ("survey.publish", str(stored.uid)),
        ("survey.new_version", str(stored.uid)),
        ("survey.archive", str(stored.uid)),
        ("survey.duplicate", str(copy)),
        ("survey.delete", str(copy)),
    ]
    created, saved, asked, renewed, archived, _, deleted = rows
    assert created.before is None
    assert created.after is not None
    assert created.after["title"] == "Lunch"
    assert saved.before == {"title": "Lunch", "revision": 1, "content_hash": stored.content_hash}
    assert saved.after == {"title": "Dinner", "revision": 2, "content_hash": current.content_hash}
    assert (asked.before, asked.after) == ({"status": "draft", "revision": 2}, {"status": "published", "revision": 3})
    assert (renewed.before, renewed.after) == ({"version": 1, "revision": 3}, {"version": 2, "revision": 4})
    assert (archived.before or {})["status"] == "published"
    assert deleted.after is None
    assert (deleted.before or {})["title"] == "Copy of Dinner"
