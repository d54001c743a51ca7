"""`/health/live` and `/health/ready`, for the people who run the server. Metrics: app/host/pages/metrics.py."""

import asyncio
from typing import Any

import structlog
from asyncpg import PostgresError
from litestar import Response, get
from litestar.datastructures import State
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.db.session import PLATFORM, Database, look_into
from app.parts import Parts
from app.web.errors import RETRY_AFTER_S, as_refusal
from app.web.guards import public

log = structlog.get_logger()
# Who asks waits for some seconds at most, and takes silence for a failure of the process.
PATIENCE_S = 3


@get("/health/live", guards=[public])
async def live() -> dict[str, str]:
    return {"status": "live"}


@get("/health/ready", guards=[public])
async def ready(state: State) -> Response[dict[str, Any]]:
    """Ready means: the database answers in time, has the tables that this program needs, and the process is not about to end. Tables
    of a newer program are no reason: while that is brought in, the old one continues."""
    parts: Parts = state.parts
    if parts.leaving.has_begun:
        return _not_ready("is stopping")
    try:
        async with asyncio.timeout(PATIENCE_S):
            behind = await _is_behind(parts.database)
    except (DBAPIError, PostgresError, PoolTimeoutError, OSError) as fault:
        reason = as_refusal(fault).message.partition(".")[0]
        log.warning("not ready", error=type(fault).__name__)
        return _not_ready(reason)
    return _not_ready("waits for muster migrate:modules") if behind else Response({"status": "ready"})


async def _is_behind(database: Database) -> bool:
    # Alembic is loaded on the first request, not by every command that knows the routes.
    from app.db.migrate import out_of_step

    async with database.limited(PATIENCE_S).shared_transaction() as db:
        await look_into(db, PLATFORM)
        return "behind" in (await out_of_step(db)).values()


def _not_ready(status: str) -> Response[dict[str, Any]]:
    return Response({"status": status}, status_code=503, headers={"Retry-After": str(RETRY_AFTER_S)})


ROUTES = [live, ready]
