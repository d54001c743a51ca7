"""Guards rights: people give only rights that they have, and a workspace keeps at least one administrator. No pages
here."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, any_, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.accounts.audit import Actor
from app.accounts.models import Role, User, UserRole
from app.accounts.permissions import label_of
from app.db.among import among
from app.db.session import workspace_of
from app.errors import Conflict, Forbidden

# A person with these rights can give all other rights back, to themselves and to others.
_KEYS = ("admin.users", "admin.roles")


@asynccontextmanager
async def kept(db: AsyncSession) -> AsyncIterator[None]:
    """Wraps an act that may take rights away. Raises Conflict when the act would leave the workspace without an
    administrator.

    Such acts of one workspace run one after the other. Otherwise two administrators who remove each other at the same
    moment would both succeed.
    """
    await db.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"administrators {workspace_of(db)}", 0))))
    had_one = await _count(db) > 0
    yield
    if had_one and await _count(db) == 0:
        raise Conflict(
            "A workspace needs one person who can manage users and roles. Make another person an administrator first."
        )


async def to_ask(db: AsyncSession) -> list[Any]:
    """Name and e-mail of up to ten people who can manage users here, by name: other people ask them."""
    statement = (
        select(User.name, User.email)
        .join(UserRole, UserRole.user_id == User.id)
        .join(Role, Role.id == UserRole.role_id)
        .where(User.workspace == workspace_of(db), User.active, any_(Role.permissions) == "admin.users")
        .distinct()
        .order_by(User.name, User.email)
        .limit(10)
    )
    return list(await db.execute(statement))


@dataclass(frozen=True, slots=True)
class Administrator:
    """`has_password` is False until the person has used their one-time link."""

    id: int
    name: str
    email: str
    has_password: bool


async def of(db: AsyncSession, workspace: str) -> list[Administrator]:
    """Those who can manage users and roles of a workspace, by name."""
    columns = select(User.id, User.name, User.email, User.password_hash.is_not(None))
    rows = await db.execute(columns.where(User.id.in_(holders(workspace))).order_by(User.name, User.email))
    return [Administrator(*row) for row in rows]


def holders(workspace: ColumnElement[str] | InstrumentedAttribute[str] | str) -> Select[int]:
    """Ids of the accounts that can manage users and roles of a workspace; the workspace may be a column of the
    statement around it. It begins with the few roles that allow it, so it costs the same for any number of accounts."""
    (user_role, role), (other_user_role, other_role) = [(aliased(UserRole), aliased(Role)) for _ in _KEYS]
    return (
        select(user_role.user_id)
        .join(role, role.id == user_role.role_id)
        .join(other_user_role, other_user_role.user_id == user_role.user_id)
        .join(other_role, other_role.id == other_user_role.role_id)
        .join(User, User.id == user_role.user_id)
        .where(role.workspace == workspace, role.permissions.contains(_KEYS[:1]))
        .where(other_role.workspace == workspace, other_role.permissions.contains(_KEYS[1:]))
        .where(User.workspace == workspace, User.active)
        .distinct()
    )


async def _count(db: AsyncSession) -> int:
    return await db.scalar(select(func.count()).select_from(holders(workspace_of(db)).subquery())) or 0


def check_grant(reach: frozenset[str], granted: Iterable[str], *, what: str) -> None:
    """Raises Forbidden for permissions beyond `reach`, which is what the acting person may do."""
    beyond = sorted(set(granted) - reach)
    if beyond:
        labels = ", ".join(f"“{label_of(one)}”" for one in beyond)
        raise Forbidden(f"{what} goes beyond your own rights. You would need {labels} yourself.")


async def check_reach(db: AsyncSession, reach: frozenset[str], user_id: int) -> None:
    """Raises Forbidden when the account has more rights than the acting person, who could gain them by a reset link."""
    check_grant(reach, await permissions_of(db, user_id), what="This account")


async def within_reach(db: AsyncSession, reach: frozenset[str], user_ids: Iterable[int]) -> set[int]:
    """The accounts that have no right beyond those of the acting person: those that `check_reach` accepts."""
    asked = set(user_ids)
    beyond = select(UserRole.user_id).join(Role, Role.id == UserRole.role_id)
    beyond = beyond.where(among(UserRole.user_id, asked), ~Role.permissions.contained_by(sorted(reach)))
    return asked - set(await db.scalars(beyond))


async def permissions_of(db: AsyncSession, user_id: int) -> frozenset[str]:
    several = (
        await db.scalars(
            select(Role.permissions).join(UserRole, UserRole.role_id == Role.id).where(UserRole.user_id == user_id)
        )
    ).all()
    return frozenset(one for permissions in several for one in permissions)


def refuse_oneself(actor: Actor, user_id: int) -> None:
    """Otherwise who finds an administrator's browser open gets around their password. Raises Conflict."""
    if user_id == actor.id:
        raise Conflict("This is your own account. Do this in Account, where your password is asked for.")
