"""Creates and upgrades tables: per module, per workspace, as the owner role. Safe to run twice and from two processes at once.

Which module has which tables is said in MODULES alone; the steps are under migrations/versions/MODULE.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, create_async_engine
from sqlalchemy.pool import NullPool

from app.db.base import Base
from app.db.session import DIALECT, PLATFORM, connecting, schema_of
from app.errors import Conflict

ROOT = Path(__file__).parents[2] / "migrations"
MODULES: dict[str, tuple[str, ...]] = {
    "shared": ("app.accounts.models",),
    "host": ("app.host.models",),
    "clock": ("app.clock.models",),
    "surveys": ("app.surveys.models",),
}
SHARED = "shared"
# Two processes that migrate at once queue up here; any number would do if no other program uses it.
LOCK = 5_201_001


@dataclass(frozen=True, slots=True)
class Applied:
    """What one module of one schema is at; `before` is None where it had no tables yet."""

    schema: str
    module: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        return self.before != self.after


async def migrate(
    owner_url: str, app_role: str, *, modules: Iterable[str] = (), workspaces: Iterable[str] = ()
) -> list[Applied]:
    """Brings the given modules (default: all) of the given workspaces (default: every one there is) to the newest step.

    Everything happens in one transaction: a failing step leaves nothing behind. `app_role` is granted what the app may do.
    Raises Conflict where a newer program has been at work.
    """
    wanted = [name for name in MODULES if name in set(modules or MODULES) | {SHARED}]
    async with as_owner(owner_url) as connection:
        return await connection.run_sync(_migrate_all, app_role, wanted, tuple(workspaces))


@asynccontextmanager
async def as_owner(owner_url: str) -> AsyncIterator[AsyncConnection]:
    """One transaction of the owner, during which no other one migrates."""
    engine = create_async_engine(DIALECT, async_creator=connecting(owner_url), poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
            yield connection
    finally:
        await engine.dispose()


def newest() -> dict[str, str]:
    """The newest step of each module that this program knows."""
    return {module: steps[0] for module, steps in _steps().items()}


def make_workspace(connection: Connection, workspace: str, app_role: str) -> None:
    """The tables of a workspace that has none yet, in a transaction of `as_owner`. Raises Conflict
    where the shared tables are at another step than this program."""
    connection.execute(text("SELECT set_config('search_path', :path, true)"), {"path": SHARED})
    if _current(connection, SHARED) != newest()[SHARED]:
        raise Conflict(
            "The shared tables are at another version than this program. Run `muster migrate:modules` first."
        )
    schema = schema_of(workspace)
    connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    for module in MODULES:
        if module != SHARED:
            _upgrade(connection, schema, module, app_role)


async def out_of_step(db: AsyncSession) -> dict[str, Literal["behind", "ahead"]]:
    """The modules whose tables in the transaction's workspace are not as this program has them: behind, and migrating helps; or
    ahead, at a step that only a newer program knows."""
    found: dict[str, Literal["behind", "ahead"]] = {}
    for module, steps in _steps().items():
        table = version_table(module)
        at = None
        if await db.scalar(text("SELECT to_regclass(:table)"), {"table": table}) is not None:
            at = await db.scalar(text(f"SELECT version_num FROM {table}"))
        if at is not None and at not in steps:
            found[module] = "ahead"
        elif at != steps[0]:
            found[module] = "behind"
    return found


@cache
def _steps() -> dict[str, tuple[str, ...]]:
    """Of each module, the newest first."""
    scripts = {module: ScriptDirectory.from_config(config_of(module)) for module in MODULES}
    return {module: tuple(step.revision for step in found.walk_revisions()) for module, found in scripts.items()}


def _migrate_all(
    connection: Connection, app_role: str, modules: Sequence[str], workspaces: Sequence[str]
) -> list[Applied]:
    connection.execute(text("SET LOCAL lock_timeout = '10s'"))
    _prepare_shared(connection, app_role)
    applied = [_upgrade(connection, SHARED, SHARED, app_role)]
    for workspace in workspaces or _known_workspaces(connection):
        schema = schema_of(workspace)
        connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
        applied += [_upgrade(connection, schema, module, app_role) for module in modules if module != SHARED]
    return applied


def _prepare_shared(connection: Connection, app_role: str) -> None:
    """The queue makes its own tables, so the app's role may create in schema `saq`, and nowhere else."""
    connection.execute(text("CREATE SCHEMA IF NOT EXISTS shared"))
    connection.execute(text("CREATE SCHEMA IF NOT EXISTS saq"))
    connection.execute(text(f'GRANT USAGE, CREATE ON SCHEMA saq TO "{app_role}"'))


def _known_workspaces(connection: Connection) -> list[str]:
    return [PLATFORM, *connection.scalars(text("SELECT key FROM shared.tenants ORDER BY key"))]


def _upgrade(connection: Connection, schema: str, module: str, app_role: str) -> Applied:
    path = schema if schema == SHARED else f"{schema}, {SHARED}"
    connection.execute(text("SELECT set_config('search_path', :path, true)"), {"path": path})
    before = _current(connection, module)
    if before is not None and before not in _steps()[module]:
        raise Conflict(
            f"The tables of {schema}.{module} are at {before}, which only a newer Muster knows. Run the newer version."
        )
    config = config_of(module)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    _grant(connection, schema, app_role)
    return Applied(schema, module, before, _current(connection, module))


def _current(connection: Connection, module: str) -> str | None:
    options = {"version_table": version_table(module)}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _grant(connection: Connection, schema: str, app_role: str) -> None:
    """The app's role reads and writes rows, and never alters a table; of append-only ones it changes no row, and where one row
    is always there it makes and removes none."""
    connection.execute(text(f'GRANT USAGE ON SCHEMA "{schema}" TO "{app_role}"'))
    connection.execute(text(f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "{schema}" TO "{app_role}"'))
    connection.execute(text(f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA "{schema}" TO "{app_role}"'))
    connection.execute(text(f'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA "{schema}" FROM PUBLIC'))
    connection.execute(text(f'GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA "{schema}" TO "{app_role}"'))
    present = set(inspect(connection).get_table_names(schema))
    for table in sorted(present & (_marked("append_only") | {version_table(module) for module in MODULES})):
        connection.execute(text(f'REVOKE UPDATE, DELETE, TRUNCATE ON "{schema}"."{table}" FROM "{app_role}"'))
    for table in sorted(present & _marked("one_row")):
        connection.execute(text(f'REVOKE INSERT, DELETE, TRUNCATE ON "{schema}"."{table}" FROM "{app_role}"'))


def _marked(mark: str) -> set[str]:
    """Tables whose model says `info={mark: True}`."""
    return {table.name for table in Base.metadata.tables.values() if table.info.get(mark)}


def config_of(module: str) -> Config:
    """What Alembic needs to know of a module's steps."""
    config = Config()
    config.set_main_option("script_location", str(ROOT))
    config.set_main_option("version_locations", str(ROOT / "versions" / module))
    config.set_main_option("path_separator", "os")
    config.attributes["module"] = module
    return config


def version_table(module: str) -> str:
    """The table that says at which step a module of a schema is. It stands in the schema that the search path names first."""
    return f"migrations_{module}"
