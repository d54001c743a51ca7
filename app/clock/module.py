"""What the clock brings to the portal."""

from collections.abc import Mapping
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING

from app.registry import (
    OPERATOR,
    VIEWER,
    AuditedField,
    JobKind,
    ListRights,
    Module,
    Permission,
    PermissionGroup,
    PolicySwitch,
    Subject,
)

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from app.host.events import Event
    from app.problems.events import ProblemsMoved
    from app.problems.kinds import ProblemSource
    from app.web.site import Site

PERMISSIONS = (
    PermissionGroup(
        "Time clock",
        1,
        (
            Permission(
                "clock.dashboard",
                "See the dashboard",
                "See how the connection is doing, how much was synced, and what waits for a person.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.employees",
                "See employees and bindings",
                "See the people on the clock, and which employee each of them is.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.employees.edit",
                "Bind employees",
                "Bind codes to employees, accept or reject matches, ignore codes, and write remarks.",
                (OPERATOR,),
            ),
            Permission(
                "clock.transactions",
                "See punches",
                "See every punch, and what became of it and why.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.transactions.edit",
                "Retry punches",
                "Judge and import punches again, and settle punches that need no record.",
                (OPERATOR,),
            ),
            Permission(
                "clock.devices",
                "See terminals",
                "See the terminals with their state and number of punches.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.devices.edit",
                "Set terminals",
                "Say which direction a terminal has and whether it is a door reader, and write remarks.",
                (OPERATOR,),
            ),
            Permission(
                "clock.organization",
                "See the organization",
                "See departments, positions, areas and locations of the clock.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.organization.edit",
                "Write on the organization",
                "Write remarks on departments, positions, areas and locations.",
                (OPERATOR,),
            ),
            Permission(
                "clock.sync.view",
                "See the sync history",
                "See the runs with their counts and errors, and how far each of them got.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.sync.run",
                "Run a sync",
                "Start and stop runs, read older days, and confirm that people are gone.",
                (OPERATOR,),
            ),
            Permission(
                "clock.analytics", "See analytics", "See punches by day, terminal and department.", (OPERATOR, VIEWER)
            ),
            Permission(
                "clock.logs",
                "See API logs",
                "See every call to the clock's server, with excerpts that hold no secrets.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "clock.settings",
                "Change the settings",
                "Change the connection with its password, and the rules of the import.",
            ),
        ),
    ),
)
ACTS = {
    "binding.accept": "Match accepted",
    "binding.add": "Code added as an employee",
    "binding.bind": "Code bound",
    "binding.clear": "Binding cleared",
    "binding.ignore": "Code ignored",
    "binding.match_again": "Code matched again",
    "binding.reject": "Match rejected",
    "binding.remarks": "Remarks on a clock code written",
    "binding.un_ignore": "Code no longer ignored",
    "clock.backfill": "Backfill asked for",
    "clock.connection.pause": "Syncing paused",
    "clock.connection.resume": "Syncing resumed",
    "clock.connection.save": "Connection saved",
    "clock.connection.test": "Connection tested",
    "clock.connection.unlock": "Connection unlocked",
    "clock.device.direction": "Direction of a terminal set",
    "clock.device.kind": "Kind of a terminal set",
    "clock.device.remarks": "Remarks on a terminal written",
    "clock.disappearance.confirm": "Disappearance confirmed",
    "clock.disappearance.refuse": "Disappearance refused",
    "clock.keep_record": "Record kept as it is",
    "clock.move_record": "Record moved to another person",
    "clock.organisation.remarks": "Remarks on a unit written",
    "clock.retry": "Punches judged again",
    "clock.settings": "Clock settings changed",
    "clock.settle": "Punches settled",
    "clock.start_over": "Mirror started over",
    "clock.sync.accept": "Incomplete days accepted as read",
    "clock.sync.read_again": "Accepted days to be read again",
    "clock.sync.start": "Run started",
    "clock.sync.stop": "Run stopped",
    "clock.take_back": "Record taken back",
    "clock.unsettle": "Punches no longer settled",
    "clock.use_punches": "Record made from its punches",
}
SUBJECTS = {
    "areas": Subject("Area"),
    "clock_binding": Subject("Code", "/clock_employees?code=", of_person=True),
    "clock_connection": Subject("Connection", "/clock_settings", alone=True, numbered=False),
    "clock_employee": Subject("Clock employee", "/clock_employees/", of_person=True),
    "clock_listing": Subject("List"),
    "clock_settings": Subject("Clock settings", "/clock_settings", alone=True, numbered=False),
    "departments": Subject("Department"),
    "locations": Subject("Location"),
    "positions": Subject("Position"),
    "punch": Subject("Punch", "/clock_transactions/"),
    "sync_cursor": Subject("Read again from"),
    "sync_run": Subject("Run", "/clock_sync/runs/"),
    "terminal": Subject("Terminal", "/clock_devices?serial="),
}
JOBS = {
    "clock_import": JobKind("Import punches into attendance", timeout=timedelta(hours=1), problem="import_failed"),
    "clock_match": JobKind("Match clock codes with people", timeout=timedelta(minutes=15)),
    "clock_long_act": JobKind("Act on many records or punches", timeout=timedelta(hours=3)),
    "clock_unnamed_act": JobKind("Act on very many records", timeout=timedelta(hours=3)),
    # The run itself says why it failed.
    "clock_sync": JobKind("Sync with the time clock", timeout=timedelta(hours=3), problem=""),
    "clock_purge": JobKind("Remove old punches, runs and API logs", timeout=timedelta(minutes=30)),
}
POLICIES = (
    PolicySwitch("module_clock", True, "modules", "Time clock", "The nine pages, the sync and the integration API."),
)


