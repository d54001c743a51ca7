"""Which of the subjects that the audit names are still there to be shown. Other modules add theirs to VANISHING (app.wiring)."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Text, bindparam, cast, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Job, Role, UserType
from app.db.session import workspace_of
from app.host.applications.applications import KEPT
from app.host.models import Application, AttendanceRecord
from app.texts import uuid_of, whole

Subject = tuple[str, str]
"""(kind, id), as the audit keeps it."""

# What may be deleted, or goes by itself: the ids that still have a page, with `workspace` bound where a table holds those of all.
# Every other kind stays for ever.
VANISHING: dict[str, Select[Any]] = {
    "application": select(Application.id).where(KEPT),
    "attendance": select(AttendanceRecord.id).where(AttendanceRecord.deleted_at.is_(None)),
    "job": select(Job.id),
    "role": select(Role.id),
    "user_type": select(UserType.key).where(UserType.workspace == bindparam("workspace")),
}


def offer(kind: str, ids: Select[Any]) -> None:
    """`ids` selects one column: what the audit calls such a subject by."""
    VANISHING[kind] = ids


async def gone(db: AsyncSession, subjects: Iterable[Subject]) -> set[Subject]:
    """Those of `subjects` that are no longer there, in one statement whatever their kinds."""
    asked = {one for one in subjects if one[0] in VANISHING}
    by_kind: dict[str, list[Any]] = {}
    for kind, subject in asked:
        key = _key(subject, VANISHING[kind].selected_columns[0].type.python_type)
        if key is not None:
            by_kind.setdefault(kind, []).append(key)
    if not by_kind:
        return asked
    found = union_all(*(_there(kind, keys) for kind, keys in by_kind.items()))
    return asked - {(kind, subject) for kind, subject in await db.execute(found, {"workspace": workspace_of(db)})}


def _there(kind: str, keys: list[Any]) -> Select[str, str]:
    ids = VANISHING[kind]
    column = ids.selected_columns[0]
    return ids.where(column.in_(keys)).with_only_columns(literal(kind, Text), cast(column, Text))


def _key(subject: str, kind: type) -> Any:
    """None for what cannot be the id of one: an act on many says `12 punches`."""
    if kind is int:
        return whole(subject, digits=18)
    if kind is UUID:
        return uuid_of(subject)
    return subject
