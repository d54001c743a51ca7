"""What the jobs of the host do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/host/module.py`; a job is asked for with `app.jobs.request`.
"""

from collections.abc import Mapping

from app import jobs
from app.accounts import housekeeping
from app.db.session import PLATFORM
from app.jobs import Claim, Function
from app.parts import Parts


async def tidy(parts: Parts, _: Claim) -> None:
    async with parts.database.shared_transaction() as db:
        await housekeeping.tidy(db)


async def schedule(parts: Parts, workspace: str) -> None:
    """Asks for the daily housekeeping, which is of all workspaces."""
    if workspace == PLATFORM:
        async with parts.database.transaction(PLATFORM) as db:
            await jobs.request_daily(db, "housekeeping")


FUNCTIONS: Mapping[str, Function] = {"housekeeping": tidy}
