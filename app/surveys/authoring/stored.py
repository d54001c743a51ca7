"""Reads a survey as it is stored now, and locks it while somebody changes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.among import among
from app.db.session import workspace_of
from app.errors import NotFound
from app.surveys import question_details
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.models import IS_WHOLE, LedgerHead, Question, Response, Survey, Tally, TallyMark, Tombstone
from app.surveys.rounds import repeats
from app.surveys.translations import question_texts, survey_texts


@dataclass(frozen=True, slots=True)
class Stored:
    """`responses` counts the ledger's rows of this version. `published_at` is the first publish of this version, None
    before; `definition.questions` have their keys. `starts_at` and `ends_at` are the window of this version, even when
    a round gave it; `rounds_after` and `rounds_from` are as in `Survey`."""

    workspace: str
    id: int
    uid: UUID
    definition: Definition
    status: str
    version: int
    revision: int
    content_hash: str
    wording_id: int | None
    published_at: datetime | None
    responses: int
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    demo: bool
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    rounds_after: date | None = None
    rounds_from: int | None = None

    @property
    def questions(self) -> tuple[QuestionDefinition, ...]:
        return self.definition.questions

    @property
    def answered(self) -> bool:
        """True when this version has answers, so that only corrections are possible."""
        return self.responses > 0


async def load(db: AsyncSession, uid: UUID) -> Stored:
    """Two statements. Raises NotFound, also for a survey of another workspace and for one that was removed."""
    found = await _read(db, *_there(uid))
    if not found:
        raise _missing()
    return found[0]


async def load_all(db: AsyncSession, ids: Sequence[int]) -> list[Stored]:
    """Those that exist, in the order of their ids. Two statements."""
    return await _read(db, among(Survey.id, ids), Survey.deleted_at.is_(None))


async def _read(db: AsyncSession, *which: ColumnElement[bool]) -> list[Stored]:
    statement = select(Survey, RESPONSES).where(*which).order_by(Survey.id)
    rows = (await db.execute(statement.execution_options(**_FRESH))).all()
    theirs = among(Question.survey_id, [row.Survey.id for row in rows])
    asked = select(Question).where(theirs).order_by(Question.survey_id, Question.position)
    questions: dict[int, list[QuestionDefinition]] = {row.Survey.id: [] for row in rows}
    for one in await db.scalars(asked.execution_options(**_FRESH)):
        questions[one.survey_id].append(_question(one))
    workspace = workspace_of(db)
    return [_stored(workspace, row.Survey, row[1], tuple(questions[row.Survey.id])) for row in rows]


async def lock(db: AsyncSession, uid: UUID) -> Stored:
    """As `load`, locked until the transaction ends: other saves wait, and so does recording an answer. Raises NotFound.

    The lock is taken in a statement before the reading. A statement that waits for a lock would count what was there
    before.
    """
    if await db.scalar(select(Survey.id).where(*_there(uid)).with_for_update()) is None:
        raise _missing()
    return await load(db, uid)


_MARK = select(TallyMark.number).scalar_subquery()
_HEAD = select(LedgerHead.number).scalar_subquery()
_kept = select(func.coalesce(func.sum(Tally.people), 0)).where(
    Tally.survey_id == Survey.id, Tally.version == Survey.version, Tally.outcome != "asked", IS_WHOLE
)
# Counted once for all surveys that are read: while no worker runs, there are many rows after the mark.
_after_mark = (
    select(Response.survey_id, Response.version, func.count().label("people"))
    .where(Response.number > _MARK, Response.number <= _HEAD)
    .group_by(Response.survey_id, Response.version)
    .cte("after_mark")
    .prefix_with("MATERIALIZED", dialect="postgresql")
)
_fresh = select(func.coalesce(func.sum(_after_mark.c.people), 0)).where(
    _after_mark.c.survey_id == Survey.id, _after_mark.c.version == Survey.version
)
# Only answers to surveys of the demo have a tombstone.
_buried = (
    select(func.count())
    .join_from(Tombstone, Response, Response.number == Tombstone.number)
    .where(Survey.demo, Response.number <= _MARK, Response.survey_id == Survey.id, Response.version == Survey.version)
)
# To be read beside a survey: the ledger's rows of its version.
# Those up to the mark were counted, but not those under a tombstone.
RESPONSES: ColumnElement[int] = (
    _kept.scalar_subquery() + _fresh.scalar_subquery() + _buried.correlate(Survey).scalar_subquery()
)
# An earlier save in the same transaction did not change the session's own objects.
_FRESH: dict[str, Any] = {"populate_existing": True}


def _there(uid: UUID) -> tuple[Any, ...]:
    return Survey.uid == uid, Survey.deleted_at.is_(None)


def _missing() -> NotFound:
    return NotFound("There is no such survey.")


def _question(row: Question) -> QuestionDefinition:
    details = question_details.read(row.details)
    texts = {tag: question_texts(one) for tag, one in (row.translations or {}).items()}
    return QuestionDefinition(row.key, row.label, row.type, tuple(row.options), row.required, details, texts)


def _stored(workspace: str, row: Survey, responses: int, questions: tuple[QuestionDefinition, ...]) -> Stored:
    definition = Definition(
        title=row.title,
        type=row.type,
        enforcement=row.enforcement,
        message=row.message,
        closing_html=row.closing_html,
        anonymity=row.anonymity,
        split=row.split,
        category=row.category,
        user_types=tuple(row.user_types),
        tenants=tuple(row.tenants),
        # For a repeating survey these are the window of a round, which no author wrote.
        starts_at=None if row.repeat else row.starts_at,
        ends_at=None if row.repeat else row.ends_at,
        snooze_hours=row.snooze_hours,
        cooldown_days=row.cooldown_days,
        max_prompts=row.max_prompts,
        language=row.language,
        translations={tag: survey_texts(one) for tag, one in (row.translations or {}).items()},
        repeat=repeats.read(row.repeat),
        remind_days=row.remind_days,
        questions=questions,
    )
    return Stored(
        workspace=workspace,
        id=row.id,
        uid=row.uid,
        definition=definition,
        status=row.status,
        version=row.version,
        revision=row.revision,
        content_hash=row.content_hash,
        wording_id=row.wording_id,
        published_at=row.published_at,
        responses=responses,
        created_by=row.created_by,
        created_at=row.created_at,
        updated_by=row.updated_by,
        updated_at=row.updated_at,
        demo=row.demo,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        rounds_after=row.rounds_after,
        rounds_from=row.rounds_from,
    )
