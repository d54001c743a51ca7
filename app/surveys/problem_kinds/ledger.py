"""Problems when a ledger no longer proves what it holds. Only the platform has them, about its own ledger.

A SELECT finds that rows at the end are missing. Only a walk through the whole ledger finds a row that does not fit: the
job `surveys_verify` does it daily, and `muster ledger:verify` also reports what it found.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Text, cast, func, literal, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.accounts.models import AuditEntry
from app.db.replica import FAULTS
from app.db.session import PLATFORM
from app.parts import Parts
from app.problems import looking
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import FactSelect, ProblemKind, ProblemSource, Remedy, RemedyAsked, fact_columns
from app.surveys.ledger import verifying
from app.surveys.ledger.verifying import NOTE, LedgerVerdict, Report
from app.surveys.models import LedgerChange, LedgerHead, Response

BROKEN, SHRUNK = "ledger_broken", "ledger_shrunk"
JOB = "surveys_verify"
_HELP = "/help/operate#prove-the-ledger"


def found_in(verdict: LedgerVerdict) -> list[Finding]:
    """The result of a walk through the ledger, as problems."""
    if verdict.fits:
        return []
    where = "" if verdict.number is None else f"Row {verdict.number:,} is broken: "
    detail = (
        f"{where}{verdict.problem}. The {verdict.rows:,} rows before it fit. Keep the database as it is, compare it with a backup and with"
        " the heads in the log, and find out who changed it. Then verify again."
    )
    facts = {"number": verdict.number, "rows": verdict.rows}
    return [Finding(BROKEN, "ledger", PLATFORM, "The ledger is broken", detail, 0, 0, None, 0, facts)]


def detect_shrunk(fact: Fact, _: datetime) -> Finding:
    return fact.found(
        "The ledger has lost rows",
        f"Its head was once noted at row {fact.facts['noted']:,}, and that row is missing or changed. An older backup was restored, or"
        " somebody removed rows. Compare the heads in the log and in the audit with this database.",
    )


async def verify(
    parts: Parts, workspace: str, *, report: Report | None = None, broke_off: Callable[[], None] = lambda: None
) -> LedgerVerdict:
    """Reads the replica, if it is up to date. If that breaks off, once more the primary."""
    replica = parts.replica
    if replica is not None and await replica.has_everything(parts.database, workspace):
        try:
            return await verifying.verify(replica.files, parts.keys, workspace, report)
        except FAULTS:
            broke_off()
    return await verifying.verify(parts.database, parts.keys, workspace, report)


async def tell(db: AsyncSession, verdict: LedgerVerdict) -> None:
    """Opens or closes the problem of a broken ledger. In a transaction of the platform."""
    await looking.tell(db, {BROKEN}, found_in(verdict))


async def _verify_again(asked: RemedyAsked) -> None:
    await jobs.request(asked.db, JOB)


def _page(_: str, __: Mapping[str, Any]) -> str:
    return _HELP


_NOTED = (
    select(
        cast(AuditEntry.after["number"].astext, BigInteger).label("number"),
        AuditEntry.after["head"].astext.label("head"),
        AuditEntry.at,
    )
    .where(AuditEntry.workspace == PLATFORM, AuditEntry.act == NOTE)
    .order_by(AuditEntry.id.desc())
    .limit(1)
    .subquery("noted")
)
_HASH = func.coalesce(
    *(
        select(func.encode(table.row_hash, "hex")).where(table.number == _NOTED.c.number).scalar_subquery()
        for table in (Response, LedgerChange)
    ),
    literal("", Text),
)
_LOST = FactSelect(
    frozenset({SHRUNK}),
    select(
        *fact_columns(
            SHRUNK,
            "ledger",
            PLATFORM,
            since=_NOTED.c.at,
            evidence=_NOTED.c.number,
            facts=func.jsonb_build_object("noted", _NOTED.c.number, "head", _NOTED.c.head),
        )
    )
    .select_from(_NOTED.outerjoin(LedgerHead, true()))
    .where(or_(func.coalesce(LedgerHead.number, 0) < _NOTED.c.number, _NOTED.c.head != _HASH)),
)
PROBLEMS = ProblemSource(
    (
        ProblemKind(
            BROKEN,
            "Ledger broken",
            Severity.CRITICAL,
            "admin.audit",
            "Compare the ledger with a backup and with the heads in the log, then verify again.",
            _page,
            remedy=Remedy("Verify again", "admin.jobs", _verify_again),
            platform_only=True,
        ),
        ProblemKind(
            SHRUNK,
            "Ledger lost rows",
            Severity.CRITICAL,
            "admin.audit",
            "Find out which backup was restored, or who removed rows.",
            _page,
            detect_shrunk,
            platform_only=True,
            can_be_dismissed=True,
        ),
    ),
    (_LOST,),
)
