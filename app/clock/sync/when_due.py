"""When the schedule wants a run of the sync: whether one is due now, and the instant of the next one.

Where runs are started and closed is in sync/run_rows.py; the job that asks here is in app/clock/jobs.py.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.clock.connection import saved as connection
from app.clock.models import Connection, SyncRun
from app.clock.settings import ClockSettings, read_settings
from app.clock.sync import run_rows
from app.db.direct import Compiled, driver

_ANY = aliased(SyncRun)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the schedule does now: start a run, or not. `again_at`: when it looks again; None: some minutes later."""

    is_due: bool
    again_at: datetime | None


async def turn(db: AsyncSession, now: datetime) -> Turn:
    """A new connection is tested before its first run. While a run is open the schedule looks again soon, because its
    worker may die."""
    found = await connection.load(db)
    if found is None:
        return Turn(is_due=False, again_at=None)
    settings = await read_settings(db)
    runs = await _runs(db)
    if await _is_due(db, found, settings, runs, now):
        return Turn(is_due=True, again_at=now)
    if runs is not None and runs.is_running:
        await run_rows.close_left(db)
    is_open = runs is not None and runs.is_open
    return Turn(is_due=False, again_at=now if is_open else _next(found, settings, runs))


@dataclass(frozen=True, slots=True)
class Runs:
    """The last run; `is_open`, `is_running`: True when any run is."""

    status: str
    queued_at: datetime
    is_open: bool
    is_running: bool


async def _runs(db: AsyncSession) -> Runs | None:
    found = await _LAST.row(driver(db), {})
    return found and Runs(found.status, found.queued_at, found.is_open, found.is_running)


_LAST = Compiled(
    select(
        SyncRun.status,
        SyncRun.queued_at,
        exists().where(_ANY.status.in_(run_rows.OPEN)).label("is_open"),
        exists().where(_ANY.status == "running").label("is_running"),
    )
    .order_by(SyncRun.id.desc())
    .limit(1),
    with_lists=True,
)


async def _is_due(
    db: AsyncSession, found: Connection, settings: ClockSettings, runs: Runs | None, now: datetime
) -> bool:
    """A run whose worker died is taken up at once; one that waits for longer than the interval is queued again, because
    its job may be lost. When runs start only by hand, the job of a dead run resumes it. It is closed only if its job
    has ended."""
    if not _runs_by_itself(found, settings) or (found.not_before is not None and now < found.not_before):
        return False
    if runs is None:
        return True
    # Looking for a dead one locks the lease, so it is done only while a run is under way.
    if runs.is_running and await run_rows.close_dead(db):
        return True
    interval = timedelta(minutes=settings.sync_interval_minutes)
    return bool(runs.status != "running" and now >= runs.queued_at + interval)


def _runs_by_itself(found: Connection, settings: ClockSettings) -> bool:
    rests = found.status in ("paused", "locked") or found.awaits_test
    return settings.sync_interval_minutes > 0 and not rests


async def next_due(db: AsyncSession) -> datetime | None:
    """When the schedule starts the next run. None when runs start only by hand, or when no run can start."""
    found = await connection.load(db)
    if found is None:
        return None
    return _next(found, await read_settings(db), await _runs(db))


def _next(found: Connection, settings: ClockSettings, runs: Runs | None) -> datetime | None:
    if not _runs_by_itself(found, settings):
        return None
    if runs is None:
        return found.not_before or found.created_at
    due = runs.queued_at + timedelta(minutes=settings.sync_interval_minutes)
    return max(due, found.not_before) if found.not_before else due
