"""`/ping/<secret>`: a backup says that it was made.
Any program may call it, with GET or POST: the secret gives the right.

The secret is never logged: app.logs leaves out what follows `/ping/`.
"""

import time
from collections import OrderedDict

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.api import rate_limit_rules
from app.api.pages import answer_program
from app.api.rate_limit_rules import Bucket
from app.db.session import PLATFORM, enter_workspace
from app.errors import RateLimited
from app.host.backups import watch
from app.host.problem_kinds import backup_overdue
from app.problems import looking
from app.web.context import Context
from app.web.guards import public

PER_MINUTE = 60
# Addresses of callers that this process remembers.
MOST_CALLERS = 10_000
_buckets: OrderedDict[str, Bucket] = OrderedDict()


@get("/ping/{secret:str}", guards=[public], status_code=204, exception_handlers={Exception: answer_program})
async def got(ctx: NamedDependency[Context], secret: FromPath[str]) -> None:
    await _note(ctx, secret)


@post("/ping/{secret:str}", guards=[public], status_code=204, exception_handlers={Exception: answer_program})
async def posted(ctx: NamedDependency[Context], secret: FromPath[str]) -> None:
    await _note(ctx, secret)


async def _note(ctx: Context, secret: str) -> None:
    _count(ctx.ip or "", time.monotonic())
    await enter_workspace(ctx.db, PLATFORM)
    if await watch.note(ctx.db, secret):
        await looking.look(ctx.db, {backup_overdue.KIND})


def _count(caller: str, now: float) -> None:
    """Raises RateLimited when this caller called too often."""
    bucket, got_one = rate_limit_rules.granted(_buckets.get(caller), now, PER_MINUTE, 1, 0)
    _buckets[caller] = bucket
    _buckets.move_to_end(caller)
    if len(_buckets) > MOST_CALLERS:
        _buckets.popitem(last=False)
    if not got_one:
        wait_s = rate_limit_rules.wait_s(bucket.left, PER_MINUTE)
        raise RateLimited(f"More than {PER_MINUTE} calls a minute.", retry_after_s=wait_s)


FROM_BACKUPS = [got, posted]
