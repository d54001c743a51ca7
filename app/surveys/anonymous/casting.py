"""Casting a ballot: the first answer to a version makes its key, and each ballot is sealed under it. `ledger/append.py`
writes the ballot.

A version whose key was destroyed is closed: it takes no answer, and never gets a key again.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import User
from app.db.direct import Direct
from app.db.session import schema_of
from app.host.models import Employee
from app.secrets import KeyRing
from app.surveys.anonymous import ballots
from app.surveys.anonymous.models import BallotKey
from app.surveys.ledger.answers import Answered
from app.surveys.ledger.entries import BallotToCast, Entry

_KEY = Direct("""
SELECT id, sealed_key FROM workspace.survey_ballot_keys WHERE survey_id = :survey AND version = CAST(:version AS bigint)
""")
# When two requests make it at once, the second writes nothing and reads the key of the first.
_MAKE = Direct("""
INSERT INTO workspace.survey_ballot_keys (survey_id, version, sealed_key) VALUES (:survey, CAST(:version AS bigint), :sealed)
ON CONFLICT DO NOTHING RETURNING id, set_config('synchronous_commit', 'off', true)
""")


async def cast(
    connection: asyncpg.Connection,
    workspace: str,
    keys: KeyRing,
    entry: Entry,
    said: tuple[Iterable[Answered], str | None],
) -> BallotToCast | None:
    """Seals what the person answered, and their group if the survey has a split. None when the version is closed."""
    key = await _key(connection, workspace, keys, entry)
    if key["sealed_key"] is None:
        return None
    ring = ballots.ring_of(keys, workspace, entry.survey_id, key["sealed_key"])
    ballot_id: UUID = uuid4()
    sealed = ballots.seal(ring, workspace, ballot_id, ballots.ballot_of(*said))
    return BallotToCast(key["id"], ballot_id, sealed)


async def _key(connection: asyncpg.Connection, workspace: str, keys: KeyRing, entry: Entry) -> Any:
    about = {"survey": entry.survey_id, "version": entry.version}
    while True:
        found = await _KEY.row(connection, about, schema_of(workspace))
        if found is not None:
            return found
        sealed = ballots.new_key(keys, workspace, entry.survey_id)
        await _MAKE.row(connection, {**about, "sealed": sealed}, schema_of(workspace))


async def is_closed(db: AsyncSession, survey_id: int, version: int) -> bool:
    key = select(BallotKey.id).where(
        BallotKey.survey_id == survey_id, BallotKey.version == version, BallotKey.sealed_key.is_(None)
    )
    return await db.scalar(key) is not None


async def group_of(db: AsyncSession, user_id: int, split: str | None) -> str | None:
    """What a ballot keeps of its person: the key of their user type or of their workspace, or the name of their
    department; "" when it is unknown. None without a split."""
    found: Select[Any]
    match split:
        case "type":
            found = select(User.type).where(User.id == user_id)
        case "tenant":
            found = select(User.workspace).where(User.id == user_id)
        case "department":
            theirs = select(Employee.department).where(Employee.user_id == user_id, Employee.deleted_at.is_(None))
            found = theirs.order_by(Employee.id).limit(1)
        case _:
            return None
    return await db.scalar(found) or ""
