"""Asks for jobs of all modules, gives failed ones another attempt, and says how long ended ones are kept.
No job's work is here, and no SAQ.

What a job does is a function in `app/MODULE/jobs.py`. How a worker takes and ends a job: workers/claims.py.

The row in `jobs` decides what is done. `request` writes it in the caller's transaction, together with a PostgreSQL
notification, which the server delivers at the commit and drops with a rollback. So a web process needs no connection to
the queue. Every worker listens, and also looks every few seconds, because a notification may get lost. It puts a
wake-up for what is due into SAQ's queue, which spreads the work over all workers.

All times are the database's, because workers run on machines whose clocks differ.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from sqlalchemy import (
    Boolean,
    ColumnElement,
    and_,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import audit
from app.accounts.models import OPEN_JOB, Job
from app.accounts.tenants import DEACTIVATED
from app.db.among import among
from app.db.direct import Direct, driver
from app.db.session import before_commit, workspace_of
from app.errors import Conflict, NotFound
from app.parts import Parts
from app.registry import JobKind, modules
from app.worker_pace import PACE

CHANNEL = "muster_jobs"
# After this long without a sign of life, pages and metrics treat a worker as gone.
WORKER_SILENT_AFTER = PACE.stale_after * 1.5
# The job that looks for problems. A failed job is a problem, so its failure asks for a look (app.problems.looking).
LOOK = "problems_sweep"
# A literal, not a parameter: otherwise PostgreSQL does not use the index on ended jobs.
IS_OVER: ColumnElement[bool] = literal_column("jobs.status IN ('done', 'failed')", Boolean)
# Jobs of a deactivated tenant wait until it is active again. The platform is no tenant: its jobs always run.
MAY_RUN: ColumnElement[bool] = Job.workspace.not_in(DEACTIVATED)
ENDED_KEPT = timedelta(days=30)
# For the daily housekeeping.
OVER = ((Job, and_(IS_OVER, Job.finished_at < func.now() - ENDED_KEPT)),)
_AT_END = "jobs_at_end"
# A literal, not a parameter: otherwise PostgreSQL does not use the index on open jobs.
_IS_QUEUED: ColumnElement[bool] = literal_column("jobs.status = 'queued'", Boolean)
_NOTIFY = text("SELECT pg_notify(:channel, '')")
_REQUEST_AFTER = Direct("""
WITH first AS (
    INSERT INTO shared.jobs (workspace, name, key) VALUES (CAST(:workspace AS text), CAST(:name AS text), CAST(:name AS text))
    ON CONFLICT (workspace, key) WHERE status IN ('queued', 'running') DO NOTHING RETURNING id
), second AS (
    INSERT INTO shared.jobs (workspace, name, key)
    SELECT CAST(:workspace AS text), CAST(:name AS text), CAST(:behind AS text)
    WHERE NOT EXISTS (SELECT FROM first)
    ON CONFLICT (workspace, key) WHERE status IN ('queued', 'running') DO NOTHING RETURNING id
)
SELECT pg_notify(:channel, ''), set_config('synchronous_commit', 'off', true)
FROM (SELECT id FROM first UNION SELECT id FROM second) AS asked
""")
_TODAY = Direct("""
SELECT id FROM shared.jobs
WHERE workspace = CAST(:workspace AS text) AND name = CAST(:name AS text) AND created_at >= date_trunc('day', now(), 'UTC') LIMIT 1
""")


KINDS: dict[str, JobKind] = {name: kind for module in modules() for name, kind in module.jobs.items()}
LONGEST = max(kind.timeout for kind in KINDS.values())
BRIEF = frozenset(name for name, kind in KINDS.items() if kind.brief)
FIRST = frozenset(name for name, kind in KINDS.items() if kind.first)


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this process may run. When the row has another `attempt`, another worker took the job over.
    `uncounted` earlier attempts ended because the database server left."""

    id: int
    attempt: int
    workspace: str
    name: str
    arguments: dict[str, Any] = field(repr=False)
    uncounted: int = 0

    @property
    def counted(self) -> int:
        """How many of the attempts that its kind allows are used."""
        return self.attempt - self.uncounted


# The function of a job.
Function = Callable[[Parts, Claim], Awaitable[None]]


async def request(
    db: AsyncSession,
    name: str,
    *,
    key: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    due_at: datetime | None = None,
) -> int | None:
    """Asks for work in the transaction's workspace, to run once it has committed. Returns the job's id.

    None when a job with the same key waits or runs there already. `key` defaults to the name, so there is one of a kind
    at a time. A job that asks for its own continuation is still running then, so it gives another key.
    """
    values: dict[str, Any] = {"arguments": dict(arguments or {}), **({"due_at": due_at} if due_at else {})}
    return await _ask(db, workspace_of(db), name, key or name, values)


async def _ask(db: AsyncSession, workspace: str, name: str, key: str, values: Mapping[str, Any]) -> int | None:
    if name not in KINDS:
        raise KeyError(name)
    statement = (
        insert(Job)
        .values(workspace=workspace, name=name, key=key, **values)
        .on_conflict_do_nothing(index_elements=[Job.workspace, Job.key], index_where=OPEN_JOB)
        .returning(Job.id)
    )
    job_id: int | None = await db.scalar(statement)
    if job_id is not None:
        await notify(db)
    return job_id


