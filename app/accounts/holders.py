"""Who has a permission."""

from typing import Any

from sqlalchemy import any_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Role, User, UserRole
from app.db.session import workspace_of

# More are no help as a list of choices.
MOST = 200


async def who_have(db: AsyncSession, permission: str) -> list[Any]:
    """Id and name of active accounts of the workspace, by name; MOST at most."""
    statement = (
        select(User.id, User.name)
        .join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(User.workspace == workspace_of(db), User.active, any_(Role.permissions) == permission)
        .distinct()
        .order_by(User.name, User.id)
        .limit(MOST)
    )
    return list(await db.execute(statement))
