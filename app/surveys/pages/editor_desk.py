"""What the editor works on: the survey as it is stored, and what this workspace's form offers. Forbidden above the ceiling."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from app.db.session import PLATFORM
from app.host.shared import Tenant, UserType
from app.host.user_types import FROM_THE_START
from app.surveys import stored as survey_rows
from app.surveys.ceilings import refuse_above
from app.surveys.definition import Definition
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.editor_form import Offered
from app.surveys.stored import Stored
from app.web.context import Context


@dataclass(frozen=True, slots=True)
class Desk:
    """`stored` None is a survey that was never saved."""

    offered: Offered
    stored: Stored | None

    @property
    def definition(self) -> Definition | None:
        return self.stored.definition if self.stored else None

    @property
    def at(self) -> str:
        """What follows the path of an act: `/<uid>`, or nothing yet."""
        return f"/{self.stored.uid}" if self.stored else ""


async def new_desk(ctx: Context) -> Desk:
    offered = await _offered(ctx)
    refuse_above(offered.ceiling)
    return Desk(offered, None)


async def desk_of(ctx: Context, uid: str) -> Desk:
    """Raises NotFound, and Forbidden for what lies above the ceiling. Three statements."""
    return await _desk(ctx, uid_of(uid))


async def again(ctx: Context, desk: Desk) -> Desk:
    """The same desk with the survey as it is by now."""
    return await _desk(ctx, desk.stored.uid) if desk.stored else desk


async def _desk(ctx: Context, uid: UUID) -> Desk:
    stored = await survey_rows.load(ctx.db, uid)
    offered = await _offered(ctx)
    refuse_above(offered.ceiling, stored.definition.enforcement)
    return Desk(offered.including(stored.definition), stored)


async def _offered(ctx: Context) -> Offered:
    types = select(func.jsonb_object_agg(UserType.key, UserType.label)).where(UserType.workspace == ctx.workspace)
    tenants = select(func.jsonb_object_agg(Tenant.key, Tenant.name)).where(Tenant.active)
    ceiling = select(Tenant.ceiling).where(Tenant.key == ctx.workspace)
    if ctx.workspace == PLATFORM:
        row = (await ctx.db.execute(select(types.scalar_subquery(), tenants.scalar_subquery()))).one()
        named = {PLATFORM: "the platform itself", **(row[1] or {})}
        known = {
            key: f"{key}: {name}" for key, name in sorted(named.items(), key=lambda one: (one[0] != PLATFORM, one))
        }
        return Offered(_sorted(row[0]), known, "full")
    row = (await ctx.db.execute(select(types.scalar_subquery(), ceiling.scalar_subquery()))).one()
    return Offered(_sorted(row[0]), None, row[1] or "none")


def _sorted(types: dict[str, str] | None) -> dict[str, str]:
    return dict(sorted((types or FROM_THE_START).items(), key=lambda one: one[1].casefold()))
