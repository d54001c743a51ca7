"""How many punches of a terminal the server counts, and Muster does not have."""

from typing import Any

from sqlalchemy import func, select

from app.clock.models import DailyTotal, Device

# Every punch of the terminal that was ever mirrored, purged ones too.
MIRRORED = (
    select(func.coalesce(func.sum(DailyTotal.total), 0))
    .where(DailyTotal.dimension == "terminal", DailyTotal.key == Device.sn)
    .correlate(Device)
    .scalar_subquery()
)
# The same condition for statements that call the terminal `d`.
MIRRORED_SQL = (
    "SELECT coalesce(sum(total), 0)::bigint FROM clock_analytics_daily WHERE dimension = 'terminal' AND key = d.sn"
)


def backlog(row: Any) -> int | None:
    """How many punches of the terminal the server counts, and Muster does not have; None when the server gives no
    number."""
    if row.transaction_count is None or row.absent_since is not None:
        return None
    return max(0, int(row.transaction_count) - int(row.mirrored))
