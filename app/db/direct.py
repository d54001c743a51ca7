"""Statements that go to the driver itself: SQLAlchemy would double the price of the few that every reply sends.

They raise ConnectionError when the server went away meanwhile.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import asyncpg
import msgspec
from sqlalchemy import Insert, Select
from sqlalchemy.dialects.postgresql import asyncpg as dialects
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.connecting import refused_a_change
from app.db.rows import maker

_NAME = re.compile(r"(?<!:):([a-z_]+)")
_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_DIALECT = cast("Any", dialects.dialect)(json_deserializer=msgspec.json.decode)


class Beginning(asyncpg.Connection):
    """Sends the settings of the next transaction to the server together with its BEGIN. What its pool asks of it:
    app.db.pool."""

    begins_with = ""
    refused_a_change = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.opened_at = time.monotonic()

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:  # noqa: ASYNC109 - the driver's own signature
        if self.begins_with and query.startswith("BEGIN"):
            query, self.begins_with = f"{query} {self.begins_with}", ""
        done: str = await super().execute(query, *args, timeout=timeout)
        return done


class Direct:
    """A statement with `:names` that returns at most one row. Where PostgreSQL can't know the type of a value, write
    it: `CAST(:name AS int)`.

    `workspace.table` is the table in the schema that the call names, where the connection itself is in no workspace.
    """

    def __init__(self, sql: str) -> None:
        self.names = tuple(dict.fromkeys(_NAME.findall(sql)))
        self.sql = _NAME.sub(lambda found: f"${self.names.index(found[1]) + 1}", sql)

    async def row(self, connection: asyncpg.Connection, values: Mapping[str, Any], schema: str) -> Any:
        """The row by the names of its columns, or None."""
        sql = self.sql.replace("workspace.", f"{schema}.")
        return await _asked(connection.fetchrow, connection, sql, [values[name] for name in self.names])


class Compiled:
    """A statement of SQLAlchemy, compiled once. It takes values as the driver does, and returns rows with values as
    SQLAlchemy gives them.

    `with_lists`: it has `in_`, whose values are known now. Then each bindparam needs a value, which the call may
    replace.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]] | Insert, *, with_lists: bool = False) -> None:
        compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": with_lists})
        self.sql, self._names, self._constants = compiled.string, compiled.positiontup or (), compiled.params
        columns = list(statement.exported_columns)
        self._row = maker(tuple(one.key or "" for one in columns))
        made = [one.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None) for one in columns]
        self._made = [(place, make) for place, make in enumerate(made) if make]

    async def row(self, connection: asyncpg.Connection, values: Mapping[str, Any]) -> Any:
        """The first, or None."""
        found = await _asked(connection.fetchrow, connection, self.sql, self._given(values))
        return None if found is None else self._like_sqlalchemy(found)

    async def rows(self, connection: asyncpg.Connection, values: Mapping[str, Any]) -> list[Any]:
        found = await _asked(connection.fetch, connection, self.sql, self._given(values))
        return [self._like_sqlalchemy(one) for one in found]

    def _given(self, values: Mapping[str, Any]) -> list[Any]:
        given = {**self._constants, **values}
        return [given[name] for name in self._names]

    def _like_sqlalchemy(self, found: asyncpg.Record) -> Any:
        if not self._made:
            return self._row(found)
        row = list(found)
        for place, make in self._made:
            row[place] = make(row[place])
        return self._row(row)


async def send(connection: asyncpg.Connection, sql: str) -> None:
    """A command without values and without rows."""
    await _asked(connection.execute, connection, sql, ())


async def _asked(fetch: Callable[..., Any], connection: asyncpg.Connection, sql: str, values: Sequence[Any]) -> Any:
    try:
        return await fetch(sql, *values)
    except _ERRORS as error:
        refuse_if_lost(connection, error)
        raise


def refuse_if_lost(connection: asyncpg.Connection, error: BaseException) -> None:
    """The driver raises errors of its own when the server went away. This raises ConnectionError, which all callers
    know."""
    if type(connection) is Beginning:  # to `isinstance` the driver's metaclass says yes for all of its connections
        connection.refused_a_change |= refused_a_change(error)
    if connection.is_closed():
        raise ConnectionError("the database server closed the connection") from error


def driver(db: AsyncSession) -> asyncpg.Connection:
    """The connection of an open transaction. Raises ConnectionError when the server went away meanwhile."""
    connection = cast("asyncpg.Connection", db.info["driver"])
    if connection.is_closed():
        raise ConnectionError("the database server closed the connection")
    return connection
