"""The rows of sync runs: starting or joining one, asking it to stop, closing it, and finding those that pages show.

What a run does is in sync/run.py, and when the schedule wants one in sync/when_due.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.models import OPEN_JOB, Job
from app.clock.codes import TcCode
from app.clock.connection import lease
from app.clock.connection import saved as connection
from app.clock.models import SetAside, SyncRun
from app.clock.profiles import RESOURCES
from app.db.session import workspace_of
from app.errors import Conflict, Invalid, NotFound
from app.problems import looking
from app.webhooks import noting
from app.webhooks.kinds import SYNC_FINISHED

JOB = "clock_sync"
OPEN = ("queued", "running")
DIED = "Its worker died. Rows that it had read are kept, and the next run continues from there."
LOST = "The connection was changed, or another worker took over. Rows that were read are kept."
_REQUEST = frozenset({"resources", "budget_seconds", "import"})


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, for its caller. `status` is that of the row; `code` None when nothing was wrong."""

    run_id: int
    status: str
    code: str | None = None
    message: str | None = None
    resources: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.status == "failed"


async def start_run(db: AsyncSession, trigger: str, request: Mapping[str, Any], actor: audit.Actor) -> tuple[int, bool]:
    """(the run's id, whether it is one that was there already). The caller runs it, or queues it with `queue_run`.

    `request` may hold `resources`, `budget_seconds` and `import`. Raises NotFound without a connection, Conflict when
    it is paused, Invalid for an unknown resource.
    """
    _check(request)
    found = await connection.required(db)
    if found.status == "paused":
        raise Conflict("Syncing is paused; resume it first.")
    await close_dead(db)
    current = await current_run(db)
    if current is not None:
        await _widen(db, current, trigger, request)
        return current.id, True
    run_id = await _insert(db, trigger, request, actor.name)
    if actor.id is not None or trigger in ("manual", "command"):
        await audit.record(db, actor, "clock.sync.start", "sync_run", run_id, after={"request": dict(request)})
    return run_id, False


async def queue_run(
    db: AsyncSession,
    trigger: str,
    request: Mapping[str, Any],
    actor: audit.Actor,
    *,
    due_at: datetime | None = None,
) -> tuple[int, bool]:
    """The same, and a worker is asked to run it, at `due_at` if given."""
    run_id, joined = await start_run(db, trigger, request, actor)
    # A key of its own for every run: a run that asks for the next one is still running itself.
    await jobs.request(db, JOB, key=f"clock_sync:{run_id}", arguments={"run_id": run_id}, due_at=due_at)
    return run_id, joined


async def stop_run(db: AsyncSession, actor: audit.Actor, run_id: int) -> None:
    """Asks a run to end after its page; one that waits ends at once. Raises NotFound, Conflict when it is over."""
    found = await db.scalar(select(SyncRun).where(SyncRun.id == run_id).with_for_update())
    if found is None:
        raise NotFound("There is no such run.")
    if found.status not in OPEN:
        raise Conflict("This run has already ended.")
    values: dict[str, Any] = {"stop_requested": True}
    if found.status == "queued":
        values |= {"status": "truncated", "finished_at": func.now(), "error_code": TcCode.TRUNCATED.value,
                   "error_message": "Stopped before it began."}  # fmt: skip
        await looking.look_soon(db)
    await db.execute(update(SyncRun).where(SyncRun.id == run_id).values(**values))
    await audit.record(db, actor, "clock.sync.stop", "sync_run", run_id)


async def begin(db: AsyncSession, run_id: int, term: timedelta, now: datetime) -> tuple[SyncRun, int] | RunEnd:
    """Takes the lease for a run: (its row, the fencing number), or how it stands when it must not run.

    A run that a dead worker had is closed as truncated, and its request continues in a new one. That one may die too:
    the job of a run that died carries on the last run, if that died as well.
    """
    holder, alive = await lease.holder(db)
    found = await db.scalar(select(SyncRun).where(SyncRun.id == run_id).with_for_update())
    if found is None:
        raise NotFound(f"There is no run {run_id}.")
    if alive:
        return end_of(found)
    last = await _last_run(db) if found.error_message == DIED else found
    if not _died(last) and found.status != "queued":
        return end_of(found)
    if holder is not None and holder != last.id:
        await _close(db, holder, DIED)
    if _died(last):
        await _close(db, last.id, DIED)
        run_id = await _insert(db, "resume", last.request, last.requested_by)
    fence = await lease.take(db, run_id, term)
    await db.execute(update(SyncRun).where(SyncRun.id == run_id).values(status="running", started_at=now))
    started = await db.scalar(select(SyncRun).where(SyncRun.id == run_id).execution_options(populate_existing=True))
    if started is None:
        raise AssertionError("unreachable: the row is locked")
    return started, fence


