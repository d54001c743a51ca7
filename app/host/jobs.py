"""What the jobs of the host do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/host/module.py`; a job is asked for with `app.jobs.request`.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial

from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import housekeeping
from app.db.session import PLATFORM
from app.jobs import Claim, Function
from app.long_acts import over_lists
from app.long_acts.models import LongAct
from app.long_acts.over_lists import ListAct, MeantRows
from app.mail import account_letters, outbox, sending
from app.mail.kinds import Writers
from app.parts import Parts
from app.registry import modules


async def tidy(parts: Parts, _: Claim) -> None:
    await housekeeping.tidy(parts.database.shared_transaction, outbox.OVER)


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


async def send_mail(parts: Parts, claim: Claim) -> None:
    await sending.send_due(parts, claim.workspace, _writers())


@cache
def _writers() -> Writers:
    return {kind: writer for module in modules() for kind, writer in getattr(module.work(), "LETTERS", {}).items()}


async def schedule(parts: Parts, workspace: str) -> datetime | None:
    """Asks for the daily housekeeping, which is of all workspaces, and for mails that are due."""
    sends_mail = outbox.is_on(parts.settings)
    if workspace != PLATFORM and not sends_mail:
        return None
    async with parts.database.transaction(workspace) as db:
        if workspace == PLATFORM:
            await jobs.request_daily(db, "housekeeping")
        return await _send_due_mail(db) if sends_mail else None


async def _send_due_mail(db: AsyncSession) -> datetime | None:
    """When the next one is due."""
    due = await sending.next_due(db)
    if due is not None and due <= datetime.now(UTC):
        await jobs.request(db, outbox.JOB)
        return None
    return due


FUNCTIONS: Mapping[str, Function] = {"housekeeping": tidy, "long_act": carry_on, outbox.JOB: send_mail}
LETTERS: Writers = account_letters.LETTERS
