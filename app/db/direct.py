"""Statements that go to the driver itself: SQLAlchemy would double the price of the few that every reply sends.

They raise ConnectionError where the server went away meanwhile.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import asyncpg
import msgspec
from sqlalchemy import Select
from sqlalchemy.dialects.postgresql import asyncpg as dialects
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.rows import maker

_NAME = re.compile(r"(?<!:):([a-z_]+)")
_DIALECT = cast("Any", dialects.dialect)(json_deserializer=msgspec.json.decode)


class Direct:
    """A statement with `:names`, of at most one row. PostgreSQL must see the type of each where it can't tell: `CAST(:name AS int)`.

    `workspace.table` is the table in the schema that the call names, where the connection itself is in no workspace.
    """

    def __init__(self, sql: str) -> None:
        self.names = tuple(dict.fromkeys(_NAME.findall(sql)))
        self.sql = _NAME.sub(lambda found: f"${self.names.index(found[1]) + 1}", sql)

    async def row(self, connection: asyncpg.Connection, values: Mapping[str, Any], schema: str) -> Any:
        """The row by the names of its columns, or None."""
        sql = self.sql.replace("workspace.", f"{schema}.")
        return await _first(connection, sql, [values[name] for name in self.names])


class DirectSelect:
    """A SELECT of at most one row, compiled once. Values are as the driver takes them, the row's as SQLAlchemy would give them."""

    def __init__(self, statement: Select[Any]) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        self.sql, self._names, self._constants = compiled.string, compiled.positiontup or (), compiled.params
        columns = list(statement.selected_columns)
        self._row = maker(tuple(one.key or "" for one in columns))
        made = [one.type.dialect_impl(_DIALECT).result_processor(_DIALECT, None) for one in columns]
        self._made = [(place, make) for place, make in enumerate(made) if make]

    async def row(self, connection: asyncpg.Connection, values: Mapping[str, Any]) -> Any:
        given = {**self._constants, **values}
        found = await _first(connection, self.sql, [given[name] for name in self._names])
        if found is None:
            return None
        row = list(found)
        for place, make in self._made:
            row[place] = make(row[place])
        return self._row(row)


async def _first(connection: asyncpg.Connection, sql: str, values: Sequence[Any]) -> Any:
    """The driver has errors of its own for a server that went away; everybody else knows this one."""
    try:
        return await connection.fetchrow(sql, *values)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        if connection.is_closed():
            raise ConnectionError("the database server closed the connection") from error
        raise


def begun(db: AsyncSession) -> asyncpg.Connection:
    """The connection of a transaction that has sent a statement already: only then has the server begun it."""
    return cast("asyncpg.Connection", db.sync_session.connection().connection.driver_connection)


async def driver(db: AsyncSession) -> asyncpg.Connection:
    """The connection of a transaction that has begun."""
    raw = await (await db.connection()).get_raw_connection()
    return raw.driver_connection  # type: ignore[return-value]
