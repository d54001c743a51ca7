"""Every type of event is noted where it happens, and nothing else is."""

from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import delete, func, insert, select

from app import wiring
from app.accounts.models import Job
from app.clock.importing import import_due
from app.clock.models import Punch
from app.db.session import PLATFORM, Database
from app.host.attendance import records
from app.host.models import AttendanceRecord
from app.parts import Parts
from app.problems import looking
from app.surveys.ratings import ratings
from app.surveys.ratings.ratings import Rating
from app.webhooks import kinds
from app.webhooks.models import WebhookFact
from app.webhooks.noting import JOB
from tests.clock.mirror_store import FAR
from tests.clock.mirrored import connect, employ, mirror_person, punch
from tests.clock.syncing import site
from tests.conftest import Browser
from tests.host.library import NOON, publish_app
from tests.host.staff import ALICE
from tests.surveys.anonymous.team import apps, ask_crew, crew
from tests.surveys.asking.test_queue import nora, publish
from tests.surveys.authored import save
from tests.surveys.calling import App
from tests.surveys.drafted import CONSENT
from tests.webhooks.receiving import add

__all__ = ["nora"]
Noted = Callable[[], Awaitable[dict[str, list[str]]]]


@pytest.fixture
async def noted(parts: Parts) -> Noted:
    """What was noted since it was asked last, by type."""
    wiring.connect()
    await add(parts, "http://127.0.0.1:9/hook")

    async def take() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        async with parts.database.transaction() as db:
            for fact in await db.scalars(select(WebhookFact).order_by(WebhookFact.id)):
                found[fact.type] = [*found.get(fact.type, []), *(fact.ids or [f"{fact.number} of them"])]
            await db.execute(delete(WebhookFact))
            await db.execute(delete(Job).where(Job.name == JOB))
        return found

    return take


async def test_records_and_punches_of_an_import_and_of_a_deletion(database: Database, noted: Noted) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "100", await employ(db, "Ada"))
        await mirror_person(db, "7")
        await punch(db, "100", "I 08:00, O 17:00")
        await punch(db, "7", "I 08:00")
    await import_due.import_due(partial(database.transaction, PLATFORM), now=FAR)
    async with database.transaction() as db:
        record_id = await db.scalar(select(AttendanceRecord.id))
        punches = [str(one) for one in await db.scalars(select(Punch.id).order_by(Punch.id))]
    found = await noted()
    assert (found[kinds.ATTENDANCE_CHANGED], sorted(found[kinds.OUTCOME_CHANGED])) == ([str(record_id)], punches)
    async with database.transaction() as db:
        await punch(db, "100", "bo 12:00, bi 13:00")
    await import_due.import_due(partial(database.transaction, PLATFORM), now=FAR)
    assert (await noted())[kinds.ATTENDANCE_CHANGED] == [str(record_id)]
    async with database.transaction() as db:
        await records.decide(db, ALICE, [record_id or 0], "approved")
    assert await noted() == {kinds.ATTENDANCE_CHANGED: [str(record_id)]}
    async with database.transaction() as db:
        await records.remove(db, ALICE, [record_id or 0])
    found = await noted()
    assert found[kinds.ATTENDANCE_DELETED] == [str(record_id)]
    assert len(found[kinds.OUTCOME_CHANGED]) == 4


async def test_many_punches_of_unbound_codes_are_counted(database: Database, noted: Noted) -> None:
    async with database.transaction() as db:
        await connect(db)
        await mirror_person(db, "7")
        for day in range(1, 27):
            await punch(
                db,
                "7",
                f"I 2026-09-{day:02} 08:00, O 2026-09-{day:02} 12:00, I 2026-09-{day:02} 13:00, O 2026-09-{day:02} 17:00",
            )
    await import_due.import_due(partial(database.transaction, PLATFORM), now=FAR)
    assert await noted() == {kinds.OUTCOME_CHANGED: ["104 of them"]}


async def test_a_code_that_is_bound_and_a_run_that_ends(parts: Parts, noted: Noted) -> None:
    async with site(parts, employees=2, days=1) as here:
        ended = await here.sync_people()
    found = await noted()
    assert found[kinds.SYNC_FINISHED] == [str(ended.run_id)]
    assert len(found[kinds.BINDING_CHANGED]) == 2


async def test_problems_that_open_and_close_but_not_those_of_the_first_look(database: Database, noted: Noted) -> None:
    async def look_after(status: str, key: str) -> dict[str, list[str]]:
        async with database.transaction() as db:
            values = {"workspace": PLATFORM, "name": "housekeeping", "key": key, "status": status}
            await db.execute(insert(Job).values(**values, error="It broke.", finished_at=func.now()))
            assert await looking.look(db, {"job_failed"})
        return await noted()

    assert await look_after("failed", "housekeeping") == {}
    opened = await look_after("failed", "housekeeping:2")
    assert list(opened) == [kinds.PROBLEM_OPENED]
    assert await look_after("done", "housekeeping:2") == {kinds.PROBLEM_CLOSED: opened[kinds.PROBLEM_OPENED]}


async def test_surveys_that_are_published_and_what_people_say(
    parts: Parts, database: Database, nora: App, noted: Noted
) -> None:
    survey = await publish(database, "Badges", type="consent", questions=[CONSENT])
    assert await noted() == {kinds.SURVEY_PUBLISHED: [str(survey.uid)]}
    receipt = (await nora.recorded(survey.uid, "agree"))["receipt"]
    async with database.shared_transaction() as db:
        assert (await db.scalars(select(Job.name).where(Job.name == JOB))).all() == [JOB]
    assert await noted() == {kinds.RESPONSE_RECORDED: [receipt]}
    for act, kind in (("withdraw", kinds.RESPONSE_WITHDRAWN), ("agree", kinds.RESPONSE_RECORDED)):
        answer = await nora.post(f"/v1/api/me/responses/{receipt}/{act}", {})
        assert answer.status_code == 200, answer.text
        assert await noted() == {kind: [receipt]}
    await save(database, survey, title="Cards", new_version=True)
    assert await noted() == {kinds.SURVEY_PUBLISHED: [str(survey.uid)]}


async def test_nothing_tells_when_somebody_took_part_in_an_anonymous_survey(
    database: Database, visitor: Browser, noted: Noted
) -> None:
    await crew(database, ["A"] * 10)
    survey = await ask_crew(database)
    await noted()
    one, two = apps(visitor, 2)
    keys = [question.key for question in survey.questions]
    await one.recorded(survey.uid, "answer", (keys[0], "Good"), (keys[1], ["Rest"]))
    await two.recorded(survey.uid, "opt_out")
    assert await noted() == {}


async def test_a_rating(database: Database, noted: Noted) -> None:
    async with database.transaction() as db:
        app: UUID = await publish_app(db)
        made = await ratings.submit(db, 7, Rating(app, 4, "ios"), NOON)
    assert await noted() == {kinds.RATING_RECORDED: [str(made.id)]}
