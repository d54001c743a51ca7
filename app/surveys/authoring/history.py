"""Writes what acts on a survey changed into the audit, and reads it from there for a form that has become stale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Integer, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts import audit
from app.accounts.models import AuditEntry
from app.db.session import workspace_of
from app.surveys import words
from app.surveys.authoring import audience, files
from app.surveys.authoring.definition import Definition
from app.surveys.authoring.differences import DefinitionDifference, compare
from app.surveys.authoring.stored import Stored

SUBJECT: Final = "survey"


@dataclass(frozen=True, slots=True)
class ChangedSince:
    """A survey at an earlier revision, and what is different now."""

    then: Definition
    differences: Sequence[DefinitionDifference]


async def note(db: AsyncSession, actor: audit.Actor, act: str, before: Stored | None, after: Stored | None) -> None:
    """One audit row with what is different, or with everything when a survey was made or deleted."""
    was, is_now = _facts(before), _facts(after)
    names = [name for name in (was or is_now or {}) if was is None or is_now is None or was[name] != is_now[name]]
    either = after or before
    await audit.record(
        db,
        actor,
        f"survey.{act}",
        SUBJECT,
        either.uid if either else "",
        before={name: was[name] for name in names} if was else None,
        after={name: is_now[name] for name in names} if is_now else None,
    )


def _facts(stored: Stored | None) -> dict[str, Any] | None:
    if stored is None:
        return None
    document = files.document(stored.definition)
    del document["format"]
    life = {
        "status": stored.status,
        "version": stored.version,
        "revision": stored.revision,
        "content_hash": stored.content_hash,
    }
    return document | life


async def changed_since(db: AsyncSession, stored: Stored, revision: int) -> ChangedSince:
    """What others changed after that revision."""
    was = await _facts_at(db, stored, revision)
    document = files.document(stored.definition)
    then = files.from_document({name: was.get(name, value) for name, value in document.items()})
    names = await audience.names(db)
    return ChangedSince(then, (*_life(was, stored), *compare(then, stored.definition, names)))


async def _facts_at(db: AsyncSession, stored: Stored, revision: int) -> dict[str, Any]:
    """The values at that revision of what changed since: the oldest `before` of each."""
    later = AuditEntry.after["revision"].astext.cast(Integer) > revision
    statement = (
        select(AuditEntry.before)
        .where(
            AuditEntry.workspace == workspace_of(db),
            AuditEntry.subject_type == SUBJECT,
            AuditEntry.subject_id == str(stored.uid),
            AuditEntry.before.is_not(None),
            later,
        )
        .order_by(AuditEntry.id.desc())
    )
    was: dict[str, Any] = {}
    for before in await db.scalars(statement):
        was |= before or {}
    return was


def _life(was: Mapping[str, Any], stored: Stored) -> list[DefinitionDifference]:
    """True when it was published, archived or given a new version meanwhile."""
    found = []
    if was.get("status", stored.status) != stored.status:
        before, after = words.STATUSES[was["status"]], words.STATUSES[stored.status]
        found.append(DefinitionDifference("status", "Status", before, after))
    if was.get("version", stored.version) != stored.version:
        found.append(DefinitionDifference("version", "Version", str(was["version"]), str(stored.version)))
    return found
