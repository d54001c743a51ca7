"""Takes jobs for a worker and ends them: the changes of a job's row while it runs. Asking for jobs: app/jobs.py.

A wake-up of the queue may be late, lost or doubled: `claim` decides which worker runs a job. Each claim counts an
attempt, and only the latest attempt may write. So a worker that was taken for dead, and lives, changes nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, false, func, or_, select, true, union_all, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.models import Job
from app.jobs import BRIEF, Claim
from app.registry import JobKind

DIED = "Its worker stopped during attempt {}, the last one. Retry it, or read the worker's log."
# Later jobs are found at a later look; each look wakes again what still waits.
WOKEN_AT_ONCE = 50
LONGEST_ERROR = 500
# A job may be what brings the server down. So after this many attempts that the server ended, they count like others.
MOST_UNCOUNTED = 5
# Doubled each time. Before the first one there is none.
PAUSE_AFTER_LOSS = timedelta(seconds=2)
_IS_BRIEF = Job.name.in_(BRIEF)


@dataclass(frozen=True, slots=True)
class NoPlace:
    """What a worker has no place for now: longer work of the workspaces `long`, all longer work when it `is_full`, and
    brief work of those in `brief`."""

    long: Collection[str] = ()
    brief: Collection[str] = ()
    is_full: bool = False


FREE = NoPlace()


async def due(
    db: AsyncSession,
    names: Collection[str],
    stale_after: timedelta | None,
    busy: NoPlace = FREE,
    *,
    workspace: str | None = None,
) -> list[tuple[int, int]]:
    """Jobs to wake, as (id, attempt so far): queued ones whose time has come, and running ones whose worker has been
    silent for `stale_after`; None leaves running ones alone. Those without attempts left are closed as failed, which
    takes no place. Brief jobs come first, and of each sort the oldest, so brief work never waits behind other work.
    Jobs of deactivated tenants wait. `busy`: what this worker has no place for. `workspace`: only its jobs."""
    here = Job.workspace == workspace if workspace else true()
    sorts = [
        select(Job.id, Job.attempt, Job.attempt - Job.uncounted, Job.name, Job.status)
        .where(Job.name.in_(names), here, _takeable(stale_after), or_(fits, is_of_sort & _is_last_attempt()))
        .order_by(Job.due_at)
        .limit(WOKEN_AT_ONCE)
        for is_of_sort, fits in ((_IS_BRIEF, _fits_as_brief(busy)), (~_IS_BRIEF, _fits_as_long(busy)))
    ]
    rows = await db.execute(union_all(*(select(*one.subquery().c) for one in sorts)))
    found = []
    for job_id, attempt, counted, name, status in rows:
        if status == "running" and counted >= jobs.KINDS[name].attempts:
            await fail(db, job_id, attempt, DIED.format(counted))
        else:
            found.append((job_id, attempt))
    return found


async def claim(
    db: AsyncSession, job_id: int, attempt: int, stale_after: timedelta, busy: NoPlace = FREE
) -> Claim | None:
    """Takes the job that had this `attempt` when it was woken. None when another worker was faster, the job is not due,
    this worker is too `busy` for it, or a transaction that asks for it has not ended (`is_held`): then a later look
    wakes it."""
    free = _claimable(job_id, attempt, stale_after, busy)
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
        .returning(Job.id, Job.attempt, Job.workspace, Job.name, Job.arguments, Job.uncounted)
    )
    row = taken.one_or_none()
    if row is None and busy.is_full:
        # It may have been longer work. A worker with a free place now wakes it again.
        await jobs.notify(db)
    return Claim(*row) if row else None


async def is_held(db: AsyncSession, job_id: int, attempt: int, stale_after: timedelta, busy: NoPlace = FREE) -> bool:
    """After a claim in vain: True when only a transaction that asks for the job keeps it back
    (`jobs.request_after`)."""
    return await db.scalar(_claimable(job_id, attempt, stale_after, busy)) is not None


async def beat(db: AsyncSession, job_id: int, attempt: int) -> bool:
    """Writes the heartbeat. False when another worker took the job over; the caller must stop."""
    return await _move(db, job_id, attempt, heartbeat_at=func.now())


async def finish(db: AsyncSession, job_id: int, attempt: int) -> bool:
    return await _move(db, job_id, attempt, status="done", finished_at=func.now(), error=None)


async def fail(db: AsyncSession, job_id: int, attempt: int, error: str) -> bool:
    """`error` is one line for a person, without a secret. Asks for a look for problems, unless that look failed itself.
    It does so first, in the same order as transactions that ask for that look and then for this job; otherwise each
    could wait for the other."""
    found = (await db.execute(select(Job.workspace, Job.name).where(Job.id == job_id))).one_or_none()
    if found is not None and found.name != jobs.LOOK:
        await jobs.request_look(db, found.workspace)
    return await _move(db, job_id, attempt, status="failed", finished_at=func.now(), error=error[:LONGEST_ERROR])


async def postpone(db: AsyncSession, job_id: int, attempt: int, pause: timedelta, error: str) -> bool:
    """Puts the job back into the queue for another attempt, `pause` from now."""
    return await _move(
        db, job_id, attempt, status="queued", due_at=func.now() + pause, heartbeat_at=None, error=error[:LONGEST_ERROR]
    )


async def give_back(db: AsyncSession, job_id: int, attempt: int) -> bool:
    """Puts the job back into the queue at once, because this worker is about to stop."""
    given = await _move(db, job_id, attempt, status="queued", due_at=func.now(), heartbeat_at=None)
    await jobs.notify(db)
    return given


async def give_back_uncounted(db: AsyncSession, claim: Claim, error: str) -> bool:
    """Puts the job back into the queue because the database server left during this attempt, which does not count."""
    pause = PAUSE_AFTER_LOSS * int(2**claim.uncounted - 1)
    counted = {"uncounted": Job.uncounted + 1, "error": error[:LONGEST_ERROR]}
    given = await _move(
        db, claim.id, claim.attempt, status="queued", due_at=func.now() + pause, heartbeat_at=None, **counted
    )
    await jobs.notify(db)
    return given


def pause_before(kind: JobKind, attempt: int) -> timedelta:
    """How long to wait after this attempt failed. Only attempts that count are meant."""
    return kind.pause * int(2 ** (attempt - 1))


def _claimable(job_id: int, attempt: int, stale_after: timedelta, busy: NoPlace) -> Select[int]:
    fits = or_(_fits_as_brief(busy), _fits_as_long(busy))
    return select(Job.id).where(Job.id == job_id, Job.attempt == attempt, _takeable(stale_after), fits)


def _takeable(stale_after: timedelta | None) -> ColumnElement[bool]:
    waiting = and_(Job.status == "queued", Job.due_at <= func.now())
    if stale_after is None:
        return and_(waiting, jobs.MAY_RUN)
    abandoned = and_(Job.status == "running", Job.heartbeat_at < func.now() - stale_after)
    return and_(or_(waiting, abandoned), jobs.MAY_RUN)


def _is_last_attempt() -> ColumnElement[bool]:
    attempts = case({name: kind.attempts for name, kind in jobs.KINDS.items()}, value=Job.name)
    return and_(Job.status == "running", Job.attempt - Job.uncounted >= attempts)


def _fits_as_brief(busy: NoPlace) -> ColumnElement[bool]:
    return and_(_IS_BRIEF, Job.workspace.not_in(busy.brief))


def _fits_as_long(busy: NoPlace) -> ColumnElement[bool]:
    return false() if busy.is_full else and_(~_IS_BRIEF, Job.workspace.not_in(busy.long))


async def _move(db: AsyncSession, job_id: int, attempt: int, **values: Any) -> bool:
    """Changes the row only while it is the running one of this attempt."""
    statement = update(Job).where(Job.id == job_id, Job.attempt == attempt, Job.status == "running").values(**values)
    return await db.scalar(statement.returning(Job.id)) is not None
