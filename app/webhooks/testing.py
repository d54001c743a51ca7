"""Sends a test at once, for a person who waits for its result."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import insert

from app.parts import Parts
from app.webhooks import calling, endpoints, gathering, payloads, settling
from app.webhooks.calling import LIMITS, SentCall, TakenEvent
from app.webhooks.kinds import TEST
from app.webhooks.models import WebhookEvent
from app.webhooks.payloads import Told
from app.webhooks.retry_pauses import PAUSES


async def try_out(parts: Parts, workspace: str, endpoint_id: int) -> SentCall:
    """The test is in the log like all other events. Raises NotFound."""
    now = datetime.now(UTC)
    told = Told(TEST, (), 0, None, now)
    row = {**gathering.row_of(endpoint_id, told), "asked": True, "attempts": 1}
    async with parts.database.transaction(workspace) as db:
        endpoint = await endpoints.one(db, endpoint_id)
        due = {"due_at": now + timedelta(seconds=PAUSES.lease_s)}
        event_id = (await db.execute(insert(WebhookEvent).values(row | due).returning(WebhookEvent.id))).scalar_one()
        secrets = endpoints.secrets_of(parts.keys, workspace, endpoint, now)
        body = payloads.body_of(workspace, told)
        taken = TakenEvent(event_id, endpoint_id, row["message_id"], 1, endpoint.url, body, secrets)
    sent = await calling.call(parts.outbound.limited(LIMITS), taken)
    async with parts.database.transaction(workspace) as db:
        await settling.settle(db, endpoint_id, [sent], PAUSES)
    return sent
