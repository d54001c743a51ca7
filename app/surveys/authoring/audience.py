"""Whom a survey addresses: how many active accounts (asked already or not), and the names of their types and
workspaces."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant, User
from app.accounts.tenants import DEACTIVATED
from app.accounts.user_types import FROM_THE_START, labels_in
from app.db.session import PLATFORM, workspace_of
from app.errors import FieldError
from app.surveys.authoring import anonymity
from app.surveys.authoring.definition import Definition, unpublishable
from app.surveys.words import Names

THE_PLATFORM = "the platform itself"


async def size(db: AsyncSession, *definitions: Definition) -> int:
    """How many people are asked by at least one of the surveys."""
    people = select(func.count()).select_from(User).where(addressed(workspace_of(db), *definitions))
    return await db.scalar(people) or 0


async def too_few(db: AsyncSession, definition: Definition) -> list[FieldError]:
    """What is wrong with the audience of an anonymous survey."""
    return anonymity.too_few(definition, await size(db, definition)) if definition.is_anonymous else []


async def missing_to_publish(db: AsyncSession, definition: Definition, now: datetime) -> list[FieldError]:
    """What keeps a checked definition from being published."""
    return [*unpublishable(definition, now), *await too_few(db, definition)]


async def sizes(db: AsyncSession, definition: Definition) -> dict[str, int]:
    """How many people a survey asks, by the keys of their user types, most first."""
    people = func.count()
    each = select(User.type, people).where(addressed(workspace_of(db), definition)).group_by(User.type)
    return dict((await db.execute(each.order_by(people.desc(), User.type))).all())


def addressed(workspace: str, *definitions: Definition) -> ColumnElement[bool]:
    """The accounts that at least one of the surveys asks. A tenant's survey asks that tenant's people; the platform's
    asks those of its `tenants`, or of every workspace when that is blank."""
    audiences = {(one.user_types, one.tenants if workspace == PLATFORM else ()) for one in definitions}
    asked = or_(false(), *(_addressed(types, tenants) for types, tenants in sorted(audiences)))
    here = User.workspace.not_in(DEACTIVATED) if workspace == PLATFORM else User.workspace == workspace
    return and_(User.active, asked, here)


def _addressed(types: Collection[str], tenants: Collection[str]) -> ColumnElement[bool]:
    """A blank part means everyone."""
    return and_(User.type.in_(types) if types else true(), User.workspace.in_(tenants) if tenants else true())


def names_in(workspace: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """What `named` reads, as two parts of another statement: the labels of the workspace's user types, and all
    tenants."""
    tenants = select(func.jsonb_object_agg(Tenant.key, Tenant.name)).scalar_subquery()
    return labels_in(workspace).label("type_names"), tenants.label("tenant_names")


def named(types: Mapping[str, str] | None, tenants: Mapping[str, str] | None) -> Names:
    return Names(types or FROM_THE_START, {PLATFORM: THE_PLATFORM, **(tenants or {})})


async def names(db: AsyncSession) -> Names:
    """The names in the transaction's workspace. One SELECT."""
    return named(*(await db.execute(select(*names_in(workspace_of(db))))).one())
