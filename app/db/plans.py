"""How PostgreSQL plans the statements of a transaction."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_EACH = text("SET LOCAL plan_cache_mode = force_custom_plan")


async def plan_each(db: AsyncSession) -> None:
    """The rest of the transaction plans each statement for its values.

    Otherwise PostgreSQL may plan a statement once for all values after it ran five times. That plan can't suit both a rare
    value and the usual one, nor the few rows behind a mark and a table of millions.
    """
    await db.execute(_EACH)
