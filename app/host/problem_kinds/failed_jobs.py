"""Jobs that failed with their last attempt. One problem for all failures of the same work, until it succeeds or its
rows are removed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, and_, case, exists, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
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
    """One small statement when no job has a problem."""
    async with database.transaction(workspace) as db:
        if await counting.open_here(db, BOTH):
            await looking.look(db, BOTH)


def detect(fact: Fact, _: datetime) -> Finding | None:
    name = fact.facts["name"]
    label = KINDS[name].label if name in KINDS else name
    reason, act = fact.facts["error"] or "It did not say why", fact.facts.get("act")
    # Acts have jobs of the same name, and several may have failed.
    which = f" in act {act}" if act else ""
    return fact.found(
        f"The job “{label}” failed{which}", f"{reason.rstrip('.')}. Retry it, or open the job to see more."
    )


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
        "Read what the job said, fix the cause, then retry it.",
        _url,
        detect,
        RETRY,
        can_be_dismissed=True,
    ),
)


# A literal, not a parameter: otherwise PostgreSQL does not use the indexes on open and on failed jobs.
_IS_OPEN: ColumnElement[bool] = literal_column("jobs.status IN ('queued', 'running')", Boolean)
_HAS_FAILED: ColumnElement[bool] = literal_column("jobs.status = 'failed'", Boolean)


def _same_work(key: Any) -> ColumnElement[str]:
    """A job that waits behind another one of its kind is the same work (app.jobs.request_after)."""
    return func.regexp_replace(key, "(:next)+$", "")


def _unsettled() -> ColumnElement[bool]:
    """Failed, or tried again by a person without success so far: then an existing problem stays open."""
    tried_again = and_(
        _IS_OPEN,
        Job.error.is_not(None),
        exists().where(
            Problem.closed_at.is_(None),
            Problem.kind.in_(sorted(BOTH)),
            Problem.subject_id == _same_work(Job.key),
        ),
    )
    return or_(_HAS_FAILED, tried_again)


_TOLD = {name: kind.problem for name, kind in KINDS.items() if kind.problem}
_WORK = _same_work(Job.key).label("work")
# Only the latest failure of each work: a job that fails for weeks has thousands.
_LATEST = (
    select(Job.id, Job.name, _WORK, Job.error, Job.finished_at, Job.arguments["act_id"].astext.label("act"))
    .where(Job.workspace == WORKSPACE, Job.name.in_(sorted(_TOLD)), _unsettled())
    .ext(distinct_on(Job.name, _WORK))
    .order_by(Job.name, _WORK, Job.id.desc())
    .subquery("latest")
)


def _next_success() -> Any:
    """The id of a later job of the same work that is done. With LIMIT it is looked up for each failure, by the index on
    jobs that are done, and not joined with all of those."""
    later = aliased(Job, name="later")
    return (
        select(later.id)
        .where(
            later.workspace == WORKSPACE,
            later.name == _LATEST.c.name,
            later.id > _LATEST.c.id,
            literal_column("later.status = 'done'", Boolean),
            later.key.in_([_LATEST.c.work, _LATEST.c.work + ":next", _LATEST.c.work + ":next:next"]),
        )
        .limit(1)
        .scalar_subquery()
    )


FAILED = FactSelect(
    BOTH,
    select(
        *fact_columns(
            case(*((_LATEST.c.name == name, told) for name, told in _TOLD.items()), else_=KIND_OF_OTHERS),
            SUBJECT,
            _LATEST.c.work,
            since=_LATEST.c.finished_at,
            evidence=_LATEST.c.id,
            facts=func.jsonb_build_object(
                "job", _LATEST.c.id, "name", _LATEST.c.name, "error", _LATEST.c.error, "act", _LATEST.c.act
            ),
        )
    ).where(_next_success().is_(None)),
)
