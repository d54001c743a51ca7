"""Who has a permission."""

from typing import Any

from sqlalchemy import Select, any_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Role, User, UserRole
from app.db.session import workspace_of

# More are no help as a list of choices.
MOST = 200


async def who_have(db: AsyncSession, permission: str) -> list[Any]:
    """Id and name of active accounts of the workspace, by name; MOST at most."""
    return list(await db.execute(_with(db, permission).order_by(User.name, User.id).limit(MOST)))


async def has(db: AsyncSession, user_id: int, permission: str) -> bool:
    """False also for an account that is not active, or of another workspace."""
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
