"""What the host brings to the portal, accounts and administration included."""

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
        "Problems",
        0,
        (
            Permission(
                "host.problems",
                "See problems",
                "See what a person should do, of the kinds whose page they may open.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "host.problems.edit",
                "Work on problems",
                "Say who does what about a problem, put it off, and dismiss it.",
                (OPERATOR,),
            ),
        ),
    ),
    PermissionGroup(
        "People and attendance",
        2,
        (
            Permission(
                "host.people",
                "Keep people",
                "Add, edit, import and delete employees, and enrol kiosk codes.",
                (OPERATOR,),
            ),
            Permission(
                "host.attendance",
                "See attendance",
                "See the records of all people, by day and by person.",
                (OPERATOR, VIEWER),
            ),
            Permission(
                "host.attendance.decide",
                "Change and decide attendance",
                "Add, edit and delete records, and approve, reject or close them.",
                (OPERATOR,),
            ),
            Permission("host.locks", "Lock days", "Close days against changes, and open them again.", (OPERATOR,)),
        ),
    ),
    PermissionGroup(
        "Surveys and applications",
        3,
        (
            Permission(
                "apps.manage", "Keep the app library", "Add and edit applications, with icon, platforms and state."
            ),
        ),
    ),
    PermissionGroup(
        "Administration",
        4,
        (
            Permission(
                "admin.users",
                "Keep users",
                "Invite, edit, deactivate and unlock accounts, and give roles within one's own rights.",
            ),
            Permission("admin.roles", "Keep roles", "Make and change roles, within one's own rights."),
            Permission(
                "admin.tenants",
                "Keep tenants",
                "Rename tenants, set their ceiling, deactivate them, and make their administrators.",
            ),
            Permission(
                "admin.tokens",
                "Keep API tokens",
                "See and revoke the tokens of all people, and make tokens for others.",
            ),
            Permission("admin.policies", "Set policies", "Switch modules, endpoints and prompts on and off."),
            Permission(
                "admin.backups",
                "Watch backups",
                "Make the address that backups call, and say when the next call is expected, on the platform.",
            ),
            Permission("admin.audit", "Read the audit", "See who did what, with the values before and after."),
            Permission("admin.jobs", "See jobs", "See background work and workers, and retry what failed."),
            Permission(
                "host.webhooks",
                "Keep webhooks",
                "Have other programs told of what changes, and see what was sent to them.",
            ),
            Permission("admin.erase", "Erase a person", "Destroy the key of a person's evidence, for good."),
        ),
    ),
)
ACTS = {
    "app.add": "App added",
    "app.delete": "App deleted",
    "app.edit": "App edited",
    "app.publish": "App published",
    "app.retire": "App retired",
    "attendance.add": "Record added by hand",
    "attendance.decide": "Record decided",
    "attendance.delete": "Record deleted",
    "attendance.edit": "Record edited",
    "attendance.lock": "Days locked",
    "attendance.unlock": "Days unlocked",
    "backups.expect": "Hours between backups changed",
    "backups.make_address": "Address for backups made",
    "backups.remove": "Address for backups removed",
    "employee.activate": "Person activated",
    "employee.add": "Person added",
    "employee.deactivate": "Person deactivated",
    "employee.delete": "Person deleted",
    "employee.edit": "Person edited",
    "employee.import": "Person imported",
    "employee.restore": "Person restored",
    "job.retry": "Job tried again",
    "long_act.stop": "Long act stopped",
    "kiosk.enrol": "Kiosk code enrolled",
    "kiosk.remove": "Kiosk code removed",
    "policy.edit": "Policies changed",
    "problem.assign": "Problem assigned",
    "problem.dismiss": "Problem dismissed",
    "problem.snooze": "Problem put off",
    "role.add": "Role made",
    "role.edit": "Role edited",
    "role.remove": "Role removed",
    "tenant.add_administrator": "Administrator of a tenant made",
    "tenant.make_link": "Link for a tenant's administrator made",
    "tenant.activate": "Tenant activated",
    "tenant.create": "Tenant made",
    "tenant.export": "Tenant exported",
    "tenant.import": "Tenant imported",
    "tenant.deactivate": "Tenant deactivated",
    "tenant.edit": "Tenant edited",
    "tenant.remove": "Tenant removed",
    "tenant.remove_begin": "Removal of a tenant begun",
    "token.create": "API token made",
    "token.revoke": "API token revoked",
    "user.activate": "User activated",
    "user.add_passkey": "Passkey added",
    "user.change_password": "Own password changed",
    "user.create": "User made",
    "user.deactivate": "User deactivated",
    "user.drop_second_factor": "Second factor switched off",
    "user.edit": "User edited",
    "user.enable_second_factor": "Second factor set up",
    "user.make_recovery_codes": "Recovery codes made",
    "user.refuse_passkey": "Passkey refused: a copy of it may exist",
    "user.remove_passkey": "Passkey removed",
    "user.rename_passkey": "Passkey renamed",
    "user.use_recovery_code": "Signed in with a recovery code",
    "user.make_link": "Link for a password made",
    "user.set_password": "Password set",
    "user.sign_out": "User signed out",
    "user.unlock": "User unlocked",
    "user_type.add": "User type added",
    "user_type.remove": "User type removed",
    "user_type.rename": "User type renamed",
    "webhook.activate": "Webhook switched on",
    "webhook.add": "Webhook added",
    "webhook.deactivate": "Webhook switched off",
    "webhook.delete": "Webhook removed",
    "webhook.edit": "Webhook edited",
    "webhook.give_up": "Webhook switched off by Muster",
    "webhook.rotate": "Secret of a webhook rotated",
    "view.remove": "View removed",
    "view.rename": "View renamed",
    "view.save": "View saved",
}
SUBJECTS = {
    "application": Subject("App", "/apps/"),
    "attendance": Subject("Record", "/attendance/", of_person=True),
    "backups": Subject("Backups", "/admin/backups", alone=True, numbered=False),
    "days": Subject("Days", "/attendance/locks", alone=True),
    "employee": Subject("Person", "/people/"),
    "job": Subject("Job", "/admin/jobs/"),
    "long_act": Subject("Act", "/acts/"),
    "policy": Subject("Workspace", "/admin/policies", alone=True),
    "problem": Subject("Problem"),
    "role": Subject("Role", "/admin/roles/"),
    "tenant": Subject("Tenant", "/admin/tenants/"),
    "token": Subject("API token"),
    "user": Subject("User", "/admin/users/"),
    "user_type": Subject("User type", "/admin/users/types/"),
    "saved_view": Subject("View"),
    "webhook": Subject("Webhook", "/webhooks/"),
}
JOBS = {
    "housekeeping": JobKind("Remove expired sessions, links and jobs", timeout=timedelta(minutes=10)),
    "keys_check": JobKind("Try the secret keys", timeout=timedelta(minutes=30)),
    "problems_sweep": JobKind("Look for problems", timeout=timedelta(minutes=5), brief=True, first=True),
    "alerts": JobKind("Tell people of problems", timeout=timedelta(minutes=10), brief=True),
    "send_mail": JobKind("Send mail", timeout=timedelta(minutes=30), brief=True),
    "send_webhooks": JobKind("Send webhooks", timeout=timedelta(minutes=10)),
    "webhooks_tidy": JobKind("Remove old events of webhooks", timeout=timedelta(minutes=30)),
    "long_act": JobKind("Act on all rows of a list", timedelta(hours=6), attempts=10),  # each continues the last one
}


