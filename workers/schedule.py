"""Asked every minute: which work has become due in which workspace? Modules answer; the answers become jobs."""

import structlog
from sqlalchemy import select

from app import jobs
from app.accounts.models import Tenant
from app.db.session import PLATFORM
from app.parts import Parts
from workers import clock, surveys

_log = structlog.get_logger("muster.jobs")


async def schedule(parts: Parts) -> None:
    """One workspace or module that fails keeps no other from its turn."""
    async with parts.database.shared_transaction() as db:
        tenants = (await db.scalars(select(Tenant.key).where(Tenant.active).order_by(Tenant.key))).all()
    async with parts.database.transaction(PLATFORM) as db:
        await jobs.request_daily(db, "housekeeping")
    for workspace in (PLATFORM, *tenants):
        for ask in (clock.schedule, surveys.schedule):
            try:
                await ask(parts, workspace)
            except Exception:  # noqa: BLE001 - whatever it is, the others get their turn
                _log.exception("scheduling failed", workspace=workspace)
