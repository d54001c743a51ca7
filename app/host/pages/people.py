"""`/people`: the list of employees, one person, and what can be done to people. Forms and the file: people_forms."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import ColumnElement, Row, Select, and_, case, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.accounts.models import User
from app.counting import count
from app.db.searching import contains
from app.errors import Conflict, NotFound
from app.host.models import AttendanceRecord, Employee, KioskEnrolment
from app.host.pages import person_parts
from app.host.pages.admin.history import history
from app.host.people import people
from app.web import exports, lists
from app.web.bulk import act_on_many, action_of, ask_to, chosen_ids
from app.web.context import Context
from app.web.guards import Requires
from app.web.list_spec import LONGEST_FILTER, BulkAction, Column, Empty, Filter, ListSpec, Query, where_any_of
from app.web.long_acts.bulk import BulkRows, LongBulk, at_length, each
from app.web.pages import done, page
from app.web.site import KnownPerson

STATES = {"active": "Active", "inactive": "Inactive", "deleted": "Deleted"}
STATE = case((Employee.deleted_at.is_not(None), "deleted"), (Employee.active, "active"), else_="inactive")
CODES = (
    select(func.array_agg(KioskEnrolment.code.distinct()))
    .where(KioskEnrolment.employee_id == Employee.id)
    .scalar_subquery()
)
BASE: Select[Any] = (
    select(
        Employee.id,
        Employee.id_number,
        Employee.name,
        Employee.email,
        Employee.department,
        Employee.position,
        Employee.active,
        Employee.user_id,
        Employee.updated_at,
        STATE.label("state"),
        CODES.label("codes"),
        User.name.label("account"),
        User.email.label("account_email"),
    )
    .select_from(Employee)
    .outerjoin(User, User.id == Employee.user_id)
)

SPEC = ListSpec(
    name="people",
    label="people",
    url="/people",
    key=Employee.id,
    sort="name",
    columns=(
        Column("name", "Name", lambda row: row.name, Employee.name),
        Column("id_number", "ID number", lambda row: row.id_number, Employee.id_number_key),
        Column("department", "Department", lambda row: row.department, Employee.department),
        Column("position", "Position", lambda row: row.position, Employee.position),
        Column("email", "E-mail", lambda row: row.email, Employee.email, shown=False),
        Column("codes", "Kiosk codes", lambda row: row.codes or []),
        Column("account", "Account", lambda row: row.account_email, hint="The account that the person signs in with"),
        Column("state", "State", lambda row: row.state, STATE),
    ),
    filters=(
        Filter(
            "q",
            "Search",
            contains(Employee.name, Employee.id_number, Employee.email, Employee.position),
            placeholder="Name, ID number, e-mail",
        ),
        Filter("state", "State", lambda value: value == STATE, kind="select", options=STATES),
        Filter("department", "Department", lambda value: Employee.department == value, kind="select"),
    ),
    empty=Empty(
        "users",
        "No people yet",
        "Add the people whose attendance you keep, one by one or from a file.",
        "/people/import",
        "Import a file",
    ),
    bulk_url="/people/bulk",
    bulk=(
        BulkAction("deactivate", "Deactivate", "user-off", fits=where_any_of("state", ("active",))),
        BulkAction("activate", "Activate", "user-check", fits=where_any_of("state", ("inactive",))),
        BulkAction("delete", "Delete", "trash", danger=True, fits=where_any_of("state", ("active", "inactive"))),
        # Without that filter the list has no deleted people.
        BulkAction("restore", "Restore", "arrow-back-up", fits=lambda values: values.get("state") == "deleted"),
    ),
)


@dataclass(frozen=True, slots=True)
class EmployeeAct:
    """An act on people. `open_to`: the people whom it can change; others of a selection stay as they are."""

    verb: Callable[[AsyncSession, Actor, Iterable[int]], Awaitable[list[int]]]
    open_to: ColumnElement[bool]
    past: str
    consequence: str


ACTS = {
    "deactivate": EmployeeAct(
        people.deactivate,
        and_(Employee.active, Employee.deleted_at.is_(None)),
        "deactivated",
        "Punches of theirs that are not imported yet will say “Employee inactive”, and no more codes are matched to them."
        " Attendance records, links and kiosk codes stay. Activating undoes it.",
    ),
    "activate": EmployeeAct(
        people.activate,
        and_(~Employee.active, Employee.deleted_at.is_(None)),
        "activated",
        "Punches that said “Employee inactive” are judged again, and they can be matched again.",
    ),
    "delete": EmployeeAct(
        people.remove,
        Employee.deleted_at.is_(None),
        "deleted",
        "They leave the lists and their kiosk codes become free. Attendance records stay; punches that are not imported"
        " yet will say “Employee inactive”. Restoring brings the person back, not the codes. To keep somebody who only"
        " left in the lists, deactivate them instead.",
    ),
    "restore": EmployeeAct(
        people.restore,
        Employee.deleted_at.is_not(None),
        "restored",
        "They come back into the lists with their records. Kiosk codes have to be enrolled again.",
    ),
}


def _long(action: str, doing: str) -> LongBulk:
    chosen = ACTS[action]

    async def rows(ctx: Context, query: Query, _: str) -> BulkRows:
        return BulkRows(await _spec(ctx), _base(query).where(chosen.open_to))

    return LongBulk(
        f"people.{action}",
        doing,
        chosen.past,
        ("person", "people"),
        "host.people",
        rows,
        each(chosen.verb),
        names=lambda _: select(Employee.id, Employee.name),
        page="/people",
    )


LONG = {
    "deactivate": _long("deactivate", "Deactivating people"),
    "activate": _long("activate", "Activating people"),
    "delete": _long("delete", "Deleting people"),
    "restore": _long("restore", "Restoring people"),
}


@get("/people", guards=[Requires("host.people")])
async def index(ctx: NamedDependency[Context]) -> Response[Any]:
    spec = await _spec(ctx)
    if kind := exports.asked_for(ctx):
        return await exports.export(ctx, spec, _base(ctx.request.query_params), kind)
    return await page(
        ctx, "host/people.html", fragment="list", view=await lists.load(ctx, spec, _base(ctx.request.query_params))
    )


@post("/people/bulk", guards=[Requires("host.people")], status_code=200)
async def bulk(ctx: NamedDependency[Context]) -> Response[Any]:
    action = await action_of(ctx, ACTS)
    chosen = ACTS[action]

    async def ask_of_many(who: str) -> dict[str, Any]:
        return _question(action, who)

    if answer := await at_length(ctx, LONG[action], "/people", ask_of_many):
        return answer
    ids = await chosen_ids(ctx, await _spec(ctx), _base(ctx.request.query_params).where(chosen.open_to))

    async def ask() -> dict[str, Any]:
        return _question(action, count(len(ids), "person", "people"))

    async def act_on_them() -> str:
        changed = await chosen.verb(ctx.db, ctx.actor, ids)
        return f"{count(len(changed), 'person was', 'people were')} {chosen.past}."

    none = Conflict(f"None of the selected people can be {chosen.past}.")
    return await act_on_many(ctx, len(ids), url="/people", none=none, ask=ask, do=act_on_them)


@get("/people/{employee_id:int}", guards=[Requires("host.people")])
async def show(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    person = await person_of(ctx, employee_id)
    return await page(
        ctx,
        "host/people_show.html",
        fragment="drawer",
        person=person,
        parts=await person_parts.of(ctx, KnownPerson(person.id, person.name, person.user_id)),
        history=await history(ctx, "employee", employee_id),
    )


@get("/people/{employee_id:int}/{action:str}", guards=[Requires("host.people")])
async def ask(ctx: NamedDependency[Context], employee_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    person = await person_of(ctx, employee_id)
    url = f"/people/{employee_id}/{action}"
    return await ask_to(ctx, url=url, cancel_url="/people", **_question(action, person.name))


@post("/people/{employee_id:int}/{action:str}", guards=[Requires("host.people")], status_code=200)
async def act(ctx: NamedDependency[Context], employee_id: FromPath[int], action: FromPath[str]) -> Response[Any]:
    person = await person_of(ctx, employee_id)
    chosen = _act(action)
    if not await chosen.verb(ctx.db, ctx.actor, [employee_id]):
        answer = f"{person.name} was {chosen.past} already."
        return await done(ctx, f"/people/{employee_id}", answer, level="info")
    return await done(ctx, f"/people/{employee_id}", f"{person.name} was {chosen.past}.")


@get("/people/options", guards=[Requires("host.people")])
async def options(ctx: NamedDependency[Context]) -> Response[str]:
    return await answer_options(ctx)


async def answer_options(ctx: Context) -> Response[str]:
    """People as a combobox shows them; `#12` is the value, so that an ID number typed by hand is never taken
    for an id."""
    asked = str(ctx.request.query_params.get("q", ""))[:LONGEST_FILTER].replace("\x00", "")
    found = await ctx.db.execute(
        select(Employee.id, Employee.name, Employee.id_number, Employee.department, Employee.active)
        .where(Employee.deleted_at.is_(None), contains(Employee.name, Employee.id_number)(asked))
        .order_by(Employee.active.desc(), Employee.name, Employee.id)
        .limit(20)
    )
    items = [
        {
            "value": f"#{row.id}",
            "label": row.name,
            "hint": " · ".join(
                part for part in (row.id_number, row.department, "" if row.active else "inactive") if part
            ),
        }
        for row in found
    ]
    return await page(ctx, "host/people_options.html", fragment="options", items=items)


async def person_of(ctx: Context, employee_id: int) -> Row[Any]:
    """One person, deleted ones too. Raises NotFound."""
    records = (
        select(func.count())
        .where(AttendanceRecord.employee_id == Employee.id, AttendanceRecord.deleted_at.is_(None))
        .scalar_subquery()
    )
    row = (
        await ctx.db.execute(BASE.add_columns(records.label("records")).where(Employee.id == employee_id))
    ).one_or_none()
    if row is None:
        raise NotFound
    return row


def _question(action: str, who: str) -> dict[str, Any]:
    consequence, danger = _act(action).consequence, action == "delete"
    return {"verb": action.capitalize(), "what": who, "consequence": consequence, "danger": danger}


def _act(word: str) -> EmployeeAct:
    if word not in ACTS:
        raise NotFound
    return ACTS[word]


def _base(query: Query) -> Select[Any]:
    """Deleted people show only when the address asks for them."""
    asks = query.get("state") == "deleted"
    return BASE.where(true() if asks else Employee.deleted_at.is_(None))


async def _spec(ctx: Context) -> ListSpec:
    names = select(Employee.department).where(Employee.department.is_not(None)).distinct().order_by(Employee.department)
    departments = [name for name in await ctx.db.scalars(names) if name]
    return SPEC.offering(department={name: name for name in departments})


ROUTES = [index, bulk, options, show, ask, act]