async def awaits_next_attempt(db: AsyncSession, name: str) -> bool:
    """True when a job of this kind, which a worker has begun, waits in this workspace for its next attempt."""
    begun = and_(Job.workspace == workspace_of(db), Job.name == name, _IS_QUEUED, Job.attempt > 0)
    return bool(await db.scalar(select(exists().where(begun))))


async def request_after(db: AsyncSession, name: str) -> None:
    """Asks for a job that begins after this transaction. One that is due and waits is enough, because no worker takes
    it before this transaction ends. A running one may have read its data already, so another waits behind it."""
    await _ask_after(db, workspace_of(db), name, name, None)


async def _ask_after(db: AsyncSession, workspace: str, name: str, key: str, due_at: datetime | None) -> None:
    values = {"due_at": due_at} if due_at else {}
    while await _ask(db, workspace, name, key, values) is None and not await _keep(db, workspace, key, due_at):
        key += ":next"


async def _keep(db: AsyncSession, workspace: str, key: str, due_at: datetime | None) -> bool:
    """Locks the waiting job, so that no worker takes it before this transaction's changes are visible. Several
    transactions can share the lock. False when the job runs, has ended, or is due later. A job that waits for its next
    attempt is enough: it will read everything then, and failing work must not come at once."""
    enough = or_(Job.due_at <= (due_at or func.clock_timestamp()), Job.attempt > 0)
    waits = select(Job.id).where(Job.workspace == workspace, Job.key == key, _IS_QUEUED, enough)
    return await db.scalar(waits.with_for_update(read=True)) is not None


def request_at_end(db: AsyncSession, name: str, *, key: str | None = None, due_at: datetime | None = None) -> None:
    """As `request_after`, but once, at the end of the transaction. Others ask for the same job: asking earlier would
    make them wait until this transaction ends, perhaps for each other."""
    asked: dict[tuple[str, str], tuple[str, datetime | None]] = db.info.setdefault(_AT_END, {})
    if not asked:
        before_commit(db, _ask_all)
    asked.setdefault((workspace_of(db), key or name), (name, due_at))


async def _ask_all(db: AsyncSession) -> None:
    for (workspace, key), (name, due_at) in sorted(db.info.pop(_AT_END).items()):
        await _ask_after(db, workspace, name, key, due_at)


async def request_past_session(connection: asyncpg.Connection, workspace: str, name: str) -> None:
    """As `request_after`, by one statement that is a transaction of its own, after the one that wrote. It does not wait
    until it is on the disk. When two of these jobs run already, it asks for no third."""
    values = {"workspace": workspace, "name": name, "behind": f"{name}:next", "channel": CHANNEL}
    await _REQUEST_AFTER.row(connection, values, "")


async def request_daily(db: AsyncSession, name: str) -> int | None:
    """As `request`, unless this workspace has asked for one since midnight, UTC."""
    today = await _TODAY.row(driver(db), {"workspace": workspace_of(db), "name": name}, "")
    return None if today else await request(db, name)


async def retry(db: AsyncSession, actor: audit.Actor, job_id: int) -> None:
    """Gives a failed job of this workspace one more attempt. Raises NotFound or Conflict."""
    here = and_(Job.id == job_id, Job.workspace == workspace_of(db))
    queued = await db.scalar(
        update(Job)
        .where(here, _retryable())
        .values(status="queued", due_at=func.now(), finished_at=None, heartbeat_at=None)
        .returning(Job.name)
    )
    if queued is None:
        raise await _why_not_retried(db, here)
    await audit.record(db, actor, "job.retry", "job", job_id, after={"name": queued})
    await notify(db)


async def retryable(db: AsyncSession, job_ids: Iterable[int]) -> list[int]:
    """Those of the jobs that `retry` accepts, one after the other: failed ones, and of those with the same key the
    latest."""
    latest = select(func.max(Job.id)).where(among(Job.id, job_ids), Job.workspace == workspace_of(db), _retryable())
    return sorted(await db.scalars(latest.group_by(Job.key)))


def _retryable() -> ColumnElement[bool]:
    """Failed, and no other job with the same key waits or runs."""
    twin = aliased(Job)
    of_same_key = exists().where(
        twin.workspace == Job.workspace, twin.key == Job.key, twin.status.in_(["queued", "running"])
    )
    return and_(Job.status == "failed", ~of_same_key)


async def _why_not_retried(db: AsyncSession, here: ColumnElement[bool]) -> NotFound | Conflict:
    status = await db.scalar(select(Job.status).where(here))
    if status is None:
        return NotFound("There is no such job.")
    if status == "failed":
        return Conflict("The same work is queued or running already. Wait for that to end.")
    return Conflict(f"Only a failed job can be retried; this one is {status}.")


async def request_look(db: AsyncSession, workspace: str) -> None:
    """As `request_after` for the look for problems, in any workspace."""
    await _ask_after(db, workspace, LOOK, LOOK, None)


async def notify(db: AsyncSession) -> None:
    """When this transaction commits, waiting workers look for jobs."""
    await db.execute(_NOTIFY, {"channel": CHANNEL})
