"""`/admin/audit`: who did what, when, with before and after. Rows are only ever added (app.host.audit)."""

from dataclasses import replace
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Select, and_, or_, select, true

from app.db.days import on_days
from app.errors import NotFound
from app.host import zone
from app.host.shared import AuditEntry
from app.web import exports, lists
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec, contains
from app.web.pages import page

MAY = Requires("admin.audit")
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


def _begins_with(text: str) -> ColumnElement[bool]:
    return AuditEntry.act.istartswith(text, autoescape=True)


def _about(text: str) -> ColumnElement[bool]:
    """`user`, or `user 12`."""
    kind, _, number = text.partition(" ")
    if number.strip():
        return and_(AuditEntry.subject_type == kind.lower(), AuditEntry.subject_id == number.strip())
    return or_(AuditEntry.subject_type == kind.lower(), AuditEntry.subject_id == kind)


SPEC = ListSpec(
    name="audit",
    label="entries",
    url="/admin/audit",
    key=AuditEntry.id,
    sort="-at",
    columns=(
        Column("at", "When", lambda row: row.at, AuditEntry.id),
        Column("actor", "Who", lambda row: row.actor_name),
        Column("act", "Act", lambda row: row.act),
        Column("subject", "On", lambda row: f"{row.subject_type} {row.subject_id}"),
        Column("changes", "What changed", lambda row: changes_of(row.before, row.after)),
        Column("ip", "From", lambda row: row.ip, shown=False, hint="Address of whoever acted"),
        Column("request", "Request", lambda row: row.request_id, shown=False),
    ),
    filters=(
        Filter("actor", "Who", contains(AuditEntry.actor_name), placeholder="Who"),
        Filter("act", "Act", _begins_with, placeholder="Act, such as user.edit"),
        Filter("subject", "On", _about, placeholder="On, such as user 12"),
        Filter("", "Day", lambda _: true(), kind="range"),
    ),
    empty=Empty("history", "Nothing was done yet", "Every act of a person or of the system appears here."),
)


@get("/admin/audit", guards=[MAY])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    name = await zone.name(ctx.db)
    spec, base = _in_zone(ZoneInfo(name)), BASE.where(AuditEntry.workspace == ctx.workspace)
    if kind := exports.asked_for(ctx):
        return exports.export(ctx, spec, base, kind)
    view = await lists.load(ctx, spec, base)
    changes = {row.id: changes_of(row.before, row.after) for row in view.rows}
    return await page(ctx, "host/admin/audit.html", fragment="list", view=view, zone=name, changes=changes)


@get("/admin/audit/{entry_id:int}", guards=[MAY])
async def show(ctx: NamedDependency[Context], entry_id: FromPath[int]) -> Response[Any]:
    here = BASE.where(AuditEntry.id == entry_id, AuditEntry.workspace == ctx.workspace)
    entry = (await ctx.db.execute(here)).one_or_none()
    if entry is None:
        raise NotFound("There is no such entry.")
    rows = differences(entry.before, entry.after)
    return await page(
        ctx, "host/admin/audit_entry.html", fragment="drawer", entry=entry, rows=rows, zone=await zone.name(ctx.db)
    )


def differences(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> list[tuple[str, str | None, str | None]]:
    """(field, before, after) as ui.diff draws them; None where the act had no such side."""
    was, is_now = before or {}, after or {}
    names = [*was, *(name for name in is_now if name not in was)]
    return [(_words(name), _side(was, name), _side(is_now, name)) for name in names]


def changes_of(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    """The names of what changed, for a row: `name, roles`."""
    return ", ".join(name for name, _, _ in differences(before, after))


def _side(side: dict[str, Any], name: str) -> str | None:
    return _shown(side[name]) if name in side else None


def _shown(value: Any) -> str:
    if value is None or value in ("", []):
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{_words(str(key))}: {_shown(one)}" for key, one in value.items())
    return str(value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _in_zone(here: ZoneInfo) -> ListSpec:
    """The day filter means days of the workspace's zone, both ends included."""

    def within(days: tuple[date | None, date | None]) -> ColumnElement[bool]:
        return on_days(AuditEntry.at, days, here)

    return replace(
        SPEC, filters=tuple(replace(one, where=within) if one.kind == "range" else one for one in SPEC.filters)
    )


ROUTES = [index, show]
