"""The address that backups call, and how long a call may be missing. Muster keeps only the hash of its secret."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.audit import Actor
from app.errors import NotFound
from app.host.backups.models import BackupWatch

DEFAULT_HOURS: Final = 26
MOST_HOURS: Final = 8784
SUBJECT: Final = "backups"
# A call sooner after the last one says nothing new.
NOTED_EVERY: Final = timedelta(minutes=1)
_NOTHING: Final = "No address for backups has been made yet."


async def read(db: AsyncSession) -> BackupWatch | None:
    return (await db.scalars(select(BackupWatch))).one_or_none()


def overdue_since(last_ping_at: datetime | None, expected_hours: int, now: datetime) -> datetime | None:
    """Since when a call is missing; None when none is missing, and before the first call."""
    if last_ping_at is None:
        return None
    due = last_ping_at + timedelta(hours=expected_hours)
    return due if due < now else None


async def make_address(db: AsyncSession, actor: Actor) -> str:
    """A new secret, in place of the one before. It can't be shown again; hours and last call stay."""
    secret = secrets.token_urlsafe(32)
    values = {"secret_hash": _hash(secret), "hint": secret[-4:], "made_by": "", "made_at": func.now()}
    made = insert(BackupWatch).values(id=1, **values)
    await db.execute(made.on_conflict_do_update(index_elements=[BackupWatch.id], set_=values))
    await audit.record(db, actor, "backups.make_address", SUBJECT, SUBJECT)
    return secret


async def expect(db: AsyncSession, actor: Actor, expected_hours: int) -> bool:
    """Returns True when anything changed. Raises NotFound when there is no address."""
    held = await db.scalar(select(BackupWatch.expected_hours).with_for_update())
    if held is None:
        raise NotFound(_NOTHING)
    if held == expected_hours:
        return False
    await db.execute(update(BackupWatch).values(expected_hours=expected_hours))
    before, after = {"expected_hours": held}, {"expected_hours": expected_hours}
    await audit.record(db, actor, "backups.expect", SUBJECT, SUBJECT, before=before, after=after)
    return True


async def remove(db: AsyncSession, actor: Actor) -> bool:
    """Removes the address: it stops working, and nothing is expected. Returns True when there was one."""
    if await db.scalar(delete(BackupWatch).returning(BackupWatch.id)) is None:
        return False
    await audit.record(db, actor, "backups.remove", SUBJECT, SUBJECT)
    return True


async def note(db: AsyncSession, secret: str) -> bool:
    """Notes that a backup called. Returns True when it was noted: a call right after another one is not. Raises
    NotFound for a wrong secret."""
    held: Any = (await db.execute(select(BackupWatch.secret_hash, BackupWatch.last_ping_at, func.now()))).one_or_none()
    if held is None or not hmac.compare_digest(held[0], _hash(secret)):
        raise NotFound("There is no such address.")
    if held[1] is not None and held[2] - held[1] < NOTED_EVERY:
        return False
    await db.execute(update(BackupWatch).values(last_ping_at=func.now()))
    return True


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
