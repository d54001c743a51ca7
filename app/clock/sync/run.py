"""One sync run from lease to end: the steps in their order, and what each way of ending means.

The steps themselves are in listings.py, punch_sync.py and after_mirror.py; rows of runs in sync/run_rows.py.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import SYSTEM
from app.clock.codes import TcCode
from app.clock.connection import lease
from app.clock.connection import saved as connection
from app.clock.connection.shared_session import locked_sentence
from app.clock.importing.import_due import ImportFailedError
from app.clock.mirror.counts import Counts
from app.clock.mirror.punch_edits import RestoredError
from app.clock.models import Connection, SyncRun
from app.clock.remote import ClockError
from app.clock.remote.session import utc_now
from app.clock.settings import read_settings
from app.clock.sync import run_lease, run_rows
from app.clock.sync.after_mirror import after_mirror, newest_punch, store_counts
from app.clock.sync.listings import sync_listing
from app.clock.sync.punch_sync import sync_punches
from app.clock.sync.run_rows import RunEnd, begin, end_of
from app.clock.sync.run_state import Budget, BudgetSpentError, RunState, StoppedError, Watch
from app.clock.zones import kept_time
from app.counting import count
from app.db.away import is_because_away
from app.outbound import OutboundError
from app.parts import Parts
from app.problems import looking
from app.secrets import SecretError
from app.webhooks import noting
from app.webhooks.kinds import SYNC_FINISHED

_REST = timedelta(minutes=1)
_log = structlog.get_logger("muster.clock.sync")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ends. `queues_next`: there is more to do, so the next run is queued, at `not_before` or at once."""

    status: str
    code: TcCode | None = None
    message: str | None = None
    queues_next: bool = False
    not_before: datetime | None = None


async def run(
    parts: Parts,
    workspace: str,
    run_id: int,
    *,
    now: Callable[[], datetime] = utc_now,
    watch: Watch | None = None,
    term: timedelta = lease.TERM,
) -> RunEnd:
    """Carries out a run that `run_rows.start_run` made. Safe to call twice and from two workers: one of them runs it.

    `watch` is told the progress after every page. `term` is how long a worker that says nothing counts as alive. Never
    raises for what a time-clock server or a database row can do; what Muster itself did wrong closes the run as failed
    and is raised. When the database left, the run stays open, and the next call resumes it.
    """
    async with parts.database.transaction(workspace) as db:
        begun = await begin(db, run_id, term, now())
        if isinstance(begun, RunEnd):
            return begun
        row, fence = begun
        running = await _prepare(db, parts, workspace, row, fence=fence, now=now)
    running.watch, running.term, running.resumes = watch, term, row.trigger == "resume"
    async with run_lease.kept(running):
        try:
            return await _close(running, row, await _carry_out(running, row.request))
        except lease.LeaseLostError:
            await running.flush_log()
            async with parts.database.transaction(workspace) as db:
                await run_rows.close_lost(db, row.id)
                return end_of(await run_rows.get_run(db, row.id))
        except asyncio.CancelledError:
            await run_lease.let_go(running)
            raise
        except Exception as error:
            if is_because_away(error):
                await run_lease.let_go_when_back(running)
                raise
            _log.exception("sync run broke", workspace=workspace, run_id=row.id)
            sentence = (
                f"Muster itself failed ({type(error).__name__}); its log says where. The next run continues from here."
            )
            broke = RunOutcome("failed", TcCode.IMPORT, sentence)  # the one code for a fault that is not the server's
            with suppress(lease.LeaseLostError):
                await _close(running, row, broke)
            raise


async def _prepare(
    db: AsyncSession, parts: Parts, workspace: str, row: SyncRun, *, fence: int, now: Callable[[], datetime]
) -> RunState:
    found = await connection.required(db)
    settings = await read_settings(db, now())
    asked = row.request.get("budget_seconds")
    return RunState(
        parts=parts,
        workspace=workspace,
        run_id=row.id,
        fence=fence,
        settings=settings,
        profile=connection.profile_of(found),
        zone=ZoneInfo(found.timezone),
        generation=found.id_generation,
        budget=Budget(float(asked) if asked is not None else settings.run_budget_seconds, settings.run_budget_calls),
        now=now,
        newest_found=await newest_punch(db),
    )


async def _carry_out(running: RunState, request: Mapping[str, Any]) -> RunOutcome:
    """The steps. What stops them becomes an ending; a lost lease, a database that left and our own faults go
    through."""
    spent = False
    try:
        await _open_remote(running)
        try:
            await _mirror(running, request)
        except BudgetSpentError:
            spent = True
        await after_mirror(running, imports=bool(request.get("import", True)))
    except (StoppedError, RestoredError, SecretError, ImportFailedError, OutboundError) as error:
        if is_because_away(error):
            raise
        return _stopped_by(running, error)
    if spent:
        return RunOutcome("truncated", TcCode.TRUNCATED, _budget_sentence(running), queues_next=True)
    return _finished(running)


