"""Brings the modules of schemas to their newest steps, several schemas at a time, beside a program that runs.

A step waits a quarter of a second for each lock, because requests behind it wait as long. When it does not get the
lock, the schema joins the end of the queue and is tried again, for a minute. The minute begins again with each step and
each slice that it takes.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from alembic.script import Script
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, InterfaceError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.db import rights
from app.db.index_waits import IndexWaited, naming_transaction
from app.db.steps import SHARED, Steps, says

LOCK_MS = 250
# An index is built while others read and write. It only waits for transactions that began before it, which may take
# minutes.
CONCURRENT_LOCK_MS = 600_000
PATIENCE_S = 60.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
# Another session holds the lock, or there is a deadlock.
_LOCKED = frozenset({"55P03", "40P01"})
_SET = text("SELECT set_config('search_path', :path, :local), set_config('lock_timeout', :lock, :local)")


@dataclass(frozen=True, slots=True)
class FailedModule:
    """Why a module of a schema is not at its newest step."""

    schema: str
    module: str
    reason: str


class Stuck(Exception):
    """A step failed; what it did is undone."""

    def __init__(self, module: str, step: str, cause: Exception) -> None:
        super().__init__(f"{step} failed: {_reason_of(cause)}")
        self.module, self.step, self.cause = module, step, cause

    @property
    def passes(self) -> bool:
        return _sqlstate(self.cause) in _LOCKED


class Bringing:
    """`at`: by schema, the modules that may be behind, and where each is; None when it has no tables yet. `lacking`:
    the schemas where the role lacks rights. Three are told: `held_up(schema, reason)`, `waits(schema, transaction)`
    and `ended(schema)`; of several indexes that wait for one transaction, the first one."""

    def __init__(
        self,
        engine: AsyncEngine,
        app_role: str,
        at: Mapping[str, dict[str, str | None]],
        lacking: Collection[str],
        *,
        held_up: Callable[[str, str], None],
        waits: Callable[[str, str], None],
        ended: Callable[[str], None],
    ) -> None:
        self._engine, self._app_role, self._at, self._lacking = engine, app_role, at, lacking
        self._held_up, self._waits, self._ended = held_up, waits, ended
        self._waited_for: set[str] = set()
        self._waiting: deque[str] = deque()
        self._since: dict[str, float] = {}
        self._tries: dict[str, int] = {}
        self._failures: list[FailedModule] = []

    async def all(self, jobs: int) -> list[FailedModule]:
        """Raises when the database goes away; steps that were done by then stay done."""
        self._waiting.extend(self._at)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(jobs, len(self._at))):
                    group.create_task(self._work())
        except* Exception as several:  # noqa: BLE001 - the first one says why
            raise several.exceptions[0] from None
        return self._failures

    async def _work(self) -> None:
        async with self._engine.connect() as connection:
            migrator = _Migrator(
                self._engine, connection, self._app_role, self._lacking, moved=self._moved, waits=self._wait
            )
            while self._waiting:
                schema = self._waiting.popleft()
                try:
                    await migrator.bring_up(schema, self._at[schema])
                except Stuck as stuck:
                    await self._put_back(schema, stuck)
                else:
                    self._ended(schema)

    def _moved(self, schema: str) -> None:
        """After each step or slice the schema has a full minute again to wait for the next lock."""
        self._since.pop(schema, None)
        self._tries.pop(schema, None)

    def _wait(self, schema: str, transaction: str) -> None:
        if transaction not in self._waited_for:
            self._waited_for.add(transaction)
            self._waits(schema, transaction)

    async def _put_back(self, schema: str, stuck: Stuck) -> None:
        now = time.monotonic()
        if not stuck.passes or now > self._since.setdefault(schema, now) + PATIENCE_S:
            self._failures.append(FailedModule(schema, stuck.module, str(stuck)))
            self._ended(schema)
            return
        self._held_up(schema, str(stuck))
        self._waiting.append(schema)
        tries = self._tries[schema] = self._tries.get(schema, 0) + 1
        await asyncio.sleep(min(FIRST_PAUSE_S * 2 ** (tries - 1), LONGEST_PAUSE_S))


class _Migrator:
    """One connection, and the steps that speak to it. `moved(schema)` is told of each step and slice that is taken,
    `waits(schema, transaction)` of each look at an index that waits."""

    def __init__(
        self,
        engine: AsyncEngine,
        connection: AsyncConnection,
        app_role: str,
        lacking: Collection[str],
        *,
        moved: Callable[[str], None],
        waits: Callable[[str, str], None],
    ) -> None:
        self._engine, self._connection, self._app_role, self._lacking = engine, connection, app_role, lacking
        self._moved, self._waits = moved, waits
        self._steps: dict[str, Steps] = {}

    async def bring_up(self, schema: str, at: dict[str, str | None]) -> None:
        """Notes each step in `at`. Raises Stuck; and what a connection that is lost raises."""
        for module, revision in list(at.items()):
            steps = self._steps.get(module) or self._steps.setdefault(module, Steps(module))
            if revision is None:
                with _naming(module, "The first tables"):
                    at[module] = await self._make(schema, steps)
                self._moved(schema)
            for step in steps.after(at[module]):
                with _naming(module, step.revision):
                    await self._take(schema, steps, step)
                at[module] = step.revision
        if schema in self._lacking:
            with _naming(next(iter(at)), "Granting rights"):
                async with self._transaction(schema) as connection:
                    await connection.run_sync(rights.grant, schema, self._app_role)

    async def _make(self, schema: str, steps: Steps) -> str:
        """Makes the tables of a module that has none yet. No program uses them, so all steps are one transaction."""
        async with self._transaction(schema) as connection:
            await connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
            await connection.run_sync(steps.take_all)
            await connection.run_sync(rights.grant, schema, self._app_role)
        return steps.after(None)[-1].revision

    async def _take(self, schema: str, steps: Steps, step: Script) -> None:
        if says(step, "CONCURRENT"):
            await self._take_by_itself(schema, steps, step)
            self._moved(schema)
            return
        done = False
        while not done:
            async with self._transaction(schema) as connection:
                done = await connection.run_sync(steps.take, step)
                if done and steps.may_have_made:  # in the same transaction: a trigger may need the new table at once
                    await connection.run_sync(rights.grant, schema, self._app_role)
            self._moved(schema)

    async def _take_by_itself(self, schema: str, steps: Steps, step: Script) -> None:
        """On a connection of its own, where each statement commits."""
        async with self._engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            await connection.execute(_SET, _set_for(schema, CONCURRENT_LOCK_MS, local=False))
            async with naming_transaction(self._engine, connection, partial(self._waits, schema)):
                await connection.run_sync(partial(steps.take, step=step, by_itself=True))

    @asynccontextmanager
    async def _transaction(self, schema: str) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._connection.begin():
                await self._connection.execute(_SET, _set_for(schema, LOCK_MS, local=True))
                yield self._connection
        except asyncio.CancelledError:
            # A statement of it may still run.
            await self._connection.invalidate()
            raise


def _set_for(schema: str, lock_ms: int, *, local: bool) -> dict[str, str | bool]:
    path = schema if schema == SHARED else f"{schema}, {SHARED}"
    return {"path": path, "lock": f"{lock_ms}ms", "local": local}


@contextmanager
def _naming(module: str, what: str) -> Iterator[None]:
    """Says which step met an error. When the database went away, it is not a fault of the step."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError | InterfaceError) or _is_lost(error):
            raise
        raise Stuck(module, what, error) from error


def _is_lost(error: Exception) -> bool:
    state = _sqlstate(error)
    return state[:2] == "08" or state[:3] == "57P" or (isinstance(error, DBAPIError) and error.connection_invalidated)


def _sqlstate(error: Exception) -> str:
    return getattr(error.orig if isinstance(error, DBAPIError) else error, "sqlstate", None) or ""


def _reason_of(error: Exception) -> str:
    """One line, without the values of rows that PostgreSQL names below it."""
    if isinstance(error, IndexWaited):
        return str(error)
    if _sqlstate(error) in _LOCKED:
        return "another session holds a table that it needs"
    cause = (error.orig and error.orig.__cause__) or error.orig if isinstance(error, DBAPIError) else error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]
