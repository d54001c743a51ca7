"""Deletes what has expired: sessions, one-time links, challenges for passkeys, API tokens and their request budgets,
unused sessions with time clocks, and workers that are gone. It runs daily. How long jobs are kept: app/jobs.py; mails:
app/mail/outbox.py.

Each transaction deletes a slice, so that the first run after a year holds no long lock.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import (
    ApiToken,
    ClockSignIn,
    OneTimeLink,
    PasskeyChallenge,
    RequestBudget,
    Session,
    WorkerHeartbeat,
)
from app.db.base import Base
from app.db.rows import affected

LINKS_KEPT = timedelta(days=30)
# For this long its owner can see why a program is refused; the audit keeps who made and revoked it. An app makes a
# token at each sign-in.
TOKENS_KEPT = timedelta(days=30)
WORKERS_KEPT = timedelta(days=1)
# Each renewal saves it again. A workspace that still uses the account signs in once more.
CLOCK_SIGN_INS_KEPT = timedelta(days=7)
# After a minute the budget is full again; so is one that has no row.
BUDGETS_KEPT = timedelta(minutes=2)


# Rows that a transaction deletes: it takes some tens of milliseconds.
SLICE = 5_000
_NOW = func.now()
# A table, and the condition for its expired rows.
Over = tuple[type[Base], ColumnElement[bool]]
_OVER: tuple[Over, ...] = (
    (Session, Session.expires_at < _NOW),
    (OneTimeLink, OneTimeLink.expires_at < _NOW - LINKS_KEPT),
    (PasskeyChallenge, PasskeyChallenge.expires_at < _NOW),
    (ApiToken, or_(ApiToken.expires_at < _NOW - TOKENS_KEPT, ApiToken.revoked_at < _NOW - TOKENS_KEPT)),
    (WorkerHeartbeat, WorkerHeartbeat.seen_at < _NOW - WORKERS_KEPT),
    (RequestBudget, RequestBudget.at < _NOW - BUDGETS_KEPT),
    (ClockSignIn, ClockSignIn.saved_at < _NOW - CLOCK_SIGN_INS_KEPT),
)


async def tidy(
    open_transaction: Callable[[], AbstractAsyncContextManager[AsyncSession]], also: Sequence[Over] = ()
) -> None:
    """Deletes in all workspaces at once, since none of these tables belongs to one. `also`: expired rows of other rooms
    in shared tables."""
    for table, over in (*_OVER, *also):
        taken = SLICE
        while taken == SLICE:
            async with open_transaction() as db:
                taken = await _take_away(db, table, over)


async def _take_away(db: AsyncSession, table: type[Base], over: ColumnElement[bool]) -> int:
    """Deletes one slice, and returns how many rows. A row that somebody is changing at this moment stays until the next
    day."""
    place: ColumnElement[str] = literal_column("ctid")
    some = select(place).select_from(table).where(over).limit(SLICE).with_for_update(skip_locked=True)
    return affected(await db.execute(delete(table).where(place.in_(some))))
