"""Accounts as an administrator manages them: name, user type, roles, lock-out, second factor. Signing in itself:
signing_in.

Every verb works on accounts of the transaction's workspace; accounts of other workspaces are not found. `reach` is what
the acting person may do (on the command line: everything). They can't give rights beyond it, nor act on people who have
more. Verbs that change rights end the account's sessions, except `keep`, the acting person's own.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, delete, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import administrators, audit, one_time_links, second_factor, signing_in, user_types
from app.accounts.audit import Actor, AuditedChange
from app.accounts.ending_sessions import end_others, end_sessions
from app.accounts.models import Role, User, UserRole
from app.accounts.roles import EVERYTHING
from app.db.among import among
from app.db.session import workspace_of
from app.errors import Conflict, Invalid, NotFound
from app.texts import EMAIL, visible

LONGEST = 200
NOT_ONESELF = "You can't deactivate yourself. Another administrator can."


@dataclass(frozen=True, slots=True)
class NewUser:
    """What an administrator says about a new account.
    `kind` is a user type, `roles` are names of roles of the workspace.

    Without `password` a one-time link is made.
    """

    email: str
    name: str
    kind: str
    roles: tuple[str, ...] = ()
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class CreatedUser:
    """`link_secret` makes `/welcome/SECRET`; it can't be shown again. None when a password was given."""

    id: int
    email: str
    link_secret: str | None = field(repr=False)


async def find(db: AsyncSession, user_id: int) -> Any:
    """The account, with the names of its roles. Raises NotFound for one of another workspace."""
    return await _one(db, User.id == user_id)


async def find_by_email(db: AsyncSession, email: str) -> Any:
    return await _one(db, User.email == email.strip().lower())


async def _one(db: AsyncSession, which: Any) -> Any:
    statement = select(
        User.id,
        User.email,
        User.name,
        User.type,
        User.active,
        User.locked_until,
        User.last_sign_in_at,
        User.created_at,
        User.password_changed_at,
        (User.password_hash.is_not(None)).label("has_password"),
        (User.totp_secret.is_not(None)).label("has_second_factor"),
        role_names().label("roles"),
    )
    row = (await db.execute(statement.where(which, User.workspace == workspace_of(db)))).one_or_none()
    if row is None:
        raise NotFound("There is no such account.")
    return row


def role_names() -> ColumnElement[list[str]]:
    """The names of an account's roles, as a column of a SELECT over users."""
    return (
        select(func.coalesce(func.array_agg(aggregate_order_by(Role.name, Role.name)), cast([], ARRAY(Text))))
        .join(UserRole, UserRole.role_id == Role.id)
        .where(UserRole.user_id == User.id)
        .scalar_subquery()
    )


async def create(db: AsyncSession, actor: Actor, new: NewUser, *, reach: frozenset[str] = EVERYTHING) -> CreatedUser:
    """Raises Invalid with the field that is wrong: a taken address, an unknown type or role, a short password."""
    email, name = _checked(new.email, new.name)
    await _check_type(db, new.kind)
    role_ids = await _role_ids(db, new.roles, reach)
    password_hash = await signing_in.hash_password(new.password) if new.password is not None else None
    values = {"workspace": workspace_of(db), "email": email, "name": name, "type": new.kind}
    statement = insert(User).values(**values, password_hash=password_hash).on_conflict_do_nothing()
    user_id = await db.scalar(statement.returning(User.id))
    if user_id is None:
        raise Invalid.at("email", "An account already has this e-mail address.")
    await _give(db, user_id, role_ids)
    after = {"email": email, "name": name, "type": new.kind, "roles": sorted(new.roles)}
    await audit.record(db, actor, "user.create", "user", user_id, after=after)
    secret = await one_time_links.make_link(db, user_id) if password_hash is None else None
    return CreatedUser(user_id, email, secret)


