"""`/kiosk`: which code belongs to whom."""

from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from sqlalchemy import select

from app.counting import count
from app.db.searching import contains
from app.errors import Conflict, Invalid, NotFound
from app.host.models import Employee, KioskEnrolment
from app.host.pages.picking import name_picked, pick
from app.host.people import kiosk
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, chosen_ids
from app.web.context import Context
from app.web.fields import Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import BulkAction, Column, Empty, Filter, ListSpec, Query
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length, each
from app.web.pages import done, page

_COLUMNS: tuple[Any, ...] = (
    KioskEnrolment.id,
    KioskEnrolment.code,
    KioskEnrolment.created_at,
    Employee.id.label("employee_id"),
    Employee.name,
    Employee.id_number,
    Employee.department,
    Employee.active,
)
BASE = select(*_COLUMNS).select_from(KioskEnrolment).join(Employee, Employee.id == KioskEnrolment.employee_id)
SPEC = ListSpec(
    name="kiosk",
    label="kiosk codes",
    url="/kiosk",
    key=KioskEnrolment.id,
    sort="code",
    columns=(
        Column("code", "Code", lambda row: row.code, KioskEnrolment.code),
        Column("name", "Person", lambda row: row.name, Employee.name),
        Column("id_number", "ID number", lambda row: row.id_number, Employee.id_number_key),
        Column("department", "Department", lambda row: row.department, Employee.department),
        Column("created_at", "Enrolled", lambda row: row.created_at, KioskEnrolment.created_at),
    ),
    filters=(
        Filter(
            "q",
            "Search",
            contains(KioskEnrolment.code, Employee.name, Employee.id_number),
            placeholder="Code, name, ID number",
        ),
    ),
    empty=Empty(
        "id",
        "No code is enrolled",
        "Enrol a code to say whose punches it makes. The time clock need not know it yet.",
        "/kiosk/enrol",
        "Enrol a code",
    ),
    bulk_url="/kiosk/bulk",
    bulk=(BulkAction("remove", "Remove", "trash", danger=True),),
)
WHAT_REMOVING_DOES = (
    "Codes that were matched by the kiosk are matched again, by ID number or name. Bindings that a person confirmed stay, and so"
    " do attendance records. To undo it, enrol the code again."
)
FORM = Form(
    Text("code", "Code", required=True, longest=kiosk.LONGEST, help="Exactly as the terminal sends it; 007 is not 7."),
    Text("employee", "Person", required=True),
)


async def _rows(_: Context, __: Query, ___: str) -> BulkRows:
    return BulkRows(SPEC, BASE)


LONG = {
    "remove": LongBulk(
        "kiosk.remove",
        "Removing kiosk codes",
        "removed",
        ("kiosk code", "kiosk codes"),
        "host.people",
        _rows,
        each(kiosk.remove),
    )
}


@get("/kiosk", guards=[Requires("host.people")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, SPEC, BASE, kind)
    view = await lists.load(ctx, SPEC, BASE)
    return await page(ctx, "host/kiosk.html", fragment="list", view=view)


@get("/kiosk/enrol", guards=[Requires("host.people")])
async def enrol_form(ctx: NamedDependency[Context]) -> Response[Any]:
    employee = ctx.request.query_params.get("employee")
    return await _form(ctx, FORM.fill({"employee": employee}))


@post("/kiosk/enrol", guards=[Requires("host.people")], status_code=200)
async def enrol(ctx: NamedDependency[Context]) -> Response[Any]:
    form = FORM.read(await ctx.form())
    if not form.ok:
        return await _form(ctx, form, status=422)
    try:
        person = await pick(ctx.db, form["employee"])
    except (NotFound, Conflict) as refused:
        form.refuse("employee", refused.message)
        return await _form(ctx, form, status=422)
    try:
        await kiosk.enrol(ctx.db, ctx.actor, form["code"], person.id)
    except (Conflict, Invalid) as refused:
        form.refuse("code", refused.message)
        return await _form(ctx, form, status=422)
    return await done(ctx, "/kiosk", f"The code {form['code']} belongs to {person.name} now.")


@post("/kiosk/bulk", guards=[Requires("host.people")], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    await action_of(ctx, ("remove",))

    async def ask_of_many(codes: str) -> dict[str, Any]:
        return {"question": f"Remove {codes}?", "submit": f"Remove {codes}", "consequence": WHAT_REMOVING_DOES}

    if answer := await at_length(ctx, LONG["remove"], "/kiosk", ask_of_many):
        return answer
    ids = await chosen_ids(ctx, SPEC, BASE)

    async def ask() -> dict[str, Any]:
        return {
            "question": f"Remove {count(len(ids), 'kiosk code', 'kiosk codes')}?",
            "consequence": WHAT_REMOVING_DOES,
            "submit": f"Remove {count(len(ids), 'code', 'codes')}",
        }

    async def remove() -> str:
        codes = await kiosk.remove(ctx.db, ctx.actor, ids)
        return f"{count(len(codes), 'code is', 'codes are')} free now."

    none = Conflict("These codes were removed already.")
    return await act_on_many(ctx, len(ids), url="/kiosk", none=none, ask=ask, do=remove)


async def _form(ctx: Context, form: Bound, *, status: int = 200) -> Response[str]:
    chosen = await name_picked(ctx.db, form.shown["employee"])
    return await page(ctx, "host/kiosk_enrol.html", fragment="drawer", status=status, form=form, chosen=chosen)


ROUTES = [index, enrol_form, enrol, bulk]
