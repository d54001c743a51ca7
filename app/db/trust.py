"""Which connections of a pool are still believed in. A server that went away, was demoted or fell silent answers no further request
over a connection from before."""

import time
from typing import Any

import asyncpg
from sqlalchemy.exc import DisconnectionError

# A server that takes no changes: a standby, or one that is told to.
READ_ONLY = "25006"


class Trust:
    """Of one pool, for all that share it."""

    def __init__(self) -> None:
        self._since = 0.0

    def lose(self) -> None:
        """The server behind one of them is not to be relied on: each is replaced before it is used again."""
        self._since = time.monotonic()

    def check(self, connection: Any, *_: Any) -> None:
        """For the pool, which makes another one instead. Of those that broke it learns only by the errors of its own statements."""
        driver = connection.driver_connection
        if driver.is_closed() or driver.opened_at < self._since:
            raise DisconnectionError("the database server closed the connection")


def note_failure(context: Any) -> Exception | None:
    """For the engine, where a statement of its own failed: what it raises instead, if anything."""
    if context.connection is None:
        return None
    driver, error = context.connection.connection.driver_connection, context.original_exception
    driver.refused_a_change |= refused_a_change(error)
    # The server said that it ends while nothing was asked of it. The driver, out of step, refused the next statement and closed.
    if isinstance(error.__cause__, asyncpg.InternalClientError) and driver.is_closed():
        return ConnectionError("the database server ended the connection")
    return None


def refused_a_change(error: BaseException) -> bool:
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlstate", None) == READ_ONLY
