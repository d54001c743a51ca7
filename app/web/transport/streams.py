"""Live streams, and the watch that ends them when their person may no longer see them: signed out, deactivated or with
fewer rights.

Every LOOK_S one statement asks about all open streams of this process. So a stream holds no connection, and each
process watches its own streams, whichever process took the rights away.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from app.db.session import Database
from app.web import sessions
from app.web.context import Context
from app.web.sessions import Rights

log = structlog.get_logger()
# A stream must end within so many seconds: until the next look, for the look, and half a second to send the end.
ENDS_WITHIN_S, LOOK_S = 5.0, 2.0
PATIENCE_S = ENDS_WITHIN_S - LOOK_S - 0.5
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
# Then the page asks for itself again, and learns whether the person may still see it.
OVER = ServerSentEventMessage("over", event="end")


def live(ctx: Context, events: AsyncIterator[ServerSentEventMessage]) -> ServerSentEvent:
    """The events while the person may see them. `end` is the last event for a person who may no longer see them."""
    watch: Watch = ctx.request.app.state.watch
    began_with = Rights(ctx.user.permissions, ctx.policies)
    return ServerSentEvent(watch.over(_Stream(ctx.user.session_key, began_with), events), headers=_HEADERS)


@dataclass(eq=False, slots=True)
class _Stream:
    """`waiting` is what ends its wait for the next event; `last` is sent when it has ended."""

    session_key: bytes
    began_with: Rights
    ended: bool = False
    last: ServerSentEventMessage | None = None
    waiting: asyncio.Timeout | None = None

    def end(self, last: ServerSentEventMessage | None) -> None:
        self.ended, self.last = True, last
        if self.waiting is not None and not self.waiting.expired():
            self.waiting.reschedule(0)


class Watch:
    """Watches the open streams of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: set[_Stream] = set()
        self._looking: asyncio.Task[None] | None = None

    async def over(
        self, stream: _Stream, events: AsyncIterator[ServerSentEventMessage]
    ) -> AsyncIterator[ServerSentEventMessage]:
        self._open.add(stream)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            async for event in _until_ended(stream, events):
                yield event
        finally:
            self._open.discard(stream)

    async def _look(self) -> None:
        """Runs while any stream is open."""
        while self._open:
            await asyncio.sleep(LOOK_S)
            try:
                await self._end_refused()
            except Exception as fault:  # noqa: BLE001 - after any fault it is unknown whether they may continue
                # Browsers connect again, and their rights are checked then.
                log.warning("live streams ended unseen", error=type(fault).__name__)
                self._end(dict.fromkeys(self._open))

    async def _end_refused(self) -> None:
        looked_at = set(self._open)
        if not looked_at:
            return
        async with asyncio.timeout(PATIENCE_S), self._database.shared_transaction() as db:
            held = await sessions.rights_of(db, {one.session_key for one in looked_at})
        self._end({one: OVER for one in looked_at if not _may_stay(one.began_with, held.get(one.session_key))})

    def _end(self, refused: Mapping[_Stream, ServerSentEventMessage | None]) -> None:
        for stream, last in refused.items():
            stream.end(last)


def _may_stay(began_with: Rights, now: Rights | None) -> bool:
    """True while the session is valid, with all the rights and under the policies with which the stream was opened."""
    return now is not None and began_with.permissions <= now.permissions and began_with.policies == now.policies


async def _until_ended(stream: _Stream, events: Any) -> AsyncIterator[ServerSentEventMessage]:
    try:
        while not stream.ended:
            async with asyncio.timeout(None) as stream.waiting:
                event = await anext(events)
            stream.waiting = None
            yield event
    except StopAsyncIteration:
        return
    except TimeoutError:
        if not stream.ended:
            raise
    finally:
        stream.waiting = None
        await events.aclose()
    if stream.last is not None:
        yield stream.last
