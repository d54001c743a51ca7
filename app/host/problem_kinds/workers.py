"""Workers that are gone, and work that waits for too long. Only on the platform, because workers serve all workspaces.

A sweep is a job of a worker, so it can't find these in time. A process that shows problems looks for them first
(`look_without_worker`). That no sweep is made any longer, though a worker is alive, is work that waits, too.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Boolean, ColumnElement, and_, exists, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Job, WorkerHeartbeat
from app.counting import nearest
from app.db.session import PLATFORM, workspace_of
from app.jobs import MAY_RUN, WORKER_SILENT_AFTER
from app.problems import looking, sweeps
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import FactSelect, ProblemKind, fact_columns

GONE, STUCK = "worker_gone", "queue_stuck"
# A worker takes what is due within seconds, unless all of its places are taken by long work.
STUCK_AFTER = sweeps.LATE_AFTER
_MINUTE = timedelta(minutes=1)


def detect_gone(fact: Fact, now: datetime) -> Finding | None:
    """`since` is the last sign of life of any worker."""
    if fact.since is not None and now - fact.since <= WORKER_SILENT_AFTER:
        return None
    return fact.found(
        "No worker is running",
        "Nothing is synced, imported or mailed. Start `muster worker`: it continues with what waits. Its log says why it ended.",
    )


def detect_stuck(fact: Fact, now: datetime) -> Finding | None:
    """`since` is when the job that waits longest became due; None when none waits. Jobs of deactivated tenants do not
    count."""
    if fact.since is None or now - fact.since < STUCK_AFTER:
        return None
    minutes = nearest(STUCK_AFTER / _MINUTE)
    return fact.found(
        f"Work has waited for more than {minutes} minutes",
        "Workers are alive. If looks for problems fail, Jobs says why. If long jobs take all places, start one more worker, or one with a"
        " higher `--concurrency`. Otherwise restart the worker.",
    )


def _jobs_page(_: str, __: Mapping[str, Any]) -> str:
    return "/admin/jobs"


WORKER_KINDS = (
    ProblemKind(
        GONE,
        "Worker gone",
        Severity.CRITICAL,
        "admin.jobs",
        "Start `muster worker`. It continues with what waits.",
        _jobs_page,
        detect_gone,
        platform_only=True,
        can_be_dismissed=False,
    ),
    ProblemKind(
        STUCK,
        "Queue stuck",
        Severity.CRITICAL,
        "admin.jobs",
        "See under Jobs what fails, or takes all places. Start one more worker, or restart one that does nothing.",
        _jobs_page,
        detect_stuck,
        platform_only=True,
        can_be_dismissed=False,
    ),
)
_ALIVE = exists().where(WorkerHeartbeat.seen_at > func.now() - WORKER_SILENT_AFTER)
# A literal, not a parameter: otherwise PostgreSQL does not use the index on open jobs.
_IS_QUEUED: ColumnElement[bool] = literal_column("jobs.status = 'queued'", Boolean)
_WAITS = and_(_IS_QUEUED, Job.due_at <= func.now())
_LAST_SEEN = select(func.max(WorkerHeartbeat.seen_at)).scalar_subquery()
_LONGEST = select(func.min(Job.due_at)).where(_WAITS, MAY_RUN, _ALIVE).scalar_subquery()
_SWEEP_WAITS = sweeps.waits_since()
# One row each, whatever the tables hold.
WORKERS = (
    FactSelect(frozenset({GONE}), select(*fact_columns(GONE, "worker", "all", since=_LAST_SEEN))),
    FactSelect(
        frozenset({STUCK}), select(*fact_columns(STUCK, "queue", "all", since=func.least(_LONGEST, _SWEEP_WAITS)))
    ),
)


async def look_without_worker(db: AsyncSession) -> None:
    """On the platform, when no worker gave a sign of life lately, or none looks for problems. One statement when all is
    well."""
    if workspace_of(db) != PLATFORM:
        return
    standing = await sweeps.standing(db)
    if not standing.workers or standing.is_late:
        await looking.look(db, {GONE, STUCK})
