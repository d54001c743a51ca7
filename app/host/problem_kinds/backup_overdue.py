"""The backup is overdue: no backup called its address for longer than the hours that a person set. The next call closes
the problem."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, cast, func, select

from app.counting import count
from app.host.backups import watch
from app.host.backups.models import BackupWatch
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import FactSelect, ProblemKind, fact_columns

KIND: Final = "backup_overdue"


def detect(fact: Fact, now: datetime) -> Finding | None:
    hours = fact.facts["expected_hours"]
    if watch.overdue_since(fact.since, hours, now) is None:
        return None
    told = (
        f"No backup has called Muster for more than {count(hours, 'hour', 'hours')}. Look at the program that makes it."
    )
    return fact.found("The backup is overdue", told)


BACKUP = ProblemKind(
    KIND,
    "Backup overdue",
    Severity.CRITICAL,
    "admin.backups",
    "Look at the program that makes the backup. The next call of the address on Backups closes this.",
    lambda _, __: "/admin/backups",
    detect,
    platform_only=True,
)
LAST_CALL = FactSelect(
    frozenset({KIND}),
    select(
        *fact_columns(
            KIND,
            watch.SUBJECT,
            watch.SUBJECT,
            since=BackupWatch.last_ping_at,
            evidence=cast(func.extract("epoch", BackupWatch.last_ping_at), BigInteger),
            facts=func.jsonb_build_object("expected_hours", BackupWatch.expected_hours),
        )
    ).where(BackupWatch.last_ping_at.is_not(None)),
)
