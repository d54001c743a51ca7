"""The client of one time-clock server: signs in, renews, asks for pages. Parses no row and writes nothing."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from http import HTTPStatus
from time import perf_counter
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import ZoneInfo

from app.clock.profiles import Profile
from app.clock.remote.address import photo_address
from app.clock.remote.errors import AUTH, REMOTE, SHAPE, TOKEN, ClockError, NotOfferedError, UnauthenticatedError
from app.clock.remote.judging import page_from, refuse_failure, session_from
from app.clock.remote.page import Page
from app.clock.remote.photo import PHOTO_BYTES, Photo, photo_of
from app.clock.remote.session import ClockSession, Credentials, SessionStore, utc_now
from app.counting import nearest
from app.outbound import Call, Log, OutboundClient, OutboundError, OutboundReply, Redactor

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TestStep:
    """One step of the connection test: resolve, connect, tls, sign_in or list. `sentence` is for the operator."""

    __test__ = False  # pytest takes the name for a test

    name: str
    ok: bool
    duration_ms: int
    sentence: str
    code: str | None = None
    warns: bool = False  # it succeeded, but a person should look at it


class RemoteClock:
    """One configured server. Every method raises ClockError with a TC code when a call fails."""

    def __init__(
        self,
        profile: Profile,
        base_url: str,
        zone: ZoneInfo,
        credentials: Credentials,
        *,
        outbound: OutboundClient,
        session_store: SessionStore,
        log: Log,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.profile = profile
        self.base_url = base_url.rstrip("/")
        self._zone = zone
        self._credentials = credentials
        self._outbound = outbound
        self._store = session_store
        self._log = log
        self._now = now
        self._session: ClockSession | None = None
        self._redactor = self._redactor_with(None)

    @property
    def redactor(self) -> Redactor:
        """Knows this connection's secrets; for rows that are set aside."""
        return self._redactor

    async def sign_in(self) -> None:
        """A new session, whatever we hold. TC-AUTH is counted by the store."""
        async with self._store.lock():
            self._hold(await self._signed_in())

    async def renew(self) -> None:
        """A session that is not the one we hold: another worker's if there is one, else refreshed, else signed in."""
        await self._renewed(self._session)

    async def fetch_page(
        self,
        resource: str,
        page: int,
        page_size: int,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        emp_code: str | None = None,
    ) -> Page:
        """Page `page` (from 1) of a resource. `start`, `end` (naive local times) and `emp_code` are
        for transactions alone.

        The server may give fewer rows than `page_size`, and may read its bounds in UTC or leave them out.
        """
        query = self._paging(page, page_size) + self._window(start, end)
        if emp_code is not None:
            query += ((self.profile.filters.emp_code, emp_code),)
        return await self._page(resource, page, query)

    async def count(self, resource: str, start: datetime | None = None, end: datetime | None = None) -> int:
        """How many rows the server says there are; one row is fetched."""
        return (await self.fetch_page(resource, 1, 1, start, end)).total

    async def schedules(self, emp_code: str, start: date, end: date) -> list[Any]:
        """Raw schedule rows of one person, both days inclusive. Read on demand, never stored."""
        names = self.profile.filters
        query = (
            (names.emp_code, emp_code),
            (names.start_date, start.isoformat()),
            (names.end_date, end.isoformat()),
            *self._paging(1, self.profile.paging.cap),
        )
        return (await self._page("schedules", 1, query)).rows

    async def photo(self, reference: str) -> Photo:
        """The picture behind a reference the server gave. Only this server is asked, whatever the reference says."""
        origin, target = photo_address(self.base_url, reference)
        parts = urlsplit(target)

        def judge(reply: OutboundReply) -> Photo:
            refuse_failure(reply, self.profile, origin + parts.path, self._now())
            return photo_of(reply.body)

        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return await self._with_session(
            lambda session: Call(
                "GET", origin, parts.path, query, headers=self._headers(session), body_bytes=PHOTO_BYTES
            ),
            judge,
        )

    async def test_steps(self) -> AsyncIterator[TestStep]:
        """Tries the connection step by step; ends after the first step that fails.
        Signs in again and keeps the session."""
        started, name = perf_counter(), "resolve"
        try:
            async for step in self._outbound.probe(self.base_url):
                yield TestStep(step.name, True, nearest(step.duration_ms), step.detail)
                started, name = perf_counter(), {"resolve": "connect", "connect": "tls"}.get(step.name, "sign_in")
            if not self.base_url.startswith("https:"):
                plain = "Not encrypted: others on the network can read everything, the password too."
                yield TestStep("tls", True, 0, plain, warns=True)
            started, name = perf_counter(), "sign_in"
            await self.sign_in()
            yield TestStep(name, True, _ms(started), f"Signed in as {self._credentials.username}.")
            started, name = perf_counter(), "list"
            resource = self.profile.resources[0]
            page = await self.fetch_page(resource, 1, 1)
            yield TestStep(name, True, _ms(started), f"The server lists {page.total} {resource}.")
        except OutboundError as error:
            yield TestStep(name, False, _ms(started), error.message, error.code)

    async def _page(self, resource: str, number: int, query: tuple[tuple[str, str], ...]) -> Page:
        path = self.profile.paths.get(resource)
        if path is None:
            raise NotOfferedError(f"The profile {self.profile.name} has no {resource}.")
        url = self.base_url + path
        return await self._with_session(
            lambda session: Call(
                "GET", self.base_url, path, query, headers=self._headers(session), gzip=self.profile.gzip
            ),
            lambda reply: page_from(reply, self.profile, url, self._now(), resource=resource, number=number),
        )

    async def _with_session(self, call: Callable[[ClockSession], Call], judge: Callable[[OutboundReply], T]) -> T:
        """The call with a good token; one renewal and one repeat when the server refuses it. Then TC-TOKEN."""
        session = await self._current()
        try:
            return await self._ask(session, call, judge)
        except UnauthenticatedError:
            session = await self._renewed(session)
        try:
            return await self._ask(session, call, judge)
        except UnauthenticatedError as error:
            raise ClockError(
                TOKEN,
                "The server refused the session, and then the new one too.",
                excerpt=error.excerpt,
                status=error.status,
            ) from None

    async def _ask(
        self, session: ClockSession, call: Callable[[ClockSession], Call], judge: Callable[[OutboundReply], T]
    ) -> T:
        try:
            return await self._send(call(session), judge)
        except ClockError as error:
            if error.status == HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, UnauthenticatedError):
                await self._doubt(session)
            raise

    async def _doubt(self, session: ClockSession) -> None:
        """Some builds answer a dead token with a bare 500.
        Renewing before the next call ends that; otherwise it lasts a day."""
        async with self._store.lock():
            held = await self._store.load()
            if held is not None and held.access == session.access:
                doubted = replace(held, expires_at=self._now())
                await self._store.save(doubted)
                self._hold(doubted)

    async def _current(self) -> ClockSession:
        session = self._session or await self._store.load()
        if session is None or session.due(self._now()):
            return await self._renewed(session)
        return self._hold(session)

    async def _renewed(self, stale: ClockSession | None) -> ClockSession:
        async with self._store.lock():
            held = await self._store.load()
            if held is not None and not held.due(self._now()) and (stale is None or held.access != stale.access):
                return self._hold(held)  # another worker was first
            fresh = await self._refreshed(held) if held is not None else None
            return self._hold(fresh or await self._signed_in())

    async def _refreshed(self, held: ClockSession) -> ClockSession | None:
        """The session renewed by its token, or None when the server won't: then the password has to go out again."""
        names = self.profile.sign_in
        token = held.access if names.refresh_with == "access" else held.refresh
        if token is None:
            return None
        self._hold(held)
        try:
            fresh = await self._open_session(names.refresh_path, {names.refresh_sends: token.reveal()})
        except ClockError as error:
            if error.code in (AUTH, SHAPE, REMOTE, TOKEN):
                return None
            raise
        if fresh.refresh is None and held.refresh is not None:
            fresh = ClockSession(fresh.access, held.refresh, fresh.issued_at, fresh.expires_at)
        await self._store.save(fresh)
        return fresh

    async def _signed_in(self) -> ClockSession:
        await self._store.before_sign_in()
        try:
            session = await self._open_session(self.profile.sign_in.path, self._sign_in_body())
        except ClockError as error:
            if error.code == AUTH:
                await self._store.sign_in_rejected()
            raise
        await self._store.save(session)
        return session

    async def _open_session(self, path: str, body: dict[str, str]) -> ClockSession:
        url = self.base_url + path
        return await self._send(
            Call("POST", self.base_url, path, body=body, headers=self._headers(None), gzip=self.profile.gzip),
            lambda reply: session_from(reply, self.profile, url, self._now()),
        )

    def _sign_in_body(self) -> dict[str, str]:
        names, credentials = self.profile.sign_in, self._credentials
        password = credentials.password.reveal()
        if not credentials.company:
            return {names.username: credentials.username, names.password: password}
        return {
            names.company: credentials.company,
            names.company_username: credentials.username,
            names.company_password: password,
        }

    async def _send(self, call: Call, judge: Callable[[OutboundReply], T]) -> T:
        try:
            return await self._outbound.call(call, judge, redactor=self._redactor, log=self._log)
        except ClockError:
            raise
        except OutboundError as error:
            raise ClockError.of(error) from None

    def _headers(self, session: ClockSession | None) -> dict[str, str]:
        token = session.access.reveal() if session else ""
        return {
            name: value.format(token=token, zone=self._zone.key)
            for name, value in self.profile.headers.items()
            if token or "{token}" not in value
        }

    def _paging(self, page: int, page_size: int) -> tuple[tuple[str, str], ...]:
        names = self.profile.paging
        size = str(min(page_size, names.cap))
        return ((names.page, str(page)), *((name, size) for name in names.sizes))

    def _window(self, start: datetime | None, end: datetime | None) -> tuple[tuple[str, str], ...]:
        names = self.profile.filters
        bounds = ((names.start, start), (names.end, end))
        return tuple((name, bound.strftime(names.time_format)) for name, bound in bounds if bound is not None)

    def _hold(self, session: ClockSession) -> ClockSession:
        if session is not self._session:
            self._session = session
            self._redactor = self._redactor_with(session)
        return session

    def _redactor_with(self, session: ClockSession | None) -> Redactor:
        tokens = [session.access, session.refresh] if session else []
        return Redactor(secret.reveal() for secret in (self._credentials.password, *tokens) if secret)


def _ms(started: float) -> int:
    return nearest((perf_counter() - started) * 1000)
