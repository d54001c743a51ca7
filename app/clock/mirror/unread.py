"""Which windows of punches were not yet read completely: the import judges nothing that follows one of them within 48 h."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from app.clock import days
from app.clock.mirror import cursors
from app.clock.models import Cursor
from app.clock.pairing.inputs import TimeSpan
from app.clock.pairing.shifts import AHEAD
from app.clock.settings import ClockSettings
from app.db.days import midnight


async def unread_spans(db: AsyncSession, settings: ClockSettings, zone: ZoneInfo, now: datetime) -> Sequence[TimeSpan]:
    """UTC spans of history that was not reached yet, and of stretches that were begun and are not complete."""
    rows = await cursors.read_all(db)
    today = now.astimezone(zone).date()
    horizon = settings.horizon(today)
    history = days.DaySpan(horizon, days.live_first(today, horizon))
    missing = days.gaps(history, cursors.known_spans(rows, zone)) if rows else []
    spans = [TimeSpan(midnight(gap.first, zone), midnight(gap.until, zone)) for gap in missing]
    return [*spans, *_open(rows, horizon, zone, now)]


def _open(rows: Sequence[Cursor], horizon: date, zone: ZoneInfo, now: datetime) -> Iterator[TimeSpan]:
    """What a check found to differ, and what came since the last complete walk over the recent days while this one has not ended.
    A backfill's rest is a gap already; the row that remembers the nightly check itself is no stretch of days."""
    for row in rows:
        if row.state == "open" and row.kind in ("live", "check") and row.window != cursors.CHECK:
            end = midnight(row.ends_on + days.DAY, zone) if row.ends_on else now + AHEAD
            start = midnight(row.done_until or row.starts_on or horizon, zone)
            yield TimeSpan(max(start, row.covered_until or start), end)