def _audited() -> Mapping[str, AuditedField]:
    from app.host import audited

    return audited.FIELDS


def _site() -> "Site":
    from app.host import api, pages
    from app.host.pages import health, metrics
    from app.web.site import Site

    return Site(
        pages=pages.ROUTES,
        apis=(*health.ROUTES, *metrics.ROUTES, *api.ROUTES, *pages.FROM_OUTSIDE),
        integration=api.ENDPOINTS,
        menu=pages.MENU,
        acts=pages.ACTS,
        long_acts=pages.LONG_ACTS,
    )


def _work() -> ModuleType:
    from app.host import jobs

    return jobs


def _connect() -> None:
    from app.host import events
    from app.problems import events as problem_events

    events.listen(_on_host_event)
    problem_events.listen(_on_problems)


async def _on_host_event(db: "AsyncSession", event: "Event") -> None:
    from app.host import telling

    await telling.on_host_event(db, event)


async def _on_problems(db: "AsyncSession", moved: "ProblemsMoved") -> None:
    from app.alerts import news
    from app.host import telling

    await telling.on_problems(db, moved)
    await news.note(db, moved)


def _problems() -> "ProblemSource":
    from app.host.problem_kinds import host_source

    return host_source.PROBLEMS


LISTS = (
    ListRights("people", "People", "/people", "host.people", "host.people"),
    ListRights("attendance", "Attendance", "/attendance", "host.attendance", "host.attendance.decide"),
    ListRights("kiosk", "Kiosk", "/kiosk", "host.people", "host.people"),
    ListRights("users", "Users", "/admin/users", "admin.users", "admin.users"),
    ListRights("tokens", "Tokens", "/admin/tokens", "admin.tokens", "admin.tokens"),
    ListRights("audit", "Audit", "/admin/audit", "admin.audit"),
    ListRights("jobs", "Jobs", "/admin/jobs", "admin.jobs", "admin.jobs"),
    ListRights("problems", "Problems", "/problems", "host.problems", "host.problems.edit"),
)
MODULE = Module(
    permissions=PERMISSIONS,
    acts=ACTS,
    subjects=SUBJECTS,
    audited=_audited,
    jobs=JOBS,
    lists=LISTS,
    site=_site,
    work=_work,
    problems=_problems,
    connect=_connect,
)
