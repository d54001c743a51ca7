"""Who has a permission."""

from typing import Any

from sqlalchemy import Select, any_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Role, User, UserRole
from app.db.session import workspace_of

# A list of choices with more names would be no help.
MOST = 200


async def who_have(db: AsyncSession, permission: str) -> list[Any]:
    """Id and name of active accounts of the workspace with this permission, by name; at most MOST."""
    return list(await db.execute(_with(db, permission).order_by(User.name, User.id).limit(MOST)))


async def has(db: AsyncSession, user_id: int, permission: str) -> bool:
    """True when the account is active, belongs to this workspace and has the permission."""
    found = await db.execute(_with(db, permission).where(User.id == user_id))
    return found.first() is not None


def _with(db: AsyncSession, permission: str) -> Select[Any]:
    columns: tuple[Any, ...] = (User.id, User.name)
    return (
        select(*columns)
        .join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(User.workspace == workspace_of(db), User.active, any_(Role.permissions) == permission)
        .distinct()
    )
