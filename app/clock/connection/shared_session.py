"""Keeps the session with the remote server for all workers, and for all workspaces that use the same account:
one sign-in at a time.

Counts refused credentials and locks the connection, for each workspace by itself: nothing that a workspace sees may
depend on another. Makes no call: remote/client.py signs in and renews.
"""

import asyncio
import hmac
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from app.accounts.models import ClockSignIn
from app.clock.codes import TcCode
from app.clock.models import Connection
from app.clock.remote import ClockError, ClockSession, Credentials
from app.clock.remote.errors import NET
from app.clock.remote.session import utc_now
from app.clock.zones import kept_time
from app.db.session import PLATFORM, Database
from app.outbound import Limits
from app.problems import looking
from app.secrets import KeyRing, Place, SecretError

LOCK_AFTER = 5
LOCKED_FOR = timedelta(minutes=15)
# A separate lock: it is held while the server answers a sign-in, and the row must stay readable and writable meanwhile.
# Its transaction is idle for as long as two calls may take, a renewal and a sign-in. A statement that waits for it
# would end with an error of the database, so we ask again and again.
_ONE_AT_A_TIME = text(
    "SELECT pg_try_advisory_xact_lock(hashtextextended('clock sign-in ' || :account, 0)),"
    " set_config('idle_in_transaction_session_timeout', :held, true)"
)
_CALL = Limits()
HELD_S = 2 * _CALL.attempts * (_CALL.connect_s + _CALL.call_s + 4 * _CALL.pause_s)
# Another sign-in with the account is under way for so long: the server does not answer.
PATIENCE_S = _CALL.call_s
LOOK_S = 0.1

# The task that signs in needs a second connection to read and save; other tasks of its process wait without one.
_turns: WeakKeyDictionary[AsyncEngine, defaultdict[bytes, asyncio.Lock]] = WeakKeyDictionary()


def password_place(workspace: str) -> Place:
    return Place("clock_connections", "password", workspace, "1")


def tokens_place(sign_in_id: int) -> Place:
    return Place("clock_sign_ins", "tokens", PLATFORM, str(sign_in_id))


def earlier_tokens_place(workspace: str) -> Place:
    """Where a workspace kept a session of its own."""
    return Place("clock_connections", "tokens", workspace, "1")


def locked_sentence(until: datetime | None, zone: str) -> str:
    when = f" from {kept_time(until, zone)} on" if until else ""
    return f"The connection is locked after {LOCK_AFTER} refused sign-ins. Save the right password, or try again{when}."


def accounts_of(keys: KeyRing, base_url: str, credentials: Credentials) -> tuple[bytes, ...]:
    """The hashes of the account, one for each key. The first key's hash is used, and rows under an earlier key's are
    still found. Only a caller who knows the password gets the same hashes."""
    password = credentials.password.reveal()
    three = json.dumps([base_url, credentials.company, credentials.username, password]).encode()
    return tuple(hmac.digest(key, three, "sha256") for key in keys.derive_each("clock account"))


async def forget(db: AsyncSession, accounts: tuple[bytes, ...]) -> None:
    """The next call signs in."""
    await db.execute(delete(ClockSignIn).where(ClockSignIn.account.in_(accounts)))


def _no_answer() -> ClockError:
    """It does not say that another workspace uses the account."""
    return ClockError(NET, f"The server did not answer the sign-in within {PATIENCE_S:.0f} seconds.", retryable=True)


