"""How many people a survey addresses: active accounts of its audience, whether or not they were asked yet."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import PLATFORM, workspace_of
from app.host.shared import Tenant, User
from app.surveys.definition import Definition


async def size(db: AsyncSession, definition: Definition) -> int:
    """A tenant's survey asks that tenant's people, the platform's those of its `tenants`, or of every workspace where that is
    blank (design: decisions, "Surveys: who is asked, when")."""
    workspace = workspace_of(db)
    people = select(func.count()).select_from(User).where(User.active)
    if definition.user_types:
        people = people.where(User.type.in_(definition.user_types))
    if workspace != PLATFORM:
        return await db.scalar(people.where(User.workspace == workspace)) or 0
    gone = select(Tenant.key).where(~Tenant.active)
    people = people.where(User.workspace.not_in(gone))
    if definition.tenants:
        people = people.where(User.workspace.in_(definition.tenants))
    return await db.scalar(people) or 0
