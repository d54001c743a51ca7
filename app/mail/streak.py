"""Counts failed attempts in a row, so that a person hears of a mail server that takes nothing.
One row for the installation."""

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import case, or_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.mail.models import MailStreak

FAILING_AFTER: Final = 5


async def failed(db: AsyncSession, error: str) -> None:
    now = datetime.now(UTC)
    first = insert(MailStreak).values(id=1, failures=1, since=now, error=error)
    since = case((MailStreak.failures == 0, now), else_=MailStreak.since)
    again = {"failures": MailStreak.failures + 1, "since": since, "error": error}
    await db.execute(first.on_conflict_do_update(index_elements=[MailStreak.id], set_=again))


async def worked(db: AsyncSession) -> None:
    await db.execute(update(MailStreak).where(MailStreak.failures > 0).values(failures=0))


async def turned(db: AsyncSession) -> bool:
    """True once when mail begins to fail, and once when it works again; the caller then looks for the problem."""
    is_failing = MailStreak.failures >= FAILING_AFTER
    turn = or_(is_failing & ~MailStreak.told, (MailStreak.failures == 0) & MailStreak.told)
    return await db.scalar(update(MailStreak).where(turn).values(told=is_failing).returning(MailStreak.id)) is not None
