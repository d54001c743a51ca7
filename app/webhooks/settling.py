"""What follows from attempts: the log, the next attempt of the event, and what becomes of its endpoint."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts import audit
from app.accounts.audit import SYSTEM
from app.db.among import among
from app.webhooks import gathering
from app.webhooks.calling import GONE, NO_MORE, SentCall
from app.webhooks.kinds import TEST
from app.webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from app.webhooks.retry_pauses import RESTS_AFTER, Pauses

_log = structlog.get_logger("muster.webhooks")


async def settle(db: AsyncSession, endpoint_id: int, attempts: Sequence[SentCall], pauses: Pauses) -> None:
    """Writes the log, and what follows for the events and their endpoint."""
    await gathering.hold(db)
    endpoint = await db.get(WebhookEndpoint, endpoint_id, with_for_update=True)
    if endpoint is None or endpoint.removed_at is not None:
        return
    found = await db.scalars(select(WebhookEvent).where(among(WebhookEvent.id, [one.event_id for one in attempts])))
    events = {event.id: event for event in found}
    known = [(events[one.event_id], one) for one in attempts if one.event_id in events]
    if known:
        await db.execute(insert(WebhookAttempt), [_logged(endpoint_id, attempt) for _, attempt in known])
    before = _standing(endpoint)
    for event, attempt in known:
        _move(event, attempt, pauses)
        await _judge(db, endpoint, event, attempt, pauses)
    if _standing(endpoint) != before:
        jobs.request_at_end(db, jobs.LOOK)


def _standing(endpoint: WebhookEndpoint) -> tuple[bool, str | None]:
    """What a problem tells of: it fails, or why it was switched off."""
    return endpoint.active and endpoint.failures >= RESTS_AFTER, endpoint.off_reason


def _logged(endpoint_id: int, attempt: SentCall) -> dict[str, Any]:
    return {
        "endpoint_id": endpoint_id,
        "event_id": attempt.event_id,
        "attempt": attempt.number,
        "started_at": attempt.started_at,
        "duration_ms": attempt.duration_ms,
        "delivered": attempt.delivered,
        "http_status": attempt.http_status,
        "error": attempt.error,
        "sent": attempt.sent,
    }


def _move(event: WebhookEvent, attempt: SentCall, pauses: Pauses) -> None:
    now, event.asked = datetime.now(UTC), False
    if event.status != "waiting":
        return
    if attempt.delivered or event.type == TEST:
        event.status, event.ended_at = "delivered" if attempt.delivered else "failed", now
    else:
        event.due_at = now + pauses.after(attempt.number, secrets.randbelow(1001) / 1000, attempt.asked_s)


async def _judge(
    db: AsyncSession, endpoint: WebhookEndpoint, event: WebhookEvent, attempt: SentCall, pauses: Pauses
) -> None:
    """A failed test changes nothing, because a person looks at it."""
    now = datetime.now(UTC)
    if attempt.delivered:
        rested = endpoint.failures >= RESTS_AFTER
        endpoint.failures, endpoint.failing_since, endpoint.delivered_at = 0, None, now
        if rested:
            await _let_go(db, endpoint.id, pauses)
        return
    if attempt.http_status == GONE:
        await switch_off(db, endpoint, NO_MORE)
    if event.type == TEST:
        return
    endpoint.failures, endpoint.failing_since = endpoint.failures + 1, endpoint.failing_since or now
    if pauses.is_over(attempt.number, endpoint.failures, endpoint.failing_since, now):
        await switch_off(
            db, endpoint, f"Sending failed {pauses.attempts} times over three days. The last reason: {attempt.error}"
        )


async def _let_go(db: AsyncSession, endpoint_id: int, pauses: Pauses) -> None:
    """Makes events due that waited while the endpoint rested, except those of another call."""
    waiting = (WebhookEvent.endpoint_id == endpoint_id, WebhookEvent.status == "waiting")
    late = WebhookEvent.due_at > func.now() + timedelta(seconds=pauses.lease_s)
    await db.execute(update(WebhookEvent).where(*waiting, late).values(due_at=func.now()))


async def switch_off(db: AsyncSession, endpoint: WebhookEndpoint, reason: str) -> None:
    """Waiting events stay, and are sent when a person switches it on again."""
    if endpoint.active:
        endpoint.active, endpoint.off_reason = False, reason
        await audit.record(
            db, SYSTEM, "webhook.give_up", "webhook", endpoint.id, after={"active": False, "reason": reason}
        )
        _log.warning("webhook switched off", endpoint=endpoint.id, reason=reason)
