"""An act on the row of a survey: written, counted as a revision, and audited."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import and_, func, literal, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import schedule_looks
from app.accounts.audit import Actor
from app.db.session import workspace_of
from app.surveys.authoring import history
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import Invitation, Survey
from app.webhooks import noting
from app.webhooks.kinds import SURVEY_PUBLISHED

# These change what people are asked.
PUBLISHING = frozenset({"publish", "new_version", "round"})


async def change(db: AsyncSession, actor: Actor, act: str, stored: Stored, values: dict[str, Any]) -> Stored:
    """Counts the revision, so that older forms are stale, and returns the survey as it is then."""
    values = {**values, "revision": stored.revision + 1, "updated_by": actor.name, "updated_at": func.now()}
    await db.execute(update(Survey).where(Survey.id == stored.id).values(values))
    if stored.definition.is_anonymous:
        await _see_to_closing(db, act)
    after = await load(db, stored.uid)
    if after.starts_at != stored.starts_at:
        await _move_mails(db, after, datetime.now(UTC))
    if act in PUBLISHING:
        await noting.note(db, SURVEY_PUBLISHED, [str(stored.uid)])
    await history.note(db, actor, act, stored, after)
    return after


async def _move_mails(db: AsyncSession, stored: Stored, now: datetime) -> None:
    """When the start of the survey moves, mails that wait for it, or would now leave before it, wait for the new
    start."""
    opens_at = max(now, stored.starts_at or now)
    theirs = and_(Invitation.survey_id == stored.id, Invitation.version == stored.version)
    waits = and_(Invitation.sent_at.is_(None), Invitation.dropped_at.is_(None))
    late = func.greatest(Invitation.due_at, literal(opens_at)) > literal(now)
    await db.execute(update(Invitation).where(theirs, waits, late).values(due_at=opens_at))


async def _see_to_closing(db: AsyncSession, act: str) -> None:
    """Has a version that ended closed soon, and tells the schedule when the others end."""
    schedule_looks.look_soon(db, workspace_of(db))
    if act in ("archive", "new_version", "round"):
        await jobs.request_after(db, "surveys_close")
