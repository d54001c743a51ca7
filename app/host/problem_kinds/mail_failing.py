"""The mail server takes no mail: several attempts failed in a row.
Sending continues, and the first mail that leaves closes it."""

from datetime import datetime
from typing import Final

from sqlalchemy import func, select

from app.counting import count
from app.mail.models import MailStreak
from app.mail.streak import FAILING_AFTER
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import FactSelect, ProblemKind, fact_columns

KIND: Final = "mail_failing"


def detect(fact: Fact, _: datetime) -> Finding | None:
    if fact.facts["failures"] < FAILING_AFTER:
        return None
    tried = count(fact.facts["failures"], "attempt", "attempts")
    return fact.found("No mail leaves", f"The last {tried} failed. The last reason: {fact.facts['error']}")


MAIL_KIND = ProblemKind(
    KIND,
    "Mail failing",
    Severity.WARNING,
    "admin.jobs",
    "Fix MUSTER_SMTP_URL or the mail server, and try it with muster mail:test. Mails wait for a day.",
    lambda _, __: "/admin/jobs?name=send_mail",
    detect,
    platform_only=True,
    can_be_dismissed=False,
)
MAIL = FactSelect(
    frozenset({KIND}),
    select(
        *fact_columns(
            KIND,
            "mail",
            "server",
            since=MailStreak.since,
            facts=func.jsonb_build_object("failures", MailStreak.failures, "error", MailStreak.error),
        )
    ).where(MailStreak.failures >= FAILING_AFTER),
)
