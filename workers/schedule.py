"""Asked every minute: which work has become due in which workspace? Modules answer; the answers become jobs."""

from dataclasses import replace

import structlog
from sqlalchemy import select

from app.accounts.models import Tenant
from app.db.session import PLATFORM
from app.parts import Parts
from app.registry import modules

# For one statement: to ask what is due is little work.
PATIENCE_S = 2
_log = structlog.get_logger("muster.jobs")


async def schedule(parts: Parts) -> None:
    """One workspace or module that fails, or does not answer in time, keeps no other from its turn."""
    parts = replace(parts, database=parts.database.limited(PATIENCE_S))
    async with parts.database.shared_transaction() as db:
        tenants = (await db.scalars(select(Tenant.key).where(Tenant.active).order_by(Tenant.key))).all()
    for workspace in (PLATFORM, *tenants):
        for ask in (module.work().schedule for module in modules()):
            try:
                await ask(parts, workspace)
            except Exception:  # noqa: BLE001 - whatever it is, the others get their turn
                _log.exception("scheduling failed", workspace=workspace)
