"""What was done to one thing, for its own page: the newest entries of the audit in words."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.accounts.audit_words import act_label, differences
from app.accounts.models import AuditEntry
from app.web.context import Context

_MOST = 20


@dataclass(frozen=True, slots=True)
class Done:
    """`changes` are (field, before, after) as text; none where something was made or has no values to compare."""

    at: datetime
    by: str
    act: str
    changes: list[tuple[str, str | None, str | None]]


async def history(ctx: Context, kind: str, subject: object) -> list[Done]:
    """Newest first. `kind` is the `subject_type` that the acts were recorded with."""
    entries = await ctx.db.execute(
        select(AuditEntry.at, AuditEntry.actor_name, AuditEntry.act, AuditEntry.before, AuditEntry.after)
        .where(
            AuditEntry.workspace == ctx.workspace,
            AuditEntry.subject_type == kind,
            AuditEntry.subject_id == str(subject),
        )
        .order_by(AuditEntry.id.desc())
        .limit(_MOST)
    )
    return [
        Done(at, by, act_label(act), differences(before, after) if before and after else [])
        for at, by, act, before, after in entries
    ]
