"""Rows of runs and cursors, as a sync leaves them, for tests of the pages that show them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.clock.connection.shared_session import password_place
from app.clock.mirror import cursors
from app.clock.models import Connection, SyncRun
from app.parts import Parts
from app.secrets import Secret

COUNTS = {"fetched": 500, "created": 3, "updated": 2, "unchanged": 494, "missing": 0, "set_aside": 1}


async def connected(parts: Parts, base_url: str = "http://127.0.0.1:1", **more: Any) -> None:
    """A saved connection whose password can be opened."""
    async with parts.database.transaction() as db:
        password = parts.keys.seal(Secret("open sesame"), password_place("main"))
        values = {"username": "clock", "profile": "cloud", "timezone": "Europe/Berlin", "status": "healthy", **more}
        await db.execute(insert(Connection).values(base_url=base_url, password=password, **values))


async def run(db: AsyncSession, status: str = "succeeded", **more: Any) -> int:
    """A run that began two minutes ago; its id."""
    began = datetime.now(UTC) - timedelta(minutes=2)
    over = status not in ("queued", "running")
    values: dict[str, Any] = {
        "trigger": "manual",
        "status": status,
        "requested_by": "Alice Ahn",
        "queued_at": began,
        "started_at": None if status == "queued" else began,
        "finished_at": began + timedelta(minutes=1) if over else None,
        "resources": {"employees": COUNTS},
        **more,
    }
    return (await db.scalar(insert(SyncRun).values(**values).returning(SyncRun.id))) or 0


async def disappearance(db: AsyncSession, missing: int, run_id: int = 7, **more: Any) -> None:
    """People of generation 1 are not in the listing of generation 2, which was not believed."""
    pending = {
        "missing": missing, "known": missing + 1, "listed": 1, "generation": 2, "at": "2026-01-01T00:00:00Z",
        "run_id": run_id, "examples": [], "digest": "x", "refused_by": None, **more,
    }  # fmt: skip
    await cursors.write(db, "employees", "", kind="listing", state="refused", generation=2, pending=pending)
