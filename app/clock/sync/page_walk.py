"""Walking the pages of one listing or window: the next page is fetched while this one is written. Decides when a walk
ends; sync/window_completeness.py decides whether another one follows.

What a page holds and where it goes is the caller's: it gives a way to fetch and a way to write.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Protocol

from app.clock.mirror.cursors import WalkPosition
from app.clock.remote import Page
from app.clock.sync import window_completeness
from app.clock.sync.run_state import RunState
from app.clock.sync.window_completeness import Next, Seen, WalkTally, next_step
from app.outbound import OutboundError

Fetch = Callable[[int], Awaitable[Page]]
Write = Callable[[Page, WalkPosition], Awaitable[None]]
WantsNext = Callable[[Page, WalkPosition], bool]


class WalkEnd(Enum):
    """How a walk ended: no further page is wanted, or a page was the one before it again."""

    REACHED = "reached"
    REPEATED = "repeated"


def to_the_end(page: Page, position: WalkPosition) -> bool:
    """True while the server has rows behind this page."""
    return page.more_after(position.received)


async def walk(
    run: RunState, position: WalkPosition, fetch: Fetch, write: Write, wants_next: WantsNext = to_the_end
) -> tuple[WalkEnd, WalkPosition]:
    """Walks on from `position`. `write` gets each page with the position that it leads to, in order. Before that,
    `wants_next` gets the same, and returns True when the next page is wanted.

    Raises what fetching and writing raise, BudgetSpentError and StoppedError; what was written until then stays.
    """
    run.refuse_when_spent()
    coming: asyncio.Task[Page] | None = _begin(fetch, position.page + 1)
    try:
        while coming is not None:
            page = await coming
            coming = None
            if page.repeats(position.digest):
                return WalkEnd.REPEATED, position
            position = _after(position, page)
            more = wants_next(page, position)
            if more and not run.budget.spent:
                coming = _begin(fetch, page.number + 1)
            await write(page, position)
            if not more:
                return WalkEnd.REACHED, position
            run.refuse_when_spent()
            if coming is None:  # the budget was spent when the next page would have been asked for
                coming = _begin(fetch, page.number + 1)
    finally:
        await _let_end(coming)
    raise AssertionError("unreachable: a walk ends with a page")


class WalkedWindow(Protocol):
    """The pages of a window of which every row is wanted. `wants_next` notes what a page holds in `seen`; `held` counts
    the rows of the window that are stored, whichever run brought them."""

    seen: Seen

    async def fetch(self, number: int) -> Page: ...
    async def write(self, page: Page, position: WalkPosition) -> None: ...
    def wants_next(self, page: Page, position: WalkPosition) -> bool: ...
    async def held(self) -> int: ...


async def walk_until_complete(
    run: RunState, position: WalkPosition, window: WalkedWindow
) -> tuple[WalkTally, WalkPosition]:
    """Walks again, or looks at the first pages again, until every row came or sync/window_completeness.py gives up."""
    looks, seen = 0, window.seen
    while True:
        end, position = await walk(run, position, window.fetch, window.write, window.wants_next)
        tally = await _tally(window, position, looks, repeated=end is WalkEnd.REPEATED)
        match next_step(tally):
            case Next.LOOK:
                position, looks, seen.looking = position.at_front(), looks + 1, True
            case Next.WALK:
                position, looks, seen.looking, seen.resumed = position.again(), 0, False, False
            case _:
                return tally, position


async def _tally(window: WalkedWindow, position: WalkPosition, looks: int, *, repeated: bool) -> WalkTally:
    """Rows that earlier runs brought count in two cases: when this run continues a walk, and after the last walk. For a
    server that shuffles its rows leaves some out in any four walks."""
    came, total, walks = len(window.seen.rows), position.total or 0, position.walks + 1
    if came < total and (window.seen.resumed or walks >= window_completeness.WALKS):
        came = max(came, await window.held())
    return WalkTally(came, window.seen.at_first or 0, total, walks, looks, repeated, window.seen.forgiven)


def _begin(fetch: Fetch, number: int) -> "asyncio.Task[Page]":
    async def call() -> Page:
        return await fetch(number)

    return asyncio.create_task(call())


def _after(position: WalkPosition, page: Page) -> WalkPosition:
    """The largest total counts: a page behind the end of the list may say that there is nothing at all."""
    return replace(
        position,
        page=page.number,
        received=position.received + len(page.rows),
        total=max(page.total, position.total or 0),
        digest=page.digest,
    )


async def _let_end(coming: "asyncio.Task[Page] | None") -> None:
    """A call whose result is not awaited any longer is still logged."""
    if coming is None:
        return
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        coming.cancel()
    with suppress(OutboundError, asyncio.CancelledError):
        await coming
