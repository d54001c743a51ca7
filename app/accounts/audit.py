"""The audit: one row for every act of a person or of the system, with what it changed.
Appended in the act's transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, Text, cast, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.erased import actor_shown
from app.accounts.models import AuditEntry
from app.db.session import workspace_of


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a signed-in person, a command on the server, or the system itself (`id` None). `token` is the name of
    the API token by which the person acts."""

    id: int | None
    name: str
    ip: str | None = None
    request_id: str | None = None
    token: str | None = None


SYSTEM = Actor(None, "Muster")
COMMAND_LINE = Actor(None, "Command line")


def changed_fields(was: Mapping[str, Any], is_now: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`before` and `after` of an act that changed `was` into `is_now`: the fields that differ, both empty when nothing
    differs."""
    names = [name for name in was if was[name] != is_now[name]]
    return {name: was[name] for name in names}, {name: is_now[name] for name in names}


async def record(
    db: AsyncSession,
    actor: Actor,
    act: str,
    subject_type: str,
    subject_id: object,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    workspace: str | None = None,
) -> None:
    """Writes one row. `act` is a verb such as `employee.deactivate`; `before` and `after` hold the changed fields and
    never a secret. `workspace` is the one whose audit it is; by default the transaction's."""
    await db.execute(
        insert(AuditEntry).values(
            workspace=workspace or workspace_of(db),
            actor_id=actor.id,
            actor_name=actor.name,
            actor_token=actor.token,
            act=act,
            subject_type=subject_type,
            subject_id=str(subject_id),
            before=before,
            after=after,
            ip=actor.ip,
            request_id=actor.request_id,
        )
    )


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """What an act did to one of many subjects."""

    subject_id: object
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


async def record_many(
    db: AsyncSession,
    actor: Actor,
    act: str,
    subject_type: str,
    changes: Sequence[AuditedChange],
    *,
    workspace: str | None = None,
) -> None:
    """One row for each of many subjects of one act; `workspace` as in `record`."""
    common = {
        "workspace": workspace or workspace_of(db),
        "actor_id": actor.id,
        "actor_name": actor.name,
        "actor_token": actor.token,
        "act": act,
        "subject_type": subject_type,
        "ip": actor.ip,
        "request_id": actor.request_id,
    }
    rows = [{**common, "subject_id": str(one.subject_id), "before": one.before, "after": one.after} for one in changes]
    if rows:
        await db.execute(insert(AuditEntry), rows)


async def last_change(db: AsyncSession, subject_type: str, subject_id: object, names: Sequence[str]) -> Any:
    """`at`, `actor_id` and `actor` (their name) of the newest act that changed one of these fields of the subject, or
    None."""
    about = (AuditEntry.subject_type == subject_type, AuditEntry.subject_id == str(subject_id))
    changed = func.jsonb_exists_any(AuditEntry.after, cast(list(names), ARRAY(Text)))
    asked = select(AuditEntry.at, AuditEntry.actor_id, actor_shown().label("actor"))
    found = asked.where(AuditEntry.workspace == workspace_of(db), *about, changed).order_by(AuditEntry.id.desc())
    return (await db.execute(found.limit(1))).one_or_none()