def _audited() -> Mapping[str, AuditedField]:
    from app.clock import audited

    return audited.FIELDS


def _site() -> "Site":
    from app.clock import pages
    from app.clock.api.routes import APIS, DOCUMENT, ENDPOINTS
    from app.clock.pages import long_acts, palette
    from app.web.site import Site

    return Site(
        pages=pages.ROUTES,
        apis=APIS,
        documents=(DOCUMENT,),
        integration=ENDPOINTS,
        menu=pages.MENU,
        acts=palette.ACTS,
        long_acts=pages.LONG_ACTS,
        named_acts=long_acts.PAGES,
        palette=(palette.codes, palette.terminals),
        subjects=palette.SUBJECTS,
        behind_records=(palette.punches_behind,),
        of_person=(palette.codes_of_person,),
    )


def _work() -> ModuleType:
    from app.clock import jobs

    return jobs


def _problems() -> "ProblemSource":
    from app.clock.problems.source import SOURCE

    return SOURCE


def _connect() -> None:
    from app.host import events, zone
    from app.problems import events as problem_events

    zone.provide(_zone_name)
    events.listen(_on_host_event)
    problem_events.listen(_on_problems)


async def _zone_name(db: "AsyncSession") -> str:
    from app.clock import zones

    return await zones.zone_name(db)


async def _on_host_event(db: "AsyncSession", event: "Event") -> None:
    from app.clock.bindings import actions
    from app.clock.punches import marks

    await marks.on_host_event(db, event)
    await actions.on_host_event(db, event)


async def _on_problems(db: "AsyncSession", moved: "ProblemsMoved") -> None:
    from app.clock.problems import day_facts

    await day_facts.on_problems(db, moved)


LISTS = (
    ListRights(
        "clock-employees", "Employees & Bindings", "/clock_employees", "clock.employees", "clock.employees.edit"
    ),
    ListRights(
        "transactions",
        "Attendance Transactions",
        "/clock_transactions",
        "clock.transactions",
        "clock.transactions.edit",
    ),
    ListRights("devices", "Devices", "/clock_devices", "clock.devices", "clock.devices.edit"),
    ListRights("clock_logs", "API Logs", "/clock_logs", "clock.logs"),
)
MODULE = Module(
    permissions=PERMISSIONS,
    acts=ACTS,
    subjects=SUBJECTS,
    audited=_audited,
    policies=POLICIES,
    jobs=JOBS,
    lists=LISTS,
    site=_site,
    work=_work,
    connect=_connect,
    problems=_problems,
)
