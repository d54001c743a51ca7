"""Noting what changed, in the transaction of the change. It locks nothing. When no endpoint wants the type, it costs
one look at a table of a few rows."""

import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.db.direct import driver
from app.db.session import Database, workspace_of

JOB = "send_webhooks"
# An event names this many ids; beyond that it counts them.
MOST_IDS = 100
# A run that takes longer, or that died, tells what it changed until then.
RUN_HELD_S = 300
_NOTE = """
INSERT INTO webhook_facts (type, ids, number, cause, due_at)
SELECT f.type, ARRAY(SELECT json_array_elements_text(f.ids)), f.number, coalesce($2, pg_current_xact_id()::text),
    now() + $3 * interval '1 second'
FROM json_to_recordset($1::json) AS f (type text, ids json, number bigint)
WHERE EXISTS (SELECT FROM webhook_endpoints e WHERE e.active AND f.type = ANY(e.types))
RETURNING id
"""
_RELEASE = "UPDATE webhook_facts SET due_at = now() WHERE cause = $1 AND due_at > now()"


@dataclass(slots=True)
class RunNotes:
    """`noted`: the workspaces in which it changed something that is told."""

    cause: str
    noted: set[str] = field(default_factory=set)


_RUN: ContextVar[RunNotes | None] = ContextVar("run", default=None)
Ids = Collection[int] | Collection[str]


async def note(db: AsyncSession, kind: str, ids: Ids) -> None:
    """`kind` is one of app.webhooks.kinds; what changed is told once the transaction has committed."""
    await note_all(db, {kind: ids})


async def note_all(db: AsyncSession, changed: Mapping[str, Ids]) -> None:
    """Notes several types by one statement."""
    await _write(db, [_fact(kind, ids, len(ids)) for kind, ids in changed.items() if ids])


async def note_number(db: AsyncSession, kind: str, ids: Ids, number: int) -> None:
    """For `number` changed things of which `ids` names only some."""
    if number:
        await _write(db, [_fact(kind, ids, number)])


def _fact(kind: str, ids: Ids, number: int) -> dict[str, Any]:
    named = [] if number > MOST_IDS else [str(one) for one in ids]
    return {"type": kind, "ids": named, "number": number}


async def _write(db: AsyncSession, facts: list[dict[str, Any]]) -> None:
    run = _RUN.get()
    held = (run.cause, RUN_HELD_S) if run else (None, 0)
    if not facts or not await driver(db).fetch(_NOTE, json.dumps(facts), *held):
        return
    if run:
        run.noted.add(workspace_of(db))
    else:
        ask_at_end(db)


def ask_at_end(db: AsyncSession) -> None:
    """Asks for the job that sends, once."""
    jobs.request_at_end(db, JOB)


async def ask(db: AsyncSession) -> None:
    """Asks for the job that sends."""
    await jobs.request_after(db, JOB)


@asynccontextmanager
async def one_run(database: Database, cause: str) -> AsyncIterator[None]:
    """All that the transactions in the block note is told together at its end. After an error it is told later."""
    run = RunNotes(cause)
    outside = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(outside)
    for workspace in sorted(run.noted):
        async with database.transaction(workspace) as db:
            await driver(db).execute(_RELEASE, cause)
            await ask(db)


def telling(kind: str, named: str, rows: str) -> str:
    """The part `told` of a WITH, for a statement that stands in no workspace: it notes each of `rows`, which is the SQL
    behind FROM. `kind` and `named` are the SQL of its type and of its id. The caller then calls `ask_past_session`."""
    return f"""told AS (
    INSERT INTO workspace.webhook_facts (type, ids, number, cause)
    SELECT {kind}, ARRAY[{named}], 1, CAST(pg_current_xact_id() AS text) FROM {rows}
        AND EXISTS (SELECT FROM workspace.webhook_endpoints WHERE active AND {kind} = ANY(types))
    RETURNING id
)"""


async def ask_past_session(connection: asyncpg.Connection, workspace: str) -> None:
    """As `ask`, by a statement of its own."""
    await jobs.request_past_session(connection, workspace, JOB)
