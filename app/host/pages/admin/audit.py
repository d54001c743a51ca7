"""`/admin/audit`: who did what, when, with before and after. Rows are only ever added (app.accounts.audit)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true
from sqlalchemy.dialects.postgresql import distinct_on

from app.accounts.audit_words import (
    act_label,
    acts_named,
    changes_of,
    differences,
    subject_label,
    subject_named,
    subject_page,
)
from app.accounts.models import AuditEntry
from app.db.days import on_days
from app.db.searching import contains
from app.errors import NotFound
from app.host import subjects, zone
from app.periods import today_in
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import page

MAY = Requires("admin.audit")
WORDS: dict[str, Any] = {"act_label": act_label, "subject_label": subject_label, "subject_page": subject_page}
BASE: Select[Any] = select(
    AuditEntry.id,
    AuditEntry.at,
    AuditEntry.actor_name,
    AuditEntry.act,
    AuditEntry.subject_type,
    AuditEntry.subject_id,
    AuditEntry.before,
    AuditEntry.after,
    AuditEntry.ip,
    AuditEntry.request_id,
)


def _act(text: str) -> ColumnElement[bool]:
    """Words of its label, or how its name begins: `user.e`."""
    return or_(AuditEntry.act.in_(acts_named(text)), AuditEntry.act.istartswith(text, autoescape=True))


def _about(text: str) -> ColumnElement[bool]:
    """`user`, `user 12`, as the page says it or as it is kept; or an id alone."""
    kind, subject = subject_named(text)
    if subject:
        return and_(AuditEntry.subject_type == kind, AuditEntry.subject_id == subject)
    return or_(AuditEntry.subject_type == kind, AuditEntry.subject_id == text.strip())


SPEC = ListSpec(
    name="audit",
    label="entries",
    url="/admin/audit",
    key=AuditEntry.id,
    sort="-at",
    columns=(
        Column("at", "When", lambda row: row.at, AuditEntry.id),
        Column("actor", "Who", lambda row: row.actor_name),
        Column("act", "Act", lambda row: act_label(row.act)),
        Column("code", "Code", lambda row: row.act, shown=False, hint="The name of the act that never changes"),
        Column("subject", "On", lambda row: subject_label(row.subject_type, row.subject_id)),
        Column("changes", "What changed", lambda row: changes_of(row.before, row.after)),
        Column("ip", "From", lambda row: row.ip, shown=False, hint="Network address of the person who acted"),
        Column("request", "Request", lambda row: row.request_id, shown=False),
    ),
    filters=(
        Filter("actor", "Who", contains(AuditEntry.actor_name), placeholder="Who"),
        Filter("act", "Act", _act, placeholder="Act, such as edited"),
        Filter("subject", "On", _about, placeholder="On, such as person 12"),
        Filter("", "Day", lambda _: true(), kind="range"),
    ),
    empty=Empty("history", "Nothing was done yet", "Every act of a person or of the system appears here."),
)


@get("/admin/audit", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    name = await zone.name(ctx.db)
    spec, base = _in_zone(ZoneInfo(name)), BASE.where(AuditEntry.workspace == ctx.workspace)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, base, kind)
    view = await lists.load(ctx, spec, base)
    rows = [(row, changes_of(row.before, row.after)) for row in view.rows]
    said = await _said(ctx, view.rows)
    return await page(ctx, "host/admin/audit.html", fragment="list", view=view, zone=name, rows=rows, **said, **WORDS)


@get("/admin/audit/{entry_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], entry_id: FromPath[int]) -> Response[Any]:
    here = BASE.where(AuditEntry.id == entry_id, AuditEntry.workspace == ctx.workspace)
    entry = (await ctx.db.execute(here)).one_or_none()
    if entry is None:
        raise NotFound("There is no such entry.")
    rows, name = differences(entry.before, entry.after), await zone.name(ctx.db)
    said = await _said(ctx, [entry])
    return await page(
        ctx, "host/admin/audit_entry.html", fragment="drawer", entry=entry, rows=rows, zone=name, **said, **WORDS
    )


async def _said(ctx: Context, entries: Sequence[Any]) -> dict[str, Any]:
    """What is known of the subjects today: titles, and which of them no longer have a page."""
    gone = await subjects.gone(ctx.db, {(one.subject_type, one.subject_id) for one in entries})
    return {"titles": await _titles(ctx, entries), "gone": gone}


async def _titles(ctx: Context, entries: Sequence[Any]) -> dict[str, str]:
    """What the surveys that these entries are about were called last, by their uid, as far as the audit itself says."""
    uids = {one.subject_id for one in entries if one.subject_type == "survey"}
    if not uids:
        return {}
    title = func.coalesce(AuditEntry.after["title"].astext, AuditEntry.before["title"].astext)
    named = (
        select(AuditEntry.subject_id, title.label("title"))
        .ext(distinct_on(AuditEntry.subject_id))
        .where(
            AuditEntry.workspace == ctx.workspace,
            AuditEntry.subject_type == "survey",
            AuditEntry.subject_id.in_(uids),
            title.is_not(None),
        )
        .order_by(AuditEntry.subject_id, AuditEntry.id.desc())
    )
    return {row.subject_id: row.title for row in await ctx.db.execute(named)}


def _in_zone(here: ZoneInfo) -> ListSpec:
    """The day filter means days of the workspace's zone, both ends included."""

    def within(days: tuple[date | None, date | None]) -> ColumnElement[bool]:
        return on_days(AuditEntry.at, days, here)

    filters = tuple(replace(one, where=within) if one.kind == "range" else one for one in SPEC.filters)
    return replace(SPEC, filters=filters, today=today_in(here.key))


ROUTES = [index, show]
