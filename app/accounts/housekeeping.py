"""Takes away what is over: sessions, one-time links, challenges for passkeys, API tokens and what they may still ask, unused sessions with time clocks, finished jobs, workers that were never heard of again. Daily, and a
slice in each transaction: rows of a year that nothing took away are no long lock."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy import Boolean, ColumnElement, and_, delete, func, literal_column, or_, select
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
from app.db.base import Base
from app.db.rows import affected

JOBS_KEPT = timedelta(days=30)
LINKS_KEPT = timedelta(days=30)
# Its owner still finds out why a program is refused; who made and revoked it is in the audit. Every sign-in of an app makes one.
TOKENS_KEPT = timedelta(days=30)
WORKERS_KEPT = timedelta(days=1)
# Saved again whenever it is renewed. A workspace that still uses the account signs in once more.
CLOCK_SIGN_INS_KEPT = timedelta(days=7)
# After a minute it is full, as one that is not there.
BUDGETS_KEPT = timedelta(minutes=2)


# Rows of a transaction: some tens of milliseconds.
SLICE = 5_000
_NOW = func.now()
# Written out, not bound: else the index on jobs that are over does not serve.
JOB_IS_OVER = literal_column("jobs.status IN ('done', 'failed')", Boolean)
# A table, and which of its rows are over.
Over = tuple[type[Base], ColumnElement[bool]]
_OVER: tuple[Over, ...] = (
    (Session, Session.expires_at < _NOW),
    (OneTimeLink, OneTimeLink.expires_at < _NOW - LINKS_KEPT),
    (PasskeyChallenge, PasskeyChallenge.expires_at < _NOW),
    (ApiToken, or_(ApiToken.expires_at < _NOW - TOKENS_KEPT, ApiToken.revoked_at < _NOW - TOKENS_KEPT)),
    (Job, and_(JOB_IS_OVER, Job.finished_at < _NOW - JOBS_KEPT)),
    (WorkerHeartbeat, WorkerHeartbeat.seen_at < _NOW - WORKERS_KEPT),
    (RequestBudget, RequestBudget.at < _NOW - BUDGETS_KEPT),
    (ClockSignIn, ClockSignIn.saved_at < _NOW - CLOCK_SIGN_INS_KEPT),
)


async def tidy(
    open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]], also: Sequence[Over] = ()
) -> None:
    """In all workspaces at once: none of these tables belongs to one. `also`: what other rooms keep in shared tables."""
    for table, over in (*_OVER, *also):
        taken = SLICE
        while taken == SLICE:
            async with open_transaction() as db:
                taken = await _take_away(db, table, over)


async def _take_away(db: AsyncSession, table: type[Base], over: ColumnElement[bool]) -> int:
    """A slice. Returns how many rows; a row that somebody changes meanwhile is left for the next day."""
    place: ColumnElement[str] = literal_column("ctid")
    some = select(place).select_from(table).where(over).limit(SLICE).with_for_update(skip_locked=True)
    return affected(await db.execute(delete(table).where(place.in_(some))))
