"""`MUSTER_PING_URL`: after each good sweep an outside monitor is told that Muster lives. When Muster dies, it hears nothing and speaks up."""

from http import HTTPStatus
from urllib.parse import urlsplit

import structlog

from app.outbound import Call, CallRecord, Limits, OutboundError, OutboundReply, Redactor
from app.parts import Parts

# The next sweep tells again: nothing is repeated.
LIMITS = Limits(connect_s=5, call_s=10, body_bytes=64 * 1024, attempts=1)
log = structlog.get_logger(__name__)


async def tell_monitor(parts: Parts) -> bool:
    """Returns whether the monitor heard it. What goes wrong is logged, without the address: what stands in it may be a secret."""
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


def _status(reply: OutboundReply) -> int:
    return reply.status


async def _not_kept(_: CallRecord) -> None:
    """It is one call like all others, every few minutes."""
