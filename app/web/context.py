"""What a handler knows about its request: the person, the workspace, the transaction. The gate makes one for each
request."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar, cast
from zoneinfo import ZoneInfo

import asyncpg
from litestar import Request
from litestar.datastructures import FormMultiDict
from litestar.types import Scope
from sqlalchemy.ext.asyncio import AsyncSession

from app import languages
from app.accounts.audit import Actor
from app.dates import PageZone
from app.db.pool import ShareTaken
from app.db.replica import Recent
from app.db.session import PLATFORM, alone, enter_workspace
from app.errors import NotFound, NotSignedIn
from app.parts import Parts
from app.texts import is_keepable_line
from app.wording.speech import ENGLISH_SPEECH, Speech, speech_for

LARGEST_ID = 2**63 - 1  # The largest bigint.
# Pages for everybody speak the person's language; all other pages are for people who run Muster, and are in English.
FOR_ALL = (
    "/account", "/me", "/survey_prompt", "/sign-in", "/welcome", "/mail/unsubscribe", "/preferences/language",
    "/preferences/keys",
)  # fmt: skip
T = TypeVar("T")


def speaks_to_all(path: str) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in FOR_ALL)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asking. `session_id` is the public number of their browser session, None for a token. `language` is the
    tag of the language in which they want to be asked, None for what their browser says. `problem_counts`: how many
    open problems of each kind the workspace has, without snoozed ones and without kinds that this person may not
    see."""

    id: int
    workspace: str
    workspace_name: str
    email: str
    name: str
    type: str
    permissions: frozenset[str]
    preferences: dict[str, Any]
    session_id: int | None
    session_key: bytes = field(repr=False)
    language: str | None = None
    problem_counts: Mapping[str, int] = field(default_factory=dict, repr=False)


class Transaction(Protocol):
    """How the gate holds the request's transaction."""

    @property
    def only_head(self) -> bool: ...

    @property
    def settled(self) -> bool: ...

    async def settle(self) -> None: ...

    async def reopen(self, workspace: str) -> AsyncSession: ...


