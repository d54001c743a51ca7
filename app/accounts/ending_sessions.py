"""Rows of browser sessions, and ending them when an account changes. What a browser does with a session:
app.web.sessions."""

from collections.abc import Sequence

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.accounts.models import Session
from app.db.among import among


async def end_others(db: AsyncSession, user_id: int, *, keep: bytes = b"") -> int:
    """Ends every session of a user except one: after a new password, changed roles, deactivation. Returns how many."""
    ended = await db.execute(
        delete(Session).where(Session.user_id == user_id, Session.id_hash != keep).returning(Session.public_id)
    )
    return len(ended.all())


async def end_one(db: AsyncSession, user_id: int, public_id: int, *, keep: bytes) -> bool:
    """Ends one session of a user, unless it is `keep`. False when the user has no such session."""
    theirs = delete(Session).where(Session.public_id == public_id, Session.user_id == user_id, Session.id_hash != keep)
    return await db.scalar(theirs.returning(Session.public_id)) is not None


async def end_all_of(db: AsyncSession, user_ids: Sequence[int], *, keep: bytes) -> None:
    """Ends every session of these users except `keep`."""
    await db.execute(delete(Session).where(among(Session.user_id, user_ids), Session.id_hash != keep))


async def end_sessions(db: AsyncSession, actor: Actor, user_id: int, *, keep: bytes) -> int:
    """Ends all sessions of a person except `keep`, when the person asks for it. Returns how many."""
    ended = await end_others(db, user_id, keep=keep)
    if ended:
        await audit.record(db, actor, "user.sign_out", "user", user_id, after={"sessions_ended": ended})
    return ended
