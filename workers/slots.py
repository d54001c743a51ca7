"""The jobs that this worker may run at a time. One workspace has at most half of the places, so a stuck one does not
stop the others.

One more place is only for brief work (app.registry.JobKind): a sweep or a mail never waits for the hours of an import.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from app.jobs import BRIEF, Claim
from app.parts import half
from workers.claims import NoPlace


class Slots:
    """`freed` is set when there is a place again for work that had none."""

    def __init__(self, concurrency: int) -> None:
        self.freed = asyncio.Event()
        self._places, self._most = concurrency, half(concurrency)
        self._long, self._all = Counter[str](), Counter[str]()
        self._turn = asyncio.Lock()
        self._rings: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> NoPlace:
        """A workspace that uses its half may have one brief job more."""
        return NoPlace(
            [one for one, number in self._long.items() if number >= self._most],
            [one for one, number in self._all.items() if number > self._most],
            is_full=self._long.total() >= self._places,
        )

    def ring_in(self, seconds: float) -> None:
        """Sets `freed` then. Once, however many jobs ask for it meanwhile: each look wakes all of them."""
        loop = asyncio.get_running_loop()
        if self._rings is None or self._rings.when() <= loop.time():
            self._rings = loop.call_later(seconds, self.freed.set)

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[NoPlace]:
        """What there is no place for. Jobs are claimed one after the other, because two at once would both find one
        free place."""
        async with self._turn:
            yield self.busy

    @contextmanager
    def taken(self, claim: Claim) -> Iterator[None]:
        """Enter it while still claiming."""
        counters = (self._all,) if claim.name in BRIEF else (self._all, self._long)
        for counter in counters:
            counter[claim.workspace] += 1
        try:
            yield
        finally:
            before = self.busy
            for counter in counters:
                counter[claim.workspace] -= 1
                if not counter[claim.workspace]:
                    del counter[claim.workspace]
            if before != self.busy:
                self.freed.set()
