"""Rounds of repeating surveys: which round a version belongs to, and opening the next round, as the next version with
the same content. On which days rounds open: app.surveys.rounds.calendar."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.db.direct import Compiled, driver
from app.errors import Forbidden, Invalid
from app.host import zone as host_zone
from app.surveys.authoring import audience, history
from app.surveys.authoring import rows as definition_rows
from app.surveys.authoring.acting import change
from app.surveys.authoring.ceilings import ceiling_of, refuse_above
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.repeat_rules import ALL_OVER
from app.surveys.authoring.stored import Stored, lock
from app.surveys.models import Survey, SurveyRound
from app.surveys.rounds import calendar, repeats
from app.surveys.rounds.calendar import Round
from app.surveys.rounds.repeats import Repeat


@dataclass(frozen=True, slots=True)
class Repeating:
    """A published survey whose rounds open by themselves. `after` is the day of its last round."""

    uid: UUID
    repeat: Repeat
    after: date

    def following(self, now: datetime, zone: ZoneInfo) -> Round | None:
        return calendar.following(self.repeat, self.after, now, zone)

    def is_due(self, now: datetime, zone: ZoneInfo) -> bool:
        return calendar.due(self.repeat, self.after, now, zone) is not None


_REPEATING = Compiled(
    select(Survey.uid, Survey.repeat, Survey.rounds_after).where(
        Survey.rounds_after.is_not(None), Survey.status == "published", Survey.deleted_at.is_(None)
    )
)


async def repeating(db: AsyncSession) -> list[Repeating]:
    """The repeating surveys of this workspace. One SELECT over few rows, by an index of its own."""
    rows = await _REPEATING.rows(driver(db), {})
    found = [(row.uid, repeats.read(row.repeat), row.rounds_after) for row in rows]
    return [Repeating(uid, repeat, after) for uid, repeat, after in found if repeat]


async def open_due(db: AsyncSession, uid: UUID, now: datetime) -> int | None:
    """Publishes the round that is due, and returns its version. None when none is due, or when the present ceiling
    forbids it.

    Each round opens once, however many workers try: the row is locked, and holds which round was the last. Raises
    NotFound.
    """
    stored = await lock(db, uid)
    repeat, after = stored.definition.repeat, stored.rounds_after
    if stored.status != "published" or repeat is None or after is None:
        return None
    opens = calendar.due(repeat, after, now, await host_zone.of(db))
    if opens is None:
        return None
    if why := await _hindrance(db, stored):
        await _leave_out(db, stored, opens, why)
        return None
    version = stored.version + 1
    await change(db, audit.SYSTEM, "round", stored, await _values(db, stored, opens, version, now))
    await db.execute(insert(SurveyRound).values(survey_id=stored.id, version=version, **_facts(opens)))
    return version


async def _hindrance(db: AsyncSession, stored: Stored) -> str | None:
    """Why no round opens: the present ceiling, or too few people for an anonymous survey."""
    try:
        refuse_above(await ceiling_of(db), stored.definition.enforcement)
    except Forbidden as refused:
        return refused.message
    few = await audience.too_few(db, stored.definition)
    return few[0].message if few else None


async def _values(db: AsyncSession, stored: Stored, opens: Round, version: int, now: datetime) -> dict[str, Any]:
    return {
        "version": version,
        "wording_id": await definition_rows.wording(db, stored.uid, version, stored.definition),
        "published_at": now,
        "starts_at": opens.starts_at,
        "ends_at": opens.ends_at,
        "rounds_after": opens.day,
        "reminded": 0,
    }


async def _leave_out(db: AsyncSession, stored: Stored, opens: Round, why: str) -> None:
    """Notes the missed round in the audit and among the rounds; the next round is tried again."""
    await db.execute(update(Survey).where(Survey.id == stored.id).values(rounds_after=opens.day))
    await db.execute(insert(SurveyRound).values(survey_id=stored.id, left_out=why, **_facts(opens)))
    told = {"day": opens.day.isoformat(), "why": why}
    await audit.record(db, audit.SYSTEM, "survey.round_left_out", history.SUBJECT, stored.uid, after=told)


def _facts(opens: Round) -> dict[str, Any]:
    return {"day": opens.day, "starts_at": opens.starts_at, "ends_at": opens.ends_at}


async def begin(db: AsyncSession, stored: Stored, repeat: Repeat | None, version: int, now: datetime) -> dict[str, Any]:
    """The values in the row of a version that a person publishes: the window of its round, and that later rounds open
    by themselves.

    A version that comes back from the archive stays in its round. Raises Invalid when all rounds have ended.
    """
    if repeat is None:
        return {"rounds_after": None, **({"rounds_from": None} if version != stored.version else {})}
    if day := await _day_of(db, stored.id, version):
        return {"rounds_after": day}
    opens = calendar.joined(repeat, now, await host_zone.of(db))
    if opens is None:
        raise Invalid.at("repeat.times", ALL_OVER)
    await db.execute(insert(SurveyRound).values(survey_id=stored.id, version=version, **_facts(opens)))
    window = {"starts_at": opens.starts_at, "ends_at": opens.ends_at}
    return {**window, "rounds_after": opens.day, "rounds_from": version}


def stop(stored: Stored, wanted: Definition) -> dict[str, Any]:
    """The values that a save changes: later rounds no longer open by themselves, because only what a person published
    may be asked again. When a survey stops repeating, its version keeps the window of its round, unless the author
    gives it another one."""
    blank = wanted.starts_at is None and wanted.ends_at is None
    if stored.definition.repeat and not wanted.repeat and blank:
        return {"rounds_after": None, "starts_at": stored.starts_at, "ends_at": stored.ends_at}
    return {"rounds_after": None}


async def _day_of(db: AsyncSession, survey_id: int, version: int) -> date | None:
    found = select(SurveyRound.day).where(SurveyRound.survey_id == survey_id, SurveyRound.version == version)
    day: date | None = await db.scalar(found)
    return day


async def rounds_of(db: AsyncSession, survey_id: int, most: int) -> Sequence[SurveyRound]:
    """The last rounds, newest first."""
    newest = select(SurveyRound).where(SurveyRound.survey_id == survey_id).order_by(SurveyRound.id.desc())
    return (await db.scalars(newest.limit(most))).all()
