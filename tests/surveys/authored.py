"""What authors do to a survey, each in a transaction of its own; `answer` has people answer it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.accounts.audit import Actor
from app.db.session import Database
from app.parts import Parts
from app.surveys.authoring import actions as authoring
from app.surveys.authoring.actions import Saved
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.stored import Stored
from tests.surveys.drafted import drafted, published
from tests.surveys.recording import record, user_id

ANN, BEN = Actor(None, "Ann"), Actor(None, "Ben")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


async def make(database: Database, status: str = "draft", workspace: str = "main", **fields: Any) -> Stored:
    async with database.transaction(workspace) as db:
        if status == "draft":
            return await drafted(db, **fields)
        stored = await published(db, **fields)
        if status == "archived":
            await authoring.archive(db, ANN, stored.uid)
        return await authoring.load(db, stored.uid)


async def read(database: Database, uid: UUID, workspace: str = "main") -> Stored:
    async with database.transaction(workspace) as db:
        return await authoring.load(db, uid)


async def save(
    database: Database, stored: Stored, *, revision: int | None = None, new_version: bool = False, **changed: Any
) -> Saved:
    """What was loaded with some fields changed; `revision` None is that of what was loaded."""
    return await save_as(
        database, stored, replace(stored.definition, **changed), revision=revision, new_version=new_version
    )


async def save_as(
    database: Database,
    stored: Stored,
    definition: Definition,
    *,
    revision: int | None = None,
    new_version: bool = False,
    actor: Actor = ANN,
) -> Saved:
    async with database.transaction(stored.workspace) as db:
        return await authoring.save(
            db,
            actor,
            stored.uid,
            definition,
            revision=stored.revision if revision is None else revision,
            new_version=new_version,
            ceiling="full",
        )


async def publish(database: Database, stored: Stored, now: datetime = NOW) -> bool:
    async with database.transaction(stored.workspace) as db:
        return await authoring.publish(db, ANN, stored.uid, now, "full")


async def archive(database: Database, stored: Stored) -> bool:
    async with database.transaction(stored.workspace) as db:
        return await authoring.archive(db, ANN, stored.uid)


async def remove(database: Database, stored: Stored) -> None:
    async with database.transaction(stored.workspace) as db:
        await authoring.delete(db, ANN, stored.uid)


async def answer(parts: Parts, stored: Stored, *people: str) -> None:
    """Those of the cast answer the survey with nothing."""
    for short in people or ("nora",):
        await record(parts.database, parts.keys, stored, await user_id(parts.database, short), None)
