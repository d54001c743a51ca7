"""An act on the row of a survey: written, counted as a revision, and noted in the audit."""

from typing import Any

from sqlalchemy import func, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.surveys.authoring import history
from app.surveys.authoring.stored import Stored, load
from app.surveys.models import Survey


async def change(db: AsyncSession, actor: Actor, act: str, stored: Stored, values: dict[str, Any]) -> Stored:
    """Counts the revision, so that forms opened before are stale; returns the survey as it is then."""
    values = {**values, "revision": stored.revision + 1, "updated_by": actor.name, "updated_at": func.now()}
    await db.execute(update(Survey).where(Survey.id == stored.id).values(values))
    after = await load(db, stored.uid)
    await history.note(db, actor, act, stored, after)
    return after
