"""`/clock_organization`: departments, positions, areas and locations as trees with head counts; remarks."""

from functools import partial
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Subquery

from app.clock.mirror import organization
from app.clock.mirror.organization import LONGEST_REMARKS, UNITS
from app.db.searching import contains
from app.errors import NotFound
from app.web import edits, exports, lists
from app.web.context import Context
from app.web.fields import Text
from app.web.forms import Form
from app.web.guards import Requires
from app.web.list_spec import Column, Empty, Filter, ListSpec
from app.web.pages import done, page

URL = "/clock_organization"
LABELS = {"departments": "Departments", "positions": "Positions", "areas": "Areas", "locations": "Locations"}
FORM = Form(Text("remarks", "Remarks", longest=LONGEST_REMARKS))
SEES = Requires("clock.organization", module="clock")
ACTS = Requires("clock.organization.edit", module="clock")


@get(URL, guards=[SEES])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _show(ctx, "departments")


@get(URL + "/{kind:str}", guards=[SEES])
async def units(ctx: NamedDependency[Context], kind: FromPath[str]) -> Response[Any]:
    return await _show(ctx, _kind(kind))


async def _show(ctx: Context, kind: str) -> Response[Any]:
    tree = organization.units(kind)
    spec, base = spec_of(kind, tree), organization.listed(kind, tree)
    if asked := exports.asked_for(ctx):
        return await exports.export(ctx, spec, base, asked)
    view = await lists.load(ctx, spec, base)
    return await page(
        ctx,
        "clock/organization.html",
        fragment="list",
        view=view,
        kind=kind,
        tabs=[
            {"label": label, "url": f"{URL}/{one}", "active": one == kind, "count": None}
            for one, label in LABELS.items()
        ],
        nested=view.sort == "tree" and not view.chips,
        may_act=ctx.may("clock.organization.edit"),
        sealed=partial(edits.sealed, ctx),
    )


@post(URL + "/{kind:str}/{unit_id:int}/remarks", guards=[ACTS], status_code=200)
async def remarks(ctx: NamedDependency[Context], kind: FromPath[str], unit_id: FromPath[int]) -> Response[Any]:
    unit = await organization.held(ctx.db, _kind(kind), unit_id)
    form = await edits.sent(ctx, FORM, {"remarks": unit.remarks}, about=(kind, unit.code))
    if not form.ok:
        return await edits.ask_again(ctx, form, f"Remarks on {unit.name or unit.code}", cancel_url=f"{URL}/{kind}")
    changed = await organization.set_remarks(ctx.db, ctx.actor, kind, unit_id, form["remarks"])
    said = "The remarks were saved." if changed else "The remarks are what they were."
    return await done(ctx, f"{URL}/{kind}", said, level="success" if changed else "info")


def spec_of(kind: str, tree: Subquery) -> ListSpec:
    people = (
        Column("people", "People", lambda row: row.people, numeric=True, hint="Present people of this unit itself"),
        Column("people_below", "With all below", lambda row: row.people_below, numeric=True),
    )
    parent = (
        Column("parent", "Parent", lambda row: row.parent_code, tree.c.parent_code, hint="The unit that it is part of"),
        Column("parent_name", "Parent's name", lambda row: row.parent_name, shown=False),
    )
    terminals = Column("terminals", "Terminals", lambda row: row.terminals, numeric=True)
    return ListSpec(
        name=f"clock_{kind}",
        label=LABELS[kind].lower(),
        url=f"{URL}/{kind}",
        key=tree.c.id,
        sort="tree",
        columns=(
            Column("tree", LABELS[kind][:-1], lambda row: row.name, tree.c.path),
            Column("code", "Code", lambda row: row.code, tree.c.code),
            *(parent if kind != "locations" else ()),
            *(people if kind != "locations" else ()),
            *((terminals,) if kind == "areas" else ()),
            Column("remarks", "Remarks", lambda row: row.remarks),
            Column("absent_since", "Absent since", lambda row: row.absent_since, tree.c.absent_since, shown=False),
        ),
        filters=(
            Filter("q", "Search", contains(tree.c.name, tree.c.code, tree.c.remarks), placeholder="Name or code"),
        ),
        empty=Empty(
            "sitemap",
            f"No {LABELS[kind].lower()} yet",
            "A sync reads them from the time clock; not every server has them.",
            "/clock_sync",
            "Open the Sync Center",
        ),
    )


def _kind(text: str) -> str:
    if text not in UNITS:
        raise NotFound
    return text


ROUTES = [index, units, remarks]
