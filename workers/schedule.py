"""Asked every minute: which work has become due in which workspace? Modules answer; the answers become jobs."""

from datetime import UTC, datetime, time

import structlog
from sqlalchemy import select

from app import jobs
from app.db.session import PLATFORM
from app.host.shared import Job, Tenant
from app.parts import Parts
from workers import clock

_log = structlog.get_logger("muster.jobs")


async def schedule(parts: Parts) -> None:
    """One workspace that fails keeps no other from its turn."""
    async with parts.database.shared_transaction() as db:
        tenants = (await db.scalars(select(Tenant.key).where(Tenant.active).order_by(Tenant.key))).all()
    await _request_housekeeping(parts)
    for workspace in (PLATFORM, *tenants):
        try:
            await clock.schedule(parts, workspace)
        except Exception:  # noqa: BLE001 - whatever it is, the others get their turn
            _log.exception("scheduling failed", workspace=workspace)


async def _request_housekeeping(parts: Parts) -> None:
    """Once a UTC day."""
    midnight = datetime.combine(datetime.now(UTC).date(), time(), UTC)
    async with parts.database.transaction(PLATFORM) as db:
        today = select(Job.id).where(Job.name == "housekeeping", Job.created_at >= midnight).limit(1)
        if await db.scalar(today) is None:
            await jobs.request(db, "housekeeping")
