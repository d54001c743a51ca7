"""Tells whether the database server left, and repeats a short transaction until it is back. What people are told of it:
app.web.errors.refusals."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from asyncpg import InternalClientError
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.db.connecting import refused_a_change

# The server is ending or starting, or is gone. "08" is any failure of a connection. The codes are PostgreSQL's (its
# manual, appendix A).
_AWAY = frozenset({"57P01", "57P02", "57P03"})
_LOST = (OperationalError, InterfaceError, ConnectionError, InternalClientError)
PAUSE_S = 0.5
T = TypeVar("T")


def sqlstate_of(error: BaseException) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return getattr(cause, "sqlstate", None) or ""


def is_away(error: BaseException) -> bool:
    """True when the server ended the connection, or can't be reached."""
    sqlstate = sqlstate_of(error)
    return sqlstate in _AWAY or sqlstate[:2] == "08" or _lost(error)


def is_because_away(error: BaseException | None) -> bool:
    """The same, also for an error that was raised from such a one, and where the server takes no changes: a standby
    before it is promoted."""
    while error is not None:
        if is_away(error) or refused_a_change(error):
            return True
        error = error.__cause__
    return False


async def insist(write: Callable[[], Awaitable[T]], patience_s: float) -> T:
    """What `write` returns: a transaction that may be repeated. While the server is away or takes no changes, it is
    repeated, for `patience_s` seconds. Then its error is raised, and every other one at once."""
    loop = asyncio.get_running_loop()
    patient_until = loop.time() + patience_s
    while True:
        try:
            return await write()
        except Exception as error:
            if not _passes(error) or loop.time() > patient_until:
                raise
        await asyncio.sleep(PAUSE_S)


def _passes(error: Exception) -> bool:
    return is_away(error) or refused_a_change(error) or isinstance(error, (TimeoutError, OSError, PoolTimeoutError))


def _lost(error: BaseException) -> bool:
    # The driver's own error comes from a statement that goes directly to it: the server ended the connection, and the
    # driver had no statement to match that message with (app.db.pool.note_failure does the same for other statements).
    return isinstance(error, _LOST) or (isinstance(error, DBAPIError) and error.connection_invalidated)
