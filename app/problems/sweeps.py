"""Finds out from stored times if a worker that is alive also makes the sweeps for the platform.

Web processes ask this, because they run even when no worker does. `muster_workers` and the heartbeats only say that one
is alive.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Boolean, ColumnElement, ScalarSelect, case, exists, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.models import Job, WorkerHeartbeat
from app.db.session import PLATFORM
from app.jobs import WORKER_SILENT_AFTER
from app.problems import looking

EVERY = timedelta(minutes=5)
# Three of them were due by then.
LATE_AFTER = 3 * EVERY
_IS_ALIVE = WorkerHeartbeat.seen_at > func.now() - WORKER_SILENT_AFTER
# A literal, not a parameter: otherwise PostgreSQL does not use the index on sweeps.
IS_SWEEP: ColumnElement[bool] = literal_column(f"jobs.name = '{looking.JOB}'", Boolean)
_IS_OURS = IS_SWEEP & (Job.workspace == PLATFORM)


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """`workers` are alive; `sweep_due_at` is when the sweep that was not made was due, None where one is made."""

    workers: int
    sweep_due_at: datetime | None
    now: datetime

    @property
    def is_late(self) -> bool:
        return self.sweep_due_at is not None and self.now - self.sweep_due_at >= LATE_AFTER


def waits_since() -> ScalarSelect[Any]:
    """When the next sweep of the platform was due: EVERY after the last one, or after the start of the worker that has
    been alive longest. Null without a worker, and while a sweep is under way."""
    last = select(func.max(Job.finished_at)).where(_IS_OURS, Job.status == "done").scalar_subquery()
    started = select(func.min(WorkerHeartbeat.started_at)).where(_IS_ALIVE).scalar_subquery()
    running = exists().where(_IS_OURS, Job.status == "running", Job.started_at > func.now() - LATE_AFTER)
    due = func.greatest(last, started) + EVERY
    return select(case((running | started.is_(None), None), else_=due)).scalar_subquery()


async def standing(db: AsyncSession) -> WorkerStanding:
    """One statement."""
    alive = select(func.count()).select_from(WorkerHeartbeat).where(_IS_ALIVE).scalar_subquery()
    return WorkerStanding(*(await db.execute(select(alive, waits_since(), func.now()))).one())


async def ask_after_silence(db: AsyncSession) -> None:
    """Before a worker's sign of life, in its transaction on the platform: when no worker was alive, a sweep comes at
    once, so that the problem which says so closes."""
    if not await db.scalar(select(exists().where(_IS_ALIVE))):
        await jobs.request(db, looking.JOB)
