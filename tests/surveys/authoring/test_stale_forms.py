"""Several who work on one survey at once: stale forms, and saves that wait for each other and for answers."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.actions import NeedsNewVersion, Saved, StaleForm
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey, Wording
from tests.surveys.authored import ANN, BEN, make, publish, read, save, save_as
from tests.surveys.drafted import HOW_WAS_IT, LUNCH
from tests.surveys.recording import user_id


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


async def test_an_audience_is_told_by_the_names_that_people_use(database: Database) -> None:
    stored = await make(database, user_types=["staff"])
    audience = {"user_types": ("client", "staff"), "tenants": ("acme", "main")}
    await save_as(database, stored, replace(stored.definition, **audience), actor=BEN)
    with pytest.raises(StaleForm) as refused:
        await save(database, stored, title="Mine")
    assert [(each.name, each.before, each.after) for each in refused.value.differences] == [
        ("User types", "Staff", "Client, Staff"),
        ("Tenants", "Everyone", "Acme, the platform itself"),
    ]


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
    from app.surveys.ledger import append as ledger
    from tests.surveys.recording import entry

    await ledger.append(db, parts.keys, entry(stored, person, (None,)))
