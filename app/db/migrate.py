"""Creates and upgrades tables: per module, per workspace, as the owner role, while the program runs. The next run does
what one run left undone. The steps are under migrations/versions/MODULE (app.db.steps).

The shared tables come first, then the workspaces side by side. Each step of each workspace is a transaction of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NoReturn

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from app.counting import count
from app.db import rights, standing
from app.db.connecting import NOTICED, connecting
from app.db.pool import DIALECT
from app.db.session import PLATFORM, schema_of
from app.db.standing import Place, Reached
from app.db.steps import MODULES, SHARED, Steps, config_of, newest
from app.db.upgrading import Bringing, FailedModule
from app.errors import Conflict

__all__ = [
    "LOCK",
    "MODULES",
    "Applied",
    "MigrationWatch",
    "Unfinished",
    "as_owner",
    "config_of",
    "make_workspace",
    "migrate",
]

# One process at a time migrates or makes a tenant; any number would do if no other program uses it.
LOCK = 5_201_001
# A statement that waits for the lock would hold up an index that is built meanwhile, and the index would wait for us.
# So we ask again and again.
_LOOK_S = 0.2
# The server ends the transaction of a command that is frozen; between two statements, none waits for anything else.
_SET = {"application_name": "muster-migrate", "jit": "off", "idle_in_transaction_session_timeout": "240000"}
_OTHER = text(
    "SELECT a.pid, to_char(a.backend_start AT TIME ZONE 'UTC', 'HH24:MI:SS') AS since FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = :key AND l.database = (SELECT oid FROM"
    " pg_database WHERE datname = current_database())"
)


@dataclass(frozen=True, slots=True)
class Applied:
    """The step of one module in one schema; `before` is None when it had no tables yet. `error` says why it is not at
    the newest step."""

    schema: str
    module: str
    before: str | None
    after: str | None
    error: str | None = None

    @property
    def changed(self) -> bool:
        return self.before != self.after


class Unfinished(Conflict):
    """Some workspaces could not be migrated, or the shared tables could not: then no workspace was begun. `applied` has
    all results."""

    def __init__(self, applied: Sequence[Applied]) -> None:
        self.applied = applied
        failed = sorted({one.schema for one in applied if one.error})
        self.past_shared = failed != [SHARED]
        first = next(one for one in applied if one.error)
        number = count(len(failed), "schema is", "schemas are")
        super().__init__(
            f"{number} not at the newest step: {', '.join(failed)}. {first.schema}.{first.module} said: {first.error}."
            " All others are done. Fix what it says, then run `muster migrate:modules` again: it continues there."
            if self.past_shared
            else f"The shared tables are not at the newest step, and no workspace was begun: {first.error}."
            " Fix that, then run `muster migrate:modules` again."
        )


def _quiet(*_: object) -> None:
    """Ignores what it is told."""


@dataclass(frozen=True, slots=True)
class MigrationWatch:
    """The functions that are told how a migration goes: which other process it waits for; how many schemas have
    something to do; which schema is tried again later and why; which one is done; and for which transaction the index
    of a schema waits."""

    waits_for: Callable[[str], None] = _quiet
    begins: Callable[[int], None] = _quiet
    is_held_up: Callable[[str, str], None] = _quiet
    ends: Callable[[str], None] = _quiet
    index_waits: Callable[[str, str], None] = _quiet


async def migrate(
    owner_url: str,
    app_role: str,
    *,
    modules: Iterable[str] = (),
    workspaces: Iterable[str] = (),
    jobs: int = 1,
    watch: MigrationWatch | None = None,
) -> list[Applied]:
    """Brings the given modules (default: all) of the given workspaces (default: every one there is) to the newest step,
    `jobs` of them at a time. `app_role` is granted what the app may do.

    Raises Conflict, before anything is changed, when a newer program has migrated the tables.
    Raises Unfinished when a step
    failed: all others are done then.
    """
    wanted = [name for name in MODULES if name in set(modules or MODULES) | {SHARED}]
    watch = watch or MigrationWatch()
    async with _engine(owner_url) as engine, _alone(engine, watch):
        run = _Run(engine, app_role, wanted, watch)
        applied = await run.all(tuple(workspaces), jobs)
    if any(one.error for one in applied):
        raise Unfinished(applied)
    return applied


@asynccontextmanager
async def as_owner(owner_url: str, watch: MigrationWatch) -> AsyncIterator[AsyncConnection]:
    """One transaction of the owner, during which no other process migrates or makes a tenant. It is open from the
    beginning, also for statements that go to the driver directly:
    SQLAlchemy itself would begin it only with its own first statement."""
    async with _engine(owner_url) as engine, _alone(engine, watch), engine.begin() as connection:
        await connection.execute(text("SELECT 1"))
        yield connection


def make_workspace(connection: Connection, workspace: str, app_role: str) -> None:
    """The tables of a workspace that has none yet, in a transaction of `as_owner`. Raises Conflict when the shared
    tables are at another step than this program."""
    connection.execute(text("SELECT set_config('search_path', :path, true)"), {"path": SHARED})
    if Steps(SHARED).current(connection) != newest()[SHARED]:
        raise Conflict(
            "The shared tables are at another version than this program. Run `muster migrate:modules` first."
        )
    schema = schema_of(workspace)
    connection.execute(text(f'CREATE SCHEMA "{schema}"'))
    connection.execute(text("SELECT set_config('search_path', :path, true)"), {"path": f"{schema}, {SHARED}"})
    for module in MODULES:
        if module != SHARED:
            Steps(module).take_all(connection)
    rights.grant(connection, schema, app_role)


@asynccontextmanager
async def _engine(owner_url: str) -> AsyncIterator[AsyncEngine]:
    """Opens each connection for its user. Errors hold no rows of tables. For many tenants, compiling the statements
    over the catalogue would take longer than running them."""
    named = connecting(owner_url, server_settings={**_SET, **NOTICED})
    engine = create_async_engine(DIALECT, async_creator=named, poolclass=NullPool, hide_parameters=True)
    try:
        yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def _alone(engine: AsyncEngine, watch: MigrationWatch) -> AsyncIterator[None]:
    """Holds the lock on a connection of its own. The server frees it when this process is killed."""
    async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as holder:
        told = False
        while not await holder.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK}):
            if not told and (other := (await holder.execute(_OTHER, {"key": LOCK})).first()):
                watch.waits_for(f"PostgreSQL process {other.pid}, at work since {other.since} UTC")
                told = True
            await asyncio.sleep(_LOOK_S)
        yield


class _Run:
    """One migration, from the state that it finds to the steps that it took."""

    def __init__(self, engine: AsyncEngine, app_role: str, modules: Sequence[str], watch: MigrationWatch) -> None:
        self._engine, self._app_role, self._modules, self._watch = engine, app_role, modules, watch

    async def all(self, workspaces: Sequence[str], jobs: int) -> list[Applied]:
        async with self._engine.connect() as connection:
            workspaces = workspaces or await _known_workspaces(connection)
            places = [place for place in standing.places_of(workspaces) if place[1] in self._modules]
            before = await standing.read(connection, {schema for schema, _ in places})
        _refuse_newer(before, places)
        await self._prepare_shared()
        failures = await self._bring_up(places[:1], before, 1)
        if not failures:
            failures = await self._bring_up(places[1:], before, jobs)
        return await self._told(places, before, failures)

    async def _prepare_shared(self) -> None:
        """The queue makes its own tables, so the app's role may create in schema `saq`, and nowhere else."""
        async with self._engine.begin() as connection:
            await connection.execute(text("CREATE SCHEMA IF NOT EXISTS shared"))
            await connection.execute(text("CREATE SCHEMA IF NOT EXISTS saq"))
            await connection.execute(text(f'GRANT USAGE, CREATE ON SCHEMA saq TO "{self._app_role}"'))

    async def _bring_up(
        self, places: Sequence[Place], before: Mapping[Place, Reached], jobs: int
    ) -> list[FailedModule]:
        async with self._engine.begin() as connection:
            schemas = {schema for schema, _ in places}
            lacking = await connection.run_sync(rights.lacking, schemas, self._app_role)
        at: dict[str, dict[str, str | None]] = {}
        for schema, module in places:
            # When only rights are missing, one module is enough.
            if standing.judge(module, before.get((schema, module))) or (schema in lacking and schema not in at):
                at.setdefault(schema, {})[module] = before.get((schema, module), Reached(None)).revision
        self._watch.begins(len(at))
        bringing = Bringing(
            self._engine,
            self._app_role,
            at,
            lacking,
            held_up=self._watch.is_held_up,
            waits=self._watch.index_waits,
            ended=self._watch.ends,
        )
        return await bringing.all(jobs)

    async def _told(
        self, places: Sequence[Place], before: Mapping[Place, Reached], failures: Sequence[FailedModule]
    ) -> list[Applied]:
        async with self._engine.connect() as connection:
            after = await standing.read(connection, {schema for schema, _ in places})
        errors = {(one.schema, one.module): one.reason for one in failures}
        nowhere = Reached(None)
        return [
            Applied(
                *place,
                before.get(place, nowhere).revision,
                after.get(place, nowhere).revision,
                errors.get(place),
            )
            for place in places
        ]


async def _known_workspaces(connection: AsyncConnection) -> list[str]:
    if await connection.scalar(text("SELECT to_regclass('shared.tenants')")) is None:
        return [PLATFORM]
    return [PLATFORM, *await connection.scalars(text("SELECT key FROM shared.tenants ORDER BY key"))]


def _refuse_newer(before: Mapping[Place, Reached], places: Sequence[Place]) -> None:
    for place in places:
        reached = before.get(place)
        if reached and standing.judge(place[1], reached) in ("ahead", "outgrown"):
            _refuse(place, reached)


def _refuse(place: Place, reached: Reached) -> NoReturn:
    raise Conflict(
        f"The tables of {'.'.join(place)} are at {reached.revision}, which only a newer Muster knows. Run the newer version."
    )
