"""Which windows of punches were not yet read completely: the import judges nothing that follows one of them within 48 h."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import Cursor
from app.clock.settings import ClockSettings
from app.clock.taps import Span


async def unread_spans(db: AsyncSession, settings: ClockSettings, zone: ZoneInfo, now: datetime) -> Sequence[Span]:
    """UTC spans of the windows that are still open. A window over all time to come reaches a day beyond now."""
    windows = select(Cursor.starts_on, Cursor.ends_on).where(Cursor.resource == "transactions", Cursor.state == "open")
    rows = (await db.execute(windows)).all()
    return [Span(_midnight(first or settings.history_start, zone), _end(last, zone, now)) for first, last in rows]


def _end(last: date | None, zone: ZoneInfo, now: datetime) -> datetime:
    return _midnight(last + timedelta(days=1), zone) if last else now + timedelta(days=1)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone)
