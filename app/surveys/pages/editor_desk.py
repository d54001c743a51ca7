"""What the editor works on: the survey as it is stored, and what this workspace's form offers. Forbidden above the
ceiling."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import Text, func, null, select
from sqlalchemy.dialects.postgresql import ARRAY

from app.accounts.models import Tenant
from app.accounts.user_types import FROM_THE_START, labels_in
from app.db.session import PLATFORM
from app.surveys.authoring import stored as survey_rows
from app.surveys.authoring.audience import THE_PLATFORM
from app.surveys.authoring.ceilings import ceiling_in, refuse_above
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.stored import Stored
from app.surveys.models import Survey
from app.surveys.pages.addresses import uid_of
from app.surveys.pages.editing.fields import Offered
from app.web.context import Context

# Suggested for a survey's category; an author can type any other.
MOST_CATEGORIES = 100


@dataclass(frozen=True, slots=True)
class Desk:
    """`stored` is None for a survey that was never saved."""

    offered: Offered
    stored: Stored | None

    @property
    def definition(self) -> Definition | None:
        return self.stored.definition if self.stored else None

    @property
    def at(self) -> str:
        """The end of an act's path: `/<uid>`, or nothing yet."""
        return f"/{self.stored.uid}" if self.stored else ""


async def new_desk(ctx: Context) -> Desk:
    offered = await _offered(ctx)
    refuse_above(offered.ceiling)
    return Desk(offered, None)


async def desk_of(ctx: Context, uid: str) -> Desk:
    """Raises NotFound, and Forbidden above the ceiling. Three statements."""
    return await _desk(ctx, uid_of(uid))


async def again(ctx: Context, desk: Desk) -> Desk:
    """The same desk with the survey as it is now."""
    return await _desk(ctx, desk.stored.uid) if desk.stored else desk


async def _desk(ctx: Context, uid: UUID) -> Desk:
    stored = await survey_rows.load(ctx.db, uid)
    offered = await _offered(ctx)
    refuse_above(offered.ceiling, stored.definition.enforcement)
    fixed = stored.definition if stored.published_at else None
    return Desk(replace(offered.including(stored.definition), fixed=fixed), stored)


async def _offered(ctx: Context) -> Offered:
    tenants = select(func.jsonb_object_agg(Tenant.key, Tenant.name)).where(Tenant.active).scalar_subquery()
    used = select(Survey.category).where(Survey.category.is_not(None), Survey.deleted_at.is_(None)).distinct()
    categories = func.array(used.order_by(Survey.category).limit(MOST_CATEGORIES).scalar_subquery(), type_=ARRAY(Text))
    known = labels_in(ctx.workspace), ceiling_in(ctx.workspace), tenants if ctx.on_platform else null(), categories
    types, ceiling, names, used_before = (await ctx.db.execute(select(*known))).one()
    on_platform = _tenants(names or {}) if ctx.on_platform else None
    return Offered(_sorted(types), on_platform, ceiling, tuple(used_before))


def _tenants(names: dict[str, str]) -> dict[str, str]:
    """By name, the platform itself first; tenants with the same name also show their keys."""
    told = {key: f"{name} ({key})" if [*names.values()].count(name) > 1 else name for key, name in names.items()}
    return {PLATFORM: THE_PLATFORM, **dict(sorted(told.items(), key=lambda one: one[1].casefold()))}


def _sorted(types: dict[str, str] | None) -> dict[str, str]:
    return dict(sorted((types or FROM_THE_START).items(), key=lambda one: one[1].casefold()))
