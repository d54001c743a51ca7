"""`/health/live` and `/health/ready`, for whoever runs it. Metrics: app/host/metrics.py."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import text

from app.web.context import Context
from app.web.guards import public


@get("/health/live", guards=[public])
async def live() -> dict[str, str]:
    return {"status": "live"}


@get("/health/ready", guards=[public])
async def ready(ctx: NamedDependency[Context]) -> Response[dict[str, Any]]:
    """Ready means: the database answers. When it does not, the gate has answered 503 already."""
    await ctx.db.execute(text("SELECT 1"))
    return Response({"status": "ready"})


ROUTES = [live, ready]
