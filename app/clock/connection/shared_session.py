"""Keeps the session with the remote server for all workers: sealed in the connection's row, one sign-in at a time.

Counts refused credentials and locks the connection. Makes no call: remote/client.py signs in and renews.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from sqlalchemy import func, select, text, update

from app.clock.codes import TcCode
from app.clock.models import Connection
from app.clock.remote import ClockError, ClockSession
from app.clock.remote.session import utc_now
from app.db.session import Database
from app.secrets import KeyRing, Place, SecretError

LOCK_AFTER = 5
LOCKED_FOR = timedelta(minutes=15)
# A separate lock: it is held while the server answers a sign-in, and the row must stay readable and writable meanwhile.
_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('clock sign-in ' || :workspace, 0))")

# The task that signs in needs a second connection to read and save; other tasks of its process wait without one.
_turns: WeakKeyDictionary[Database, defaultdict[str, asyncio.Lock]] = WeakKeyDictionary()


def password_place(workspace: str) -> Place:
    return Place("clock_connections", "password", workspace, "1")


def tokens_place(workspace: str) -> Place:
    return Place("clock_connections", "tokens", workspace, "1")


def locked_sentence(until: datetime | None) -> str:
    when = f" from {until:%H:%M} UTC on" if until else ""
    return f"The connection is locked after {LOCK_AFTER} refused sign-ins. Save the right password, or try again{when}."


class SharedSession:
    """The SessionStore of a saved connection. Every method is a short transaction of its own, so that a failed step
    leaves its trace."""

    def __init__(
        self, database: Database, workspace: str, keys: KeyRing, *, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._keys = keys
        self._now = now

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        turns = _turns.setdefault(self._database, defaultdict(asyncio.Lock))
        async with turns[self._workspace], self._database.shared_transaction() as db:
            await db.execute(_ONE_AT_A_TIME, {"workspace": self._workspace})
            yield

    async def load(self) -> ClockSession | None:
        """None too when the tokens cannot be opened: that only costs a sign-in."""
        async with self._database.transaction(self._workspace) as db:
            sealed = await db.scalar(select(Connection.tokens))
        if sealed is None:
            return None
        try:
            return ClockSession.from_text(self._keys.open(sealed, tokens_place(self._workspace)))
        except SecretError:
            return None

    async def save(self, session: ClockSession) -> None:
        sealed = self._keys.seal(session.to_text(), tokens_place(self._workspace))
        async with self._database.transaction(self._workspace) as db:
            await db.execute(update(Connection).values(tokens=sealed, credential_failures=0, locked_until=None))

    async def before_sign_in(self) -> None:
        async with self._database.transaction(self._workspace) as db:
            found = (await db.execute(select(Connection.status, Connection.locked_until))).one_or_none()
        if found is not None and found.status == "locked":
            raise ClockError(TcCode.LOCKED, locked_sentence(found.locked_until))

    async def sign_in_rejected(self) -> None:
        """One more refusal; the fifth in a row locks."""
        until = self._now() + LOCKED_FOR
        async with self._database.transaction(self._workspace) as db:
            failures = await db.scalar(
                update(Connection)
                .values(credential_failures=Connection.credential_failures + 1, tokens=None)
                .returning(Connection.credential_failures)
            )
            if failures is not None and failures >= LOCK_AFTER:
                await db.execute(update(Connection).values(status="locked", locked_until=until, updated_at=func.now()))