async def _open_remote(running: RunState) -> None:
    """Raises ClockError where no call may go out: the connection is locked, or the server asked us to wait."""
    async with running.parts.database.transaction(running.workspace) as db:
        found = await connection.required(db)
    if found.status == "locked":
        raise ClockError(TcCode.LOCKED, locked_sentence(found.locked_until, found.timezone))
    if found.not_before is not None and running.now() < found.not_before:
        wait_s = (found.not_before - running.now()).total_seconds()
        raise ClockError(
            TcCode.RATE,
            f"The server asked us to wait until {kept_time(found.not_before, found.timezone)}; nothing was asked.",
            retry_after_s=wait_s,
        )
    running.use(connection.open_remote(running.parts, running.workspace, found, running.log, now=running.now))


async def _mirror(running: RunState, request: Mapping[str, Any]) -> None:
    wanted = set(request.get("resources") or running.profile.resources)
    for resource in running.profile.resources:
        if resource not in wanted:
            continue
        running.counts.setdefault(resource, Counts())
        if resource == "transactions":
            await sync_punches(running)
        else:
            await sync_listing(running, resource)


def _finished(running: RunState) -> RunOutcome:
    """Everything was read. A remaining problem makes the run partial: SHAPE before CONFLICT before TRUNCATED."""
    aside = sum(counts.set_aside for counts in running.counts.values())
    found = running.findings
    problems = (
        [(TcCode.SHAPE, f"{count(aside, 'row', 'rows')} set aside; the run names each with its reason.")]
        if aside
        else []
    )
    problems += [
        (TcCode.SHAPE, f"The list of {name} was not accepted; see Sync Center.") for name in found.get("refused", ())
    ]
    if conflicts := found.get("conflicts"):
        problems.append(
            (TcCode.CONFLICT, f"{count(len(conflicts), 'new conflict', 'new conflicts')} between people and codes.")
        )
    problems += [(TcCode.TRUNCATED, sentence) for sentence in found.get("incomplete", ())]
    if problems:
        return RunOutcome("partial", problems[0][0], " ".join(sentence for _, sentence in problems))
    return RunOutcome("succeeded")


def _stopped_by(
    running: RunState, error: StoppedError | RestoredError | SecretError | ImportFailedError | OutboundError
) -> RunOutcome:
    match error:
        case StoppedError():
            return RunOutcome("truncated", TcCode.TRUNCATED, "Stopped by a person; the next run continues from here.")
        case RestoredError():
            running.findings["restored"] = running.generation
            return RunOutcome("failed", TcCode.SHAPE, error.sentence)
        case SecretError():
            return RunOutcome("failed", TcCode.AUTH, str(error))
        case ImportFailedError():
            return RunOutcome("failed", TcCode.IMPORT, str(error))
        case OutboundError(code=TcCode.RATE):
            not_before = running.now() + timedelta(seconds=error.retry_after_s or 0)
            return RunOutcome("truncated", TcCode.RATE, error.message, queues_next=True, not_before=not_before)
        case _:
            return RunOutcome("failed", TcCode(error.code), error.message)


def _budget_sentence(running: RunState) -> str:
    spent = "calls" if running.budget.made >= running.budget.calls else "time"
    return f"The run used up its {spent}; the next run continues from here."


async def _close(running: RunState, row: SyncRun, ending: RunOutcome) -> RunEnd:
    """The run's last transaction: its row, the connection's health, the lease,
    and the next run if there is more to do."""
    await running.flush_log()
    async with running.parts.database.transaction(running.workspace) as db:
        await lease.keep(db, running.fence, running.term)
        await _set_health(db, ending, running.now())
        if row.request.get("import", True):
            await store_counts(db, running)
        closed = (
            await db.execute(
                update(SyncRun)
                .where(SyncRun.id == running.run_id)
                .values(
                    status=ending.status,
                    error_code=ending.code.value if ending.code else None,
                    error_message=ending.message,
                    finished_at=running.now(),
                    calls=running.budget.made,
                    resources={name: counts.plain() for name, counts in running.counts.items()},
                    findings=running.findings,
                    progress={},
                )
                .returning(SyncRun)
            )
        ).scalar_one()
        await lease.give_back(db, running.fence)
        await noting.note(db, SYNC_FINISHED, [running.run_id])
        if ending.queues_next:
            request = {name: value for name, value in row.request.items() if name != "budget_seconds"}
            await run_rows.queue_run(db, "resume", request, SYSTEM, due_at=_next_at(running, ending))
        await looking.look_soon(db)
    return end_of(closed)


def _next_at(running: RunState, ending: RunOutcome) -> datetime | None:
    """A server that refuses calls but allows a retry at once must not be asked by one run after another
    that gets no row."""
    if ending.not_before is None or any(counts.fetched for counts in running.counts.values()):
        return ending.not_before
    return max(ending.not_before, running.now() + _REST)


async def _set_health(db: AsyncSession, ending: RunOutcome, now: datetime) -> None:
    if ending.status in ("succeeded", "partial"):
        await connection.mark_working(db, now)
    elif ending.status == "failed":
        await connection.mark_failed(db, ending.code.value if ending.code else "", ending.message or "", now)
    elif ending.not_before is not None:
        await db.execute(update(Connection).values(not_before=ending.not_before))
