"""`/admin/audit`: who did what, when, with before and after. Rows are only ever added (app.accounts.audit)."""

from typing import Any

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.accounts.audit_words import act_label, changes_of, subject_page
from app.accounts.models import AuditEntry
from app.errors import NotFound
from app.host import erased_names
from app.host.pages.admin.audit_list import keys, on_what, rows, spec, who
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.pages import page

MAY = Requires("admin.audit")
WORDS: dict[str, Any] = {
    "act_label": act_label, "changes_of": changes_of, "on_what": on_what, "subject_page": subject_page, "who": who,
}  # fmt: skip


@get("/admin/audit", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    here, base = spec(ctx.workspace, (await ctx.zone()).info, ctx.request.query_params), rows(ctx.workspace)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, here, base, kind)
    view = await lists.load(ctx, here, base, keys(ctx.workspace))
    return await page(ctx, "host/admin/audit.html", fragment="list", view=view, **WORDS)


@get("/admin/audit/{entry_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], entry_id: FromPath[int]) -> Response[Any]:
    entry = (await ctx.db.execute(rows(ctx.workspace).where(AuditEntry.id == entry_id))).one_or_none()
    if entry is None:
        raise NotFound("There is no such entry.")
    act = (entry.subject_type, entry.before, entry.after)
    [changes] = await erased_names.differences_of(ctx.db, [act], await ctx.zone())
    return await page(ctx, "host/admin/audit_entry.html", fragment="drawer", entry=entry, rows=changes, **WORDS)


ROUTES = [index, show]
