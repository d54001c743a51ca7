"""The network half: names resolved and judged here, and only the judged address dialled. Knows no codes of the caller.

httpcore's public network backend does the pinning: the name is looked up once, every address is checked, and the
connection goes to one of those addresses, so a name server that changes its answer (DNS rebinding) gains nothing.
TLS still asks for, and verifies, the name.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import cache
from typing import Any

import certifi
import httpcore
import httpx

from app.outbound.errors import POLICY, OutboundError, network_failure
from app.outbound.policy import AddressPolicy, entry_for

Resolve = Callable[[str, int], Awaitable[list[str]]]

_DIALLED_AT_MOST = 4


async def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a name in the system's order of preference, without repeats. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@cache
def trusted_certificates() -> ssl.SSLContext:
    """The system's authorities (so that a company's own works) and the usual public ones.
    Reading them takes a while."""
    context = ssl.create_default_context()
    context.load_verify_locations(cafile=certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Dials only addresses that the policy lets through."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve = resolve_host) -> None:
        self._policy = policy
        self._resolve = resolve
        self._network = httpcore.AnyIOBackend()

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of `host`, all judged. One forbidden address refuses the name: mixed answers are an attack.

        Raises OutboundError TC-NET (no such name) or TC-POLICY.
        """
        try:
            addresses = await self._resolve(host.strip("[]"), port)
        except (OSError, UnicodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or "not a valid name"
            raise network_failure(f"The name {host} could not be resolved ({reason}).") from None
        if not addresses:
            raise network_failure(f"The name {host} has no address.")
        for address in addresses:
            self._refuse(host, address, port)
        return addresses

    def _refuse(self, host: str, address: str, port: int) -> None:
        reason = self._policy.refusal(address, port)
        if reason is None:
            return
        shown = host if host.strip("[]") == address else f"{host} is {address}, which"
        raise OutboundError(
            POLICY,
            f"{shown} may not be reached from here ({reason}). "
            f"The administrator of this server can allow it with MUSTER_OUTBOUND_ALLOW={entry_for(address, port)}.",
        )

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore names it
        local_address: str | None = None,  # noqa: ARG002 -- the signature is httpcore's
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 -- the signature is httpcore's
    ) -> httpcore.AsyncNetworkStream:
        return await self.dial(host, port, await self.addresses(host, port), timeout)

    async def dial(
        self, host: str, port: int, addresses: list[str], timeout_s: float | None
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first judged address that answers. Raises OutboundError TC-NET."""
        tried = addresses[:_DIALLED_AT_MOST]
        share = None if timeout_s is None else timeout_s / len(tried)
        reason: Exception = OSError("no address")
        for address in tried:
            try:
                return _Line(await self._network.connect_tcp(address, port, timeout=share))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                reason = error
        raise network_failure(f"No connection to {host} port {port} ({_plain(reason)}).")

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002 - there is no path that may be reached
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 -- the signature is httpcore's
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 -- the signature is httpcore's
    ) -> httpcore.AsyncNetworkStream:
        raise OutboundError(POLICY, "Local sockets may not be reached.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Line(httpcore.AsyncNetworkStream):
    """A connection that is closed when its TLS handshake is broken off:
    httpcore leaves it open when we run out of time."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        for name in ("read", "write", "aclose", "get_extra_info"):
            setattr(self, name, getattr(stream, name))

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore names it
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self._stream.aclose()
            raise


class PinnedTransport(httpx.AsyncBaseTransport):
    """httpx requests over httpcore's pool with our backend. No proxies, no HTTP/2, no cookies, no redirects."""

    def __init__(self, backend: PinnedBackend, context: ssl.SSLContext) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=64,
            max_keepalive_connections=16,
            keepalive_expiry=30.0,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(answer.status, headers=answer.headers, stream=_AnswerBytes(answer))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _AnswerBytes(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._answer.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


def _plain(error: Exception) -> str:
    """The innermost reason, in the system's words."""
    cause: BaseException = error
    while deeper := cause.__cause__ or cause.__context__:
        cause = deeper
    if isinstance(error, httpcore.ConnectTimeout) or isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return str(cause) or type(cause).__name__
