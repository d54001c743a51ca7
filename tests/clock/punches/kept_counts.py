"""Whether the punches that wait for an employee are counted right from what is kept, after whatever changed punches."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.punches import week_counts
from app.clock.punches.waiting_counts import WAITING, WAITS

_KEPT = text(f"SELECT emp_code, punches FROM ({WAITING}) AS waiting ORDER BY emp_code")
_PLAIN = text(f"SELECT emp_code, count(*) FROM clock_transactions WHERE {WAITS} GROUP BY emp_code ORDER BY emp_code")


async def count_up(db: AsyncSession) -> None:
    """As the rollup does."""
    days = (await db.scalars(text("DELETE FROM clock_stale_days RETURNING local_date"))).all()
    await week_counts.recount(db, days)


async def refuse(db: AsyncSession, done: Sequence[str]) -> None:
    """Fails where the counts differ; `done` says what led there."""
    kept, plain = [[tuple(row) for row in await db.execute(one)] for one in (_KEPT, _PLAIN)]
    assert kept == plain, "\n".join(done)
