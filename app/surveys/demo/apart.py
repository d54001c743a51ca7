"""The demo's anonymous survey. It is over and closed, so that removing the demo leaves no answers behind that might be
of real people."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.db.direct import driver
from app.db.session import workspace_of
from app.secrets import KeyRing
from app.surveys.anonymous import casting, closing
from app.surveys.authoring import rows as definition_rows
from app.surveys.authoring.acting import change
from app.surveys.authoring.definition import Definition, QuestionDefinition
from app.surveys.authoring.stored import lock
from app.surveys.demo.cast import DemoSurvey
from app.surveys.ledger import append as ledger
from app.surveys.ledger.entries import Entry, RecordedEntry

TEAM_SPIRIT: Final = DemoSurvey(
    Definition(
        title="How is your team?",
        type="feedback",
        enforcement="optional",
        message="<p>Five minutes, without your name. We look at the answers of all together, and talk about them in every team.</p>",
        category="Work",
        anonymity="anonymous",
        split="type",
        user_types=("employee", "staff", "client"),
        questions=(
            QuestionDefinition(None, "I can say what I think.", "scale", ("Never", "Seldom", "Often", "Always"), required=True),
            QuestionDefinition(None, "How well do you work together?", "star_rating", required=True),
            QuestionDefinition(None, "What would help most?", "multiple_choice", ("Time", "Tools", "Training", "Talking")),
            QuestionDefinition(None, "What should we know?", "free_text"),
        ),
    ),
    published=(38,),
    answered_until=(24,),
    share=0.55,
    # Few, so that they do not hide the others.
    shares=(("client", 0.12),),
    weights=((8, 22, 45, 25), (4, 10, 24, 40, 22), (40, 20, 15, 35), ()),
)  # fmt: skip


def placed(survey: DemoSurvey, now: datetime) -> DemoSurvey:
    """With the end of an anonymous survey, which is when people last answered it."""
    if not survey.definition.is_anonymous:
        return survey
    ends_at = now - timedelta(days=survey.answered_until[-1])
    return replace(survey, definition=replace(survey.definition, ends_at=ends_at))


async def publish(db: AsyncSession, actor: Actor, uid: UUID, at: datetime) -> None:
    """As an author would, without checking its audience: the accounts of invented people are not active, so they do not
    count."""
    stored = await lock(db, uid)
    wording_id = await definition_rows.wording(db, stored.uid, stored.version, stored.definition)
    await change(db, actor, "publish", stored, {"status": "published", "published_at": at, "wording_id": wording_id})


async def append(db: AsyncSession, keys: KeyRing, entry: Entry, asked: Definition) -> RecordedEntry:
    """What somebody answered. For an anonymous survey the ledger gets the participation, and a ballot the rest."""
    if not asked.is_anonymous or not entry.answers:
        return await ledger.append(db, keys, entry)
    group = await casting.group_of(db, entry.user_id, asked.split)
    ballot = await casting.cast(driver(db), workspace_of(db), keys, entry, (entry.answers, group))
    return await ledger.append(db, keys, replace(entry, answers=()), ballot)


async def close(db: AsyncSession, keys: KeyRing, ours: Collection[UUID], now: datetime) -> None:
    for one in await closing.due(db, now):
        if one.survey in ours:
            await closing.close(db, keys, one, now)
