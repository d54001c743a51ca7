"""Permissions and the roles that every workspace has from the start (contract: "Permissions")."""

CLOCK_SEES = (
    "clock.dashboard",
    "clock.employees",
    "clock.transactions",
    "clock.devices",
    "clock.organization",
    "clock.sync.view",
    "clock.analytics",
    "clock.logs",
)
CLOCK_ACTS = (
    "clock.employees.edit",
    "clock.transactions.edit",
    "clock.devices.edit",
    "clock.organization.edit",
    "clock.sync.run",
)
HOST_WORK = ("host.people", "host.attendance", "host.attendance.decide", "host.locks")
SURVEYS = ("surveys.view", "surveys.author", "surveys.publish")
ADMINISTRATION = (
    "clock.settings",
    "apps.manage",
    "admin.users",
    "admin.roles",
    "admin.tenants",
    "admin.tokens",
    "admin.policies",
    "admin.audit",
    "admin.jobs",
    "admin.erase",
)
PERMISSIONS = (*CLOCK_SEES, *CLOCK_ACTS, *HOST_WORK, *SURVEYS, *ADMINISTRATION)

BUILT_IN: dict[str, frozenset[str]] = {
    "Administrator": frozenset(PERMISSIONS),
    "Operator": frozenset((*CLOCK_SEES, *CLOCK_ACTS, *HOST_WORK)),
    "Survey author": frozenset(SURVEYS),
    "Viewer": frozenset((*CLOCK_SEES, "host.attendance", "surveys.view")),
}
