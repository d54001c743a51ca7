"""The life of a survey: who may do what to it when, what answers forbid, ceilings, stale forms, audiences, and all of it at once."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.errors import Conflict, Forbidden, Invalid, NotFound
from app.host import user_types
from app.host.audit import Actor
from app.host.shared import AuditEntry, Tenant
from app.parts import Parts
from app.surveys import authoring
from app.surveys.authoring import NeedsNewVersion, Saved, StaleForm
from app.surveys.definition import Definition, Question
from app.surveys.models import Question as QuestionRow
from app.surveys.models import Response, Survey, Wording
from app.surveys.stored import Stored
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, LUNCH, defined, drafted, published
from tests.surveys.recording import record, user_id

ANN, BEN = Actor(None, "Ann"), Actor(None, "Ben")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


async def make(database: Database, status: str = "draft", workspace: str = "main", **fields: Any) -> Stored:
    async with database.transaction(workspace) as db:
        if status == "draft":
            return await drafted(db, **fields)
        stored = await published(db, **fields)
        if status == "archived":
            await authoring.archive(db, ANN, stored.uid)
        return await authoring.load(db, stored.uid)


async def read(database: Database, uid: UUID, workspace: str = "main") -> Stored:
    async with database.transaction(workspace) as db:
        return await authoring.load(db, uid)


async def save(
    database: Database, stored: Stored, *, revision: int | None = None, new_version: bool = False, **changed: Any
) -> Saved:
    """What was loaded with some fields changed; `revision` None is that of what was loaded."""
    return await save_as(
        database, stored, replace(stored.definition, **changed), revision=revision, new_version=new_version
    )


async def save_as(
    database: Database,
    stored: Stored,
    definition: Definition,
    *,
    revision: int | None = None,
    new_version: bool = False,
    actor: Actor = ANN,
) -> Saved:
    async with database.transaction(stored.workspace) as db:
        return await authoring.save(
            db,
            actor,
            stored.uid,
            definition,
            revision=stored.revision if revision is None else revision,
            new_version=new_version,
            ceiling="full",
        )


async def publish(database: Database, stored: Stored, now: datetime = NOW) -> bool:
    async with database.transaction(stored.workspace) as db:
        return await authoring.publish(db, ANN, stored.uid, now, "full")


async def archive(database: Database, stored: Stored) -> bool:
    async with database.transaction(stored.workspace) as db:
        return await authoring.archive(db, ANN, stored.uid)


async def remove(database: Database, stored: Stored) -> None:
    async with database.transaction(stored.workspace) as db:
        await authoring.delete(db, ANN, stored.uid)


async def answer(parts: Parts, stored: Stored, *people: str) -> None:
    """Those of the cast answer the survey with nothing."""
    for short in people or ("nora",):
        await record(parts.database, parts.keys, stored, await user_id(parts.database, short), None)


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
        assert await db.scalar(select(func.count()).select_from(QuestionRow)) == 0


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
    new = Question(None, "New?", "free_text")
    foreign = Question(uuid4(), "Whose?", "free_text")
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
        ({"questions": (first, second, Question(None, "Why?", "free_text"))}, "questions.2"),
        ({"questions": (first,)}, "questions"),
        ({"questions": (first, replace(second, key=None))}, "questions.1"),
        ({"questions": (second, first)}, "questions"),
    ]
    for changed, field in refused:
        with pytest.raises(
            NeedsNewVersion, match=r"^People have answered version 1, so this needs a new one: "
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
async def test_nobody_stays_agreed_to_words_that_were_replaced(
    database: Database, parts: Parts, changed: dict[str, Any]
) -> None:
    stored = await make(database, "published", type="consent", questions=[CONSENT])
    saved = await save(database, stored, **changed)  # nobody agreed yet
    await answer(parts, saved.stored)
    current = await read(database, stored.uid)
    with pytest.raises(NeedsNewVersion):
        await save(database, current, title="Another one")
    assert (await save(database, current, category="b")).differences


async def test_without_answers_a_published_version_takes_any_change(database: Database) -> None:
    stored = await make(database, "published", questions=[LUNCH])
    saved = await save(
        database, stored, type="poll", enforcement="required", questions=(Question(None, "New?", "free_text"),)
    )
    assert (saved.stored.version, saved.stored.definition.type) == (1, "poll")


@pytest.mark.parametrize("changed", [{}, {"questions": (Question(None, "New?", "free_text"),)}])
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


async def test_a_form_that_became_stale_is_refused_and_told_what_the_other_changed(database: Database) -> None:
    stored = await make(database, questions=[HOW_WAS_IT, LUNCH])
    first, second = stored.questions
    one = await save_as(database, stored, replace(stored.definition, title="Dinner", category="Food"), actor=BEN)
    two = await save_as(database, one.stored, replace(one.stored.definition, title="Supper"), actor=BEN)
    await save_as(
        database, two.stored, replace(two.stored.definition, questions=(replace(first, label="How?"),)), actor=BEN
    )
    await publish(database, stored)
    with pytest.raises(StaleForm) as refused:
        await save(database, stored, title="Mine", message="Mine, too")
    assert [(each.name, each.before, each.after) for each in refused.value.differences] == [
        ("Status", "Draft", "Published"),
        ("Title", "Lunch", "Supper"),
        ("Category", "–", "Food"),
        ("Question 1, text", first.label, "How?"),
        ("Question 2, removed", second.label, "–"),
    ]
    current = await read(database, stored.uid)
    assert (refused.value.saved_by, refused.value.saved_at) == (current.updated_by, current.updated_at)
    assert current.definition.title == "Supper"
    with pytest.raises(StaleForm) as later:
        await save(database, stored, revision=two.stored.revision)
    assert [each.name for each in later.value.differences] == ["Status", "Question 1, text", "Question 2, removed"]


async def test_a_new_version_makes_older_forms_stale_and_says_so(database: Database) -> None:
    stored = await make(database, "published")
    await save(database, stored, new_version=True)
    with pytest.raises(StaleForm) as refused:
        await save(database, stored, title="Mine")
    assert [(each.name, each.before, each.after) for each in refused.value.differences] == [("Version", "1", "2")]


async def test_without_a_revision_the_last_one_wins(database: Database) -> None:
    stored = await make(database)
    await save(database, stored, title="Dinner")
    async with database.transaction() as db:
        saved = await authoring.save(db, ANN, stored.uid, stored.definition, revision=None, ceiling="full")
    assert saved.stored.definition.title == "Lunch"


async def test_of_two_saves_at_once_one_is_stale_and_nothing_of_it_is_kept(database: Database) -> None:
    stored = await make(database)
    ended = await asyncio.gather(
        save(database, stored, title="One"), save(database, stored, title="Two"), return_exceptions=True
    )
    assert sorted(type(one) for one in ended if isinstance(one, Exception)) == [StaleForm]
    (saved,) = (one for one in ended if isinstance(one, Saved))
    after = await read(database, stored.uid)
    assert (after.definition, after.revision) == (saved.stored.definition, 2)


async def test_a_save_and_a_publish_at_once_leave_one_wording_of_what_is_asked(database: Database) -> None:
    stored = await make(database)
    await asyncio.gather(save(database, stored, title="One"), publish(database, stored), return_exceptions=True)
    after = await read(database, stored.uid)
    async with database.transaction() as db:
        content = await db.scalar(select(Wording.content).where(Wording.id == after.wording_id))
    assert (after.status, content) == ("published", after.definition.content)


async def test_a_save_waits_for_the_answer_that_is_being_recorded_and_then_counts_it(
    database: Database, parts: Parts
) -> None:
    stored = await make(database, "published", questions=[LUNCH])
    nora = await user_id(database, "nora")
    changed = (replace(stored.questions[0], options=("a", "b")),)
    async with database.transaction() as db:
        await db.execute(select(Survey.id).where(Survey.id == stored.id).with_for_update(key_share=True, read=True))
        waiting = asyncio.create_task(save(database, stored, questions=changed))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await _append(db, parts, stored, nora)
    with pytest.raises(NeedsNewVersion):
        await waiting


async def _append(db: AsyncSession, parts: Parts, stored: Stored, person: int) -> None:
    from app.surveys import ledger
    from tests.surveys.recording import entry

    await ledger.append(db, parts.keys, entry(stored, person, (None,)))


OPTIONAL, REQUIRED = "optional", "required"
CEILINGS = [
    # (ceiling, enforcement of what is stored, whether it may be made and changed)
    ("none", OPTIONAL, False),
    ("none", REQUIRED, False),
    ("optional", OPTIONAL, True),
    ("optional", REQUIRED, False),
    ("full", OPTIONAL, True),
    ("full", REQUIRED, True),
]


@pytest.mark.parametrize(("ceiling", "enforcement", "allowed"), CEILINGS)
async def test_a_tenant_makes_what_lies_within_its_ceiling(
    database: Database, ceiling: str, enforcement: str, allowed: bool
) -> None:
    stored = await make(database, workspace="globex", enforcement=enforcement)
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling=ceiling))
    definition = defined(title="Changed", enforcement=enforcement)

    async def create(db: AsyncSession, limit: str) -> Any:
        return await authoring.create(db, ANN, definition, limit)

    async def edit(db: AsyncSession, limit: str) -> Any:
        return await authoring.save(db, ANN, stored.uid, definition, revision=None, ceiling=limit)

    async def copy(db: AsyncSession, limit: str) -> Any:
        return await authoring.duplicate(db, ANN, stored.uid, limit)

    async def ask(db: AsyncSession, limit: str) -> Any:
        return await authoring.publish(db, ANN, stored.uid, NOW, limit)

    async def remove_draft(db: AsyncSession, limit: str) -> Any:
        await db.execute(update(Survey).values(status="draft"))
        return await authoring.delete(db, ANN, stored.uid)

    for act in (create, edit, copy, ask, remove_draft):
        refusal = None if allowed else f"ceiling is “{ceiling}”"
        assert (act.__name__, await refused_as(database, ceiling, act)) == (act.__name__, refusal)


async def refused_as(database: Database, ceiling: str, act: Any) -> str | None:
    try:
        async with database.transaction("globex") as db:
            assert await authoring.ceiling_of(db) == ceiling
            await act(db, ceiling)
    except Forbidden as refused:
        return refused.message.partition("authoring ")[2].partition(".")[0]
    return None


@pytest.mark.parametrize(("was", "becomes"), [(OPTIONAL, REQUIRED), (REQUIRED, OPTIONAL)])
async def test_below_a_ceiling_nobody_makes_a_survey_required_nor_edits_one_that_is(
    database: Database, was: str, becomes: str
) -> None:
    stored = await make(database, workspace="globex", enforcement=was)
    async with database.transaction("globex") as db:
        with pytest.raises(Forbidden):
            await authoring.save(db, ANN, stored.uid, defined(enforcement=becomes), revision=None, ceiling="optional")
    assert await read(database, stored.uid, "globex") == stored


async def test_archiving_lies_within_every_ceiling(database: Database) -> None:
    stored = await make(database, "published", "globex", enforcement=REQUIRED)
    async with database.transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "globex").values(ceiling="none"))
    assert await archive(database, stored)


async def test_the_platform_has_no_ceiling(database: Database) -> None:
    async with database.transaction() as db:
        assert await authoring.ceiling_of(db) == "full"
    async with database.transaction("acme") as db:
        assert await authoring.ceiling_of(db) == "optional"


async def test_only_the_platform_chooses_tenants(database: Database) -> None:
    with pytest.raises(Invalid) as refused:
        await make(database, workspace="globex", tenants=("globex",))
    assert [one.field for one in refused.value.details] == ["tenants"]
    stored = await make(database, tenants=("main", "acme"))
    assert stored.definition.tenants == ("acme", "main")
    with pytest.raises(Invalid) as unknown:
        await save(database, stored, tenants=("acme", "initech"))
    assert [(one.field, one.message) for one in unknown.value.details] == [("tenants", "There is no tenant “initech”.")]


async def test_user_types_are_those_of_the_workspace(database: Database) -> None:
    async with database.transaction("globex") as db:
        await user_types.add(db, ANN, "Pilot")
    assert (await make(database, workspace="globex", user_types=("pilot",))).definition.user_types == ("pilot",)
    with pytest.raises(Invalid) as refused:
        await make(database, user_types=("pilot", "staff"))
    assert [one.message for one in refused.value.details] == ["There is no user type “pilot” here."]


async def test_a_type_or_tenant_that_was_deleted_stays_in_the_filter(database: Database) -> None:
    async with database.transaction() as db:
        await user_types.add(db, ANN, "Pilot")
    stored = await make(database, user_types=("pilot",), tenants=("acme",))
    async with database.transaction() as db:
        await user_types.remove(db, ANN, "pilot")
        await db.execute(delete(Tenant).where(Tenant.key == "acme"))
    saved = await save(database, stored, category="Food")
    assert (saved.stored.definition.user_types, saved.stored.definition.tenants) == (("pilot",), ("acme",))
    async with database.transaction() as db:
        copy = await authoring.load(db, await authoring.duplicate(db, ANN, stored.uid, "full"))
    assert copy.definition.user_types == ("pilot",)


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
