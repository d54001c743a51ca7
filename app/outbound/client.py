"""The one client for calls that leave this host: deadlines, caps, retries, one record per call. No database, no
vendor."""

import asyncio
import copy
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Self, TypeVar
from urllib.parse import urlencode, urlsplit

import httpcore
import httpx
import msgspec

from app.counting import near, nearest
from app.outbound.body import ends_with_the_connection, read_body
from app.outbound.calls import Call, CallRecord, Limits, Log, OutboundReply, ProbeStep
from app.outbound.errors import POLICY, OutboundError, network_failure
from app.outbound.policy import AddressPolicy
from app.outbound.redaction import Redactor
from app.outbound.spellings import shortened
from app.outbound.transport import PinnedBackend, PinnedTransport, Resolve, resolve_host, trusted_certificates

T = TypeVar("T")

_NETWORK_FAULTS = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError)


Judge = Callable[[OutboundReply], T]


class OutboundClient:
    """Keeps connections open between calls. One per process and event loop; close it with `aclose`."""

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        limits: Limits | None = None,
        resolve: Resolve = resolve_host,
        certificates: ssl.SSLContext | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._certificates = certificates or trusted_certificates()
        self._backend = PinnedBackend(policy, resolve)
        # The transport is used directly: httpx.AsyncClient would read a redirect's target and keep cookies.
        self._transport = PinnedTransport(self._backend, self._certificates)

    def limited(self, limits: Limits) -> Self:
        """The same connections, with other limits."""
        other = copy.copy(self)
        other.limits = limits
        return other

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def call(self, call: Call, judge: Judge[T], *, redactor: Redactor, log: Log) -> T:
        """What `judge` makes of the answer. Each attempt is one record given to `log`.

        Raises OutboundError: what the judge raised, or TC-NET, TC-POLICY, TC-SHAPE (oversize). Retryable ones are
        tried `limits.attempts` times in all.
        """
        for attempt in range(1, self.limits.attempts + 1):
            try:
                return await self._attempt(call, judge, redactor, log)
            except OutboundError as error:
                if not error.retryable or attempt == self.limits.attempts:
                    raise
            await asyncio.sleep(self.limits.pause_s * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311 -- jitter is no secret
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def probe(self, base_url: str) -> AsyncIterator[ProbeStep]:
        """Reaches the server step by step without asking anything. Raises OutboundError at the step that fails."""
        host, port = _server_of(base_url)
        limit_s = self.limits.connect_s
        started = perf_counter()
        try:
            async with asyncio.timeout(limit_s):
                addresses = await self._backend.addresses(host, port)
            yield ProbeStep("resolve", _ms(started), _where(host, addresses))
            started = perf_counter()
            stream = await self._backend.dial(host, port, addresses, limit_s)
            try:
                yield ProbeStep("connect", _ms(started), f"Port {port} is open.")
                if urlsplit(base_url).scheme == "https":
                    started = perf_counter()
                    stream = await stream.start_tls(self._certificates, host, limit_s)
                    yield ProbeStep("tls", _ms(started), f"{_tls_version(stream)}, certificate verified.")
            finally:
                await stream.aclose()
        except _NETWORK_FAULTS as error:
            raise network_failure(_network_sentence(host, error)) from None

    async def check(self, base_url: str) -> None:
        """Raises OutboundError TC-POLICY where the address may not be called; calls nothing. A name that is not found
        within `connect_s` passes: each call asks again where it leads."""
        host, port = _server_of(base_url)
        try:
            async with asyncio.timeout(self.limits.connect_s):
                await self._backend.addresses(host, port)
        except OutboundError as error:
            if error.code == POLICY:
                raise
        except TimeoutError:
            return

    async def _attempt(self, call: Call, judge: Judge[T], redactor: Redactor, log: Log) -> T:
        begun = datetime.now(UTC), perf_counter()
        reply: OutboundReply | None = None
        try:
            reply = await self._exchange(call)
            result = judge(reply)
        except OutboundError as error:
            _complete(error, reply, redactor)
            await log(_record(call, reply, error, begun, redactor))
            raise
        await log(_record(call, reply, None, begun, redactor))
        return result

    async def _exchange(self, call: Call) -> OutboundReply:
        """One request and its whole answer, under one deadline. Raises OutboundError."""
        sent = False
        try:
            async with asyncio.timeout(self.limits.connect_s) as deadline:

                async def watch(event: str, _: Mapping[str, Any]) -> None:
                    nonlocal sent
                    if event == "http11.send_request_headers.started":
                        sent = True
                        deadline.reschedule(asyncio.get_running_loop().time() + self.limits.call_s)

                return await self._send(_request(call, watch, self.limits.connect_s), call.body_bytes)
        except TimeoutError:
            waited = f"no whole answer within {self.limits.call_s:g} s" if sent else "no connection in time"
            raise network_failure(f"{_host(call)}: {waited}.") from None
        except _NETWORK_FAULTS as error:
            raise network_failure(_network_sentence(_host(call), error)) from None

    async def _send(self, request: httpx.Request, body_bytes: int | None) -> OutboundReply:
        response = await self._transport.handle_async_request(request)
        try:
            body = await read_body(response, body_bytes or self.limits.body_bytes)
        finally:
            await response.aclose()
        return OutboundReply(response.status_code, response.headers, body, ends_with_the_connection(response))


def _server_of(base_url: str) -> tuple[str, int]:
    """Its name, and the port."""
    parts = urlsplit(base_url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _request(call: Call, watch: Callable[..., Awaitable[None]], connect_s: float) -> httpx.Request:
    """Raises OutboundError for an address that only looks like one."""
    url = call.base_url.rstrip("/") + call.path
    headers = {"Accept": "application/json", "User-Agent": "Muster", **call.headers}
    headers["Accept-Encoding"] = "gzip" if call.gzip else "identity"
    content = None
    if call.body is not None:
        content = msgspec.json.encode(call.body)
        headers["Content-Type"] = "application/json"
    try:
        return httpx.Request(
            call.method,
            f"{url}?{urlencode(call.query)}" if call.query else url,
            headers=headers,
            content=content,
            extensions={"trace": watch, "timeout": {"connect": connect_s}},
        )
    except (httpx.InvalidURL, UnicodeError):
        raise network_failure(f"{_host(call)} is not an address that can be called.") from None


def _complete(error: OutboundError, reply: OutboundReply | None, redactor: Redactor) -> None:
    error.message = redactor.text(error.message)
    error.redirect_to = error.redirect_to and redactor.text(error.redirect_to)
    if reply is not None:
        error.status = reply.status
        error.excerpt = error.excerpt or _excerpt(reply, redactor)


def _excerpt(reply: OutboundReply | None, redactor: Redactor) -> str:
    """Pictures are personal, and no text: of them only the size is kept."""
    if reply is None:
        return ""
    if reply.media_type.startswith(("image/", "audio/", "video/")) or b"\0" in reply.body[:1024]:
        return f"[{len(reply.body)} bytes of {shortened(redactor.text(reply.media_type), 60) or 'no type'}]"
    return redactor.excerpt(reply.body)


def _record(
    call: Call,
    reply: OutboundReply | None,
    error: OutboundError | None,
    begun: tuple[datetime, float],
    redactor: Redactor,
) -> CallRecord:
    started_at, started = begun
    return CallRecord(
        started_at=started_at,
        method=call.method,
        host=_host(call),
        path=call.path,
        query=redactor.query(call.query),
        http_status=reply.status if reply else error.status if error else None,
        body_code=redactor.text(reply.body_code)[:64] if reply and reply.body_code else None,
        duration_ms=nearest(_ms(started)),
        bytes=len(reply.body) if reply else 0,
        tc_code=error.code if error else None,
        excerpt=error.excerpt if error else _excerpt(reply, redactor),
    )


def _host(call: Call) -> str:
    return urlsplit(call.base_url).netloc


def _ms(started: float) -> float:
    return near((perf_counter() - started) * 1000, 2)


def _where(host: str, addresses: Sequence[str]) -> str:
    if list(addresses) == [host]:
        return f"{host} is an address: there is no name to look up."
    return f"{host} is {', '.join(addresses)}."


def _tls_version(stream: httpcore.AsyncNetworkStream) -> str:
    tls = stream.get_extra_info("ssl_object")
    return str(tls.version()) if tls is not None else ""


def _network_sentence(host: str, error: BaseException) -> str:
    """The fault in the system's words, with the one people can act on named."""
    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        reason = text.partition("certificate verify failed: ")[2].partition(" (_ssl")[0] or "not trusted"
        return f"The certificate of {host} was refused: {reason}."
    if isinstance(error, (TimeoutError, httpcore.TimeoutException)):
        return f"{host}: no answer in time."
    if isinstance(error, httpcore.RemoteProtocolError):
        return f"{host} broke off, or its answer is not valid HTTP: {shortened(text, 160)}"
    return f"The connection to {host} failed: {shortened(text, 160) or type(error).__name__}."
