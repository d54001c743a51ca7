"""What a handler knows about its request: the person, the workspace, the transaction. Made by the gate, one per request."""

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

LARGEST_ID = 2**63 - 1  # what a bigint holds
# Pages for everybody speak the person's language; the others are for those who run things, and are English.
FOR_ALL = (
    "/me",
    "/survey_prompt",
    "/sign-in",
    "/welcome",
    "/mail/unsubscribe",
    "/preferences/language",
    "/preferences/keys",
    "/account/password",
    "/account/second-factor",
    "/account/passkeys",
    "/account/sessions",
    "/account/notifications",
)
# Without what stands below it: tokens are for those who program.
FOR_ALL_ALONE = "/account"
T = TypeVar("T")


def speaks_to_all(path: str) -> bool:
    return path == FOR_ALL_ALONE or any(path == one or path.startswith(f"{one}/") for one in FOR_ALL)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asking. `session_id` is the public number of their browser session, None for a token. `language` is a tag: in which they
    want to be asked, None for what their browser says. `problem_counts`: how many problems of each kind are to do in the workspace now,
    snoozed ones left out, and those of kinds that they don't see counted."""

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
    """`db` is the request's transaction: it commits when the answer's status is below 400, else it rolls back. `token_id` is
    the number of the token that was sent, 0 without one, and `token_name` its name; `token_made_by` is who made it, where that was
    not its owner. `signed_out` says why the browser's
    session is over, "" where it sent none. `kept`: something of what was asked for may have been saved, even if the answer is a refusal."""

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
        """Once routing is done, or has failed."""
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
        """True for HEAD, which is answered as a GET: nothing of what is done in `db` is kept, and nothing else may be done."""
        return self._transaction is not None and self._transaction.only_head

    @property
    def wants_fragment(self) -> bool:
        """True when htmx asks for a piece of the page. Boosted and history-restore requests want the whole page."""
        headers = self.request.headers
        partial = headers.get("hx-request") == "true"
        return partial and "hx-boosted" not in headers and "hx-history-restore-request" not in headers

    async def read_recent(self, work: Callable[[AsyncSession], Awaitable[T]]) -> Recent[T]:
        """What `work` finds in the workspace, for figures over everything: at the replica, where there is one that is recent enough."""
        if self.parts.replica is None:
            return Recent(await work(self.db))
        return await self.parts.replica.read(self.db, self.workspace, work)

    @property
    def asked_lang(self) -> str:
        """The tag that the address asks for (`?lang=`), which the next ones keep; "" for none."""
        return languages.tag_of(self._request.query_params.get("lang", "")) or "" if self._request else ""

    @property
    def languages(self) -> tuple[str, ...]:
        """Tags of what the caller reads, best first: `?lang=`, their choice in *Account*, what their browser or app prefers."""
        if self._languages is None:
            choice = self.person.language if self.person else None
            preferred = self._request.headers.get("accept-language", "") if self._request else ""
            self._languages = languages.wanted(self.asked_lang, choice, preferred)
        return self._languages

    @property
    def asked_in(self) -> Speech:
        """How Muster speaks to this person where it asks them something."""
        return speech_for(self.languages)

    @property
    def speech(self) -> Speech:
        """How this answer speaks: English, except where everybody comes."""
        path = self._request.url.path if self._request else ""
        return self.asked_in if speaks_to_all(path) else ENGLISH_SPEECH

    async def zone(self) -> PageZone:
        """The one in which this answer tells its times: the workspace's, or UTC before signing in. Asked once."""
        if self._zone is None and self.person is not None:
            await self.reopen()
            self.tell_times_in(await self.request.app.state.zone_of(self.db))
        elif self._zone is None:
            self.tell_times_in("UTC")
        return cast("PageZone", self._zone)

    def tell_times_in(self, name: str) -> None:
        """What `zone` is, from a handler that read the workspace's along with something else."""
        self._zone = self.speech.zone(PageZone.at(ZoneInfo(name), datetime.now(UTC)))

    @property
    def target(self) -> str:
        """The id of the element that htmx will fill with the answer, or ""."""
        return self.request.headers.get("hx-target", "")

    async def enter(self) -> None:
        """Puts `db` into the caller's workspace. Where that has its share of connections, the request lets go of its own before
        it waits. Raises ShareTaken where that takes too long."""
        try:
            await enter_workspace(self.db, self.workspace)
        except ShareTaken:
            await self.wait_for_share()

    async def wait_for_share(self) -> None:
        """Continues in a new transaction of the caller's workspace, once there is room for it. Nothing was asked of the old one but
        who the caller is."""
        await self._held().settle()
        await self.reopen()

    async def settle(self) -> None:
        """Commits what was done so far and gives the connection back; `db` is closed until `reopen`.

        Code that needs a second transaction calls this first: requests that each hold one connection while they wait for
        another would wait for each other until none is left. What fails after it undoes nothing of what came before.
        """
        self.kept = True
        await self._held().settle()

    async def reopen(self) -> None:
        """A new transaction as `db`, in the caller's workspace, kept or undone with the answer like the first; none where that
        is still open."""
        if self._held().settled:
            self.db = await self._held().reopen(self.workspace)

    @asynccontextmanager
    async def inside(self, workspace: str) -> AsyncIterator[AsyncSession]:
        """A transaction in `workspace`: `db` itself where that is the caller's own; else one in between two of the request's,
        so that no request ever holds two connections. The request continues in a new one even when the body raises."""
        if workspace == self.workspace:
            yield self.db
            return
        async with self.apart(), self.parts.database.transaction(workspace) as db:
            yield db

    @asynccontextmanager
    async def apart(self) -> AsyncIterator[None]:
        """For what opens transactions of its own: `db` is settled before, and a new one after it, even when the body raises."""
        await self.settle()
        try:
            yield
        finally:
            await self.reopen()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[asyncpg.Connection]:
        """Commits what was done so far and continues as app.db.session.alone; `db` is settled after it."""
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
    """For the handlers behind the gate."""
    cast("dict[str, Any]", scope)["muster"] = context


def context_of(scope: Scope) -> Context:
    """The request's context, behind the gate."""
    context: Context = cast("dict[str, Any]", scope)["muster"]
    return context


def context_in(scope: Scope) -> Context | None:
    """None before the gate, and for what needs no database."""
    return context_of(scope) if "muster" in scope else None
