"""The outermost layer of the server: request id, host check, security headers (Content-Security-Policy and others), and
the one transaction of each request.

The body is read before the transaction opens, so a request that waits for its client holds no connection. The
transaction commits just before an answer below 400 starts, and otherwise rolls back. So a client never sees a success
that was not kept. A streamed answer opens its own transaction.
"""

import asyncio
import re
import secrets
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.replica import FAULTS
from app.errors import Busy, Refusal, RequestTimeout
from app.parts import Parts
from app.web import sessions
from app.web.context import Context, put
from app.web.errors.answers import plain_answer
from app.web.errors.refusals import Gone, as_refusal
from app.web.transport.body import FROM_ANYBODY, LARGEST, Body
from app.web.transport.compressing import Compressing, names_its_length
from app.web.transport.methods import API, NO_HEAD

log = structlog.get_logger()

CSP = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
HSTS = "max-age=31536000; includeSubDomains"
# Whatever watches the server asks these addresses, under any host name. They reveal nothing that depends on the name.
HEALTH = frozenset({"/health/live", "/health/ready"})
# These addresses need no transaction of the request: readiness asks the database in its own way.
NO_DATABASE = ("/static/", *HEALTH, "/favicon.ico")
# A name or an address, and a port. Requests of HTTP/1.0 have none.
HOST = re.compile(r"(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{0,5}))?")
LAST_PORT = 65_535
SERVER_ERROR, REFUSED = 500, 400


class _Undone(Exception):
    """Rolls the request's transaction back; it is not an error."""


class _HeadIsAll(BaseException):
    """Ends the application once the head of its answer is sent. It is no Exception, so that no error handler catches
    it."""


class Gate:
    """Wraps the Litestar application. Behind it, `context_of` returns the request's Context."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self.app, self.parts = app, parts
        self._cookie = sessions.cookie_name(parts.settings)
        self._hosts = parts.settings.allowed_hosts if parts.settings.production else None
        self._late = asyncio.Lock()  # When hundreds of slow senders time out together, pages come first.
        hsts = {"Strict-Transport-Security": HSTS} if parts.settings.production and parts.settings.secure else {}
        self.headers = [(name.lower().encode(), value.encode()) for name, value in {**HEADERS, **hsts}.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self.app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        headers = [*self.headers, (b"x-request-id", request_id.encode())]
        send = Compressing(send, scope)
        if _asks_for_a_head(scope):
            with suppress(_HeadIsAll):
                as_get: Any = {**scope, "method": "GET"}
                await self._answer(as_get, receive, _HeadAnswer(send, headers, as_get, self.parts), request_id)
        else:
            await self._answer(scope, receive, _Answer(send, headers, scope, self.parts), request_id)

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer", request_id: str) -> None:
        if not _names_a_host(scope):
            await plain_answer(answer.send, scope, Refusal("The request's Host header is not the name of a server."))
        elif not self._answers_for(scope):
            await plain_answer(answer.send, scope, Refusal("This server does not answer for that host name."))
        elif scope["path"].startswith(NO_DATABASE):
            await self.app(scope, receive, answer.send)
        else:
            await self._with_body(scope, receive, answer, request_id)

    def _answers_for(self, scope: Scope) -> bool:
        """True when the request names one of our hosts."""
        if self._hosts is None or scope["path"] in HEALTH:
            return True
        host = _header(scope, b"host").rsplit(":", 1)[0].strip("[]").lower()
        return host in self._hosts

    async def _with_body(self, scope: Scope, receive: Receive, answer: "_Answer", request_id: str) -> None:
        body = Body(str(scope.get("method")), _header(scope, b"content-length"), receive)
        try:
            await body.read(FROM_ANYBODY)
            if body.is_incomplete and await self._comes_from_a_session(scope):
                await body.read(LARGEST)
            if body.is_gone:
                await plain_answer(answer.send, scope, Gone())
            elif body.is_late:
                async with self._late:
                    await self._with_transaction(scope, body.receive, answer, request_id)
            else:
                await self._with_transaction(scope, body.receive, answer, request_id)
        finally:
            body.close()

    async def _comes_from_a_session(self, scope: Scope) -> bool:
        """Checks the session in a transaction of its own. False while the database can't be reached; the refusal comes
        later."""
        cookie = _cookie(scope, self._cookie)
        if not cookie or scope["path"].startswith(API):
            return False
        with suppress(*FAULTS):
            async with self.parts.database.shared_transaction() as db:
                return await sessions.is_known(db, cookie)
        return False

    async def _with_transaction(self, scope: Scope, receive: Receive, answer: "_Answer", request_id: str) -> None:
        try:
            try:
                put(scope, await self._begun(scope, answer, request_id))
            except FAULTS as fault:
                log.warning("no database for a request", path=scope["path"], error=type(fault).__name__)
                await answer.release()
                await plain_answer(answer.send, scope, as_refusal(fault))
                return
            await self.app(scope, receive, answer.send)
        finally:
            await answer.release()

    async def _begun(self, scope: Scope, answer: "_Answer", request_id: str) -> Context:
        """The context of the request, in the workspace of the person in the cookie."""
        transaction = self.parts.database.shared_transaction()
        context = Context(
            parts=self.parts,
            db=await transaction.__aenter__(),
            request_id=request_id,
            ip=client_ip(scope, self.parts.settings.trusted_proxies),
            user_agent=_header(scope, b"user-agent"),
        )
        answer.holds(transaction, context)
        cookie = _cookie(scope, self._cookie)
        if not scope["path"].startswith(API):
            if cookie:
                await sessions.resume(context, cookie)
            await context.enter()
        return context


class _Answer:
    """Sends the answer with our headers, and settles the transaction when the answer's status is known."""

    only_head = False

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]], scope: Scope, parts: Parts) -> None:
        self._send, self._headers, self._scope, self._parts = send, headers, scope, parts
        self._transaction: AbstractAsyncContextManager[AsyncSession] | None = None
        self._context: Context | None = None
        self._broken = False  # What the application still sends belongs to an answer that was replaced.

    def holds(self, transaction: AbstractAsyncContextManager[AsyncSession], context: Context) -> None:
        self._transaction, self._context = transaction, context
        context.held_by(self)

    async def send(self, message: Message) -> None:
        if self._broken:
            return
        if message["type"] == "http.response.start":
            try:
                await self._settle(keep=message["status"] < REFUSED)
            except Exception as fault:  # noqa: BLE001 - for Litestar's handler the answer has begun
                await self._refuse(fault)
                return
            message["headers"] = [*message["headers"], *self._headers, *self._own_headers(message)]
        await self._send(message)

    async def _refuse(self, fault: Exception) -> None:
        """Replaces an answer that reports something which may not have been kept."""
        refusal = as_refusal(fault)
        level = log.warning if isinstance(refusal, Busy) else log.error
        level("the request could not be committed", path=self._scope["path"], exc_info=fault)
        await plain_answer(self.send, self._scope, refusal, kept=True)
        self._broken = True

    @property
    def settled(self) -> bool:
        return self._transaction is None

    async def settle(self) -> None:
        """Commits before the answer is known; see Context.settle."""
        await self._settle(keep=True)

    async def reopen(self, workspace: str) -> AsyncSession:
        transaction = self._parts.database.transaction(workspace)
        session = await transaction.__aenter__()
        self._transaction = transaction
        return session

    async def release(self) -> None:
        """Rolls back when the application failed before it answered."""
        await self._settle(keep=False)

    async def _settle(self, *, keep: bool) -> None:
        transaction, self._transaction = self._transaction, None
        if transaction is None:
            return
        if keep:
            await transaction.__aexit__(None, None, None)
            return
        # A lost connection can't be rolled back, and need not be: the server has done it. The refusal must still be
        # sent.
        with suppress(_Undone, DBAPIError, OSError):
            await transaction.__aexit__(_Undone, _Undone(), None)

    def _own_headers(self, message: Any) -> list[tuple[bytes, bytes]]:
        names = {name.lower() for name, _ in message["headers"]}
        extra = []
        if b"cache-control" not in names and not self._scope["path"].startswith("/static/"):
            extra.append((b"cache-control", b"no-store"))
        if self._context is not None and message["status"] < SERVER_ERROR:
            extra += [(b"set-cookie", cookie.encode()) for cookie in self._context.cookies]
        if message["status"] == RequestTimeout.status or self._parts.leaving.has_begun:
            extra.append((b"connection", b"close"))
        return extra


