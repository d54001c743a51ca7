"""One-time links, with which a person sets a password: made, checked and used up. Only the hash of a link's secret is
stored."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import OneTimeLink, User

LINK_LIFE = timedelta(days=3)
RESET_LIFE = timedelta(minutes=30)


async def make_link(db: AsyncSession, user_id: int) -> str:
    """A one-time secret for `/welcome/SECRET`, where its owner sets a password. Older links of the user stop
    working."""
    await kill_links(db, user_id)
    return await _new_link(db, user_id, LINK_LIFE)


async def make_reset_link(db: AsyncSession, user_id: int) -> str:
    """The same for a person who forgot the password; it works for a short time. Older links stay valid, because a
    stranger who knows the address can ask for a link too."""
    return await _new_link(db, user_id, RESET_LIFE)


async def _new_link(db: AsyncSession, user_id: int, life: timedelta) -> str:
    secret = secrets.token_urlsafe(32)
    expires_at = datetime.now(UTC) + life
    await db.execute(insert(OneTimeLink).values(token_hash=_hash(secret), user_id=user_id, expires_at=expires_at))
    return secret


async def kill_links(db: AsyncSession, user_id: int) -> None:
    """Ends the user's unused links."""
    unused = update(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.used_at.is_(None))
    await db.execute(unused.values(used_at=datetime.now(UTC)))


async def link_owner(db: AsyncSession, secret: str) -> int | None:
    """The user whose valid link this is, or None."""
    return await db.scalar(select(OneTimeLink.user_id).where(*_is_live(secret, datetime.now(UTC))))


async def owner_and_workspace(db: AsyncSession, user_id: int) -> tuple[str, str]:
    """The name and the workspace of a link's owner."""
    named = select(User.name, User.workspace).where(User.id == user_id)
    row = (await db.execute(named)).one()
    return row.name, row.workspace


async def burn(db: AsyncSession, secret: str) -> int | None:
    """Uses the link up, and returns its user; None when it no longer works. When it is used twice at once, one of them
    gets the user."""
    now = datetime.now(UTC)
    burnt = update(OneTimeLink).where(*_is_live(secret, now)).values(used_at=now).returning(OneTimeLink.user_id)
    user_id: int | None = await db.scalar(burnt)
    return user_id


def _is_live(secret: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return OneTimeLink.token_hash == _hash(secret), OneTimeLink.used_at.is_(None), OneTimeLink.expires_at > now


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
