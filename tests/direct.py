"""Hearing of the statements that go to the driver itself (app/db/direct.py): SQLAlchemy's own events don't tell of
them. Each transaction begins with one that starts with "BEGIN"."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from app.db.session import Database

# How transactions are set up and end, and what the driver asks itself.
NOT_OURS = (
    "SET LOCAL search_path",
    "COMMIT",
    "ROLLBACK",
    "WITH RECURSIVE typeinfo_tree",
    "SELECT current_setting('jit')",
)


@contextmanager
def heard(database: Database, note: Callable[[str], None]) -> Iterator[None]:
    """Calls `note` with each of them."""

    def logged(record: Any) -> None:
        if not " ".join(record.query.split()).startswith(NOT_OURS):
            note(record.query)

    def taken(connection: Any, *_: Any) -> None:
        connection.driver_connection.add_query_logger(logged)

    def given_back(connection: Any, *_: Any) -> None:
        if connection is not None:
            connection.driver_connection.remove_query_logger(logged)

    engine = database.engine.sync_engine
    event.listen(engine, "checkout", taken)
    event.listen(engine, "checkin", given_back)
    try:
        yield
    finally:
        event.remove(engine, "checkout", taken)
        event.remove(engine, "checkin", given_back)
