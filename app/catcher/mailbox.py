"""The mails that were caught, as an aiosmtpd handler."""

import email
import email.policy
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

KEPT = 200


@dataclass(frozen=True, slots=True)
class CaughtMail:
    number: int
    at: datetime
    to: str
    subject: str
    text: str


class CaughtMails:
    """The newest KEPT, in memory."""

    def __init__(self) -> None:
        self.mails: deque[CaughtMail] = deque(maxlen=KEPT)
        self._count = 0

    async def handle_DATA(self, _: Any, __: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        message = email.message_from_bytes(envelope.content, _class=EmailMessage, policy=email.policy.default)
        self._count += 1
        to = ", ".join(envelope.rcpt_tos)
        self.mails.append(CaughtMail(self._count, datetime.now(UTC), to, str(message["Subject"]), _text(message)))
        return "250 OK"

    def find(self, number: int) -> CaughtMail | None:
        return next((one for one in self.mails if one.number == number), None)


def _text(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    return str(part.get_content()) if part is not None else ""
