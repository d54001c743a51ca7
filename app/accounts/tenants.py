"""Tenants: the workspaces beside the platform. Only the owner role makes their tables (app.db.migrate)."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, delete, false, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from app.accounts import audit, schedule_looks
from app.accounts.audit import COMMAND_LINE
from app.accounts.models import AuditEntry, Job, Role, Session, Tenant, User, UserType
from app.accounts.roles import BUILT_IN, PERMISSIONS
from app.accounts.user_types import FROM_THE_START
from app.db.direct import Direct, driver
from app.db.session import PLATFORM, TENANT_KEY, Database, into_workspace
from app.errors import Conflict, Invalid, NotFound
from app.texts import visible

if TYPE_CHECKING:
    from app.db.migrate import MigrationWatch

Listener = Callable[[AsyncSession, str], Awaitable[None]]
# Told of each tenant that is active again, in the same transaction. Rooms above this one register theirs.
_on_activate: list[Listener] = []
LONGEST_NAME = 200


def _last(acts: tuple[str, ...]) -> Any:
    """The last entry of the platform's audit about the tenant, of these acts."""
    about = (AuditEntry.workspace == PLATFORM, AuditEntry.subject_type == "tenant", AuditEntry.subject_id == Tenant.key)
    last = select(func.max(AuditEntry.id)).where(*about, AuditEntry.act.in_(acts))
    return last.correlate(Tenant).scalar_subquery()


# What the tenant held when its removal began, if that has not ended.
REMOVAL = Direct("""
SELECT before::text AS held FROM shared.audit_entries
WHERE workspace = 'main' AND subject_type = 'tenant' AND subject_id = CAST(:key AS text) AND act = 'tenant.remove_begin'
    AND id > coalesce((
        SELECT max(id) FROM shared.audit_entries
        WHERE workspace = 'main' AND subject_type = 'tenant' AND subject_id = CAST(:key AS text)
            AND act IN ('tenant.remove', 'tenant.create', 'tenant.import')), 0)
ORDER BY id LIMIT 1
""")
# No key has such a name, and no other entry has this id. All other columns stay as they were.
_SET_ASIDE = text("""
UPDATE shared.audit_entries SET workspace = workspace || (
    SELECT ' (until entry ' || max(id) || ')' FROM shared.audit_entries WHERE workspace = CAST(:key AS text))
WHERE workspace = CAST(:key AS text)
""")
_REMOVAL_BEGINS = ("tenant.remove_begin",)
_REMOVAL_ENDS = ("tenant.remove", "tenant.create", "tenant.import")
# The same as a column of lists. The audit is read for deactivated tenants alone.
IS_HALF_REMOVED = case(
    (Tenant.active, false()),
    else_=func.coalesce(_last(_REMOVAL_BEGINS), 0) > func.coalesce(_last(_REMOVAL_ENDS), 0),
)
# Their keys.
DEACTIVATED = select(Tenant.key).where(~Tenant.active)
# How many workspaces get their roles in one transaction.
_AT_A_TIME = 100
CEILINGS = {
    "none": "None: they see surveys but can't make any",
    "optional": "Optional: they make surveys that people may skip",
    "full": "Full: they make every kind of survey",
}


async def create_tenant(
    database: Database,
    owner_url: str,
    app_role: str,
    *,
    key: str,
    name: str,
    ceiling: str = "optional",
    watch: "MigrationWatch | None" = None,
) -> None:
    """Makes a workspace: the owner role makes its tables, sets aside the audit of a removed tenant of this key, and
    gives it its roles and user types.

    If it is killed in between, it leaves unused tables, and a second run completes them. Raises Invalid for a word that
    is not a key or ceiling, Conflict for a key that is taken.
    """
    _check(key, name, ceiling)
    async with database.shared_transaction() as db:
        if await db.scalar(select(Tenant.key).where(Tenant.key == key)):
            raise _taken(key)
    # Loads Alembic, which neither portal nor worker needs.
    from app.db.migrate import MigrationWatch, as_owner, migrate

    watch = watch or MigrationWatch()
    await migrate(owner_url, app_role, workspaces=[key], watch=watch)
    async with as_owner(owner_url, watch) as connection:
        await connection.execute(text(into_workspace(PLATFORM)))
        await in_session(connection, lambda db: _enter(db, key, name.strip(), ceiling))


