"""What a tenant's authors may make. Archiving is always allowed."""

from sqlalchemy import ColumnElement, func, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant
from app.db.session import PLATFORM, workspace_of
from app.errors import Forbidden

# The platform has no ceiling.
FULL = "full"


async def ceiling_of(db: AsyncSession) -> str:
    """`none`, `optional` or `full`, for the transaction's workspace."""
    workspace = workspace_of(db)
    return FULL if workspace == PLATFORM else await db.scalar(select(ceiling_in(workspace))) or "none"


def ceiling_in(workspace: str) -> ColumnElement[str]:
    """The same as a part of another statement."""
    if workspace == PLATFORM:
        return literal(FULL)
    return func.coalesce(select(Tenant.ceiling).where(Tenant.key == workspace).scalar_subquery(), "none")


def refuse_above(ceiling: str, *enforcements: str) -> None:
    """Raises Forbidden when surveys with one of these enforcements are above the ceiling."""
    if ceiling == "none":
        raise Forbidden(
            "This workspace can't make surveys: its authoring ceiling is “none”. The platform can raise it."
        )
    if ceiling == "optional" and "required" in enforcements:
        raise Forbidden(
            "This workspace can make only optional surveys: its authoring ceiling is “optional”. The platform can raise it."
        )
