"""What a tenant's authors may make (design: decisions, "Ceiling"). Archiving lies within every ceiling."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.session import PLATFORM, workspace_of
from app.errors import Forbidden
from app.host.shared import Tenant


async def ceiling_of(db: AsyncSession) -> str:
    """`none`, `optional` or `full` of the transaction's workspace; the platform has no ceiling, which is `full`."""
    workspace = workspace_of(db)
    if workspace == PLATFORM:
        return "full"
    return await db.scalar(select(Tenant.ceiling).where(Tenant.key == workspace)) or "none"


def refuse_above(ceiling: str, *enforcements: str) -> None:
    """Raises Forbidden where surveys of one of these enforcements lie above the ceiling."""
    if ceiling == "none":
        raise Forbidden("This workspace makes no surveys: its authoring ceiling is “none”. The platform can raise it.")
    if ceiling == "optional" and "required" in enforcements:
        raise Forbidden(
            "This workspace makes optional surveys only: its authoring ceiling is “optional”. The platform can raise it."
        )
