"""Rounds open by themselves: once each, as the next version with the same content,
until somebody edits or archives the survey."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app import jobs
from app.accounts import policies
from app.accounts.models import AuditEntry, Job, Tenant
from app.db.session import Database
from app.errors import Invalid
from app.jobs import Claim
from app.parts import Parts
from app.surveys import jobs as survey_jobs
from app.surveys.authoring import opening
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey, SurveyRound
from app.surveys.rounds.repeats import Repeat
from tests.surveys import authored
from tests.surveys.drafted import CONSENT, HOW_WAS_IT, defined

# The day on which the first round opens; times are in UTC, the zone of a workspace that chose none.
FIRST = date(2026, 6, 1)
MONTHLY = Repeat("month", 7, FIRST)


def at(day: str, clock: str = "00:00") -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}+00:00")


async def begun(database: Database, workspace: str = "main", repeat: Repeat = MONTHLY, **fields: Any) -> Stored:
    """Published on the day before its first round."""
    draft = await authored.make(database, workspace=workspace, repeat=repeat, **fields)
    await authored.publish(database, draft, at("2026-05-31"))
    return await authored.read(database, draft.uid, workspace)


async def look(database: Database, stored: Stored, now: datetime) -> int | None:
    async with database.transaction(stored.workspace) as db:
        return await opening.open_due(db, stored.uid, now)


async def rounds(database: Database, stored: Stored) -> Sequence[tuple[int | None, date]]:
    async with database.transaction(stored.workspace) as db:
        found = select(SurveyRound.version, SurveyRound.day).where(SurveyRound.survey_id == stored.id)
        return [(row.version, row.day) for row in await db.execute(found.order_by(SurveyRound.id))]


async def test_the_first_version_waits_for_the_first_round(database: Database) -> None:
    stored = await begun(database)
    assert (stored.version, stored.starts_at, stored.ends_at) == (1, at("2026-06-01"), at("2026-06-08"))
    assert await look(database, stored, at("2026-06-01")) is None
    assert (await authored.read(database, stored.uid)).version == 1


async def test_a_round_is_the_next_version_with_the_same_content_and_a_window_of_its_own(database: Database) -> None:
    stored = await begun(database)
    assert await look(database, stored, at("2026-06-30", "23:59")) is None
    assert await look(database, stored, at("2026-07-01")) == 2
    now = await authored.read(database, stored.uid)
    assert (now.content_hash, now.definition) == (stored.content_hash, stored.definition)
    assert (now.version, now.starts_at, now.ends_at) == (2, at("2026-07-01"), at("2026-07-08"))
    assert (now.published_at, now.updated_by, now.revision) == (at("2026-07-01"), "Muster", stored.revision + 1)
    assert await rounds(database, stored) == [(1, FIRST), (2, date(2026, 7, 1))]
    async with database.transaction("main") as db:
        acts = select(AuditEntry).where(AuditEntry.subject_id == str(stored.uid), AuditEntry.act == "survey.round")
        told = (await db.scalars(acts)).one()
    assert (told.actor_name, told.before["version"], told.after["version"]) == ("Muster", 1, 2)  # type: ignore[index]


async def test_several_workers_at_once_open_it_once(database: Database) -> None:
    stored = await begun(database)
    found = await asyncio.gather(*(look(database, stored, at("2026-07-01")) for _ in range(6)))
    assert sorted(found, key=str) == [2, None, None, None, None, None]


async def test_after_a_pause_the_round_of_now_opens_and_those_before_are_left(database: Database) -> None:
    stored = await begun(database)
    assert await look(database, stored, at("2026-09-20")) is None
    assert await look(database, stored, at("2026-11-03", "09:00")) == 2
    now = await authored.read(database, stored.uid)
    assert (now.starts_at, now.ends_at) == (at("2026-11-01"), at("2026-11-08"))
    assert await look(database, stored, at("2026-11-03", "09:01")) is None


async def test_rounds_end_after_so_many(database: Database) -> None:
    stored = await begun(database, repeat=replace(MONTHLY, times=2))
    assert await look(database, stored, at("2026-07-01")) == 2
    assert await look(database, stored, at("2026-08-01")) is None


async def test_rounds_stop_when_it_is_archived(database: Database) -> None:
    stored = await begun(database)
    await authored.archive(database, stored)
    assert await look(database, stored, at("2026-07-01")) is None


async def test_one_that_comes_back_stays_in_its_round_and_the_next_ones_open(database: Database) -> None:
    stored = await begun(database)
    await authored.archive(database, stored)
    await authored.publish(database, stored, at("2026-06-20"))
    now = await authored.read(database, stored.uid)
    assert (now.version, now.ends_at) == (1, at("2026-06-08"))
    assert await look(database, stored, at("2026-07-01")) == 2


@pytest.mark.parametrize(
    "changed", [{"title": "Dinner"}, {"category": "Food"}, {"repeat": replace(MONTHLY, open_days=3)}]
)
async def test_rounds_stop_when_it_is_edited(database: Database, changed: dict[str, Any]) -> None:
    stored = await begun(database)
    await authored.save(database, stored, **changed)
    now = await authored.read(database, stored.uid)
    assert (now.rounds_after, now.starts_at, now.ends_at) == (None, stored.starts_at, stored.ends_at)
    assert await look(database, stored, at("2026-07-01")) is None


async def test_publishing_a_new_version_resumes_the_rounds(database: Database) -> None:
    stored = await begun(database, repeat=replace(MONTHLY, starts_on=datetime.now(UTC).date() - timedelta(days=1)))
    await authored.save(database, stored, title="Dinner")
    saved = await authored.save(database, await authored.read(database, stored.uid), new_version=True)
    assert saved.stored.version == 2
    assert (saved.stored.rounds_from, saved.stored.starts_at) == (2, stored.starts_at)
    next_month = datetime.now(UTC) + timedelta(days=32)
    assert await look(database, stored, next_month) == 3


async def test_without_its_rounds_a_version_ends_when_its_round_does(database: Database) -> None:
    stored = await begun(database)
    saved = await authored.save(database, stored, repeat=None)
    assert (saved.stored.definition.starts_at, saved.stored.definition.ends_at) == (stored.starts_at, stored.ends_at)


async def test_a_ceiling_of_that_day_leaves_a_round_out_and_says_so(database: Database) -> None:
    stored = await begun(database, "acme", enforcement="required")
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "acme").values(ceiling="optional"))
    assert await look(database, stored, at("2026-07-01")) is None
    assert await rounds(database, stored) == [(1, FIRST), (None, date(2026, 7, 1))]
    async with database.transaction("acme") as db:
        told = await db.scalar(select(AuditEntry.after).where(AuditEntry.act == "survey.round_left_out"))
    assert told["day"] == "2026-07-01"  # type: ignore[index]
    assert "ceiling" in told["why"]  # type: ignore[index]
    async with database.shared_transaction() as db:
        await db.execute(update(Tenant).where(Tenant.key == "acme").values(ceiling="full"))
    assert await look(database, stored, at("2026-07-02")) is None
    assert await look(database, stored, at("2026-08-01")) == 2


async def test_what_is_over_is_not_published(database: Database) -> None:
    draft = await authored.make(database, repeat=replace(MONTHLY, times=1))
    with pytest.raises(Invalid) as raised:
        await authored.publish(database, draft, at("2026-06-08"))
    assert [one.field for one in raised.value.details] == ["repeat.times"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"questions": [HOW_WAS_IT, CONSENT]}, "repeat.every"),
        ({"ends_at": at("2026-07-01")}, "ends_at"),
        ({"remind_days": 91}, "remind_days"),
    ],
)
def test_what_does_not_go_with_rounds_is_refused_at_its_field(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(Invalid) as raised:
        defined(repeat=MONTHLY, **fields)
    assert [one.field for one in raised.value.details] == [named]


async def scheduled(parts: Parts) -> tuple[datetime | None, list[str]]:
    """When the schedule wants to look again, and which rounds' jobs it asked for."""
    next_at = await survey_jobs.schedule(parts, "main")
    async with parts.database.transaction("main") as db:
        names = list(await db.scalars(select(Job.name).where(Job.name == "surveys_rounds", Job.status == "queued")))
    return next_at, names


