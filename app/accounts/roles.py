"""Permissions, the roles that every workspace has from the start, and adding roles.

What each permission means in plain words: app.accounts.permissions. Giving roles to people: app.accounts.accounts.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import administrators, audit
from app.accounts.models import Role, UserRole
from app.accounts.permissions import EXPLAINED
from app.db.session import workspace_of
from app.errors import Conflict, Invalid, NotFound
from app.registry import ADMINISTRATOR, BUILT_IN_ROLES

PERMISSIONS = tuple(EXPLAINED)
EVERYTHING = frozenset(PERMISSIONS)
BUILT_IN: dict[str, frozenset[str]] = {
    role: frozenset(name for name, one in EXPLAINED.items() if role == ADMINISTRATOR or role in one.roles)
    for role in BUILT_IN_ROLES
}


async def find(db: AsyncSession, role_id: int) -> Any:
    """Id, name, permissions, builtin and people (how many have it) of one role of this workspace. Raises NotFound."""
    people = select(func.count()).where(UserRole.role_id == Role.id).scalar_subquery()
    statement = select(Role.id, Role.name, Role.permissions, Role.builtin, people.label("people"))
    row = (await db.execute(statement.where(Role.id == role_id, Role.workspace == workspace_of(db)))).one_or_none()
    if row is None:
        raise NotFound("There is no such role.")
    return row


async def add(
    db: AsyncSession,
    actor: audit.Actor,
    name: str,
    permissions: Collection[str],
    *,
    reach: frozenset[str] = EVERYTHING,
) -> int:
    """`reach` is what the acting person may do: the new role can't exceed it. Raises Invalid for a taken name."""
    chosen = _ordered(permissions)
    administrators.check_grant(reach, chosen, what="This role")
    statement = insert(Role).values(workspace=workspace_of(db), name=name, permissions=chosen)
    role_id: int | None = await db.scalar(statement.on_conflict_do_nothing().returning(Role.id))
    if role_id is None:
        raise _taken(name)
    await audit.record(db, actor, "role.add", "role", role_id, after={"name": name, "permissions": chosen})
    return role_id


async def edit(
    db: AsyncSession,
    actor: audit.Actor,
    role_id: int,
    name: str,
    permissions: Collection[str],
    *,
    reach: frozenset[str] = EVERYTHING,
) -> list[int]:
    """Returns the people whose rights changed, so that the caller ends their sessions. Raises Conflict for a built-in
    role and when the last administrator would lose their rights, Forbidden beyond `reach`."""
    row = await find(db, role_id)
    if row.builtin:
        raise Conflict(f"{row.name} is built in: it can't be changed. Copy it, and change the copy.")
    chosen = _ordered(permissions)
    was = {"name": row.name, "permissions": _in_order(row.permissions)}
    is_now = {"name": name, "permissions": chosen}
    administrators.check_grant(reach, set(chosen) ^ set(row.permissions), what="This change")
    if was == is_now:
        return []
    if await db.scalar(
        select(Role.id).where(Role.workspace == workspace_of(db), Role.name == name, Role.id != role_id)
    ):
        raise _taken(name)
    async with administrators.kept(db):
        await db.execute(update(Role).where(Role.id == role_id).values(is_now))
    before, after = audit.changed_fields(was, is_now)
    await audit.record(db, actor, "role.edit", "role", role_id, before=before, after=after)
    return await _holders(db, role_id) if "permissions" in after else []


async def remove(
    db: AsyncSession, actor: audit.Actor, role_id: int, *, reach: frozenset[str] = EVERYTHING
) -> list[int]:
    """Deletes the role and takes it from everybody who has it; returns them. Raises Conflict for a built-in role and
    when no administrator would be left."""
    row = await find(db, role_id)
    if row.builtin:
        raise Conflict(f"{row.name} is built in and stays.")
    administrators.check_grant(reach, row.permissions, what="This role")
    holders = await _holders(db, role_id)
    async with administrators.kept(db):
        await db.execute(delete(UserRole).where(UserRole.role_id == role_id))
        await db.execute(delete(Role).where(Role.id == role_id))
    before = {"name": row.name, "permissions": row.permissions, "people": len(holders)}
    await audit.record(db, actor, "role.remove", "role", role_id, before=before)
    return holders


async def _holders(db: AsyncSession, role_id: int) -> list[int]:
    return list(await db.scalars(select(UserRole.user_id).where(UserRole.role_id == role_id)))


def _ordered(permissions: Collection[str]) -> list[str]:
    """Raises Invalid for an unknown permission."""
    unknown = sorted(set(permissions) - EVERYTHING)
    if unknown:
        raise Invalid(f"There is no permission {', '.join(unknown)}.")
    return _in_order(permissions)


def _in_order(permissions: Collection[str]) -> list[str]:
    """In the order of the page Roles; permissions of older releases come last."""
    return [*(one for one in PERMISSIONS if one in permissions), *sorted(set(permissions) - EVERYTHING)]


def _taken(name: str) -> Invalid:
    return Invalid.at("name", f"There is a role “{name}” already.")
