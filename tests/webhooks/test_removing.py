"""A webhook that was removed: gone for everybody at once, while a job deletes its events in slices."""

import pytest
from sqlalchemy import func, insert, select, text

from app.accounts.audit import COMMAND_LINE
from app.accounts.models import Job
from app.errors import NotFound
from app.host import jobs
from app.jobs import Claim
from app.parts import Parts
from app.webhooks import endpoints, tidying, waiting
from app.webhooks.endpoints import MadeWebhook
from app.webhooks.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from tests.benchmarks.explained import watch
from tests.cluster import DatabaseUrls
from tests.conftest import Browser
from tests.fakes.liar import answer, lying
from tests.settled import settle
from tests.webhooks.receiving import HOOK, add, change, send

TIDY = Claim(1, 1, "main", tidying.JOB, {})


async def events_of(parts: Parts, made: MadeWebhook, number: int) -> None:
    """So many that wait, each with an attempt; the first is one that a person asked for."""
    rows = [
        {
            "endpoint_id": made.id,
            "message_id": f"{made.id} {one}",
            "type": "sync.finished",
            "number": 1,
            "asked": not one,
        }
        for one in range(number)
    ]
    async with parts.database.transaction() as db:
        ids = await db.scalars(insert(WebhookEvent).returning(WebhookEvent.id), rows)
        attempt = {"endpoint_id": made.id, "attempt": 1, "duration_ms": 1, "delivered": False, "sent": "{}"}
        await db.execute(insert(WebhookAttempt), [{**attempt, "event_id": one} for one in ids])


async def remove(parts: Parts, made: MadeWebhook) -> None:
    async with parts.database.transaction() as db:
        await endpoints.remove(db, COMMAND_LINE, made.id)


async def left(parts: Parts) -> tuple[int, ...]:
    """How many rows there are of endpoints, events and attempts."""
    async with parts.database.transaction() as db:
        tables = (WebhookEndpoint, WebhookEvent, WebhookAttempt)
        return tuple([await db.scalar(select(func.count()).select_from(one)) or 0 for one in tables])


async def test_it_is_gone_at_once_and_its_rows_a_little_later(
    parts: Parts, alice: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = await add(parts, "https://a.example/1"), await add(parts, "https://b.example/1")
    await events_of(parts, made, 25)
    await events_of(parts, other, 3)
    await remove(parts, made)
    assert await left(parts) == (2, 28, 28)
    async with parts.database.transaction() as db:
        assert [one.id for one in await endpoints.all_of(db)] == [other.id]
        assert await waiting.counts(db) == {other.id: 3}
        with pytest.raises(NotFound):
            await endpoints.switch_on(db, COMMAND_LINE, made.id)
        assert "queued" in (await db.scalars(select(Job.status).where(Job.name == tidying.JOB))).all()
    assert (await alice.get(f"/webhooks/{made.id}")).status_code == 404
    assert "a.example" not in (await alice.get("/webhooks")).text + (await alice.get("/webhooks/log")).text
    monkeypatch.setattr(tidying, "SLICE", 10)
    await jobs.tidy_webhooks(parts, TIDY)
    assert await left(parts) == (1, 3, 3)


async def test_the_events_of_the_others_are_not_read(parts: Parts, urls: DatabaseUrls) -> None:
    made, other = await add(parts, "https://a.example/1"), await add(parts, "https://b.example/1")
    await events_of(parts, made, 3)
    await events_of(parts, other, 3)
    async with parts.database.transaction() as db:
        many = """INSERT INTO webhook_events (endpoint_id, message_id, type, number)
            SELECT :other, 'many ' || n, 'sync.finished', 1 FROM generate_series(1, 20000) AS n"""
        await db.execute(text(many), {"other": other.id})
    await settle(urls, "webhook_events", "webhook_attempts", "webhook_endpoints")
    await remove(parts, made)
    with watch(parts.database.engine) as found:
        await jobs.tidy_webhooks(parts, TIDY)
    assert (await left(parts))[:2] == (1, 20_003)
    assert found.blocks < 100, found.worst and found.worst.told()


async def test_it_is_sent_nothing_more(parts: Parts) -> None:
    """Neither what waits, nor what a person asked for before."""
    async with lying() as liar:
        liar.says(HOOK, answer(status=204, media_type=None))
        made = await add(parts, liar.url + HOOK)
        await events_of(parts, made, 2)
        await remove(parts, made)
        await change(parts, 7)
        assert await send(parts) == 0
        assert liar.heard == []


async def test_it_makes_room_for_another_one(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST", 1)
    await remove(parts, await add(parts, "https://a.example/1"))
    await add(parts, "https://b.example/1")
