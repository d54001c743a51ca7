"""The log of outbound calls: one row for every attempt, redacted before it comes here. The page reads it."""

from collections.abc import Sequence

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.models import ApiLog
from app.db.session import Database
from app.outbound import CallRecord, Log

_INSERT = insert(ApiLog)
INSERT_JSON = """
INSERT INTO clock_api_logs (at, run_id, method, host, path, query, http_status, body_code, duration_ms, bytes, tc_code, excerpt)
SELECT started_at, :run_id, method, host, path, query, http_status, body_code, duration_ms, bytes, tc_code, excerpt
FROM jsonb_to_recordset(CAST(:records AS jsonb)) AS r (started_at timestamptz, method text, host text, path text, query text,
    http_status int, body_code text, duration_ms bigint, bytes bigint, tc_code text, excerpt text)
"""
"""The same as part of a larger statement; `:records` is a JSON array of call records."""


async def store(db: AsyncSession, run_id: int | None, records: Sequence[CallRecord]) -> None:
    """Writes the given calls; `run_id` is None for calls that no run made."""
    if not records:
        return
    rows = [
        {
            "at": record.started_at,
            "run_id": run_id,
            "method": record.method,
            "host": record.host,
            "path": record.path,
            "query": record.query,
            "http_status": record.http_status,
            "body_code": record.body_code,
            "duration_ms": record.duration_ms,
            "bytes": record.bytes,
            "tc_code": record.tc_code,
            "excerpt": record.excerpt,
        }
        for record in records
    ]
    await db.execute(_INSERT, rows)


def logging_to(database: Database, workspace: str) -> Log:
    """A log for calls outside a run, such as a connection test: each is written at once, in its own transaction."""

    async def log(record: CallRecord) -> None:
        async with database.transaction(workspace) as db:
            await store(db, None, [record])

    return log
