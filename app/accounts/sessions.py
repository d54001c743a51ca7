"""Rows of browser sessions, and ending them when an account changes. What a browser does with one: app.web.sessions."""

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Session


async def end_others(db: AsyncSession, user_id: int, *, keep: bytes = b"") -> int:
    """Ends every session of a user but the one given: at a new password, changed roles, deactivation. Returns how many."""
    ended = await db.execute(
        delete(Session).where(Session.user_id == user_id, Session.id_hash != keep).returning(Session.public_id)
    )
    return len(ended.all())
