"""Runs one job: claims its row, keeps saying that it lives, and writes how it ended.
What the job does: its function."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.db import away
from app.errors import Refusal
from app.faults import described
from app.host.problem_kinds import failed_jobs
from app.jobs import Claim, Function
from app.parts import Parts
from app.registry import JobKind
from app.webhooks import noting
from app.worker_pace import Pace
from workers import claims
from workers.cancelling import is_cancelled
from workers.slots import Slots

Touch = Callable[[], Awaitable[Any]]
# A transaction that asks for a job is over after so long, mostly.
HELD_S = 0.5
# How long the end of a job waits for a database that is away. Then another worker takes the job up once it is back.
PATIENCE_S = 600
_log = structlog.get_logger("muster.jobs")


class TakenOver(Exception):
    """Another worker runs this job now, because this one had been silent for too long."""


async def run(
    parts: Parts,
    functions: Mapping[str, Function],
    pace: Pace,
    job: tuple[int, int],
    touch: Touch,
    *,
    slots: Slots,
) -> None:
    """Runs `job`, an id and the attempt that it had, if it is still free and this worker has a place for it. `touch`
    tells the queue, at every beat, that we live.

    Raises nothing that the job raises: the row says how the job ended, and if there is another attempt.
    """
    with ExitStack() as held:
        claim = await _claimed(parts, pace, job, slots, held)
        if claim is not None:
            named = {"job": claim.id, "kind": claim.name, "workspace": claim.workspace}
            held.enter_context(structlog.contextvars.bound_contextvars(**named))
            await _run_claimed(parts, functions[claim.name], pace, claim, touch)


async def _claimed(parts: Parts, pace: Pace, job: tuple[int, int], slots: Slots, held: ExitStack) -> Claim | None:
    """Notes the slot in `held`. Where those who ask for the job have not committed, a look soon wakes it again."""
    async with slots.claiming() as busy:
        async with parts.database.shared_transaction() as db:
            claim = await claims.claim(db, *job, pace.stale_after, busy)
            if claim is None and await claims.is_held(db, *job, pace.stale_after, busy):
                slots.ring_in(HELD_S)
        if claim is not None:
            held.enter_context(slots.taken(claim))
    return claim


async def _run_claimed(parts: Parts, function: Function, pace: Pace, claim: Claim, touch: Touch) -> None:
    kind = jobs.KINDS[claim.name]
    own = replace(parts, database=parts.database.limited(kind.timeout.total_seconds()))
    _log.info("job started", attempt=claim.attempt)
    try:
        async with asyncio.timeout(kind.timeout.total_seconds()), asyncio.TaskGroup() as tasks:
            beating = tasks.create_task(_keep_beating(parts, pace, claim, touch))
            # A job may change much in many transactions. Webhooks are told at its end, once.
            async with noting.one_run(own.database, f"job {claim.id}"):
                await function(own, claim)
            beating.cancel()
    except asyncio.CancelledError:
        await asyncio.shield(_give_back(parts, claim))
        raise
    except TimeoutError:
        await _failed(parts, kind, claim, f"It took longer than {kind.timeout}.")
    except BaseExceptionGroup as group:
        await _broke(parts, kind, claim, group.exceptions[0])
    else:
        await _write(parts, partial(claims.finish, job_id=claim.id, attempt=claim.attempt))
        _log.info("job done")
        await _told(failed_jobs.look_after_success(parts.database, claim.workspace))


async def _write(parts: Parts, end: Callable[[AsyncSession], Awaitable[Any]]) -> None:
    """Writes how the job ended. While the database is away, the job stays in this worker's hands, and no other one has
    to notice its silence. If another one has taken it over, nothing is written."""

    async def write() -> None:
        async with parts.database.shared_transaction() as db:
            await end(db)

    await away.insist(write, PATIENCE_S)


async def _broke(parts: Parts, kind: JobKind, claim: Claim, error: BaseException) -> None:
    if away.is_because_away(error) and claim.uncounted < claims.MOST_UNCOUNTED:
        _log.warning("the database server left during the job", reason=described(error))
        await _write(parts, partial(claims.give_back_uncounted, claim=claim, error=described(error)))
        _log.info("job given back: the database answers again")
        return
    if isinstance(error, TakenOver):
        _log.warning("job taken over by another worker")
        return
    if isinstance(error, Refusal):
        # A refusal of the product will be the same a minute later, so a retry does not help.
        _log.warning("job refused", reason=error.message)
        await _write(parts, partial(claims.fail, job_id=claim.id, attempt=claim.attempt, error=error.message))
        await _told(failed_jobs.look_after_failure(parts.database, claim.workspace))
        return
    _log.error("job failed", exc_info=error)
    await _failed(parts, kind, claim, described(error))


async def _failed(parts: Parts, kind: JobKind, claim: Claim, error: str) -> None:
    ended = partial(claims.fail, job_id=claim.id, attempt=claim.attempt, error=error)
    if claim.counted < kind.attempts:
        pause = claims.pause_before(kind, claim.counted)
        ended = partial(claims.postpone, job_id=claim.id, attempt=claim.attempt, pause=pause, error=error)
    await _write(parts, ended)
    if claim.counted >= kind.attempts:
        await _told(failed_jobs.look_after_failure(parts.database, claim.workspace))


async def _told(look: Awaitable[None]) -> None:
    """Looks for problems of jobs at once. If that fails, the next sweep finds them, and the job's own end stands."""
    try:
        await look
    except Exception:  # noqa: BLE001 - whatever it is, the job has ended as its row says
        _log.exception("problems of jobs were not looked for")


async def _give_back(parts: Parts, claim: Claim) -> None:
    async with parts.database.shared_transaction() as db:
        await claims.give_back(db, claim.id, claim.attempt)
    _log.info("job given back: this worker stops")


async def _keep_beating(parts: Parts, pace: Pace, claim: Claim, touch: Touch) -> None:
    """Raises TakenOver when the row says so, or when our heartbeat failed for so long that it may be true."""
    loop = asyncio.get_running_loop()
    heard = loop.time()
    while not is_cancelled():
        await asyncio.sleep(pace.beat_s)
        try:
            async with asyncio.timeout(pace.beat_s), parts.database.shared_transaction() as db:
                ours = await claims.beat(db, claim.id, claim.attempt)
            await touch()
        except Exception as error:
            _log.warning("the job's heartbeat could not be written", reason=type(error).__name__)
            if loop.time() - heard > pace.stale_s:
                raise TakenOver from error
            continue
        if not ours:
            raise TakenOver
        heard = loop.time()
