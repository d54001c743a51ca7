"""What the jobs of the host do, one function each, and when they become due by themselves. Only workers load it.

Their labels and longest times are in `app/host/module.py`; a job is asked for with `app.jobs.request`.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import cast

from sqlalchemy import Text, and_, bindparam, exists, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import housekeeping
from app.accounts.models import Job
from app.alerts import news, telling, writing
from app.db.direct import Compiled, driver
from app.db.session import PLATFORM, workspace_of
from app.host.backups import monitor
from app.host.problem_kinds import keys, mail_failing
from app.jobs import Claim, Function
from app.long_acts import over_lists
from app.long_acts.models import LongAct
from app.long_acts.over_lists import ListAct, MeantRows
from app.mail import account_letters, outbox, sending, streak
from app.mail.kinds import Writers
from app.parts import Parts
from app.problems import looking, sweeps
from app.problems.kinds import by_time
from app.problems.models import Problem, ProblemSweep
from app.registry import modules
from app.webhooks import noting, tidying
from app.webhooks.sending import Sender, next_due

# There are many of them, and they say little.
_SWEEPS_OVER = (
    Job,
    and_(jobs.IS_OVER, sweeps.IS_SWEEP, Job.finished_at < func.now() - timedelta(days=1)),
)


async def tidy(parts: Parts, _: Claim) -> None:
    await housekeeping.tidy(parts.database.shared_transaction, (*jobs.OVER, *outbox.OVER, _SWEEPS_OVER))


async def carry_on(parts: Parts, claim: Claim) -> None:
    # Loads all pages, which takes a second. The worker's other jobs continue meanwhile.
    kinds = await asyncio.to_thread(_kinds)

    async def open_act(db: AsyncSession, act: LongAct) -> MeantRows:
        return await kinds[act.kind].opened(parts, claim.workspace, db, act)

    transaction = partial(parts.database.transaction, claim.workspace)
    await over_lists.carry_on(transaction, claim.arguments["act_id"], open_act)


@cache
def _kinds() -> Mapping[str, ListAct]:
    """What pages know of their bulk acts (app.web.long_acts.bulk)."""
    return {one.kind: one for module in modules() for one in module.site().long_acts}


async def look_for_problems(parts: Parts, claim: Claim) -> None:
    async with parts.database.transaction(claim.workspace) as db:
        looked = await looking.look(db)
    if looked and claim.workspace == PLATFORM:
        await monitor.tell_monitor(parts)


async def tell_alerts(parts: Parts, claim: Claim) -> None:
    await telling.tell(parts, claim.workspace)


async def check_keys(parts: Parts, _: Claim) -> None:
    await keys.check(parts)


async def send_mail(parts: Parts, claim: Claim) -> None:
    await sending.send_due(parts, claim.workspace, _writers())
    async with parts.database.transaction(PLATFORM) as db:
        if await streak.turned(db):
            await looking.look(db, {mail_failing.KIND})


@cache
def _writers() -> Writers:
    return {kind: writer for module in modules() for kind, writer in getattr(module.work(), "LETTERS", {}).items()}


async def send_webhooks(parts: Parts, claim: Claim) -> None:
    await Sender(parts, claim.workspace).send_due()


async def tidy_webhooks(parts: Parts, claim: Claim) -> None:
    await tidying.tidy(partial(parts.database.transaction, claim.workspace))


async def schedule(parts: Parts, workspace: str) -> datetime | None:
    """Asks for the daily housekeeping of all workspaces, for due mails, alerts and webhooks, and for a look for
    problems."""
    async with parts.database.transaction(workspace) as db:
        if workspace == PLATFORM:
            await jobs.request_daily(db, "housekeeping")
            if await keys.is_due(db, datetime.now(UTC)):
                await jobs.request(db, keys.JOB)
        sends_mail = outbox.is_on(parts.settings)
        mail_due = await _asked(db, outbox.JOB, await sending.next_due(db)) if sends_mail else None
        alert_due = await _asked(db, news.JOB, await news.next_at(db)) if sends_mail else None
        webhooks_due = await _send_due_webhooks(db)
        sweep_due = await _sweep(db)
    return min(filter(None, (mail_due, alert_due, webhooks_due, sweep_due)))


async def _sweep(db: AsyncSession) -> datetime:
    """When the next sweep for problems is due."""
    workspace = workspace_of(db)
    last = await _last_sweep().row(driver(db), {"workspace": workspace})
    if last is not None:
        asked_at = cast("datetime", last.created_at)
        # `opens_at` counts only when a worker of this version has looked since the last sweep was asked for.
        is_quiet = workspace != PLATFORM and not last.busy and last.looked_at is not None and last.looked_at >= asked_at
        next_at = max(
            asked_at + sweeps.EVERY, min(last.opens_at, asked_at + looking.IDLE_EVERY) if is_quiet else asked_at
        )
        if next_at > last.now:
            return next_at
    await jobs.request(db, looking.JOB)
    return datetime.now(UTC) + sweeps.EVERY


@cache
def _last_sweep() -> Compiled:
    busy = or_(exists().where(Problem.stands), *by_time()).label("busy")
    asked = (
        select(Job.created_at, func.now().label("now"), busy, ProblemSweep.looked_at, ProblemSweep.opens_at)
        .outerjoin(ProblemSweep, true())
        .where(Job.workspace == bindparam("workspace", type_=Text), Job.name == looking.JOB)
    )
    return Compiled(asked.order_by(Job.id.desc()).limit(1), with_lists=True)


async def _send_due_webhooks(db: AsyncSession) -> datetime | None:
    """Asks for the job that sends webhooks when it is due. Returns when the next one is due."""
    if await tidying.is_due(db):
        await jobs.request_daily(db, tidying.JOB)
    return await _asked(db, noting.JOB, await next_due(db))


async def _asked(db: AsyncSession, job: str, due: datetime | None) -> datetime | None:
    """Asks for the job when it is due; otherwise returns when it will be."""
    if due is not None and due <= datetime.now(UTC):
        await jobs.request(db, job)
        return None
    return due


FUNCTIONS: Mapping[str, Function] = {
    "housekeeping": tidy,
    keys.JOB: check_keys,
    "long_act": carry_on,
    looking.JOB: look_for_problems,
    news.JOB: tell_alerts,
    outbox.JOB: send_mail,
    noting.JOB: send_webhooks,
    tidying.JOB: tidy_webhooks,
}
LETTERS: Writers = {**account_letters.LETTERS, **writing.LETTERS}
