"""What was done to one thing, for its own page: the newest entries of the audit in words."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.accounts.audit_words import act_label
from app.accounts.erased import actor_shown
from app.accounts.models import AuditEntry
from app.host import erased_names
from app.web.context import Context

_MOST = 20


@dataclass(frozen=True, slots=True)
class Done:
    """`changes` are (field, before, after) as text; empty when something was made, or has no values to compare."""

    at: datetime
    by: str
    act: str
    changes: list[tuple[str, str | None, str | None]]


async def history(ctx: Context, kind: str, subject: object) -> list[Done]:
    """Newest first. `kind` is the `subject_type` that the acts were recorded with."""
    asked = select(
        AuditEntry.at,
        actor_shown().label("actor_name"),
        AuditEntry.act,
        AuditEntry.before,
        AuditEntry.after,
    ).where(
        AuditEntry.workspace == ctx.workspace,
        AuditEntry.subject_type == kind,
        AuditEntry.subject_id == str(subject),
    )
    entries = (await ctx.db.execute(asked.order_by(AuditEntry.id.desc()).limit(_MOST))).all()
    sides = [(one.before, one.after) if one.before and one.after else (None, None) for one in entries]
    changed = await erased_names.differences_of(ctx.db, [(kind, *both) for both in sides], await ctx.zone())
    return [
        Done(one.at, one.actor_name, act_label(one.act), changes) for one, changes in zip(entries, changed, strict=True)
    ]
