"""Jobs that failed with their last attempt. One problem for all failures of the same work, until it succeeds or its rows are removed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, and_, case, cast, exists, func, or_, select
from sqlalchemy.orm import aliased

from app import jobs
from app.accounts.models import Job
from app.db.session import Database
from app.jobs import KINDS
from app.problems import counting, looking
from app.problems.findings import Fact, Finding, Severity
from app.problems.kinds import WORKSPACE, FactSelect, ProblemKind, Remedy, RemedyAsked, fact_columns
from app.problems.models import Problem

KIND_OF_IMPORT, KIND_OF_OTHERS = "import_failed", "job_failed"
BOTH = frozenset({KIND_OF_IMPORT, KIND_OF_OTHERS})
SUBJECT = "job"


async def look_after_failure(database: Database, workspace: str) -> None:
    """A job failed with its last attempt."""
    async with database.transaction(workspace) as db:
        await looking.look(db, BOTH)


async def look_after_success(database: Database, workspace: str) -> None:
    """One small statement where no job has a problem."""
    async with database.transaction(workspace) as db:
        if await counting.open_here(db, BOTH):
            await looking.look(db, BOTH)


def detect(fact: Fact, _: datetime) -> Finding | None:
    name = fact.facts["name"]
    label = KINDS[name].label if name in KINDS else name
    reason = fact.facts["error"] or "It did not say why."
    return fact.found(f"The job “{label}” failed", f"{reason} Retry it, or open the job to see more.")


def _url(_: str, facts: Mapping[str, Any]) -> str:
    return f"/admin/jobs/{facts['job']}"


async def _retry(asked: RemedyAsked) -> None:
    for facts in asked.facts:
        await jobs.retry(asked.db, asked.actor, facts["job"])


RETRY = Remedy("Retry", "admin.jobs", _retry, many=True)
FAILED_KINDS = (
    ProblemKind(
        KIND_OF_IMPORT,
        "Import failed",
        Severity.WARNING,
        "admin.jobs",
        "Retry the import. Punches wait until it works, and none is lost.",
        _url,
        detect,
        RETRY,
        can_be_dismissed=True,
    ),
    ProblemKind(
        KIND_OF_OTHERS,
        "Job failed",
        Severity.WARNING,
        "admin.jobs",
        "Read what the job said, mend the cause, then retry it.",
        _url,
        detect,
        RETRY,
        can_be_dismissed=True,
    ),
)


def _same_work(key: Any) -> ColumnElement[str]:
    """A job that waits behind another one of its kind is the same work (app.jobs.request_after)."""
    return func.regexp_replace(key, ":next$", "")


def _unsettled() -> ColumnElement[bool]:
    """Failed; or tried again by a person, without success so far: then the problem that there is stays open."""
    tried_again = and_(
        Job.status.in_(["queued", "running"]),
        Job.error.is_not(None),
        exists().where(
            Problem.closed_at.is_(None),
            Problem.kind.in_(sorted(BOTH)),
            Problem.subject_id == _same_work(Job.key),
        ),
    )
    return or_(Job.status == "failed", tried_again)


def _works_again() -> ColumnElement[bool]:
    later = aliased(Job)
    return exists().where(
        later.workspace == Job.workspace,
        later.name == Job.name,
        later.id > Job.id,
        later.status == "done",
        _same_work(later.key) == _same_work(Job.key),
    )


_TOLD = {name: kind.problem for name, kind in KINDS.items() if kind.problem}
_FAILED = (
    select(Job.id, Job.name, _same_work(Job.key).label("work"), Job.error, Job.finished_at)
    .where(Job.workspace == WORKSPACE, Job.name.in_(sorted(_TOLD)), _unsettled(), ~_works_again())
    .subquery("failed")
)
_NEWEST = (
    select(
        _FAILED,
        func.min(_FAILED.c.finished_at).over(partition_by=_FAILED.c.work).label("since"),
        func.row_number().over(partition_by=_FAILED.c.work, order_by=_FAILED.c.id.desc()).label("place"),
    )
).subquery("newest")
FAILED = FactSelect(
    BOTH,
    select(
        *fact_columns(
            case(*((_NEWEST.c.name == name, told) for name, told in _TOLD.items()), else_=KIND_OF_OTHERS),
            SUBJECT,
            _NEWEST.c.work,
            since=_NEWEST.c.since,
            evidence=cast(_NEWEST.c.id, BigInteger),
            facts=func.jsonb_build_object("job", _NEWEST.c.id, "name", _NEWEST.c.name, "error", _NEWEST.c.error),
        )
    ).where(_NEWEST.c.place == 1),
)
