"""Takes away what is over: sessions, one-time links, challenges for passkeys, API tokens and what they may still ask, unused sessions with time clocks, finished jobs, workers that were never heard of again. Daily."""

from datetime import timedelta

from sqlalchemy import delete, func, or_
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import (
    ApiToken,
    ClockSignIn,
    Job,
    OneTimeLink,
    PasskeyChallenge,
    RequestBudget,
    Session,
    WorkerHeartbeat,
)

JOBS_KEPT = timedelta(days=30)
LINKS_KEPT = timedelta(days=30)
# Its owner still finds out why a program is refused; who made and revoked it is in the audit. Every sign-in of an app makes one.
TOKENS_KEPT = timedelta(days=30)
WORKERS_KEPT = timedelta(days=1)
# Saved again whenever it is renewed. A workspace that still uses the account signs in once more.
CLOCK_SIGN_INS_KEPT = timedelta(days=7)
# After a minute it is full, as one that is not there.
BUDGETS_KEPT = timedelta(minutes=2)


async def tidy(db: AsyncSession) -> None:
    """In all workspaces at once: none of these tables belongs to one."""
    now = func.now()
    await db.execute(delete(Session).where(Session.expires_at < now))
    await db.execute(delete(OneTimeLink).where(OneTimeLink.expires_at < now - LINKS_KEPT))
    await db.execute(delete(PasskeyChallenge).where(PasskeyChallenge.expires_at < now))
    over = now - TOKENS_KEPT
    await db.execute(delete(ApiToken).where(or_(ApiToken.expires_at < over, ApiToken.revoked_at < over)))
    await db.execute(delete(Job).where(Job.status.in_(["done", "failed"]), Job.finished_at < now - JOBS_KEPT))
    await db.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.seen_at < now - WORKERS_KEPT))
    await db.execute(delete(RequestBudget).where(RequestBudget.at < now - BUDGETS_KEPT))
    await db.execute(delete(ClockSignIn).where(ClockSignIn.saved_at < now - CLOCK_SIGN_INS_KEPT))
