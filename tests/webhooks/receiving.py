"""A receiver, webhooks that lead to it, and the worker's job."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks.webhooks import Webhook

from app.accounts.audit import COMMAND_LINE
from app.db.session import PLATFORM
from app.outbound import Limits
from app.parts import Parts
from app.webhooks import endpoints, noting
from app.webhooks.endpoints import MadeWebhook
from app.webhooks.kinds import ATTENDANCE_CHANGED, TYPES
from app.webhooks.retry_pauses import Pauses
from app.webhooks.sending import Sender
from tests.fakes.liar import Heard, Liar

HOOK = "/hook"
QUICK = Pauses(between_s=(0.01,) * 9, lease_s=0.2)
IMPATIENT = Limits(connect_s=2, call_s=0.3, body_bytes=64 * 1024, attempts=1)


async def add(parts: Parts, url: str, types: Collection[str] = tuple(TYPES), workspace: str = PLATFORM) -> MadeWebhook:
    async with parts.database.transaction(workspace) as db:
        return await endpoints.add(db, parts.keys, COMMAND_LINE, url, types)


async def change(parts: Parts, *ids: int, kind: str = ATTENDANCE_CHANGED, workspace: str = PLATFORM) -> None:
    """One transaction."""
    async with parts.database.transaction(workspace) as db:
        await noting.note(db, kind, ids)


async def send(parts: Parts, pauses: Pauses = QUICK, workspace: str = PLATFORM) -> int:
    """One turn of the worker's job."""
    return await Sender(parts, workspace, pauses, IMPATIENT).send_due()


def verified(heard: Heard, secret: str) -> Any:
    """What the receiver was told. Raises WebhookVerificationError."""
    return Webhook(secret).verify(heard.body, heard.headers)


@dataclass
class Inbox:
    """What arrived at a receiver that verifies: the newest time of each subject."""

    liar: Liar
    made: MadeWebhook
    at: dict[Any, str] = field(default_factory=dict)

    def told(self) -> list[Any]:
        return [verified(one, self.made.secret) for one in self.liar.asked(HOOK)]

    def data(self) -> list[Any]:
        return [one["data"] for one in self.told()]
