"""The import of a few people at once, in the person's own request, so that they see the result of their act.

Anything larger is left to the job. Nothing is decided here: what a batch of the import does is in importing/batch.py.
"""

from collections.abc import Sequence
from datetime import datetime

import asyncpg
import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.importing.batch import import_batch
from app.clock.importing.owners import Owners, OwnersChangedError, held_owners
from app.clock.models import Punch
from app.clock.punches import changes

log = structlog.get_logger()

# What is worth waiting for in a request.
MOST_CODES = 20
MOST_PUNCHES = 1000


async def hold_owners(db: AsyncSession, codes: Sequence[str]) -> Owners | None:
    """Holds the employees behind the codes before a punch is marked, as the import does: otherwise the two could wait for each
    other. None when a binding changed meanwhile."""
    try:
        return await held_owners(db, codes)
    except OwnersChangedError:
        return None


async def import_now(
    db: AsyncSession, codes: Sequence[str], punch_ids: Sequence[int], owners: Owners | None = None
) -> dict[str, int] | None:
    """What the punches became, or None when the queued import does it. `owners` are those of `hold_owners`."""
    now = await database_time(db)
    if not await changes.may_judge(db):
        return None
    if len(punch_ids) > MOST_PUNCHES or await _due(db, codes, now) > MOST_PUNCHES:
        return None
    try:
        async with db.begin_nested():
            await import_batch(db, codes, now, owners=owners)
    except (OwnersChangedError, DBAPIError, asyncpg.PostgresError) as error:
        log.warning("an import at once was left to the next import", error=type(error).__name__)
        return None
    outcome = func.coalesce(Punch.import_outcome, "")
    rows = await db.execute(select(outcome, func.count()).where(Punch.id.in_(punch_ids)).group_by(outcome))
    return {word: number for word, number in rows}  # noqa: C416 - rows are no pairs to the type checker


async def _due(db: AsyncSession, codes: Sequence[str], now: datetime) -> int:
    waiting = select(func.count()).where(Punch.judge_at <= now, Punch.emp_code.in_(codes))
    return await db.scalar(waiting) or 0


async def database_time(db: AsyncSession) -> datetime:
    """Marks are made by the database's clock, so what is due is asked by the same one."""
    now: datetime = (await db.execute(select(func.clock_timestamp()))).scalar_one()
    return now