async def in_session(connection: AsyncConnection, act: Callable[[AsyncSession], Awaitable[None]]) -> None:
    """Closing the session leaves the transaction of the connection open."""
    async with AsyncSession(connection, join_transaction_mode="rollback_only") as db:
        await act(db)


async def _enter(db: AsyncSession, key: str, name: str, ceiling: str) -> None:
    statement = insert(Tenant).values(key=key, name=name, ceiling=ceiling).on_conflict_do_nothing()
    if await db.scalar(statement.returning(Tenant.key)) is None:
        raise _taken(key)
    await set_aside(db, key)
    await prepare(db, key)
    told = {"name": name, "ceiling": ceiling}
    await audit.record(db, COMMAND_LINE, "tenant.create", "tenant", key, after=told, workspace=PLATFORM)


async def set_aside(db: AsyncSession, key: str) -> None:
    """Moves what the audit still has of a removed tenant of this key to a name of its own, so that the new tenant does
    not see it, and its ledger is not compared with the old one's. Only the owner of the tables may."""
    await db.execute(_SET_ASIDE, {"key": key})


async def found_all(database: Database) -> None:
    """Gives every workspace what it has from the start. It runs after each migration, so that new permissions reach
    the roles. One transaction serves a hundred workspaces, so a person who edits a role meanwhile waits only for a
    moment."""
    async with database.shared_transaction() as db:
        workspaces = [PLATFORM, *await db.scalars(select(Tenant.key).order_by(Tenant.key))]
    for first in range(0, len(workspaces), _AT_A_TIME):
        async with database.shared_transaction() as db:
            await prepare(db, *workspaces[first : first + _AT_A_TIME])


async def refuse_unknown(db: AsyncSession, workspace: str) -> None:
    """Raises NotFound unless the key is the platform's or a tenant's."""
    if workspace != PLATFORM:
        await find(db, workspace)


async def prepare(db: AsyncSession, *workspaces: str) -> None:
    """Writes the built-in roles of this version, and the first user types. Each migration runs it again."""
    roles = [
        {"name": name, "permissions": [one for one in PERMISSIONS if one in permissions], "builtin": True}
        for name, permissions in BUILT_IN.items()
    ]
    statement = insert(Role).values([role | {"workspace": workspace} for workspace in workspaces for role in roles])
    is_now = {"permissions": statement.excluded.permissions, "builtin": True}
    differs = (Role.permissions != statement.excluded.permissions) | ~Role.builtin
    key = [Role.workspace, Role.name]
    await db.execute(statement.on_conflict_do_update(index_elements=key, set_=is_now, where=differs))
    known = set(await db.scalars(select(UserType.workspace).where(UserType.workspace.in_(workspaces)).distinct()))
    types = [
        {"workspace": workspace, "key": key, "label": label}
        for workspace in workspaces
        if workspace not in known
        for key, label in FROM_THE_START.items()
    ]
    if types:
        await db.execute(insert(UserType).on_conflict_do_nothing(), types)


async def find(db: AsyncSession, key: str) -> Any:
    """Key, name, ceiling, active, is_half_removed and created_at. Raises NotFound."""
    half = IS_HALF_REMOVED.label("is_half_removed")
    statement = select(Tenant.key, Tenant.name, Tenant.ceiling, Tenant.active, half, Tenant.created_at)
    row = (await db.execute(statement.where(Tenant.key == key))).one_or_none()
    if row is None:
        raise NotFound(f"There is no workspace {key}.")
    return row


