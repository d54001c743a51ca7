"""The jobs that this worker may run at a time, of which one workspace has at most half: a stuck one stops no other."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from app.parts import half


class Slots:
    """`freed` is set when a workspace that had its half may have another job."""

    def __init__(self, concurrency: int) -> None:
        self.freed = asyncio.Event()
        self._most = half(concurrency)
        self._taken: Counter[str] = Counter()
        self._turn = asyncio.Lock()

    @property
    def busy(self) -> list[str]:
        """The workspaces that have their half."""
        return [workspace for workspace, number in self._taken.items() if number >= self._most]

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[list[str]]:
        """The busy workspaces. Jobs are claimed one after the other: two at once would both find one slot free."""
        async with self._turn:
            yield self.busy

    @contextmanager
    def taken(self, workspace: str) -> Iterator[None]:
        """To be entered while still claiming."""
        self._taken[workspace] += 1
        try:
            yield
        finally:
            if workspace in self.busy:
                self.freed.set()
            self._taken[workspace] -= 1
            if not self._taken[workspace]:
                del self._taken[workspace]
