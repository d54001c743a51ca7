"""Walking the pages of one listing or window: the next page is fetched while this one is written. Decides when a walk ends.

What a page holds and where it goes is the caller's: it gives a way to fetch and a way to write.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum

from app.clock.cursors import Position
from app.clock.remote import Page
from app.clock.running import Running
from app.outbound import OutboundError

Fetch = Callable[[int], Awaitable[Page]]
Write = Callable[[Page, Position], Awaitable[None]]


class End(Enum):
    """How a walk ended: all that the server says there is came, or a page was the one before it again."""

    REACHED = "reached"
    REPEATED = "repeated"


async def walk(run: Running, position: Position, fetch: Fetch, write: Write) -> tuple[End, Position]:
    """Walks on from `position`. `write` is given each page with the position it leads to, in order.

    Raises what fetching and writing raise, BudgetSpentError and StoppedError; what was written until then stays.
    """
    run.refuse_when_spent()
    coming: asyncio.Task[Page] | None = _begin(fetch, position.page + 1)
    try:
        while coming is not None:
            page = await coming
            coming = None
            if page.repeats(position.digest):
                return End.REPEATED, position
            position = _after(position, page)
            more = page.more_after(position.received)
            if more and not run.budget.spent:
                coming = _begin(fetch, page.number + 1)
            await write(page, position)
            if not more:
                return End.REACHED, position
            run.refuse_when_spent()
            if coming is None:  # the budget was spent when the next page would have been asked for
                coming = _begin(fetch, page.number + 1)
    finally:
        await _let_end(coming)
    raise AssertionError("unreachable: a walk ends with a page")


def _begin(fetch: Fetch, number: int) -> "asyncio.Task[Page]":
    async def call() -> Page:
        return await fetch(number)

    return asyncio.create_task(call())


def _after(position: Position, page: Page) -> Position:
    """A page behind the end of the list may say that there is nothing at all: its total does not count."""
    total = page.total if page.rows or position.total is None else position.total
    return replace(
        position, page=page.number, received=position.received + len(page.rows), total=total, digest=page.digest
    )


async def _let_end(coming: "asyncio.Task[Page] | None") -> None:
    """A call that nobody waits for any more still goes into the log."""
    if coming is None:
        return
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        coming.cancel()
    with suppress(OutboundError, asyncio.CancelledError):
        await coming
