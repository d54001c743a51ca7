"""At most so many of a process's connections for one workspace: more of its work waits in turn, for some seconds at most.

Who waits here must hold no connection, or those that others wait for would be held by those who wait.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from sqlalchemy.exc import TimeoutError as PoolTimeoutError

PATIENCE_S = 3


class ShareTaken(PoolTimeoutError):
    """The workspace has as many connections as it may."""


class Shares:
    """`most` None: there is no such limit."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._held: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def take_at_once(self, workspace: str) -> asyncio.Semaphore | None:
        """One place, which the caller releases. Raises ShareTaken where there is none, or others wait for it."""
        places = self._places(workspace)
        if places is None:
            return None
        if places.locked():
            raise ShareTaken(_taken(workspace))
        await places.acquire()
        return places

    @asynccontextmanager
    async def place(self, workspace: str) -> AsyncIterator[None]:
        """Raises ShareTaken where none came free in time."""
        places = self._places(workspace)
        if places is None:
            yield
            return
        try:
            async with asyncio.timeout(PATIENCE_S):
                await places.acquire()
        except TimeoutError:
            raise ShareTaken(_taken(workspace)) from None
        try:
            yield
        finally:
            places.release()

    def _places(self, workspace: str) -> asyncio.Semaphore | None:
        if self._most is None:
            return None
        places = self._held.get(workspace)
        if places is None:
            places = self._held[workspace] = asyncio.Semaphore(self._most)
        return places


def _taken(workspace: str) -> str:
    return f"{workspace} has all the connections that one workspace may have"
