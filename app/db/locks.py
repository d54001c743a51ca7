"""Locks for the rest of a transaction: what is read after the lock stays as it is until this transaction ends."""

from sqlalchemy import ColumnElement, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import workspace_of


async def hold(db: AsyncSession, one: ColumnElement[bool]) -> None:
    """Locks the row that the condition names. Rows that only refer to it can still be written."""
    await db.execute(select(literal(1)).where(one).with_for_update(key_share=True))


async def hold_name(db: AsyncSession, name: str) -> None:
    """Locks a name in this workspace, for things that have no row before they are saved for the first time."""
    key = func.hashtextextended(f"{name} {workspace_of(db)}", 0)
    await db.execute(select(func.pg_advisory_xact_lock(key)))
