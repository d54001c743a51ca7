"""Tables as autovacuum leaves them: no test server has one, and a plan depends on what is known of the rows."""

from sqlalchemy import text

from app.db.session import Database
from tests.cluster import DatabaseUrls


async def settle(urls: DatabaseUrls, *tables: str) -> None:
    """As autovacuum leaves them, without the room that tests before this one left in them: their blocks are counted."""
    owner = Database(urls.owner)
    async with owner.engine.connect() as connection:
        alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await alone.execute(text("SET search_path TO main, shared"))
        for table in tables:
            await alone.execute(text(f"VACUUM FULL {table}"))
            await alone.execute(text(f"VACUUM ANALYZE {table}"))
    await owner.close()
