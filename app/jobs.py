"""Jobs of all modules: asking for work, and the life of its row. No job's work is here, and no SAQ.

What a job does is a function in `app/MODULE/jobs.py`; workers/ runs it.

The row in `jobs` is the truth. `request` writes it in the caller's transaction, together with a PostgreSQL notification,
which the server itself delivers at the commit and drops with a rollback. So a web process needs no handle on the queue.
Every worker listens, looks every few seconds anyway (a notification may get lost), and puts a wake-up for what is due into
SAQ's queue, which spreads the work over all workers. A wake-up may be late, lost or doubled: `claim` decides who runs, and
the attempt number fences off a worker that was taken for dead.

All times are the database's: workers run on machines whose clocks differ.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from sqlalchemy import (
    Boolean,
    ColumnElement,
    and_,
    case,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    text,
    true,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import audit
from app.accounts.models import Job
from app.db.among import among
from app.db.direct import Direct
from app.db.session import before_commit, workspace_of
from app.errors import Conflict, NotFound
from app.pace import PACE
from app.parts import Parts
from app.registry import JobKind, modules

CHANNEL = "muster_jobs"
LONGEST_ERROR = 500
# After this long without a sign of life, pages and metrics take a worker for gone.
WORKER_SILENT_AFTER = PACE.stale_after * 1.5
DIED = "Its worker stopped during attempt {}, the last one. Retry it, or read the worker's log."
# Those that wait behind them are found at a later look; each look wakes what still waits again.
WOKEN_AT_ONCE = 50
# The job that looks for problems. A failed job is one, so its failure asks for a look (app.problems.looking).
LOOK = "problems_sweep"
_AT_END = "jobs_at_end"
_OPEN = text("status IN ('queued', 'running')")
# Written out, not bound: else the index on open jobs does not serve.
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


KINDS: dict[str, JobKind] = {name: kind for module in modules() for name, kind in module.jobs.items()}
LONGEST = max(kind.timeout for kind in KINDS.values())
BRIEF = frozenset(name for name, kind in KINDS.items() if kind.brief)
FIRST = frozenset(name for name, kind in KINDS.items() if kind.first)
_IS_BRIEF = Job.name.in_(BRIEF)


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this process may run. `attempt` is its fence: once the row has another one, somebody else took over."""

    id: int
    attempt: int
    workspace: str
    name: str
    arguments: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class NoPlace:
    """What a worker has no place for now: longer work of the workspaces `long`, of any where it `is_full`, and brief work of those in
    `brief`."""

    long: Collection[str] = ()
    brief: Collection[str] = ()
    is_full: bool = False