class SharedSession:
    """The SessionStore of a saved connection. Every method is a short transaction of its own, so that a failed step
    leaves its trace. As a save of the connection does, each locks the connection's row before the session's: otherwise
    the two could wait for each other."""

    def __init__(
        self,
        database: Database,
        workspace: str,
        keys: KeyRing,
        accounts: tuple[bytes, ...],
        *,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database = database
        self._workspace = workspace
        self._keys = keys
        self._accounts = accounts
        self._now = now

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Raises ClockError when the server leaves another sign-in with this account without an answer for long."""
        loop = asyncio.get_running_loop()
        patient_until = loop.time() + PATIENCE_S
        asked = {"account": self._accounts[0].hex(), "held": f"{HELD_S * 1000:.0f}"}
        async with self._turn(), self._database.shared_transaction() as db:
            while not await db.scalar(_ONE_AT_A_TIME, asked):
                if loop.time() > patient_until:
                    raise _no_answer()
                await asyncio.sleep(LOOK_S)
            yield

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Within this process."""
        turn = _turns.setdefault(self._database.engine, defaultdict(asyncio.Lock))[self._accounts[0]]
        try:
            async with asyncio.timeout(PATIENCE_S):
                await turn.acquire()
        except TimeoutError:
            raise _no_answer() from None
        try:
            yield
        finally:
            turn.release()

    async def load(self) -> ClockSession | None:
        """None when there is no session, or when no key opens its tokens. Then the caller signs in again."""
        async with self._database.transaction(self._workspace) as db:
            held = await self._held(db) or await self._adopted(db)
        if held is None or held.tokens is None:
            return None
        return self._opened(held.tokens, tokens_place(held.id))

    async def save(self, session: ClockSession) -> None:
        """Ends the count of refusals, and the lock. Those of an account that was saved meanwhile stay."""
        async with self._database.transaction(self._workspace) as db:
            if await self._is_saved(db):
                await db.execute(update(Connection).values(tokens=None, credential_failures=0, locked_until=None))
            await self._keep(db, session)

    async def before_sign_in(self) -> None:
        async with self._database.transaction(self._workspace) as db:
            found = (
                await db.execute(select(Connection.status, Connection.locked_until, Connection.timezone))
            ).one_or_none()
        if found is not None and found.status == "locked":
            raise ClockError(TcCode.LOCKED, locked_sentence(found.locked_until, found.timezone))

    async def sign_in_rejected(self) -> None:
        """One more refusal; the fifth in a row locks. An account that is no longer the saved one counts for nothing."""
        until = self._now() + LOCKED_FOR
        async with self._database.transaction(self._workspace) as db:
            saved = await self._is_saved(db)
            await forget(db, self._accounts)
            if not saved:
                return
            failures = await db.scalar(
                update(Connection)
                .values(credential_failures=Connection.credential_failures + 1, tokens=None)
                .returning(Connection.credential_failures)
            )
            if failures is not None and failures >= LOCK_AFTER:
                await db.execute(update(Connection).values(status="locked", locked_until=until, updated_at=func.now()))
                await looking.look_soon(db)

    async def _is_saved(self, db: AsyncSession) -> bool:
        """True while the connection has this account. Its row stays locked until the transaction ends."""
        saved = await db.scalar(select(Connection).with_for_update())
        if saved is None:
            return False
        try:
            password = self._keys.open(saved.password, password_place(self._workspace))
        except SecretError:
            return False
        account = Credentials(saved.username, password, saved.company)
        return accounts_of(self._keys, saved.base_url, account) == self._accounts

    async def _held(self, db: AsyncSession) -> ClockSignIn | None:
        """The row under the first key comes before rows under earlier ones."""
        found = await db.scalars(select(ClockSignIn).where(ClockSignIn.account.in_(self._accounts)))
        return min(found, key=lambda one: self._accounts.index(one.account), default=None)

    async def _adopted(self, db: AsyncSession) -> ClockSignIn | None:
        """The session that an earlier version kept for this workspace alone."""
        earlier = await db.scalar(select(Connection.tokens))
        if earlier is None:
            return None
        await db.execute(update(Connection).values(tokens=None))
        session = self._opened(earlier, earlier_tokens_place(self._workspace))
        if session is not None:
            await self._keep(db, session)
        return await self._held(db)

    async def _keep(self, db: AsyncSession, session: ClockSession) -> None:
        await forget(db, self._accounts[1:])
        row = insert(ClockSignIn).values(account=self._accounts[0])
        row = row.on_conflict_do_update(index_elements=[ClockSignIn.account], set_={"saved_at": func.now()})
        sign_in_id: int = (await db.execute(row.returning(ClockSignIn.id))).scalar_one()
        sealed = self._keys.seal(session.to_text(), tokens_place(sign_in_id))
        await db.execute(update(ClockSignIn).where(ClockSignIn.id == sign_in_id).values(tokens=sealed))

    def _opened(self, sealed: str, place: Place) -> ClockSession | None:
        try:
            return ClockSession.from_text(self._keys.open(sealed, place))
        except SecretError:
            return None
