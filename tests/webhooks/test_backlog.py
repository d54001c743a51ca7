"""Beside many events that wait: blocks are counted, never seconds."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update

from app.accounts.audit import COMMAND_LINE
from app.db.direct import driver
from app.parts import Parts
from app.webhooks import endpoints, gathering
from app.webhooks.kinds import ATTENDANCE_CHANGED
from app.webhooks.models import WebhookEndpoint, WebhookEvent
from app.webhooks.retry_pauses import PAUSES, RESTS_AFTER
from app.webhooks.sending import take
from tests.benchmarks.explained import read, watch
from tests.cluster import DatabaseUrls
from tests.settled import settle
from tests.webhooks.receiving import HOOK, add, change

MANY = 20_000
_WAITING = """
INSERT INTO webhook_events (endpoint_id, message_id, type, ids, number)
SELECT :endpoint, 'msg_' || n, :kind, ARRAY[CAST(n AS text)], 1 FROM generate_series(1, :many) AS n
"""


@pytest.fixture
async def endpoint_id(parts: Parts, urls: DatabaseUrls) -> int:
    """MANY events wait there."""
    made = await add(parts, "https://example.org" + HOOK)
    async with parts.database.transaction() as db:
        await db.execute(text(_WAITING), {"endpoint": made.id, "kind": ATTENDANCE_CHANGED, "many": MANY})
    await settle(urls, "webhook_events", "webhook_endpoints")
    return made.id


async def test_what_newer_events_tell_is_taken_out_without_reading_all_that_waits(
    parts: Parts, endpoint_id: int
) -> None:
    about = ["7", "9", "11"]
    async with parts.database.transaction() as db:
        found = await read(driver(db), gathering._TAKE_OUT, (ATTENDANCE_CHANGED, about, [endpoint_id]))
    assert found.plan["Actual Rows"] == 0
    assert found.blocks < 150, found.told()
    await change(parts, *map(int, about))
    async with parts.database.transaction() as db:
        await gathering.gather(db)
        replaced = await db.scalars(select(WebhookEvent.ids).where(WebhookEvent.status == "replaced"))
        assert sorted(replaced.all()) == [[one] for one in sorted(about)]


async def test_of_one_that_rests_the_event_that_was_tried_most_is_found_without_the_others(
    parts: Parts, endpoint_id: int
) -> None:
    async with parts.database.transaction() as db:
        await db.execute(update(WebhookEndpoint).values(failures=RESTS_AFTER))
        for number, values in ((7, {"attempts": 3}), (9, {"asked": True})):
            await db.execute(update(WebhookEvent).where(WebhookEvent.ids == [str(number)]).values(values))
    async with parts.database.transaction() as db:
        with watch(parts.database.engine) as found:
            taken = await take(db, parts, endpoint_id, PAUSES)
    assert sorted((one.message_id, one.attempt) for one in taken) == [("msg_7", 4), ("msg_9", 1)]
    assert found.blocks < 250, found.worst and found.worst.told()


@pytest.mark.parametrize("active", [True, False])
async def test_a_person_who_tries_again_waits_only_for_the_events_that_were_tried(
    parts: Parts, endpoint_id: int, *, active: bool
) -> None:
    async with parts.database.transaction() as db:
        await db.execute(update(WebhookEndpoint).values(active=active))
        tried = update(WebhookEvent).where(WebhookEvent.ids == ["7"])
        await db.execute(tried.values(attempts=3, due_at=func.now() + timedelta(hours=8)))
    async with parts.database.transaction() as db:
        with watch(parts.database.engine) as found:
            await endpoints.try_again(db, COMMAND_LINE, endpoint_id)
    async with parts.database.transaction() as db:
        (event,) = await db.scalars(select(WebhookEvent).where(WebhookEvent.ids == ["7"]))
        assert event.attempts == (3 if active else 0)
        assert await db.scalar(select(func.count()).where(WebhookEvent.due_at > func.now())) == 0
    assert found.reads
    assert found.blocks < 250, found.worst and found.worst.told()


async def test_a_request_lets_go_so_many_events_at_most_and_first_those_that_were_tried_most(
    parts: Parts, endpoint_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "MOST_LET_GO", 2)
    later = func.now() + timedelta(hours=8)
    async with parts.database.transaction() as db:
        for number, attempts in (("7", 2), ("8", 1), ("9", 3)):
            tried = update(WebhookEvent).where(WebhookEvent.ids == [number])
            await db.execute(tried.values(attempts=attempts, due_at=later))
        await endpoints.try_again(db, COMMAND_LINE, endpoint_id)
        left = await db.scalars(select(WebhookEvent.ids).where(WebhookEvent.due_at > func.now()))
        assert left.all() == [["8"]]