async def edit(
    db: AsyncSession,
    actor: Actor,
    user_id: int,
    *,
    name: str,
    kind: str,
    roles: Collection[str],
    reach: frozenset[str] = EVERYTHING,
    keep: bytes = b"",
) -> bool:
    """Changes name, type and roles. The address stays, because it identifies the account. True when something
    changed."""
    row = await find(db, user_id)
    was = {"name": row.name, "type": row.type, "roles": sorted(row.roles)}
    is_now = {"name": name, "type": kind, "roles": sorted(roles)}
    before, after = audit.changed_fields(was, is_now)
    if not after:
        return False
    await administrators.check_reach(db, reach, user_id)
    if "type" in after:
        await _check_type(db, kind)
    renamed_at = func.now() if "name" in after else User.renamed_at
    await db.execute(update(User).where(User.id == user_id).values(name=name, type=kind, renamed_at=renamed_at))
    if "roles" in after:
        async with administrators.kept(db):
            role_ids = await _role_ids(db, roles, reach)
            await db.execute(delete(UserRole).where(UserRole.user_id == user_id))
            await _give(db, user_id, role_ids)
        await end_others(db, user_id, keep=keep)
    await audit.record(db, actor, "user.edit", "user", user_id, before=before, after=after)
    return True


async def deactivate(db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING) -> bool:
    """Deactivates the account: the person is signed out and can't sign in, and their tokens and links stop working.
    Raises Conflict for the last administrator."""
    await find(db, user_id)
    if user_id == actor.id:
        raise Conflict(NOT_ONESELF)
    await administrators.check_reach(db, reach, user_id)
    return bool(await _deactivate(db, actor, [user_id]))


async def deactivate_several(
    db: AsyncSession, actor: Actor, user_ids: Iterable[int], *, reach: frozenset[str] = EVERYTHING
) -> list[int]:
    """Deactivates those that are `open_to` the acting person, and returns whom it changed. Raises Conflict when the
    workspace would be left without an administrator; then no account is deactivated."""
    return await _deactivate(db, actor, await open_to(db, actor, user_ids, reach=reach))


async def _deactivate(db: AsyncSession, actor: Actor, user_ids: Iterable[int]) -> list[int]:
    async with administrators.kept(db):
        changed = await _set_active(db, user_ids, active=False)
    for user_id in changed:
        await one_time_links.kill_links(db, user_id)
        await end_others(db, user_id)
    changes = [AuditedChange(one, {"active": True}, {"active": False}) for one in changed]
    await audit.record_many(db, actor, "user.deactivate", "user", changes)
    return changed


async def activate(db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING) -> bool:
    await find(db, user_id)
    await administrators.check_reach(db, reach, user_id)
    return bool(await _activate(db, actor, [user_id]))


async def activate_several(
    db: AsyncSession, actor: Actor, user_ids: Iterable[int], *, reach: frozenset[str] = EVERYTHING
) -> list[int]:
    """Activates those that are `open_to` the acting person, and returns whom it changed."""
    return await _activate(db, actor, await open_to(db, actor, user_ids, reach=reach))


async def _activate(db: AsyncSession, actor: Actor, user_ids: Iterable[int]) -> list[int]:
    changed = await _set_active(db, user_ids, active=True)
    changes = [AuditedChange(one, {"active": False}, {"active": True}) for one in changed]
    await audit.record_many(db, actor, "user.activate", "user", changes)
    return changed


async def open_to(
    db: AsyncSession, actor: Actor, user_ids: Iterable[int], *, reach: frozenset[str] = EVERYTHING
) -> set[int]:
    """The accounts that the acting person may activate or deactivate: not their own, and no account
    with more rights than theirs."""
    return await administrators.within_reach(db, reach, user_ids) - {actor.id}


async def _set_active(db: AsyncSession, user_ids: Iterable[int], *, active: bool) -> list[int]:
    others = (among(User.id, user_ids), User.workspace == workspace_of(db), User.active != active)
    return sorted(await db.scalars(update(User).where(*others).values(active=active).returning(User.id)))


