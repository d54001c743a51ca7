"""The request budgets of all API tokens, in one table for all processes. How they are used: api/rate_limit_rules.py.

The table is unlogged, so writing to it waits for no disk. After a crash of the database, and on a standby that takes
over, it is empty, and each token starts with a full minute.
"""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import Direct, driver

# The same as api/rate_limit_rules.py::granted, by the clock of the database, which is read once,
# after the row is locked.
_TAKE = Direct("""
    INSERT INTO request_budgets AS held (token_id, remaining, granted, at)
    VALUES (
        CAST(:token_id AS bigint),
        CAST(:per_minute AS int) - least(CAST(:wanted AS int), :per_minute),
        least(:wanted, :per_minute),
        clock_timestamp()
    )
    ON CONFLICT (token_id) DO UPDATE SET (remaining, granted, at) = (
        SELECT available - least(:wanted, floor(available)), least(:wanted, floor(available)), moment
        FROM (
            SELECT moment, least(
                :per_minute,
                held.remaining + CAST(:returned AS int)
                + greatest(0, extract(epoch FROM moment - held.at)::float8) * :per_minute / 60.0::float8
            ) AS available
            FROM (SELECT clock_timestamp() AS moment) AS clock
        ) AS budget
    )
    RETURNING remaining, granted
""")


async def take(db: AsyncSession, token_id: int, per_minute: int, wanted: int, returned: int) -> tuple[int, float]:
    """Gives back `returned` requests and takes up to `wanted`. Returns how many it got, and what is left. Keep the
    transaction short: all processes wait for this row."""
    values: dict[str, Any] = {
        "token_id": token_id,
        "per_minute": per_minute,
        "wanted": wanted,
        "returned": returned,
    }
    row = await _TAKE.row(driver(db), values, "shared")
    return row["granted"], row["remaining"]
