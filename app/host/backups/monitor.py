"""`MUSTER_PING_URL`: after each good sweep Muster calls an outside monitor. When Muster dies, the calls stop, and the
monitor tells people."""

from http import HTTPStatus
from urllib.parse import urlsplit

import structlog

from app.outbound import Call, CallRecord, Limits, OutboundError, OutboundReply, Redactor
from app.parts import Parts

# A failed call is not repeated: the next sweep calls again.
LIMITS = Limits(connect_s=5, call_s=10, body_bytes=64 * 1024, attempts=1)
# Somebody waits for it.
LOOKED_UP = Limits(connect_s=3)
log = structlog.get_logger(__name__)


async def tell_monitor(parts: Parts) -> bool:
    """Returns True when the monitor answered. A failure is logged without the address, which may hold a secret."""
    url = parts.settings.ping_url
    if url is None:
        return False
    address = urlsplit(url)
    origin = f"{address.scheme}://{address.netloc}"
    path = url.removeprefix(origin) or "/"
    try:
        status = await parts.outbound.limited(LIMITS).call(
            Call("GET", origin, path), _status, redactor=Redactor((path, url)), log=_not_kept
        )
    except OutboundError as failure:
        log.warning("MUSTER_PING_URL could not be called", host=address.hostname, reason=failure.message)
        return False
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        log.warning("MUSTER_PING_URL refused the call", host=address.hostname, status=status)
    return status < HTTPStatus.MULTIPLE_CHOICES


async def refusal(parts: Parts) -> str:
    """Why the policy of outbound calls does not allow the monitor's address, "" when it does. Calls nothing."""
    try:
        await parts.outbound.limited(LOOKED_UP).check(parts.settings.ping_url or "")
    except OutboundError as refused:
        return refused.message
    return ""


def _status(reply: OutboundReply) -> int:
    return reply.status


async def _not_kept(_: CallRecord) -> None:
    """Keeps no record: there is such a call every few minutes."""
