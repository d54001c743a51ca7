"""Makes events of what was noted: one for each endpoint that wants it.
Takes out of waiting events what newer events tell.

`events_of` decides, and is pure.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.direct import driver
from app.db.session import workspace_of
from app.webhooks.models import STANDS, WebhookEndpoint, WebhookEvent
from app.webhooks.noting import MOST_IDS
from app.webhooks.payloads import Told

# Facts of one transaction of the gathering. Changes of a webhook wait for it.
SLICE = 500
ID_START = "msg_"
_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended('webhooks:' || :workspace, 0))")
_TAKE = """
DELETE FROM webhook_facts WHERE id IN (SELECT id FROM webhook_facts WHERE due_at <= now() ORDER BY due_at, id LIMIT $1)
RETURNING id, type, ids, number, cause, at
"""
# Each id is looked up by itself in the index of subjects: `ids && all of them`, or an endpoint beside it,
# leads to reading the backlog.
_TAKE_OUT = """
WITH about AS MATERIALIZED (
    SELECT DISTINCT o.id FROM unnest($2::text[]) AS k (id) CROSS JOIN LATERAL (
        SELECT id, type, endpoint_id FROM webhook_events WHERE status = 'waiting' AND ids @> ARRAY[k.id] OFFSET 0
    ) o WHERE o.type = $1 AND o.endpoint_id = ANY($3::bigint[])
)
UPDATE webhook_events e SET
    ids = CASE WHEN n.ids = '{}' THEN e.ids ELSE n.ids END,
    number = CASE WHEN n.ids = '{}' THEN e.number ELSE cardinality(n.ids) END,
    status = CASE WHEN n.ids = '{}' THEN 'replaced' ELSE 'waiting' END,
    ended_at = CASE WHEN n.ids = '{}' THEN now() END
FROM about JOIN webhook_events o USING (id),
    LATERAL (SELECT ARRAY(SELECT one FROM unnest(o.ids) AS one WHERE one <> ALL($2::text[])) AS ids) n
WHERE o.id = e.id
"""
_COUNTED = """
UPDATE webhook_events SET status = 'replaced', ended_at = now()
WHERE status = 'waiting' AND type = $1 AND since IS NOT NULL AND endpoint_id = ANY($2::bigint[])
RETURNING endpoint_id, type, ids, number, since, at
"""


@dataclass(frozen=True, slots=True)
class NotedChange:
    """A row of webhook_facts."""

    id: int
    type: str
    ids: Sequence[str]
    number: int
    cause: str
    at: datetime


def events_of(facts: Iterable[NotedChange]) -> list[Told]:
    """What one cause changed, of one type, is one event. Each subject is in the newest event of its type alone, and of
    those that only count there is one for each type."""
    caused: dict[tuple[str, str], list[NotedChange]] = {}
    for fact in sorted(facts, key=lambda one: one.id):
        caused.setdefault((fact.type, fact.cause), []).append(fact)
    newest_first = sorted(caused.values(), key=lambda group: group[-1].id, reverse=True)
    named: list[Told] = []
    counted: dict[str, Told] = {}
    seen: dict[str, set[str]] = {}
    for told in map(_together, newest_first):
        if told.since is not None:
            counted[told.type] = _added(counted.get(told.type), told)
            continue
        before = seen.setdefault(told.type, set())
        left = [one for one in told.ids if one not in before]
        before.update(left)
        if left:
            named.append(replace(told, ids=left, number=len(left)))
    return [*reversed(named), *counted.values()]


def _together(facts: Sequence[NotedChange]) -> Told:
    """Facts of one cause."""
    first, ids = facts[0], list(dict.fromkeys(one for fact in facts for one in fact.ids))
    at = max(fact.at for fact in facts)
    if len(ids) > MOST_IDS or any(fact.number > len(fact.ids) for fact in facts):
        number = sum(fact.number for fact in facts)
        return Told(first.type, (), number, min(fact.at for fact in facts), at)
    return Told(first.type, ids, len(ids), None, at)


def _added(known: Told | None, told: Told) -> Told:
    if known is None or known.since is None or told.since is None:
        return told
    return replace(
        told, number=known.number + told.number, since=min(known.since, told.since), at=max(known.at, told.at)
    )


async def hold(db: AsyncSession) -> None:
    """Keeps other transactions from changing several events of the workspace until this one ends. Otherwise two could
    wait for each other."""
    await db.execute(_HOLD, {"workspace": workspace_of(db)})


async def gather(db: AsyncSession) -> bool:
    """Makes events of a slice of what was noted. False when nothing is left."""
    await hold(db)
    facts = [NotedChange(*row) for row in await driver(db).fetch(_TAKE, SLICE)]
    wanting = await _wanting(db)
    told: dict[str, list[Told]] = {}
    for one in events_of(facts):
        told.setdefault(one.type, []).append(one)
    rows = [row for kind, events in told.items() if kind in wanting for row in await _rows(db, events, wanting[kind])]
    if rows:
        await db.execute(insert(WebhookEvent), rows)
    return len(facts) == SLICE


async def _wanting(db: AsyncSession) -> dict[str, list[int]]:
    """Which endpoints want a type."""
    found: dict[str, list[int]] = {}
    for endpoint_id, types in await db.execute(
        select(WebhookEndpoint.id, WebhookEndpoint.types).where(WebhookEndpoint.active, STANDS)
    ):
        for kind in types:
            found.setdefault(kind, []).append(endpoint_id)
    return found


async def _rows(db: AsyncSession, events: Sequence[Told], endpoints: Sequence[int]) -> list[dict[str, Any]]:
    """The events of one type for each of the endpoints. Takes out first what they replace."""
    kind, ids = events[0].type, [one for event in events for one in event.ids]
    if ids:
        await driver(db).execute(_TAKE_OUT, kind, ids, endpoints)
    before: dict[int, Told] = {}
    if any(event.since for event in events):
        for endpoint_id, *told in await driver(db).fetch(_COUNTED, kind, endpoints):
            before[endpoint_id] = _added(before.get(endpoint_id), Told(*told))
    return [
        row_of(endpoint_id, _added(before.get(endpoint_id), event) if event.since else event)
        for endpoint_id in endpoints
        for event in events
    ]


def row_of(endpoint_id: int, told: Told) -> dict[str, Any]:
    """A new event, due at once."""
    return {
        "endpoint_id": endpoint_id,
        "message_id": f"{ID_START}{uuid.uuid4().hex}",
        "type": told.type,
        "ids": list(told.ids),
        "number": told.number,
        "since": told.since,
        "at": told.at,
    }
