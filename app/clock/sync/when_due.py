"""When the schedule wants a run of the sync: whether one is due now, and the instant of the next one.

Where runs are started and closed is in sync/run_rows.py; the job that asks here is in app/clock/jobs.py.
"""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection import saved as connection
from app.clock.models import Connection, SyncRun
from app.clock.settings import ClockSettings, read_settings
from app.clock.sync import run_rows


async def is_due(db: AsyncSession, now: datetime) -> bool:
    """True when the schedule wants a run now. A new connection is tested first. A run whose worker died is taken up at
    once; one that waits for longer than the interval is queued again, because its job may be lost. When runs start only
    by hand, the job of a dead run resumes it: if it were closed here, nothing would."""
    found = await connection.load(db)
    settings = await read_settings(db)
    if found is None or not _runs_by_itself(found, settings):
        return False
    if found.not_before is not None and now < found.not_before:
        return False
    if await run_rows.close_dead(db):
        return True
    last = (
        await db.execute(select(SyncRun.status, SyncRun.queued_at).order_by(SyncRun.id.desc()).limit(1))
    ).one_or_none()
    if last is None:
        return True
    interval = timedelta(minutes=settings.sync_interval_minutes)
    return bool(last.status != "running" and now >= last.queued_at + interval)


def _runs_by_itself(found: Connection, settings: ClockSettings) -> bool:
    rests = found.status in ("paused", "locked") or found.awaits_test
    return settings.sync_interval_minutes > 0 and not rests


async def next_due(db: AsyncSession) -> datetime | None:
    """When the schedule starts the next run. None when runs start only by hand, or when no run can start."""
    found = await connection.load(db)
    settings = await read_settings(db)
    if found is None or not _runs_by_itself(found, settings):
        return None
    last = await db.scalar(select(SyncRun.queued_at).order_by(SyncRun.id.desc()).limit(1))
    if last is None:
        return found.not_before or found.created_at
    due: datetime = last + timedelta(minutes=settings.sync_interval_minutes)
    return max(due, found.not_before) if found.not_before else due


async def look_again(db: AsyncSession, now: datetime) -> datetime | None:
    """When the schedule looks for a due run again: soon while one is open, because its worker may die."""
    return now if await run_rows.current_run(db) else await next_due(db)
