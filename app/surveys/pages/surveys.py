"""`/surveys/list`: every survey of the workspace, how far it got, and what can be done with it.
The acts: acts and bulk_acts."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from sqlalchemy import Row

from app.dates import PageZone
from app.surveys.pages.acts_allowed import allowed, limits
from app.surveys.pages.survey_list import BASE, SurveyListFrame, around, bulk_of, rate_of, spec_of, window_words
from app.surveys.results.overview import stage
from app.surveys.words import ENFORCEMENTS, STATUSES, TYPES
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page


@get("/surveys/list", guards=[Requires("surveys.view", module="surveys")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    found = await around(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec_of(found), BASE, kind)
    view = await lists.load(ctx, spec_of(found, bulk_of(ctx, found)), BASE)
    zone = await ctx.zone()
    view.rows = [_drawn(ctx, found, row, zone) for row in view.rows]
    may_write = ctx.may("surveys.author") and not limits(found.ceiling, "optional")
    if may_write:
        view.empty = replace(view.empty, url="/surveys/start", action="Write the first one")
    return await page(
        ctx,
        "surveys/list.html",
        fragment="list",
        view=view,
        may_write=may_write,
        limits=limits(found.ceiling),
    )


def _drawn(ctx: Context, found: SurveyListFrame, row: Row[Any], zone: PageZone) -> dict[str, Any]:
    """A row as the template shows it."""
    acts = allowed(
        status=row.status,
        enforcement=row.enforcement,
        responses=int(row.responses),
        ceiling=found.ceiling,
        permissions=ctx.user.permissions,
    )
    return {
        **row._asdict(),
        "type": TYPES[row.type],
        "enforcement_label": ENFORCEMENTS[row.enforcement],
        "status_label": STATUSES[row.status],
        "stage": stage(row, datetime.now(UTC)) if row.status == "published" else "",
        "window": window_words(row, zone),
        "types": [found.names.of_types([key]) for key in row.user_types],
        "tenants": [found.names.of_workspaces([key]) for key in row.tenants],
        "rate": rate_of(row),
        "responses": int(row.responses),
        "asked": int(row.asked),
        "acts": acts,
    }


ROUTES = [index]
