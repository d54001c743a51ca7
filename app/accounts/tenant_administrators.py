"""Administrators of a tenant, as the platform adds them: the first one, and another one when none of them can sign in.

Every verb runs in a transaction of the tenant, and writes the audit of both: the tenant sees who was added, and the
platform who added them.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import accounts, administrators, audit, tenants, user_types
from app.accounts.accounts import CreatedUser, NewUser
from app.accounts.models import Tenant
from app.db.locks import hold
from app.db.session import PLATFORM, workspace_of
from app.errors import Conflict, NotFound
from app.registry import ADMINISTRATOR


async def make(
    db: AsyncSession, actor: audit.Actor, email: str, name: str, *, known: int, reach: frozenset[str]
) -> CreatedUser:
    """Adds an account with the tenant's role Administrator, and its one-time link. `known` is how many administrators
    the person saw when they decided: raises Conflict when there are more, and for a deactivated tenant; Invalid as
    accounts.create."""
    key = await _held(db)
    there = [one.name for one in await administrators.of(db, key)]
    if len(there) > known:
        raise Conflict(f"Meanwhile {', '.join(there)} can administer this tenant. Open the form again to add another.")
    types = await user_types.read(db)
    kind = "admin" if "admin" in types else next(iter(types))
    made = await accounts.create(db, actor, NewUser(email, name, kind, (ADMINISTRATOR,)), reach=reach)
    told = {"name": name.strip(), "email": made.email}
    await audit.record(db, actor, "tenant.add_administrator", "tenant", key, after=told, workspace=PLATFORM)
    return made


async def make_link(db: AsyncSession, actor: audit.Actor, user_id: int, *, reach: frozenset[str]) -> str:
    """A new one-time link for an administrator who has not chosen a password yet; the old link stops working. Raises
    NotFound for another account, and Conflict for one with a password, because the platform may not take over an
    account in use."""
    key = await _held(db)
    person = await one_of(db, key, user_id)
    if person.has_password:
        raise Conflict(f"{person.name} has a password. Another administrator of the tenant can make a link for them.")
    secret = await accounts.invite(db, actor, user_id, reach=reach)
    told = {"name": person.name, "email": person.email}
    await audit.record(db, actor, "tenant.make_link", "tenant", key, after=told, workspace=PLATFORM)
    return secret


async def one_of(db: AsyncSession, key: str, user_id: int) -> administrators.Administrator:
    """Raises NotFound."""
    for one in await administrators.of(db, key):
        if one.id == user_id:
            return one
    raise NotFound("There is no such administrator.")


async def refuse_deactivated(db: AsyncSession, key: str) -> None:
    """Raises NotFound, and Conflict for a tenant whose people can't sign in."""
    tenant = await tenants.find(db, key)
    if tenant.is_half_removed:
        raise Conflict(tenants.removal_begun(key))
    if not tenant.active:
        raise Conflict(f"{tenant.name} is deactivated, so its people can't sign in. Activate it first.")


async def _held(db: AsyncSession) -> str:
    """The key of the transaction's tenant, locked until the transaction ends."""
    key = workspace_of(db)
    await hold(db, Tenant.key == key)
    await refuse_deactivated(db, key)
    return key