def _died(run: SyncRun) -> bool:
    """While no worker has the lease, a run that is under way has lost its own."""
    return run.status == "running" or run.error_message == DIED


async def _last_run(db: AsyncSession) -> SyncRun:
    return (await db.scalars(select(SyncRun).order_by(SyncRun.id.desc()).limit(1).with_for_update())).one()


def end_of(found: SyncRun) -> RunEnd:
    return RunEnd(found.id, found.status, found.error_code, found.error_message, found.resources)


async def current_run(db: AsyncSession) -> SyncRun | None:
    """The run that waits or works; None when there is none."""
    return await db.scalar(select(SyncRun).where(SyncRun.status.in_(OPEN)).order_by(SyncRun.id).limit(1))


async def get_run(db: AsyncSession, run_id: int) -> SyncRun:
    """Raises NotFound."""
    found = await db.get(SyncRun, run_id)
    if found is None:
        raise NotFound("There is no such run.")
    return found


async def set_aside_of(db: AsyncSession, run_id: int, limit: int) -> Sequence[SetAside]:
    """The rows that a run could not read, oldest first."""
    return (
        await db.scalars(select(SetAside).where(SetAside.run_id == run_id).order_by(SetAside.id).limit(limit))
    ).all()


async def close_dead(db: AsyncSession) -> bool:
    """Closes a run whose worker died, or whose lease was broken off. Returns True when there was one. A run whose job
    waits for its next attempt stays open: the job resumes it, and `begin` does so for a caller who joins it."""
    holder, alive = await lease.holder(db)
    dead = await db.scalars(select(SyncRun.id).where(SyncRun.status == "running"))
    found = [run_id for run_id in dead if not (alive and run_id == holder)]
    if found and not alive and await jobs.awaits_next_attempt(db, JOB):
        return False
    if found and not alive:
        # The worker may only have slept: all that it still writes is refused from now on.
        await lease.break_off(db)
    for run_id in found:
        await _close(db, run_id, DIED)
    return bool(found)


async def close_left(db: AsyncSession) -> None:
    """As `close_dead`, where no job is left that would carry the run on."""
    has_job = exists().where(Job.workspace == workspace_of(db), Job.name == JOB, OPEN_JOB)
    if not await db.scalar(select(has_job)):
        await close_dead(db)


async def close_lost(db: AsyncSession, run_id: int) -> None:
    """Closes the row of a run that lost its lease, unless the new holder has done so."""
    await _close(db, run_id, LOST)


async def _close(db: AsyncSession, run_id: int, message: str) -> None:
    closed = (
        update(SyncRun)
        .where(SyncRun.id == run_id, SyncRun.status == "running")
        .values(status="truncated", finished_at=func.now(), error_code=TcCode.TRUNCATED.value, error_message=message)
    )
    if ended := (await db.scalars(closed.returning(SyncRun.id))).all():
        await noting.note(db, SYNC_FINISHED, ended)
        await looking.look_soon(db)


async def _widen(db: AsyncSession, waiting: SyncRun, trigger: str, request: Mapping[str, Any]) -> None:
    """A request that joins a run that has not begun adds all that it asks for: a run that was only to continue
    becomes one of its own."""
    if waiting.status != "queued":
        return
    old = waiting.request
    widened = {**old, **request, "import": old.get("import", True) or request.get("import", True)}
    named = old.get("resources"), request.get("resources")
    widened["resources"] = sorted({*named[0], *named[1]}) if named[0] and named[1] else None
    await db.execute(update(SyncRun).where(SyncRun.id == waiting.id).values(request=widened, trigger=trigger))


async def _insert(db: AsyncSession, trigger: str, request: Mapping[str, Any], requested_by: str | None) -> int:
    run_id: int = (
        await db.execute(
            insert(SyncRun)
            .values(trigger=trigger, request=dict(request), requested_by=requested_by)
            .returning(SyncRun.id)
        )
    ).scalar_one()
    return run_id


def _check(request: Mapping[str, Any]) -> None:
    strange = request.keys() - _REQUEST
    if strange:
        raise Invalid(f"A run cannot be asked for {', '.join(sorted(strange))}.")
    unknown = set(request.get("resources") or ()) - set(RESOURCES)
    if unknown:
        raise Invalid(f"There is no resource {', '.join(sorted(unknown))}; known are {', '.join(RESOURCES)}.")
