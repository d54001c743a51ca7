"""Asks every minute which work has become due in which workspace. Modules answer, and the answers become jobs.

Workspaces are asked in the order in which they became due. When a tick runs out of time, the next one begins with those
that waited longest; several workers share them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from app.accounts import schedule_looks
from app.parts import Parts
from app.registry import modules

Ask = Callable[[Parts, str], Awaitable[datetime | None]]
# For one statement, because asking what is due is little work.
PATIENCE_S = 2
_log = structlog.get_logger("muster.jobs")


@dataclass(frozen=True, slots=True)
class TickLimits:
    """In seconds. `lasts_s` is for the whole tick, `look_s` for one module in one workspace. `at_once`: workspaces that
    are claimed together."""

    lasts_s: float = 30
    look_s: float = 5
    at_once: int = 20


TICK = TickLimits()


async def schedule(parts: Parts, asks: Sequence[Ask] | None = None, tick: TickLimits = TICK) -> int:
    """One tick. Returns how many workspaces it looked into. A workspace or module that fails or hangs does not stop the
    others."""
    parts = replace(parts, database=parts.database.limited(PATIENCE_S))
    asks = [module.work().schedule for module in modules()] if asks is None else asks
    ends, looked = asyncio.get_running_loop().time() + tick.lasts_s, 0
    async with parts.database.shared_transaction() as db:
        await schedule_looks.add_missing(db)
    while asyncio.get_running_loop().time() < ends:
        async with parts.database.shared_transaction() as db:
            claimed = await schedule_looks.claim(db, tick.at_once)
        if not claimed:
            break
        looked += await _look_into(parts, claimed, asks, tick, ends)
    return looked


async def _look_into(
    parts: Parts, claimed: Sequence[schedule_looks.Look], asks: Sequence[Ask], tick: TickLimits, ends: float
) -> int:
    """Returns how many it looked into. The rest is left to the next tick, also when this worker stops now."""
    settled: list[tuple[schedule_looks.Look, datetime]] = []
    try:
        for look in claimed:
            if asyncio.get_running_loop().time() >= ends:
                break
            settled.append((look, await _look(parts, look, asks, tick)))
        return len(settled)
    finally:
        now = datetime.now(UTC)
        unseen = [(look, now) for look in claimed[len(settled) :]]
        await asyncio.shield(asyncio.create_task(_settle(parts, [*settled, *unseen])))


async def _settle(parts: Parts, looks: Sequence[tuple[schedule_looks.Look, datetime]]) -> None:
    async with parts.database.shared_transaction() as db:
        await schedule_looks.settle(db, looks)


async def _look(parts: Parts, look: schedule_looks.Look, asks: Sequence[Ask], tick: TickLimits) -> datetime:
    """When the next look is due."""
    wanted = [look.next_at]
    for ask in asks:
        try:
            async with asyncio.timeout(tick.look_s):
                wanted.append(await ask(parts, look.workspace) or look.next_at)
        except Exception:  # noqa: BLE001 - whatever it is, the others get their turn
            _log.exception("scheduling failed", workspace=look.workspace)
    return min(wanted)
