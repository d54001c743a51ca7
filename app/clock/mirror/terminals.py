"""What punches tell of their terminal: when it last sent one, and how far its clock is off. Never corrects a time."""

import re

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

RECENT = 200

_MEASURE = text(
    """
    UPDATE clock_devices d SET last_punch_at_utc = found.last, clock_skew_seconds = found.skew
    FROM (
        SELECT device.id, max(recent.punched_at_utc) AS last,
            round(percentile_cont(0.5) WITHIN GROUP (
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

_HOURS = re.compile(r"[+-]?\d{1,2}")


def zone_words(terminal_tz: str | None) -> str | None:
    """The time zone that the server keeps for a terminal, as people write it: "8" is UTC+8; a name stays as it is."""
    if terminal_tz is None or not _HOURS.fullmatch(terminal_tz):
        return terminal_tz
    hours = int(terminal_tz)
    return f"UTC{hours:+d}" if hours else "UTC"


async def measure(db: AsyncSession) -> None:
    """Last punch and skew of every terminal: the median of upload minus punch over its recent punches, in seconds."""
    await db.execute(_MEASURE, {"recent": RECENT})