async def test_the_schedule_asks_for_a_job_when_a_round_is_due_and_the_job_opens_it(parts: Parts) -> None:
    today = datetime.now(UTC).date()
    stored = await begun(parts.database, repeat=Repeat("days", 1, today, days=1))
    assert (await scheduled(parts))[1] == []
    await _a_day_ago(parts.database, stored.uid)
    next_at, names = await scheduled(parts)
    assert names == ["surveys_rounds"]
    assert next_at is not None
    assert next_at <= datetime.now(UTC)
    await survey_jobs.open_rounds(parts, Claim(1, 1, "main", "surveys_rounds", {}))
    assert (await authored.read(parts.database, stored.uid)).version == 2
    assert "surveys_rounds" in jobs.KINDS


async def test_rounds_wait_while_surveys_are_off(parts: Parts) -> None:
    stored = await begun(parts.database, repeat=Repeat("days", 1, datetime.now(UTC).date(), days=1))
    await _a_day_ago(parts.database, stored.uid)
    async with parts.database.transaction("main") as db:
        await policies.write(db, "main", {"module_surveys": False})
    assert (await scheduled(parts))[1] == []


async def _a_day_ago(database: Database, uid: UUID) -> None:
    """As if the last round had opened on the day before."""
    async with database.transaction("main") as db:
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        await db.execute(update(Survey).where(Survey.uid == uid).values(rounds_after=yesterday))
