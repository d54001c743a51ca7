"""`/metrics` for Prometheus: requests, durations and connections of the web processes, and the jobs of all workspaces.

Reached from the machine itself, or with a token of scope `metrics:read`. The processes of one `serve` share a folder
(commands/shared_figures.py), so each answers for all of them. Ask another machine for its own.
"""

import asyncio
import ipaddress
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector
from sqlalchemy import Boolean, ColumnElement, Float, cast, func, literal_column, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.pool import QueuePool

from app import jobs
from app.accounts import tokens
from app.accounts.models import Job, WorkerHeartbeat
from app.db.session import Database
from app.problems import counting
from app.problems.kinds import kinds
from app.web.context import Context
from app.web.guards import public
from app.web.transport.methods import API

REQUESTS = Counter("muster_requests", "Requests that were answered.", ["method", "route", "status"])
SECONDS = Histogram(
    "muster_request_seconds",
    "Time until the answer was sent whole.",
    ["kind"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
# The value of a dead process does not count.
CONNECTIONS = Gauge(
    "muster_db_connections", "Database connections of the web processes.", ["state"], multiprocess_mode="livesum"
)
NOTED_EVERY_S = 1

# Litestar adds the charset of a text itself.
FORMAT = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")
# Name, help, labels and value of one figure.
Measure = tuple[str, str, dict[str, str], float]


class Measured:
    """Litestar middleware around every route that was found. Addresses are counted by their pattern, so they stay
    few."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            path = scope["path"]
            route = "/static" if path.startswith("/static/") else scope.get("path_template") or path
            REQUESTS.labels(scope["method"], route, f"{status // 100}xx").inc()
            kind = "api" if path.startswith(API) else "static" if route == "/static" else "page"
            SECONDS.labels(kind).observe(time.perf_counter() - started)


@get("/metrics", guards=[public], include_in_schema=False)
async def metrics(ctx: NamedDependency[Context], request: Request[Any, Any, Any]) -> Response[bytes]:
    if not from_this_machine(request) and not await _has_token(ctx, request):
        return Response(
            b"Ask from the machine itself, or with a token of scope metrics:read.\n",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
    _note_connections(ctx.parts.database)
    body = generate_latest(_counted()) + generate_latest(await _measured(ctx.db))
    return Response(body, media_type=FORMAT)


def from_this_machine(request: Request[Any, Any, Any]) -> bool:
    """A proxy beside us also calls from loopback, for the whole world: what it forwards is not a local call."""
    if {"x-forwarded-for", "forwarded", "x-real-ip"} & set(request.headers):
        return False
    try:
        return ipaddress.ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        return False


async def _has_token(ctx: Context, request: Request[Any, Any, Any]) -> bool:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and await tokens.opens(ctx.db, text.strip(), "metrics:read")


def _counted() -> CollectorRegistry:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


@asynccontextmanager
async def noting_connections(database: Database) -> AsyncIterator[None]:
    """Keeps the number of connections in the folder, where the process that is asked finds it."""

    async def keep_noting() -> None:
        while True:
            _note_connections(database)
            await asyncio.sleep(NOTED_EVERY_S)

    noting = asyncio.create_task(keep_noting())
    try:
        yield
    finally:
        noting.cancel()


def _note_connections(database: Database) -> None:
    pool = database.engine.pool
    if isinstance(pool, QueuePool):
        CONNECTIONS.labels("used").set(pool.checkedout())
        CONNECTIONS.labels("idle").set(pool.checkedin())


async def _measured(db: AsyncSession) -> CollectorRegistry:
    """What the database says at this moment."""
    registry = CollectorRegistry()
    gauges: dict[str, Gauge] = {}
    for name, said, labels, value in [*await _jobs(db), *await _done(db), *await _problems(db)]:
        if name not in gauges:
            gauges[name] = Gauge(name, said, sorted(labels), registry=registry)
        gauge = gauges[name].labels(**labels) if labels else gauges[name]
        gauge.set(value)
    return registry


# A literal, not a parameter: otherwise PostgreSQL does not use the indexes on waiting and on failed jobs.
_NOT_DONE: ColumnElement[bool] = literal_column(
    "(jobs.status IN ('queued', 'running') OR jobs.status = 'failed')", Boolean
)


async def _jobs(db: AsyncSession) -> list[Measure]:
    counted = select(Job.status, Job.name, func.count().label("number")).where(_NOT_DONE, jobs.MAY_RUN)
    rows = (await db.execute(counted.group_by(Job.status, Job.name))).all()
    late = cast(func.extract("epoch", func.now() - func.min(Job.due_at)), Float)
    waited = await db.scalar(select(late).where(Job.status == "queued", Job.due_at <= func.now(), jobs.MAY_RUN))
    alive = select(func.count()).where(WorkerHeartbeat.seen_at > func.now() - jobs.WORKER_SILENT_AFTER)
    return [
        *(
            ("muster_jobs", "Jobs that are not done.", {"status": row.status, "job": row.name}, row.number)
            for row in rows
        ),
        ("muster_job_wait_seconds", "How long the job that is due longest has waited.", {}, waited or 0.0),
        ("muster_workers", "Job workers that were heard of lately.", {}, await db.scalar(alive) or 0),
    ]


# One look into an index for each kind of work of a workspace, however many jobs there were.
_DONE = text(
    """
    WITH RECURSIVE kinds AS (
        (SELECT workspace, name FROM jobs WHERE status = 'done' ORDER BY workspace, name LIMIT 1)
        UNION ALL
        SELECT following.workspace, following.name FROM kinds CROSS JOIN LATERAL (
            SELECT workspace, name FROM jobs j WHERE status = 'done' AND (j.workspace, j.name) > (kinds.workspace, kinds.name)
            ORDER BY workspace, name LIMIT 1) AS following
    )
    SELECT name, extract(epoch FROM now() - min(latest.at))::float8 AS age FROM kinds CROSS JOIN LATERAL (
        SELECT max(finished_at) AS at FROM jobs j
        WHERE status = 'done' AND j.workspace = kinds.workspace AND j.name = kinds.name) AS latest
    WHERE latest.at IS NOT NULL GROUP BY name
    """
)


async def _done(db: AsyncSession) -> list[Measure]:
    """For each kind of work: how long ago it last succeeded, in the workspace where that is longest ago. So a stuck
    sync of any workspace shows."""
    said = "Seconds since the kind of job last succeeded, in the workspace where that is longest ago."
    return [("muster_job_done_age_seconds", said, {"job": row.name}, row.age) for row in await db.execute(_DONE)]


async def _problems(db: AsyncSession) -> list[Measure]:
    """From the stored counts: a kind without a single problem so far has none."""
    found = await counting.open_everywhere(db)
    said = "Open problems of all workspaces."
    return [("muster_problems_open", said, {"kind": kind}, found.get(kind, 0)) for kind in sorted({*kinds(), *found})]


ROUTES = [metrics]
