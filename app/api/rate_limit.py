"""How often an API token may call: holds this process's leases, and asks the database for more. The rules:
api/rate_limit_rules.py."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from app.accounts import rate_limit_rows
from app.api import rate_limit_rules as budget
from app.db.session import Database
from app.errors import RateLimited

# Beyond this number, the token that has not called for longest is dropped, with what it holds.
MOST_TRACKED = 10_000


@dataclass(slots=True)
class _Held:
    lease: budget.RequestLease = field(default_factory=budget.RequestLease)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


_held: WeakKeyDictionary[Database, OrderedDict[int, _Held]] = WeakKeyDictionary()


async def take(database: Database, token_id: int, per_minute: int) -> None:
    """Counts one request; 0 means no limit. Raises RateLimited with the seconds until the next request is possible."""
    if per_minute == 0:
        return
    held = _of(database, token_id)
    decision = budget.decided(held.lease, time.monotonic(), per_minute)
    if isinstance(decision, budget.Ask):
        # One request asks for all that are waiting.
        async with held.turn:
            decision = await _after_asking(database, held, token_id, per_minute)
    if isinstance(decision, budget.Serve):
        held.lease = decision.lease
    if isinstance(decision, budget.Refuse):
        raise RateLimited(f"More than {per_minute} requests a minute.", retry_after_s=decision.wait_s)


async def _after_asking(database: Database, held: _Held, token_id: int, per_minute: int) -> budget.Decision:
    now = time.monotonic()
    decision = budget.decided(held.lease, now, per_minute)
    if not isinstance(decision, budget.Ask):
        return decision
    # If asking fails, it is unknown if anything was given back. So nothing is given back a second time.
    held.lease = budget.RequestLease()
    async with database.shared_transaction() as db:
        number, beyond = await rate_limit_rows.take(db, token_id, per_minute, decision.wanted, decision.returned)
    held.lease = budget.leased(number, beyond, now)
    return budget.decided(held.lease, now, per_minute)


def _of(database: Database, token_id: int) -> _Held:
    tracked = _held.setdefault(database, OrderedDict())
    held = tracked.setdefault(token_id, _Held())
    tracked.move_to_end(token_id)
    if len(tracked) > MOST_TRACKED:
        tracked.popitem(last=False)
    return held