async def invite(db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING) -> str:
    """Makes the one-time secret of `/welcome/SECRET`, where the person chooses a password. Until then the old password
    works. Raises Conflict for oneself."""
    row = await find(db, user_id)
    administrators.refuse_oneself(actor, user_id)
    await administrators.check_reach(db, reach, user_id)
    if not row.active:
        raise Conflict(f"{row.name} is deactivated. Activate the account first.")
    secret = await one_time_links.make_link(db, user_id)
    await audit.record(db, actor, "user.make_link", "user", user_id)
    return secret


async def set_password(
    db: AsyncSession, actor: Actor, user_id: int, password: str, *, reach: frozenset[str] = EVERYTHING
) -> None:
    """Sets the password and ends all sessions of the person. Raises Invalid for a short password."""
    await find(db, user_id)
    await administrators.check_reach(db, reach, user_id)
    await signing_in.set_password(db, user_id, await signing_in.hash_password(password))
    await end_others(db, user_id)
    await audit.record(db, actor, "user.set_password", "user", user_id)


async def unlock(db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING) -> bool:
    """Ends a lock-out before its time. True when there was one."""
    row = await find(db, user_id)
    await administrators.check_reach(db, reach, user_id)
    if row.locked_until is None or row.locked_until <= datetime.now(UTC):
        return False
    await db.execute(update(User).where(User.id == user_id).values(failed_sign_ins=0, locked_until=None))
    await audit.record(db, actor, "user.unlock", "user", user_id)
    return True


async def drop_second_factor(
    db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING, keep: bytes = b""
) -> bool:
    """Removes the second factor of a person who lost their authenticator, and their passkeys. Then the password alone
    signs in. True when there was a second factor. Raises Conflict for oneself."""
    await find(db, user_id)
    administrators.refuse_oneself(actor, user_id)
    await administrators.check_reach(db, reach, user_id)
    if not await second_factor.forget(db, actor, user_id):
        return False
    await end_others(db, user_id, keep=keep)
    return True


async def sign_out(
    db: AsyncSession, actor: Actor, user_id: int, *, reach: frozenset[str] = EVERYTHING, keep: bytes = b""
) -> int:
    """Ends the person's sessions on every device. Returns how many there were."""
    await find(db, user_id)
    await administrators.check_reach(db, reach, user_id)
    return await end_sessions(db, actor, user_id, keep=keep)


def _checked(email: str, name: str) -> tuple[str, str]:
    """Both without spaces at the ends, the address in small letters. Raises Invalid."""
    email, name = email.strip().lower(), visible(name)
    if not EMAIL.fullmatch(email) or len(email) > LONGEST:
        raise Invalid.at("email", "Give an e-mail address such as ada@example.org.")
    if not name or len(name) > LONGEST:
        raise Invalid.at("name", f"Give a name of at most {LONGEST} characters.")
    return email, name


async def _check_type(db: AsyncSession, key: str) -> None:
    known = await user_types.read(db)
    if key not in known:
        raise Invalid.at("type", f"There is no user type {key}; there are {', '.join(sorted(known))}.")


async def _role_ids(db: AsyncSession, names: Collection[str], reach: frozenset[str]) -> Sequence[int]:
    """The ids of these roles of the workspace. Raises Invalid for an unknown name, Forbidden for a role beyond
    `reach`."""
    statement = select(Role.id, Role.name, Role.permissions)
    rows = (await db.execute(statement.where(Role.workspace == workspace_of(db), Role.name.in_(names)))).all()
    missing = sorted(set(names) - {row.name for row in rows})
    if missing:
        known = await db.scalars(select(Role.name).where(Role.workspace == workspace_of(db)).order_by(Role.name))
        raise Invalid.at("roles", f"There is no role {', '.join(missing)}; there are {', '.join(known)}.")
    for row in rows:
        administrators.check_grant(reach, row.permissions, what=f"The role {row.name}")
    return [row.id for row in rows]


async def _give(db: AsyncSession, user_id: int, role_ids: Sequence[int]) -> None:
    if role_ids:
        await db.execute(insert(UserRole), [{"user_id": user_id, "role_id": one} for one in role_ids])
