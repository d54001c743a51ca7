"""`/health/live` and `/health/ready`, for the people who run the server. Metrics: app/host/pages/metrics.py."""

import asyncio
from typing import Any

import structlog
from asyncpg import PostgresError
from litestar import Response, get
from litestar.datastructures import State
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.db.session import PLATFORM, Database
from app.parts import Parts
from app.problems import sweeps
from app.problems.sweeps import WorkerStanding
from app.web.errors.refusals import RETRY_AFTER_S, as_refusal
from app.web.guards import public

log = structlog.get_logger()
# A caller waits for some seconds at most, and takes silence for a failure of the process.
PATIENCE_S = 3
_WRONG = {
    "outgrown": "is too old for its tables: start the newer version",
    "behind": "waits for muster migrate:modules",
}
LATE = "No look for problems has succeeded for three times its interval, though a worker is alive."


@get("/health/live", guards=[public])
async def live() -> dict[str, str]:
    return {"status": "live"}


@get("/health/ready", guards=[public])
async def ready(state: State) -> Response[dict[str, Any]]:
    """Ready means: the database answers in time, has the tables that this program needs, and the process is not about
    to end. Tables that a newer program extended count as ready: this program continues during an update. So does a
    portal without a worker: it answers, and `workers` says so; `late` says when one is alive and makes no look for
    problems."""
    parts: Parts = state.parts
    if parts.leaving.has_begun:
        return _not_ready("is stopping")
    try:
        async with asyncio.timeout(PATIENCE_S):
            wrong, standing = await _found(parts.database)
    except (DBAPIError, PostgresError, PoolTimeoutError, OSError) as fault:
        reason = as_refusal(fault).message.partition(".")[0]
        log.warning("not ready", error=type(fault).__name__)
        return _not_ready(reason)
    if standing is None:
        return _not_ready(wrong)
    late = {"late": LATE} if standing.is_late else {}
    return Response({"status": "ready", "workers": standing.workers, **late})


async def _found(database: Database) -> tuple[str, WorkerStanding | None]:
    """What is wrong, else how the workers do."""
    # Alembic is loaded on the first request, not by every command that knows the routes.
    from app.db.standing import out_of_step

    async with database.limited(PATIENCE_S).shared_transaction() as db:
        found = set((await out_of_step(db, PLATFORM)).values())
        wrong = next((_WRONG[one] for one in _WRONG if one in found), "")
        return wrong, None if wrong else await sweeps.standing(db)


def _not_ready(status: str) -> Response[dict[str, Any]]:
    return Response({"status": status}, status_code=503, headers={"Retry-After": str(RETRY_AFTER_S)})


ROUTES = [live, ready]