@dataclass(slots=True)
class Context:
    """`db` is the request's transaction: it commits when the answer's status is below 400, otherwise it rolls back.
    `token_id` is the number of the token that was sent, 0 without one, and `token_name` its name; `token_made_by` is
    who made it, if that was not its owner. `signed_out` says why the browser's session ended, "" when it sent none.
    `kept`: something that was asked for may have been saved, even if the answer is a refusal."""

    parts: Parts
    db: AsyncSession
    request_id: str
    ip: str
    user_agent: str
    person: Person | None = None
    token_id: int = 0
    token_name: str | None = None
    token_made_by: str | None = None
    policies: dict[str, Any] = field(default_factory=dict)
    flashes: list[dict[str, str]] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)
    signed_out: str = ""
    kept: bool = False
    _transaction: Transaction | None = field(default=None, repr=False)
    _request: Request[Any, Any, Any] | None = None
    _zone: PageZone | None = field(default=None, repr=False)
    _languages: tuple[str, ...] | None = field(default=None, repr=False)

    def meet(self, request: Request[Any, Any, Any]) -> None:
        """Called once the route is found, or no route was found."""
        self._request = request

    def held_by(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @property
    def request(self) -> Request[Any, Any, Any]:
        if self._request is None:
            raise RuntimeError("the request is bound once routing is done")
        return self._request

    @property
    def user(self) -> Person:
        """The signed-in person. Raises NotSignedIn."""
        if self.person is None:
            raise NotSignedIn("Sign in first.")
        return self.person

    @property
    def actor(self) -> Actor:
        """The signed-in person as the audit names them."""
        return Actor(self.user.id, self.user.name, self.ip, self.request_id, self.token_name)

    @property
    def workspace(self) -> str:
        return self.person.workspace if self.person else PLATFORM

    @property
    def on_platform(self) -> bool:
        return self.workspace == PLATFORM

    def may(self, permission: str) -> bool:
        return self.person is not None and permission in self.person.permissions

    @property
    def is_head(self) -> bool:
        """True for HEAD. It is answered as a GET, `db` is rolled back, and the handler must change nothing
        elsewhere."""
        return self._transaction is not None and self._transaction.only_head

    @property
    def wants_fragment(self) -> bool:
        """True when htmx asks for a piece of the page. Boosted and history-restore requests want the whole page."""
        headers = self.request.headers
        partial = headers.get("hx-request") == "true"
        return partial and "hx-boosted" not in headers and "hx-history-restore-request" not in headers

    async def read_recent(self, work: Callable[[AsyncSession], Awaitable[T]]) -> Recent[T]:
        """Runs `work` for figures over the whole workspace: on the replica, if there is a recent one."""
        if self.parts.replica is None:
            return Recent(await work(self.db))
        return await self.parts.replica.read(self.db, self.workspace, work)

    @property
    def asked_lang(self) -> str:
        """The tag in the address (`?lang=`), which following addresses keep; "" for none."""
        return languages.tag_of(self._request.query_params.get("lang", "")) or "" if self._request else ""

    @property
    def languages(self) -> tuple[str, ...]:
        """Tags of the languages that the caller reads, best first: `?lang=`, their choice in *Account*, what their
        browser or app prefers."""
        if self._languages is None:
            choice = self.person.language if self.person else None
            preferred = self._request.headers.get("accept-language", "") if self._request else ""
            self._languages = languages.wanted(self.asked_lang, choice, preferred)
        return self._languages

    @property
    def asked_in(self) -> Speech:
        """How Muster speaks when it asks this person something."""
        return speech_for(self.languages)

    @property
    def speech(self) -> Speech:
        """How this answer speaks: English, except on pages for everybody."""
        path = self._request.url.path if self._request else ""
        return self.asked_in if speaks_to_all(path) else ENGLISH_SPEECH

    async def zone(self) -> PageZone:
        """The zone in which this answer shows times: the workspace's, or UTC before signing in. It is read once."""
        if self._zone is None and self.person is not None:
            await self.reopen()
            self.tell_times_in(await self.request.app.state.zone_of(self.db))
        elif self._zone is None:
            self.tell_times_in("UTC")
        return cast("PageZone", self._zone)

    def tell_times_in(self, name: str) -> None:
        """Sets `zone`, for a handler that has read the workspace's zone already."""
        self._zone = self.speech.zone(PageZone.at(ZoneInfo(name), datetime.now(UTC)))

    @property
    def target(self) -> str:
        """The id of the element that htmx will fill with the answer, or ""."""
        return self.request.headers.get("hx-target", "")

    async def enter(self) -> None:
        """Switches `db` to the caller's workspace. If that has used up its share of connections, the request gives its
        own back before it waits. Raises ShareTaken when the wait is too long."""
        try:
            await enter_workspace(self.db, self.workspace)
        except ShareTaken:
            await self.wait_for_share()

    async def wait_for_share(self) -> None:
        """Continues in a new transaction of the caller's workspace, once its share has room. The old transaction has
        only read who the caller is."""
        await self._held().settle()
        await self.reopen()

    async def settle(self) -> None:
        """Commits what was done so far and gives the connection back; `db` is closed until `reopen`.

        Call this before opening a second transaction: if requests each held one connection while they wait for another,
        they could all wait for each other. A failure after it does not undo what came before.
        """
        self.kept = True
        await self._held().settle()

    async def reopen(self) -> None:
        """Opens a new transaction as `db`, in the caller's workspace; it commits or rolls back with the answer, like
        the first. Does nothing when `db` is still open."""
        if self._held().settled:
            self.db = await self._held().reopen(self.workspace)

    @asynccontextmanager
    async def inside(self, workspace: str) -> AsyncIterator[AsyncSession]:
        """A transaction in `workspace`. In the caller's own workspace it is `db` itself; otherwise `db` is settled
        first, so that no request ever holds two connections. The request continues in a new transaction, even when the
        body raises."""
        if workspace == self.workspace:
            yield self.db
            return
        async with self.apart(), self.parts.database.transaction(workspace) as db:
            yield db

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        """Wraps code that opens transactions of its own: settles `db` before it, and opens a new one after it, even
        when the body raises."""
        await self.settle()
        try:
            yield
        finally:
            await self.reopen()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[asyncpg.Connection]:
        """Commits what was done so far and continues as app.db.session.alone; afterwards `db` is settled."""
        self.kept = True
        async with alone(self.db) as connection:
            yield connection
        await self.settle()

    def _held(self) -> Transaction:
        if self._transaction is None:
            raise RuntimeError("only the gate's requests hold a transaction")
        return self._transaction

    async def form(self) -> FormMultiDict:
        return await self.request.form()


async def provide_context(request: Request[Any, Any, Any]) -> Context:
    """Litestar's dependency `ctx`. Raises NotFound for an id or a key in the address that no row can have."""
    if not all(_may_be_kept(part) for part in request.path_params.values()):
        raise NotFound
    context = context_of(request.scope)
    context.meet(request)
    return context


def _may_be_kept(part: Any) -> bool:
    if isinstance(part, int):
        return abs(part) <= LARGEST_ID
    return not isinstance(part, str) or is_keepable_line(part)


def put(scope: Scope, context: Context) -> None:
    """Stores the context for the handlers behind the gate."""
    cast("dict[str, Any]", scope)["muster"] = context


def context_of(scope: Scope) -> Context:
    """The request's context, behind the gate."""
    context: Context = cast("dict[str, Any]", scope)["muster"]
    return context


def context_in(scope: Scope) -> Context | None:
    """The request's context; None before the gate, and for addresses that need no database."""
    return context_of(scope) if "muster" in scope else None
