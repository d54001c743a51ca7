"""What the jobs of the host do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/host/module.py`; a job is asked for with `app.jobs.request`.
"""

import asyncio
from collections.abc import Mapping
from functools import cache, partial

from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import housekeeping
from app.db.session import PLATFORM
from app.jobs import Claim, Function
from app.long_acts import over_lists
from app.long_acts.models import LongAct
from app.long_acts.over_lists import ListAct, MeantRows
from app.parts import Parts
from app.registry import modules


async def tidy(parts: Parts, _: Claim) -> None:
    await housekeeping.tidy(parts.database.shared_transaction)


async def carry_on(parts: Parts, claim: Claim) -> None:
    # It loads all pages, which takes a second. The worker's other jobs continue.
    kinds = await asyncio.to_thread(_kinds)

    async def open_act(db: AsyncSession, act: LongAct) -> MeantRows:
        return await kinds[act.kind].opened(parts, claim.workspace, db, act)

    transaction = partial(parts.database.transaction, claim.workspace)
    await over_lists.carry_on(transaction, claim.arguments["act_id"], open_act)


@cache
def _kinds() -> Mapping[str, ListAct]:
    """What pages know of their bulk acts (app.web.long_acts.bulk)."""
    return {one.kind: one for module in modules() for one in module.site().long_acts}


async def schedule(parts: Parts, workspace: str) -> None:
    """Asks for the daily housekeeping, which is of all workspaces."""
    if workspace == PLATFORM:
        async with parts.database.transaction(PLATFORM) as db:
            await jobs.request_daily(db, "housekeeping")


FUNCTIONS: Mapping[str, Function] = {"housekeeping": tidy, "long_act": carry_on}
