"""What the clock offers to the host's pages: codes and terminals for the palette, the codes of a person, the punches
behind a record, and what the audit calls codes, and which punches and runs are still there."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.policies import enabled
from app.clock.bindings import queries
from app.clock.codes import BINDING_STATES
from app.clock.models import Binding, ClockEmployee, Device, Punch, SyncRun
from app.db.searching import contains
from app.host.attendance.queries import SourceLink
from app.host.models import Employee
from app.host.subjects import SubjectRows
from app.web.context import Context
from app.web.menu import MenuItem
from app.web.site import MOST_EACH, Found, KnownPerson, PaletteAct, Part

# What the audit asks of the clock's subjects (app.host.subjects.KINDS).
_BOUND_TO = (Employee.user_id, Employee.id.label("employee_id"))
_CODES = (
    select(Binding.emp_code, ClockEmployee.full_name.label("name"), *_BOUND_TO)
    .join(ClockEmployee, ClockEmployee.id == Binding.clock_employee_id)
    .outerjoin(Employee, Employee.id == Binding.host_employee_id)
)
SUBJECTS: dict[str, SubjectRows] = {
    "clock_binding": _CODES,
    "clock_employee": _CODES.with_only_columns(ClockEmployee.id, *list(_CODES.selected_columns)[1:]),
    "punch": select(Punch.id),
    "sync_run": select(SyncRun.id),
}

ACTS = (
    PaletteAct(
        MenuItem("Start a sync", "/clock_sync/start", "player-play", "clock.sync.run", "clock"),
        "Sync Center",
        posts=True,
    ),
)


async def codes(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Clock codes by code or name."""
    if not ctx.may("clock.employees") or not enabled(ctx.policies, "module_clock"):
        return "Clock codes", []
    statement = (
        select(ClockEmployee.id, ClockEmployee.emp_code, ClockEmployee.full_name)
        .where(contains(ClockEmployee.emp_code, ClockEmployee.full_name)(asked))
        .order_by(func.length(ClockEmployee.emp_code), ClockEmployee.emp_code)
        .limit(MOST_EACH)
    )
    return "Clock codes", [
        Found(f"/clock_employees/{row.id}", row.full_name or row.emp_code, row.emp_code, "fingerprint")
        for row in await ctx.db.execute(statement)
    ]


async def terminals(ctx: Context, asked: str) -> tuple[str, list[Found]]:
    """Terminals by serial or alias."""
    if not ctx.may("clock.devices") or not enabled(ctx.policies, "module_clock"):
        return "Terminals", []
    statement = (
        select(Device.id, Device.sn, Device.alias)
        .where(contains(Device.sn, func.coalesce(Device.alias, ""))(asked))
        .order_by(Device.alias, Device.sn)
        .limit(MOST_EACH)
    )
    return "Terminals", [
        Found(f"/clock_devices/{row.id}", row.alias or row.sn, row.sn, "device-desktop")
        for row in await ctx.db.execute(statement)
    ]


async def codes_of_person(ctx: Context, person: KnownPerson) -> Part | None:
    """The codes that are bound to a person; None in a workspace that never met a clock."""
    if not ctx.may("clock.employees") or not enabled(ctx.policies, "module_clock"):
        return None
    found = await queries.codes_of_host(ctx.db, person.employee_id)
    if not found and not await queries.knows_a_code(ctx.db):
        return None
    return Part(
        "Time clock", "clock/person_codes.html", {"codes": found, "name": person.name, "states": BINDING_STATES}
    )


async def punches_behind(db: AsyncSession, record_id: int) -> Sequence[SourceLink]:
    """A link to the first punch of a record, whose drawer shows all of its shift."""
    behind = select(Punch.id, func.count().over()).where(Punch.host_attendance_id == record_id)
    first = (await db.execute(behind.order_by(Punch.punched_at_utc, Punch.id).limit(1))).one_or_none()
    if first is None:
        return []
    punch_id, count = first
    return [SourceLink(f"its {count} punches", f"/clock_transactions/{punch_id}", "clock.transactions")]
