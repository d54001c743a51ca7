"""`/admin/jobs`: background work of this workspace and the workers that do it. What jobs there are: app.jobs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Select, func, select

from app import jobs
from app.accounts.housekeeping import WORKERS_KEPT
from app.accounts.models import Job, WorkerHeartbeat
from app.counting import count
from app.errors import Conflict, NotFound
from app.host.pages import acts
from app.long_acts.acts import ItemOutcome
from app.long_acts.over_lists import SliceOutcome
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, chosen_ids
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query, where_any_of
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length
from app.web.pages import done, page

MAY = Requires("admin.jobs")
STATES = {"queued": "Queued", "running": "Running", "failed": "Failed", "done": "Done"}
KINDS = {name: kind.label for name, kind in jobs.KINDS.items()}
SAME_WORK = "the same work is queued or running already"


def _seconds(row: Any) -> float | None:
    ended = row.finished_at is not None and row.started_at is not None
    return (row.finished_at - row.started_at).total_seconds() if ended else None


_COUNTED = (Job.attempt - Job.uncounted).label("counted")
BASE: Select[Any] = select(
    Job.id,
    Job.name,
    Job.key,
    Job.status,
    _COUNTED,
    Job.uncounted,
    Job.arguments,
    Job.created_at,
    Job.due_at,
    Job.started_at,
    Job.heartbeat_at,
    Job.finished_at,
    Job.error,
)
SPEC = ListSpec(
    name="jobs",
    label="jobs",
    url="/admin/jobs",
    key=Job.id,
    sort="-created_at",
    columns=(
        Column("name", "Work", lambda row: KINDS.get(row.name, row.name)),
        Column("status", "State", lambda row: row.status, Job.status),
        Column("attempt", "Attempts", lambda row: row.counted, _COUNTED, numeric=True),
        Column("due_at", "Due", lambda row: row.due_at, Job.due_at),
        Column("started_at", "Started", lambda row: row.started_at, Job.started_at),
        Column("took", "Took", _seconds, hint="From the latest start to the end"),
        Column("error", "Last error", lambda row: row.error),
        Column("created_at", "Asked for", lambda row: row.created_at, Job.id, shown=False),
        Column("actions", "", lambda _: None),
    ),
    filters=(
        Filter("status", "State", lambda value: Job.status == value, kind="select", options=STATES),
        Filter("name", "Work", lambda value: Job.name == value, kind="select", options=KINDS),
    ),
    empty=Empty("inbox", "No jobs", "Syncs, imports and other work in the background appear here."),
    sorts_many=("created_at",),
    bulk_url="/admin/jobs/bulk",
    bulk=(BulkAction("retry", "Retry", "refresh", fits=where_any_of("status", ("failed",))),),
)


@get("/admin/jobs", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    base = _base(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, base, kind)
    view = await lists.load(ctx, SPEC, base)
    now = datetime.now(UTC)
    values: dict[str, Any] = {
        "states": STATES,
        "kinds": KINDS,
        "now": now,
        "workers": await _workers(ctx, now),
        "workers_kept_h": WORKERS_KEPT // timedelta(hours=1),
        "acts": await acts.told(ctx, {act_id for row in view.rows if (act_id := row.arguments.get("act_id"))}),
    }
    return await page(ctx, "host/admin/jobs.html", fragment="list", view=view, **values)


@get("/admin/jobs/{job_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], job_id: FromPath[int]) -> Response[Any]:
    job = (await ctx.db.execute(_base(ctx).where(Job.id == job_id))).one_or_none()
    if job is None:
        raise NotFound("There is no such job.")
    kind = jobs.KINDS.get(job.name)
    act_id = job.arguments.get("act_id")
    values: dict[str, Any] = {
        "kind": kind,
        "states": STATES,
        "now": datetime.now(UTC),
        "act": (await acts.told(ctx, {act_id} if act_id else ())).get(act_id),
    }
    return await page(ctx, "host/admin/job.html", fragment="drawer", job=job, **values)


@post("/admin/jobs/{job_id:int}/retry", guards=[MAY], status_code=200)
async def retry(ctx: NamedDependency[Context], job_id: FromPath[int]) -> Response[Any]:
    await jobs.retry(ctx.db, ctx.actor, job_id)
    return await done(ctx, "/admin/jobs", "The job is queued again and starts as soon as a worker is free.")


async def _rows(ctx: Context, _: Query, __: str) -> BulkRows:
    return BulkRows(SPEC, _base(ctx).where(Job.status == "failed"))


async def _retry(ctx: Context, ids: Sequence[int], _: Mapping[str, Any]) -> SliceOutcome:
    able = await jobs.retryable(ctx.db, ids)
    for job_id in able:
        await jobs.retry(ctx.db, ctx.actor, job_id)
    return SliceOutcome(len(able), dict.fromkeys(sorted(set(ids) - set(able)), ItemOutcome("same_work")))


LONG = {
    "retry": LongBulk(
        "jobs.retry",
        "Retrying jobs",
        "queued again",
        ("job", "jobs"),
        "admin.jobs",
        _rows,
        _retry,
        left={"same_work": f"left, because {SAME_WORK}"},
        page="/admin/jobs",
        at_once=100,
    )
}


@post("/admin/jobs/bulk", guards=[MAY], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    await action_of(ctx, ("retry",))

    async def ask_of_many(which: str) -> dict[str, Any]:
        consequence = f"Each is queued for one more attempt. A job stays as it is where {SAME_WORK}."
        return {"verb": "Retry", "what": which, "consequence": consequence, "danger": False}

    if answer := await at_length(ctx, LONG["retry"], "/admin/jobs", ask_of_many):
        return answer
    failed = await chosen_ids(ctx, SPEC, _base(ctx).where(Job.status == "failed"))
    able = await jobs.retryable(ctx.db, failed)

    async def ask() -> dict[str, Any]:
        others = len(failed) - len(able)
        stay = count(others, "other failed job stays as it is", "other failed jobs stay as they are")
        consequence = "Each is queued for one more attempt and starts as soon as a worker is free." + (
            f" {stay}: {SAME_WORK}, or is retried with a later one." if others else ""
        )
        return {"verb": "Retry", "what": count(len(able), "job", "jobs"), "consequence": consequence, "danger": False}

    async def retry_them() -> str:
        for job_id in able:
            await jobs.retry(ctx.db, ctx.actor, job_id)
        are = count(len(able), "job is queued again and starts", "jobs are queued again and start")
        return f"{are} as soon as a worker is free."

    none = Conflict(f"None of the selected jobs can be retried: {SAME_WORK if failed else 'none of them failed'}.")
    return await act_on_many(ctx, len(able), url="/admin/jobs", none=none, ask=ask, do=retry_them)


def _base(ctx: Context) -> Select[Any]:
    return BASE.where(Job.workspace == ctx.workspace)


async def _workers(ctx: Context, now: datetime) -> list[dict[str, Any]]:
    """Workers serve all workspaces. Only the platform sees on which machines they run."""
    statement = select(
        WorkerHeartbeat.worker,
        WorkerHeartbeat.host,
        WorkerHeartbeat.pid,
        WorkerHeartbeat.started_at,
        WorkerHeartbeat.seen_at,
    ).where(WorkerHeartbeat.seen_at > func.now() - WORKERS_KEPT)
    rows = (await ctx.db.execute(statement.order_by(WorkerHeartbeat.seen_at.desc()).limit(50))).all()
    return [
        {
            "name": f"{row.host}, process {row.pid}" if ctx.on_platform else f"Worker {number}",
            "alive": now - row.seen_at < jobs.WORKER_SILENT_AFTER,
            "started_at": row.started_at,
            "seen_at": row.seen_at,
        }
        for number, row in enumerate(rows, 1)
    ]


ROUTES = [index, bulk, show, retry]
