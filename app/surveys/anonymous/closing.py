"""Ends an anonymous version: opens, counts and deletes all its ballots, destroys its key, and writes this into the
ledger.

Each version is closed in one transaction, so its results appear at once and never change. Locks are taken in the order
of an answer: the key of the version, then the head of the ledger.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, DateTime, Select, bindparam, delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.db.direct import Compiled, driver
from app.db.session import workspace_of
from app.secrets import KeyRing
from app.surveys.anonymous import ballots, joining
from app.surveys.anonymous.joining import BallotCount, ResultRow
from app.surveys.anonymous.models import AnonymousResult, BallotKey, SealedBallot
from app.surveys.ledger import changes
from app.surveys.ledger.changes import Closing
from app.surveys.models import LedgerChange, Survey, Wording

# How many ballots are opened at a time; each has 64 KiB at most.
BATCH = 200
# How many rows one INSERT writes.
ROWS = 1000


@dataclass(frozen=True, slots=True)
class AnonymousVersion:
    """A version that was published."""

    survey_id: int
    survey: UUID
    version: int


async def due(db: AsyncSession, now: datetime) -> list[AnonymousVersion]:
    """Versions that have ended and are not closed: a newer version was published, the survey was archived or removed,
    or its end has passed."""
    return [AnonymousVersion(*row) for row in await _DUE.rows(driver(db), {"now": now})]


async def next_end(db: AsyncSession, now: datetime) -> datetime | None:
    """When the next version ends by itself."""
    found: datetime | None = (await _NEXT_END.row(driver(db), {"now": now})).ends_at
    return found


async def close(db: AsyncSession, keys: KeyRing, one: AnonymousVersion, now: datetime) -> bool:
    """Closes the version for good. True when this call did it; False when it was closed before, or an author has given
    it a later end meanwhile. Raises SecretError when a ballot does not open; then nothing is changed."""
    # Waits for authors who change the row. Answers only need the row to stay.
    await db.execute(select(Survey.id).where(Survey.id == one.survey_id).with_for_update(read=True))
    still = _open().where(_is_over(now), Survey.id == one.survey_id, _versions.c.version == one.version)
    if (await db.execute(still)).one_or_none() is None:
        return False
    key = await _held_key(db, one, now)
    if key is None:
        return False
    counted = await _counted(db, keys, one, key)
    results = counted.rows(secrets.SystemRandom())
    await _write(db, one, results)
    await db.execute(delete(SealedBallot).where(*_of(SealedBallot, one)))
    await db.execute(update(BallotKey).where(*_of(BallotKey, one)).values(sealed_key=None, destroyed_at=now))
    await audit.record(db, audit.SYSTEM, "survey.close", "survey", one.survey, after=_told(one, counted))
    digest = joining.results_hash(results)
    await changes.close(db, Closing(one.survey_id, one.survey, one.version, counted.ballots, digest, now))
    return True


_versions = select(Wording.survey_uid, Wording.version).distinct().subquery("versions")


def _open() -> Select[Any]:
    """Published versions of anonymous surveys that the ledger has not closed."""
    closed = exists().where(
        LedgerChange.survey_id == Survey.id, LedgerChange.version == _versions.c.version, LedgerChange.kind == "closed"
    )
    versions = select(Survey.id, Survey.uid, _versions.c.version).join(_versions, _versions.c.survey_uid == Survey.uid)
    return versions.where(Survey.anonymity == "anonymous", ~closed)


def _is_over(now: datetime | ColumnElement[datetime]) -> ColumnElement[bool]:
    return or_(_versions.c.version < Survey.version, Survey.status == "archived", Survey.ends_at <= now)


_NOW: ColumnElement[datetime] = bindparam("now", type_=DateTime(timezone=True))
# Each tick of the schedule asks both of each workspace.
_DUE = Compiled(_open().where(_is_over(_NOW)).order_by("id", "version"))
_NEXT_END = Compiled(
    select(func.min(Survey.ends_at).label("ends_at")).where(
        Survey.anonymity == "anonymous", Survey.status == "published", Survey.ends_at > _NOW
    )
)


async def _held_key(db: AsyncSession, one: AnonymousVersion, now: datetime) -> BallotKey | None:
    """The key of the version, locked so that no further answer comes; a destroyed key when there was no answer. None
    when another worker closed the version first."""
    about = {"survey_id": one.survey_id, "version": one.version}
    made = insert(BallotKey).values(**about, destroyed_at=now).on_conflict_do_nothing().returning(BallotKey.id)
    fresh = await db.scalar(made)
    key = (await db.scalars(select(BallotKey).where(*_of(BallotKey, one)).with_for_update())).one()
    return key if fresh is not None or key.sealed_key is not None else None


async def _counted(db: AsyncSession, keys: KeyRing, one: AnonymousVersion, key: BallotKey) -> BallotCount:
    """Opens the ballots in the order of their random ids, and counts them."""
    counted = BallotCount(await _texts(db, one))
    if key.sealed_key is None:
        return counted
    ring = ballots.ring_of(keys, workspace_of(db), one.survey_id, key.sealed_key)
    after = UUID(int=0)
    while True:
        some = select(SealedBallot.id, SealedBallot.sealed).where(*_of(SealedBallot, one), SealedBallot.id > after)
        rows = (await db.execute(some.order_by(SealedBallot.id).limit(BATCH))).all()
        for row in rows:
            counted.add(ballots.opened(ring, workspace_of(db), row.id, row.sealed))
        if len(rows) < BATCH:
            return counted
        after = rows[-1].id


async def _texts(db: AsyncSession, one: AnonymousVersion) -> set[str]:
    """The ids of the questions with free texts, in any wording of the version."""
    return {
        key
        for content, keys in await db.execute(
            select(Wording.content, Wording.question_keys).where(
                Wording.survey_uid == one.survey, Wording.version == one.version
            )
        )
        for key, asked in zip(keys, json.loads(content)["questions"], strict=True)
        if asked["type"] == "free_text"
    }


async def _write(db: AsyncSession, one: AnonymousVersion, results: Sequence[ResultRow]) -> None:
    for first in range(0, len(results), ROWS):
        rows = [
            {
                "survey_id": one.survey_id,
                "version": one.version,
                "question_key": row.question,
                "grouped": row.grouped,
                "joined": row.joined,
                "choice": row.choice,
                "people": row.people,
            }
            for row in results[first : first + ROWS]
        ]
        await db.execute(insert(AnonymousResult).values(rows))


def _of(table: type[BallotKey | SealedBallot], one: AnonymousVersion) -> tuple[ColumnElement[bool], ...]:
    return table.survey_id == one.survey_id, table.version == one.version


def _told(one: AnonymousVersion, counted: BallotCount) -> dict[str, int]:
    return {"version": one.version, "ballots": counted.ballots}
