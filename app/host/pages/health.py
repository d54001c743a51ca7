"""`/health/live` and `/health/ready`, for the people who run the server. Metrics: app/host/pages/metrics.py."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency

from app.web.context import Context
from app.web.guards import public


@get("/health/live", guards=[public])
async def live() -> dict[str, str]:
    return {"status": "live"}


@get("/health/ready", guards=[public])
async def ready(ctx: NamedDependency[Context]) -> Response[dict[str, Any]]:
    """Ready means: the database answers, has the tables that this program needs, and the process is not about to end. When the
    database does not answer, the gate has answered 503 already. Tables of a newer program are no reason: while that is brought
    in, the old one continues."""
    if ctx.parts.leaving.has_begun:
        return Response({"status": "is stopping"}, status_code=503)
    # Alembic is loaded on the first request, not by every command that knows the routes.
    from app.db.migrate import out_of_step

    if "behind" in (await out_of_step(ctx.db)).values():
        return Response({"status": "waits for muster migrate:modules"}, status_code=503)
    return Response({"status": "ready"})


ROUTES = [live, ready]
