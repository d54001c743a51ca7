"""`/clock_sync/runs/<id>`: what one run brought, what it could not read, what the import made of it, and its calls."""

from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import func, select

from app.clock.models import ApiLog, SetAside
from app.clock.pages.sync import center
from app.clock.pages.sync.run_words import COUNTS, RESOURCE_LABELS, described
from app.clock.settings import read_settings
from app.clock.sync import run_rows
from app.web.context import Context
from app.web.pages import page

MOST_CALLS = 100
MOST_ASIDE = 200
CALLS = (
    ApiLog.id, ApiLog.at, ApiLog.method, ApiLog.path, ApiLog.query, ApiLog.http_status, ApiLog.body_code,
    ApiLog.duration_ms, ApiLog.bytes, ApiLog.tc_code,
)  # fmt: skip


@get(f"{center.URL}/runs/{{run_id:int}}", guards=[center.SEES])
async def show(ctx: NamedDependency[Context], run_id: FromPath[int]) -> Response[Any]:
    now = datetime.now(UTC)
    found = await run_rows.get_run(ctx.db, run_id)
    aside = await run_rows.set_aside_of(ctx.db, run_id, MOST_ASIDE)
    newest = select(*CALLS).where(ApiLog.run_id == run_id).order_by(ApiLog.id.desc()).limit(MOST_CALLS)
    calls = (await ctx.db.execute(newest)).all()
    return await page(
        ctx,
        "clock/sync_run.html",
        run=described(found, await read_settings(ctx.db, now), now),
        request=found.request,
        queued_at=found.queued_at,
        findings=found.findings,
        aside=aside,
        aside_total=await _aside_total(ctx, run_id, len(aside)),
        calls=calls,
        counts=COUNTS,
        resource_labels=RESOURCE_LABELS,
        may_see_logs=ctx.may("clock.logs"),
        now=now,
    )


async def _aside_total(ctx: Context, run_id: int, shown: int) -> int:
    if shown < MOST_ASIDE:
        return shown
    return await ctx.db.scalar(select(func.count()).select_from(SetAside).where(SetAside.run_id == run_id)) or 0


ROUTES = [show]
