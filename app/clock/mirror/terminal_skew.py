"""How far the clock of each terminal is off (its skew), and when it last sent a punch: both measured on its punches.

No time of a punch is ever corrected by it. What an operator sets on a terminal is in mirror/devices.py.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

RECENT = 200

_MEASURE = text(
    """
    UPDATE clock_devices d SET last_punch_at_utc = found.last, clock_skew_seconds = found.skew
    FROM (
        SELECT device.id, max(recent.punched_at_utc) AS last,
            floor(0.5 + percentile_cont(0.5) WITHIN GROUP (
                ORDER BY extract(epoch FROM recent.uploaded_at_utc - recent.punched_at_utc)
            ) FILTER (WHERE recent.uploaded_at_utc IS NOT NULL)) AS skew
        FROM clock_devices device CROSS JOIN LATERAL (
            SELECT punched_at_utc, uploaded_at_utc FROM clock_transactions t WHERE t.terminal_sn = device.sn
            ORDER BY t.local_date DESC, t.punched_at_utc DESC LIMIT :recent
        ) AS recent
        GROUP BY device.id
    ) AS found
    WHERE d.id = found.id
      AND (d.last_punch_at_utc, d.clock_skew_seconds) IS DISTINCT FROM (found.last, CAST(found.skew AS bigint))
    """
)


async def measure(db: AsyncSession) -> None:
    """Last punch and skew of every terminal: the median of upload minus punch over its recent punches, in seconds."""
    await db.execute(_MEASURE, {"recent": RECENT})