async def edit(db: AsyncSession, actor: audit.Actor, key: str, name: str, ceiling: str) -> bool:
    """Renames it and sets what its survey authors may do. True when something changed."""
    _check_ceiling(ceiling)
    row = await find(db, key)
    was, is_now = {"name": row.name, "ceiling": row.ceiling}, {"name": name, "ceiling": ceiling}
    before, after = audit.changed_fields(was, is_now)
    if not after:
        return False
    await db.execute(update(Tenant).where(Tenant.key == key).values(is_now))
    await audit.record(db, actor, "tenant.edit", "tenant", key, before=before, after=after)
    return True


def removal_begun(key: str) -> str:
    """What a page or a refusal says of a tenant whose removal was cut off."""
    return f"The removal of the tenant {key} has begun. Run `muster tenant:remove {key}` again."


async def refuse_half_removed(db: AsyncSession, key: str) -> None:
    """Raises NotFound, and Conflict for a tenant whose removal was cut off: some of its accounts are gone."""
    if (await find(db, key)).is_half_removed:
        raise Conflict(removal_begun(key))


async def deactivate(db: AsyncSession, actor: audit.Actor, key: str) -> bool:
    """Signs its people out, and stops their sign-in and its tokens. It deletes nothing: its jobs and mails wait."""
    await find(db, key)
    statement = update(Tenant).where(Tenant.key == key, Tenant.active).values(active=False)
    if await db.scalar(statement.returning(Tenant.key)) is None:
        return False
    await db.execute(delete(Session).where(Session.user_id.in_(select(User.id).where(User.workspace == key))))
    await audit.record(db, actor, "tenant.deactivate", "tenant", key, before={"active": True}, after={"active": False})
    return True


def listen(listener: Listener) -> None:
    """Registers a listener to `activate`; a second call changes nothing."""
    if listener not in _on_activate:
        _on_activate.append(listener)


async def activate(db: AsyncSession, actor: audit.Actor, key: str) -> bool:
    """Raises Conflict for a tenant whose removal was cut off: some of its accounts are gone."""
    await find(db, key)
    statement = update(Tenant).where(Tenant.key == key, ~Tenant.active).values(active=True)
    if await db.scalar(statement.returning(Tenant.key)) is None:
        return False
    if await REMOVAL.row(driver(db), {"key": key}, ""):
        raise Conflict(removal_begun(key))
    waited = (Job.workspace == key, Job.status == "queued", Job.due_at < func.now())
    # They are not late: until now they were not to run.
    await db.execute(update(Job).where(*waited).values(due_at=func.now()))
    for listener in _on_activate:
        await listener(db, key)
    schedule_looks.look_soon(db, key)
    await audit.record(db, actor, "tenant.activate", "tenant", key, before={"active": False}, after={"active": True})
    return True


async def hold_active(db: AsyncSession, workspace: str) -> bool:
    """True for the platform, and for an active tenant, which then stays active until the transaction ends. Work that
    drops what a person may not read asks first: the people of a deactivated tenant may come back."""
    here = select(Tenant.active).where(Tenant.key == workspace)
    return workspace == PLATFORM or bool(await db.scalar(here.with_for_update(read=True)))


def _check(key: str, name: str, ceiling: str) -> None:
    if key in (PLATFORM, "shared"):
        raise Invalid.at("key", f"The key {key} is the platform's; choose another one.")
    if not TENANT_KEY.fullmatch(key):
        raise Invalid.at("key", "A key has small letters, digits and underscores, begins with a letter, 40 at most.")
    if not visible(name) or len(name) > LONGEST_NAME:
        raise Invalid.at("name", f"Give a name of at most {LONGEST_NAME} characters.")
    _check_ceiling(ceiling)


def _check_ceiling(ceiling: str) -> None:
    if ceiling not in CEILINGS:
        raise Invalid.at("ceiling", f"Choose one of {', '.join(CEILINGS)}.")


def _taken(key: str) -> Conflict:
    return Conflict(f"There is a tenant {key} already.")
