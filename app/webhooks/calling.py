"""One call to a receiver, and what its answer means. No database here."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

import msgspec

from app.outbound import Call, CallRecord, Limits, OutboundClient, OutboundError, OutboundReply, Redactor, retry_after_s
from app.webhooks import addresses, signing

# Only the status of an answer counts; its content is not kept.
LIMITS = Limits(connect_s=10, call_s=20, body_bytes=64 * 1024, attempts=1)
GONE = 410
NO_MORE = "The receiver answered 410: it wants no more events."
NO_KEY = "No key of this installation opens the secret of this webhook. Make a new secret."


@dataclass(frozen=True, slots=True)
class TakenEvent:
    """An event whose attempt is counted, with what its endpoint is now."""

    event_id: int
    endpoint_id: int
    message_id: str
    attempt: int
    url: str
    body: bytes
    secrets: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SentCall:
    """The result of an attempt. `error` is a sentence, None when the event arrived. `asked_s` is the pause that the
    receiver asked for."""

    event_id: int
    number: int
    started_at: datetime
    duration_ms: int
    http_status: int | None
    error: str | None
    sent: str
    asked_s: float = 0

    @property
    def delivered(self) -> bool:
        return self.error is None


async def call(outbound: OutboundClient, taken: TakenEvent) -> SentCall:
    """Makes one call. Never raises for what a receiver does."""
    now = datetime.now(UTC)
    sent = taken.body.decode()
    if not taken.secrets:
        return SentCall(taken.event_id, taken.attempt, now, 0, None, NO_KEY, sent)
    origin, rest = addresses.split(taken.url)
    headers = signing.headers(taken.message_id, taken.body, taken.secrets, int(now.timestamp()))
    posted = Call("POST", origin, rest, body=msgspec.Raw(taken.body), headers=headers)
    noted: list[CallRecord] = []

    async def note(record: CallRecord) -> None:
        noted.append(record)

    status, error, asked_s = None, None, 0.0
    try:
        reply = await outbound.call(posted, lambda reply: reply, redactor=Redactor(taken.secrets), log=note)
        status, error = reply.status, refusal(reply.status)
        asked_s = _asked_s(reply, now) if error else 0
    except OutboundError as failure:
        # Muster cuts off a long answer: this does not mean that the event did not arrive.
        status = failure.status
        error = refusal(status) if status else failure.message
    took = noted[-1].duration_ms if noted else 0
    return SentCall(taken.event_id, taken.attempt, now, took, status, error, sent, asked_s)


def refusal(status: int) -> str | None:
    """What an answer means in a sentence; None when it took the event."""
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return None
    if status == GONE:
        return NO_MORE
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"The receiver answered {status} and points elsewhere. Redirects are not followed: enter the address itself."
    return f"The receiver answered {status}. It must answer 2xx."


def _asked_s(reply: OutboundReply, now: datetime) -> float:
    asked = reply.headers.get("retry-after")
    return retry_after_s(asked, now) if asked else 0
