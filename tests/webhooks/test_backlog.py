"""Beside many events that wait: blocks are counted, never seconds."""

import pytest
from sqlalchemy import select, text, update

from app.db.direct import driver
from app.parts import Parts
from app.webhooks import gathering
from app.webhooks.kinds import ATTENDANCE_CHANGED
from app.webhooks.models import WebhookEndpoint, WebhookEvent
from app.webhooks.pauses import PAUSES, RESTS_AFTER
from app.webhooks.sending import take
from tests.benchmarks.explained import read, watch
from tests.webhooks.receiving import HOOK, add, change

MANY = 20_000
_WAITING = """
INSERT INTO webhook_events (endpoint_id, message_id, type, ids, number)
SELECT :endpoint, 'msg_' || n, :kind, ARRAY[CAST(n AS text)], 1 FROM generate_series(1, :many) AS n
"""


@pytest.fixture
async def endpoint_id(parts: Parts) -> int:
    """MANY events wait there."""
    made = await add(parts, "https://example.org" + HOOK)
    async with parts.database.transaction() as db:
        await db.execute(text(_WAITING), {"endpoint": made.id, "kind": ATTENDANCE_CHANGED, "many": MANY})
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