class _HeadAnswer(_Answer):
    """Sends the head of the answer to a GET without its body, and rolls back."""

    only_head = True

    async def send(self, message: Message) -> None:
        """Waits for a body that is complete already, for its compressed length. A body in pieces is not even begun."""
        await super().send(message)
        if message["type"] == "http.response.start" and names_its_length(message["headers"]):
            return
        if message["type"] == "http.response.start":
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        raise _HeadIsAll

    async def _settle(self, *, keep: bool) -> None:  # noqa: ARG002 - the signature of _Answer
        await super()._settle(keep=False)


def _asks_for_a_head(scope: Scope) -> bool:
    """True for HEAD, except at the addresses that answer it with 405."""
    return scope.get("method") == "HEAD" and not scope["path"].startswith(NO_HEAD)


def client_ip(scope: Scope, trusted_proxies: int) -> str:
    """The caller's address, from the X-Forwarded-For entry that the outermost of `trusted_proxies` added; without
    proxies the header is ignored."""
    client = scope.get("client")
    direct = client[0] if client else ""
    if trusted_proxies == 0:
        return direct
    hops = [hop.strip() for hop in _header(scope, b"x-forwarded-for").split(",") if hop.strip()]
    return hops[-trusted_proxies] if len(hops) >= trusted_proxies else direct


def _names_a_host(scope: Scope) -> bool:
    """True when the request names one host in valid form, or none, as HTTP/1.0 allows. Any other name would break code
    that asks for the address of the request."""
    named = [value.decode("latin-1") for key, value in scope["headers"] if key == b"host"]
    found = HOST.fullmatch("".join(named[:1]))
    return len(named) <= 1 and found is not None and int(found["port"] or 0) <= LAST_PORT


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _cookie(scope: Scope, name: str) -> str | None:
    """Parsed by hand: one odd cookie of another application on this host makes the standard library skip all cookies
    after it."""
    pairs = (pair.partition("=") for pair in _header(scope, b"cookie").split(";"))
    return {found.strip(): value.strip() for found, _, value in pairs}.get(name)
