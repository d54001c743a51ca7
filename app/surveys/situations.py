"""What is stored between one person and the surveys: one SELECT for all that are published, one for a single one.

The judging is pacing's. Every statement is compiled once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, and_, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import workspace_of
from app.surveys.item import Item, ItemQuestion
from app.surveys.models import PromptState, Question, Response, Survey
from app.surveys.pacing import Gap, Offer, State


@dataclass(frozen=True, slots=True)
class Situation:
    """One survey as it is now, and what happened between it and one person. `wording_id` is None until it is published."""

    id: int
    offer: Offer
    state: State
    content_hash: str
    wording_id: int | None


@dataclass(frozen=True, slots=True)
class Published:
    """The published surveys of one workspace, in no order, and when the person was shown which optional one lately."""

    situations: tuple[Situation, ...]
    shown: dict[UUID, datetime]


@dataclass(frozen=True, slots=True)
class Met:
    """A single survey with its words."""

    situation: Situation
    item: Item


_user = bindparam("user", type_=BigInteger)
_optional = Survey.__table__.alias("optional")
_recent = (
    select(_optional.c.uid, func.max(PromptState.last_shown_at).label("at"))
    .join(_optional, _optional.c.id == PromptState.survey_id)
    .where(
        PromptState.user_id == _user,
        PromptState.last_shown_at > bindparam("since"),
        _optional.c.enforcement == "optional",
    )
    .group_by(_optional.c.uid)
    .subquery("recent")
)
# One row even where nothing is published: what was shown spaces the surveys of the other workspace, too.
_lately = select(func.jsonb_object_agg(_recent.c.uid, _recent.c.at, type_=JSONB).label("shown")).subquery("lately")
_SITUATION = (
    Survey.id,
    Survey.uid,
    Survey.status,
    Survey.version,
    Survey.enforcement,
    Survey.user_types,
    Survey.tenants,
    Survey.starts_at,
    Survey.ends_at,
    Survey.snooze_hours,
    Survey.cooldown_days,
    Survey.max_prompts,
    Survey.published_at,
    Survey.content_hash,
    Survey.wording_id,
    PromptState.impressions,
    PromptState.last_shown_at,
    PromptState.snoozed_until,
    PromptState.shown_in,
    Response.outcome,
)
_questions = (
    select(
        func.jsonb_agg(
            aggregate_order_by(
                func.jsonb_build_array(
                    Question.key, Question.label, Question.type, Question.options, Question.required
                ),
                Question.position,
            ),
            type_=JSONB,
        )
    )
    .where(Question.survey_id == Survey.id)
    .scalar_subquery()
    .label("questions")
)
_WORDS = (Survey.title, Survey.type, Survey.message, Survey.category, _questions)
_SHOWN = and_(PromptState.survey_id == Survey.id, PromptState.version == Survey.version, PromptState.user_id == _user)
_ANSWERED = and_(Response.survey_id == Survey.id, Response.version == Survey.version, Response.user_id == _user)
_PUBLISHED = (
    select(_lately.c.shown, *_SITUATION)
    .select_from(_lately)
    .outerjoin(Survey, and_(Survey.status == text("'published'"), Survey.deleted_at.is_(None)))
    .outerjoin(PromptState, _SHOWN)
    .outerjoin(Response, _ANSWERED)
)
_ONE = (
    select(*_SITUATION, *_WORDS)
    .select_from(Survey)
    .outerjoin(PromptState, _SHOWN)
    .outerjoin(Response, _ANSWERED)
    .where(Survey.uid == bindparam("uid"), Survey.deleted_at.is_(None))
)
_ITEMS = select(
    Survey.id, Survey.uid, Survey.version, Survey.content_hash, Survey.enforcement, Survey.ends_at, *_WORDS
).where(Survey.id == func.any(bindparam("ids", type_=ARRAY(BigInteger))))


async def published(db: AsyncSession, user_id: int, now: datetime, gap_hours: int) -> Published:
    rows = (await db.execute(_PUBLISHED, {"user": user_id, "since": now - timedelta(hours=gap_hours)})).all()
    shown = {UUID(uid): datetime.fromisoformat(at) for uid, at in (rows[0].shown or {}).items()}
    return Published(tuple(_situation(row, workspace_of(db)) for row in rows if row.id is not None), shown)


async def one(db: AsyncSession, user_id: int, uid: UUID) -> Met | None:
    """The survey whatever its status, and its words; None where this workspace has none of that uid."""
    row = (await db.execute(_ONE, {"user": user_id, "uid": uid})).one_or_none()
    return row and Met(_situation(row, workspace_of(db)), _item(row, workspace_of(db)))


async def items(db: AsyncSession, ids: Sequence[int]) -> dict[int, Item]:
    """What a person meets of these surveys, by the numbers of their rows."""
    if not ids:
        return {}
    rows = await db.execute(_ITEMS, {"ids": list(ids)})
    return {row.id: _item(row, workspace_of(db)) for row in rows}


def gap(hours: int, *read: Published) -> Gap:
    """What spaces optional surveys of all the workspaces that were read."""
    return Gap(hours, {uid: at for one in read for uid, at in one.shown.items()})


def _situation(row: Any, workspace: str) -> Situation:
    offer = Offer(
        workspace=workspace,
        uid=row.uid,
        status=row.status,
        version=row.version,
        enforcement=row.enforcement,
        user_types=tuple(row.user_types),
        tenants=tuple(row.tenants),
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        snooze_hours=row.snooze_hours,
        cooldown_days=row.cooldown_days,
        max_prompts=row.max_prompts,
        published_at=row.published_at,
    )
    state = State(row.impressions or 0, row.last_shown_at, row.snoozed_until, row.outcome, row.shown_in)
    return Situation(row.id, offer, state, row.content_hash, row.wording_id)


def _item(row: Any, workspace: str) -> Item:
    return Item(
        workspace=workspace,
        survey=row.uid,
        version=row.version,
        content_hash=row.content_hash,
        type=row.type,
        enforcement=row.enforcement,
        title=row.title,
        message_html=row.message,
        category=row.category,
        ends_at=row.ends_at,
        questions=tuple(
            ItemQuestion(UUID(key), label, kind, tuple(options), required)
            for key, label, kind, options, required in row.questions or ()
        ),
    )
