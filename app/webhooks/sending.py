"""Sends the due events of a workspace: all endpoints at once, and some events of each at once. When a worker dies while
it sends, the event is sent again with the same `webhook-id`: at least once.

An endpoint that fails several times in a row rests: one event at a time is tried there, and the others wait for it.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, func, select, text, true, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts import schedule_looks
from app.db.among import among
from app.db.session import workspace_of
from app.outbound import Limits
from app.parts import Parts
from app.webhooks import gathering, payloads, settling
from app.webhooks.calling import LIMITS, TakenEvent, call
from app.webhooks.endpoints import secrets_of
from app.webhooks.models import WebhookEndpoint, WebhookEvent
from app.webhooks.noting import ask
from app.webhooks.payloads import Told
from app.webhooks.retry_pauses import PAUSES, RESTS_AFTER, Pauses

AT_ONCE = 8
# After this time the job asks for another one, so that others get their turn.
TURN_S = 120
# The event of each endpoint that goes first: one that a person asked for, otherwise the first that is due; of a resting
# endpoint the one with the most attempts.
_FIRST = f"""
    SELECT p.id, least(
        (SELECT min(due_at) FROM webhook_events WHERE endpoint_id = p.id AND status = 'waiting' AND asked),
        CASE WHEN NOT p.active THEN NULL
            WHEN p.failures < {RESTS_AFTER}
                THEN (SELECT min(due_at) FROM webhook_events WHERE endpoint_id = p.id AND status = 'waiting')
            ELSE (SELECT due_at FROM webhook_events WHERE endpoint_id = p.id AND status = 'waiting'
                ORDER BY attempts DESC, id DESC LIMIT 1) END) AS due_at
    FROM webhook_endpoints p WHERE p.removed_at IS NULL
"""
_DUE = text(f"SELECT id FROM ({_FIRST}) AS first WHERE due_at <= now() ORDER BY due_at")
_NEXT = text(f"SELECT least((SELECT min(due_at) FROM ({_FIRST}) AS first), (SELECT min(due_at) FROM webhook_facts))")


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends what is due in a workspace. `books` bounds its transactions at once: a job has two connections."""

    parts: Parts
    workspace: str
    pauses: Pauses = PAUSES
    limits: Limits = LIMITS
    books: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))

    async def send_due(self) -> int:
        """Sends until nothing is due, or its turn is over. Returns how many attempts there were."""
        ends, made = time.monotonic() + TURN_S, 0
        while time.monotonic() < ends:
            await self._gather()
            async with self._transaction() as db:
                due = await endpoints_due(db)
            if not due:
                await self._look_again()
                return made
            async with asyncio.TaskGroup() as group:
                served = [group.create_task(self._serve(one, ends)) for one in due]
            made_now = sum(one.result() for one in served)
            if not made_now:  # other workers have taken everything
                return made
            made += made_now
        async with self._transaction() as db:
            await ask(db)
        return made

    async def _gather(self) -> None:
        more = True
        while more:
            async with self._transaction() as db:
                more = await gathering.gather(db)

    async def _look_again(self) -> None:
        """Tells the schedule when the next attempt is due."""
        async with self._transaction() as db:
            if await next_due(db) is not None:
                schedule_looks.look_soon(db, self.workspace)

    async def _serve(self, endpoint_id: int, ends: float) -> int:
        """One endpoint, some events at once. Returns how many attempts there were."""
        made, outbound = 0, self.parts.outbound.limited(self.limits)
        while time.monotonic() < ends and (taken := await self._take(endpoint_id)):
            attempts = await asyncio.gather(*(call(outbound, one) for one in taken))
            async with self._transaction() as db:
                await settling.settle(db, endpoint_id, attempts, self.pauses)
            made += len(taken)
        return made

    async def _take(self, endpoint_id: int) -> list[TakenEvent]:
        async with self._transaction() as db:
            return await take(db, self.parts, endpoint_id, self.pauses)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncSession]:
        async with self.books, self.parts.database.transaction(self.workspace) as db:
            yield db


async def next_due(db: AsyncSession) -> datetime | None:
    """When there is something to do here next: a past moment means now."""
    found: datetime | None = await db.scalar(_NEXT)
    return found


async def endpoints_due(db: AsyncSession) -> list[int]:
    return list(await db.scalars(_DUE))


async def take(db: AsyncSession, parts: Parts, endpoint_id: int, pauses: Pauses) -> list[TakenEvent]:
    """Takes some due events. It counts their attempt and sets the next one first,
    because the worker may die while it sends."""
    endpoint = await db.get(WebhookEndpoint, endpoint_id)
    if endpoint is None or endpoint.removed_at is not None:
        return []
    event = WebhookEvent
    due = [event.endpoint_id == endpoint_id, event.status == "waiting", event.due_at <= func.now()]
    ids: list[int] = []
    for may_go in _may_go(endpoint):
        some = select(event.id).where(*due, may_go).order_by(event.due_at, event.id).limit(AT_ONCE)
        ids += await db.scalars(some.with_for_update(skip_locked=True))
    counted = {"attempts": event.attempts + 1, "due_at": func.now() + timedelta(seconds=pauses.lease_s)}
    rows = await db.scalars(update(event).where(among(event.id, ids)).values(counted).returning(event))
    secrets = secrets_of(parts.keys, workspace_of(db), endpoint, datetime.now(UTC))
    return [_taken(workspace_of(db), endpoint, secrets, row) for row in rows]


def _may_go(endpoint: WebhookEndpoint) -> tuple[ColumnElement[bool], ...]:
    """Events that a person asked for may always go. Others may go while the endpoint is on; of a resting endpoint only
    the one with the most attempts. Each is looked up by itself: joined by OR, they would read all that waits."""
    asked: ColumnElement[bool] = WebhookEvent.asked.expression
    if not endpoint.active:
        return (asked,)
    if endpoint.failures < RESTS_AFTER:
        return (true(),)
    other = aliased(WebhookEvent)
    waits = (other.endpoint_id == endpoint.id, other.status == "waiting")
    most = select(other.id).where(*waits).order_by(other.attempts.desc(), other.id.desc()).limit(1)
    return (asked, WebhookEvent.id == most.scalar_subquery())


def _taken(workspace: str, endpoint: WebhookEndpoint, secrets: tuple[str, ...], row: WebhookEvent) -> TakenEvent:
    told = Told(row.type, row.ids, row.number, row.since, row.at)
    body = payloads.body_of(workspace, told)
    return TakenEvent(row.id, endpoint.id, row.message_id, row.attempts, endpoint.url, body, secrets)