FREE = NoPlace()
# What one job does.
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

    None when a job of the same key waits or runs there already. `key` defaults to the name, so one of a kind at a time; a
    job that asks for its own continuation is still running then and gives another key.
    """
    values: dict[str, Any] = {"arguments": dict(arguments or {}), **({"due_at": due_at} if due_at else {})}
    return await _ask(db, workspace_of(db), name, key or name, values)


async def _ask(db: AsyncSession, workspace: str, name: str, key: str, values: Mapping[str, Any]) -> int | None:
    if name not in KINDS:
        raise KeyError(name)
    statement = (
        insert(Job)
        .values(workspace=workspace, name=name, key=key, **values)
        .on_conflict_do_nothing(index_elements=[Job.workspace, Job.key], index_where=_OPEN)
        .returning(Job.id)
    )
    job_id: int | None = await db.scalar(statement)
    if job_id is not None:
        await _notify(db)
    return job_id


async def request_after(db: AsyncSession, name: str) -> None:
    """Asks for a job that begins after this transaction. One that is due and waits is enough, and no worker takes it before this transaction
    ends. One that runs may have read already, so another waits behind it."""
    await _ask_after(db, workspace_of(db), name, name, None)


async def _ask_after(db: AsyncSession, workspace: str, name: str, key: str, due_at: datetime | None) -> None:
    values = {"due_at": due_at} if due_at else {}
    while await _ask(db, workspace, name, key, values) is None and not await _keep(db, workspace, key, due_at):
        key += ":next"


async def _keep(db: AsyncSession, workspace: str, key: str, due_at: datetime | None) -> bool:
    """Locks the job that waits, so that no worker takes it before what this transaction writes can be read. Those who ask share the lock.
    False when the job runs, has ended, or is due later. One that waits for its next attempt is enough: it reads everything then, and work
    that fails must not come at once."""
    enough = or_(Job.due_at <= (due_at or func.clock_timestamp()), Job.attempt > 0)
    waits = select(Job.id).where(Job.workspace == workspace, Job.key == key, _IS_QUEUED, enough)
    return await db.scalar(waits.with_for_update(read=True)) is not None


def request_at_end(db: AsyncSession, name: str, *, key: str | None = None, due_at: datetime | None = None) -> None:
    """As `request_after`, once and as the last thing of the transaction. Others ask for the same job, and who had asked in between would
    keep them waiting to the end, perhaps for each other."""
    asked: dict[tuple[str, str], tuple[str, datetime | None]] = db.info.setdefault(_AT_END, {})
    if not asked:
        before_commit(db, _ask_all)
    asked.setdefault((workspace_of(db), key or name), (name, due_at))


async def _ask_all(db: AsyncSession) -> None:
    for (workspace, key), (name, due_at) in sorted(db.info.pop(_AT_END).items()):
        await _ask_after(db, workspace, name, key, due_at)


async def request_past_session(connection: asyncpg.Connection, workspace: str, name: str) -> None:
    """As `request_after`, by one statement that is a transaction of its own, after the one that wrote. It does not wait until it has
    reached the disk. Where two of them run already, it asks for no third."""
    values = {"workspace": workspace, "name": name, "behind": f"{name}:next", "channel": CHANNEL}
    await _REQUEST_AFTER.row(connection, values, "")


async def request_daily(db: AsyncSession, name: str) -> int | None:
    """As `request`, unless this workspace asked for one since midnight, UTC."""
    midnight = func.date_trunc("day", func.now(), "UTC")
    today = select(Job.id).where(Job.workspace == workspace_of(db), Job.name == name, Job.created_at >= midnight)
    return None if await db.scalar(today.limit(1)) is not None else await request(db, name)


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
    await _notify(db)


async def retryable(db: AsyncSession, job_ids: Iterable[int]) -> list[int]:
    """Those of the jobs that `retry` takes one after the other: failed, and of those with the same key the latest alone."""
    latest = select(func.max(Job.id)).where(among(Job.id, job_ids), Job.workspace == workspace_of(db), _retryable())
    return sorted(await db.scalars(latest.group_by(Job.key)))


def _retryable() -> ColumnElement[bool]:
    """Failed, and no other of the same key waits or runs."""
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


async def due(
    db: AsyncSession,
    names: Collection[str],
    stale_after: timedelta,
    busy: NoPlace = FREE,
    *,
    workspace: str | None = None,
) -> list[tuple[int, int]]:
    """Jobs to wake, as (id, attempt so far): queued ones whose time has come, and running ones whose worker has not been heard of for
    `stale_after`. Of those, the ones that used up their attempts are closed as failed; that takes no place. Brief ones come first, and of
    each sort the oldest: so brief work never waits behind any number of others. `busy`: what this worker takes nothing of until a place is
    free. `workspace`: those of it alone."""
    here = Job.workspace == workspace if workspace else true()
    sorts = [
        select(Job.id, Job.attempt, Job.name, Job.status)
        .where(Job.name.in_(names), here, _takeable(stale_after), or_(fits, is_of_sort & _is_last_attempt()))
        .order_by(Job.due_at)
        .limit(WOKEN_AT_ONCE)
        for is_of_sort, fits in ((_IS_BRIEF, _fits_as_brief(busy)), (~_IS_BRIEF, _fits_as_long(busy)))
    ]
    rows = await db.execute(union_all(*(select(*one.subquery().c) for one in sorts)))
    found = []
    for job_id, attempt, name, status in rows:
        if status == "running" and attempt >= KINDS[name].attempts:
            await fail(db, job_id, attempt, DIED.format(attempt))
        else:
            found.append((job_id, attempt))
    return found


async def claim(
    db: AsyncSession, job_id: int, attempt: int, stale_after: timedelta, busy: NoPlace = FREE
) -> Claim | None:
    """Takes the job that stood at `attempt` when it was woken; None when somebody else was quicker, it is not due, this worker is too
    `busy` for it, or a transaction that asks for it has not ended (`request_after`): then a later look wakes it."""
    fits = or_(_fits_as_brief(busy), _fits_as_long(busy))
    free = select(Job.id).where(Job.id == job_id, Job.attempt == attempt, _takeable(stale_after), fits)
    taken = await db.execute(
        update(Job)
        .where(Job.id == free.with_for_update(skip_locked=True).scalar_subquery())
        .values(
            status="running",
            attempt=Job.attempt + 1,
            started_at=func.now(),
            heartbeat_at=func.now(),
            finished_at=None,
        )
        .returning(Job.id, Job.attempt, Job.workspace, Job.name, Job.arguments)
    )
    row = taken.one_or_none()
    if row is None and busy.is_full:
        # It may have been longer work, which a worker with a free place now wakes again.
        await _notify(db)
    return Claim(*row) if row else None


async def beat(db: AsyncSession, job_id: int, attempt: int) -> bool:
    """Writes the heartbeat. False when another worker took the job over: the caller must stop."""
    return await _move(db, job_id, attempt, heartbeat_at=func.now())


async def finish(db: AsyncSession, job_id: int, attempt: int) -> bool:
    return await _move(db, job_id, attempt, status="done", finished_at=func.now(), error=None)


async def fail(db: AsyncSession, job_id: int, attempt: int, error: str) -> bool:
    """`error` is one line for a person, and holds no secret. It asks for a look for problems, unless that is what failed; and does so
    first, as those who ask for that look and then for this job do: else each may wait for the other."""
    found = (await db.execute(select(Job.workspace, Job.name).where(Job.id == job_id))).one_or_none()
    if found is not None and found.name != LOOK:
        await _ask_after(db, found.workspace, LOOK, LOOK, None)
    return await _move(db, job_id, attempt, status="failed", finished_at=func.now(), error=error[:LONGEST_ERROR])


async def postpone(db: AsyncSession, job_id: int, attempt: int, pause: timedelta, error: str) -> bool:
    """Back into the queue for another attempt, `pause` from now."""
    return await _move(
        db, job_id, attempt, status="queued", due_at=func.now() + pause, heartbeat_at=None, error=error[:LONGEST_ERROR]
    )


async def give_back(db: AsyncSession, job_id: int, attempt: int) -> bool:
    """Back into the queue at once, since this worker is about to stop."""
    given = await _move(db, job_id, attempt, status="queued", due_at=func.now(), heartbeat_at=None)
    await _notify(db)
    return given


def pause_before(kind: JobKind, attempt: int) -> timedelta:
    """How long to wait after the given attempt failed."""
    return kind.pause * int(2 ** (attempt - 1))


def _takeable(stale_after: timedelta) -> ColumnElement[bool]:
    waiting = and_(Job.status == "queued", Job.due_at <= func.now())
    abandoned = and_(Job.status == "running", Job.heartbeat_at < func.now() - stale_after)
    return or_(waiting, abandoned)


def _is_last_attempt() -> ColumnElement[bool]:
    attempts = case({name: kind.attempts for name, kind in KINDS.items()}, value=Job.name)
    return and_(Job.status == "running", Job.attempt >= attempts)


def _fits_as_brief(busy: NoPlace) -> ColumnElement[bool]:
    return and_(_IS_BRIEF, Job.workspace.not_in(busy.brief))


def _fits_as_long(busy: NoPlace) -> ColumnElement[bool]:
    return false() if busy.is_full else and_(~_IS_BRIEF, Job.workspace.not_in(busy.long))


async def _move(db: AsyncSession, job_id: int, attempt: int, **values: Any) -> bool:
    """Changes the row only as long as it is the running one of this very attempt."""
    statement = update(Job).where(Job.id == job_id, Job.attempt == attempt, Job.status == "running").values(**values)
    return await db.scalar(statement.returning(Job.id)) is not None


async def _notify(db: AsyncSession) -> None:
    await db.execute(_NOTIFY, {"channel": CHANNEL})
