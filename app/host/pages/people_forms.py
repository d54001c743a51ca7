"""The forms of `/people`: add and edit a person, import a file of people."""

from typing import Any

from litestar import Response, get, post
from litestar.datastructures import UploadFile
from litestar.di import NamedDependency
from litestar.params import FromPath
from sqlalchemy import Row, or_, select

from app.accounts.models import User
from app.counting import count
from app.db.locks import hold
from app.db.searching import contains
from app.errors import Invalid
from app.host.models import Employee
from app.host.pages.people import person_of
from app.host.people import people, people_import
from app.host.people.people import LONGEST, EmployeeDetails
from app.texts import is_keepable, whole
from app.web import edits
from app.web.context import Context
from app.web.fields import Choice, Email, Flag, Text
from app.web.forms import Bound, Form
from app.web.guards import Requires
from app.web.list_spec import LONGEST_FILTER
from app.web.pages import done, page, saved

MOST_SHOWN = 200
MOST_OFFERED = 20
_ACCOUNTS = select(User.id, User.name, User.email)


@get("/people/add", guards=[Requires("host.people")])
async def add_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _edit_page(ctx, (await _form(ctx, None)).fill({"active": True}), None)


@post("/people/add", guards=[Requires("host.people")], status_code=200)
async def add(ctx: NamedDependency[Context]) -> Response[Any]:
    form = (await _form(ctx, None)).read(await ctx.form())
    if form.ok:
        try:
            employee_id = await people.add(ctx.db, ctx.actor, await _details(ctx, form))
        except Invalid as refused:
            form.absorb(refused)
        else:
            return await done(ctx, f"/people/{employee_id}", f"{form['name']} was added.")
    return await _edit_page(ctx, form, None, status=422)


@get("/people/{employee_id:int}/edit", guards=[Requires("host.people")])
async def edit_form(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    person = await person_of(ctx, employee_id)
    return await _edit_page(ctx, edits.opened(ctx, await _form(ctx, person), _stored(person)), person)


@post("/people/{employee_id:int}/edit", guards=[Requires("host.people")], status_code=200)
async def edit(ctx: NamedDependency[Context], employee_id: FromPath[int]) -> Response[Any]:
    await people.hold_numbers(ctx.db)
    await hold(ctx.db, Employee.id == employee_id)
    person = await person_of(ctx, employee_id)
    form = await edits.sent(ctx, await _form(ctx, person), _stored(person), about=("employee", employee_id, "user_id"))
    if form.ok:
        try:
            changed = await people.edit(ctx.db, ctx.actor, employee_id, await _details(ctx, form))
        except Invalid as refused:
            form.absorb(refused)
        else:
            return await saved(ctx, f"/people/{employee_id}", form["name"], changed=changed)
    return await _edit_page(ctx, form, person, status=form.status)


@get("/people/import", guards=[Requires("host.people")])
async def import_form(ctx: NamedDependency[Context]) -> Response[Any]:
    return await _import_page(ctx, None)


@post("/people/import", guards=[Requires("host.people")], status_code=200)
async def import_file(ctx: NamedDependency[Context]) -> Response[Any]:
    upload = (await ctx.form()).get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    try:
        if not data:  # a browser without a choice sends a file without a name
            chosen = isinstance(upload, UploadFile) and upload.filename
            raise Invalid("The file is empty." if chosen else "Choose a file first.")  # noqa: TRY301 - one page shows every refusal
        imported = await people_import.import_csv(ctx.db, ctx.actor, data)
    except Invalid as refused:
        return await _import_page(ctx, refused, status=422)
    parts = (
        count(len(imported.added), "person was added", "people were added"),
        count(len(imported.updated), "was updated", "were updated"),
        count(imported.unchanged, "was as in the file already", "were as in the file already"),
    )
    return await done(ctx, "/people", ", ".join(parts) + ".")


@get("/people/accounts", guards=[Requires("host.people")])
async def accounts(ctx: NamedDependency[Context]) -> Response[Any]:
    """The accounts that the search field *Account* offers."""
    asked = str(ctx.request.query_params.get("q", ""))[:LONGEST_FILTER].replace("\x00", "")
    found = await ctx.db.execute(
        _ACCOUNTS.where(User.workspace == ctx.workspace, contains(User.name, User.email)(asked))
        .order_by(User.name, User.id)
        .limit(MOST_OFFERED)
    )
    items = [{"value": row.id, "label": row.name, "hint": row.email} for row in found]
    return await page(ctx, "host/account_options.html", fragment="options", items=items)


async def _account_options(ctx: Context, person: Row[Any] | None) -> dict[str, str]:
    """Only the accounts that the form may name: the stored one, and the one that was posted, by its number or, typed
    without script, by its e-mail address."""
    posted = str((await ctx.form()).get("user", "")).strip() if ctx.request.method == "POST" else ""
    if not is_keepable(posted):  # the field refuses it
        posted = ""
    wanted = [one for one in (person and person.user_id, whole(posted, 15)) if one]
    meant = or_(User.id.in_(wanted), User.email == posted.lower())
    found = (await ctx.db.execute(_ACCOUNTS.where(User.workspace == ctx.workspace, meant))).all()
    labels = {str(row.id): f"{row.name} ({row.email})" for row in found}
    typed = next((row for row in found if row.email == posted.lower()), None)
    return {**labels, posted: labels[str(typed.id)]} if typed else labels


async def _account_id(ctx: Context, chosen: str | None) -> int | None:
    if not chosen or chosen.isdecimal():
        return int(chosen) if chosen else None
    wanted = select(User.id).where(User.workspace == ctx.workspace, User.email == chosen.lower())
    return await ctx.db.scalar(wanted)


async def _form(ctx: Context, person: Row[Any] | None) -> Form:
    return Form(
        Text("name", "Name", required=True, longest=LONGEST["name"]),
        Text(
            "id_number",
            "ID number",
            required=True,
            longest=LONGEST["id_number"],
            help="Time-clock codes are matched with it. Two people may share one; then neither is matched automatically.",
        ),
        Email("email", "E-mail", longest=LONGEST["email"]),
        Text("department", "Department", longest=LONGEST["department"]),
        Text("position", "Position", longest=LONGEST["position"]),
        Choice(
            "user",
            "Account",
            options=await _account_options(ctx, person),
            help="The account that this person signs in with, if any.",
        ),
        Flag("active", "Active", help="Punches of inactive people are not imported."),
    )


def _stored(person: Row[Any]) -> dict[str, Any]:
    """What the form shows of a person."""
    return {**person._mapping, "user": str(person.user_id) if person.user_id else None}  # noqa: SLF001 - public in SQLAlchemy


async def _details(ctx: Context, form: Bound) -> EmployeeDetails:
    return EmployeeDetails(
        id_number=form["id_number"],
        name=form["name"],
        email=form["email"],
        department=form["department"],
        position=form["position"],
        active=form["active"],
        user_id=await _account_id(ctx, form["user"]),
    )


async def _edit_page(ctx: Context, form: Bound, person: Any, *, status: int = 200) -> Response[str]:
    return await page(ctx, "host/people_edit.html", fragment="drawer", status=status, form=form, person=person)


async def _import_page(ctx: Context, refused: Invalid | None, *, status: int = 200) -> Response[str]:
    bad = list(refused.details) if refused else []
    return await page(
        ctx,
        "host/people_import.html",
        status=status,
        columns=people_import.COLUMNS,
        refused=refused,
        bad=bad[:MOST_SHOWN],
        more=max(0, len(bad) - MOST_SHOWN),
    )


ROUTES = [accounts, add_form, add, edit_form, edit, import_form, import_file]
