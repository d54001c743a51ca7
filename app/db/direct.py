"""Statements that go to the driver itself: SQLAlchemy would double the price of the few that every reply sends."""

import re
from collections.abc import Mapping
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

_NAME = re.compile(r"(?<!:):([a-z_]+)")


class Direct:
    """A statement with `:names`, of at most one row. PostgreSQL must see the type of each where it can't tell: `CAST(:name AS int)`."""

    def __init__(self, sql: str) -> None:
        self.names = tuple(dict.fromkeys(_NAME.findall(sql)))
        self.sql = _NAME.sub(lambda found: f"${self.names.index(found[1]) + 1}", sql)

    async def row(self, connection: asyncpg.Connection, values: Mapping[str, Any]) -> Any:
        """The row by the names of its columns, or None."""
        return await connection.fetchrow(self.sql, *(values[name] for name in self.names))


async def driver(db: AsyncSession) -> asyncpg.Connection:
    """The connection of a transaction that has begun."""
    raw = await (await db.connection()).get_raw_connection()
    return raw.driver_connection  # type: ignore[return-value]
