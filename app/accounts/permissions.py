"""What each permission means, in words for the person who ticks it. The permissions themselves: app.accounts.roles."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explained:
    permission: str
    label: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Group:
    label: str
    permissions: tuple[Explained, ...]


GROUPS: tuple[Group, ...] = (
    Group(
        "Time clock",
        (
            Explained("clock.dashboard", "See the dashboard", "Connection health, counts and warnings."),
            Explained(
                "clock.employees",
                "See employees and bindings",
                "The people on the clock, and which employee here each one is.",
            ),
            Explained("clock.employees.edit", "Bind employees", "Bind, accept, reject, clear, ignore, write remarks."),
            Explained("clock.transactions", "See punches", "Every punch and what became of it."),
            Explained("clock.transactions.edit", "Retry punches", "Have punches judged and imported again."),
            Explained("clock.devices", "See terminals", "Terminals with their state and counts."),
            Explained("clock.devices.edit", "Set terminals", "Direction, attendance or door reader, remarks."),
            Explained("clock.organization", "See the organisation", "Departments, positions, areas and locations."),
            Explained(
                "clock.organization.edit",
                "Write on the organisation",
                "Remarks on departments, positions, areas and locations.",
            ),
            Explained(
                "clock.sync.view", "See the sync history", "Runs, counts, error codes, and how far each one got."
            ),
            Explained("clock.sync.run", "Run a sync", "Start and stop runs, backfill, confirm disappearances."),
            Explained("clock.analytics", "See analytics", "Punches per day, terminal and department."),
            Explained("clock.logs", "See API logs", "Every call to the clock's server, with redacted excerpts."),
            Explained("clock.settings", "Change the settings", "The connection with its password, and import rules."),
        ),
    ),
    Group(
        "People and attendance",
        (
            Explained("host.people", "Keep people", "Add, edit, import and delete employees; enrol kiosk codes."),
            Explained("host.attendance", "See attendance", "Records of all people, by day and by person."),
            Explained(
                "host.attendance.decide",
                "Change and decide attendance",
                "Add, edit and delete records; approve, reject and close them.",
            ),
            Explained("host.locks", "Lock days", "Close days against changes, and open them again."),
        ),
    ),
    Group(
        "Surveys and applications",
        (
            Explained("surveys.view", "See surveys", "Surveys, responses and figures; ratings on the platform."),
            Explained("surveys.author", "Write surveys", "Create and edit drafts, duplicate, delete drafts."),
            Explained("surveys.publish", "Publish surveys", "Publish, publish anew, archive: people will be asked."),
            Explained("apps.manage", "Keep the app library", "Applications, their icons, platforms and state."),
        ),
    ),
    Group(
        "Administration",
        (
            Explained("admin.users", "Keep users", "Invite, edit, deactivate, unlock; give roles within their own."),
            Explained("admin.roles", "Keep roles", "Make and change roles, within their own rights."),
            Explained("admin.tenants", "Keep tenants", "Rename tenants, set their ceiling, deactivate them."),
            Explained("admin.tokens", "Keep API tokens", "See and revoke everybody's tokens, make them for others."),
            Explained("admin.policies", "Set policies", "Switch modules, endpoints and prompts on and off."),
            Explained("admin.audit", "Read the audit", "Who did what, with before and after."),
            Explained("admin.jobs", "See jobs", "Background work and workers; retry what failed."),
            Explained("admin.erase", "Erase a person", "Destroy the key of a person's evidence, for good."),
        ),
    ),
)
EXPLAINED = {one.permission: one for group in GROUPS for one in group.permissions}


def label_of(permission: str) -> str:
    """What a permission is called on the page Roles. One that an older release gave to a role stands for itself."""
    known = EXPLAINED.get(permission)
    return known.label if known else permission


def needed(permission: str) -> str:
    """The sentence for somebody who lacks it."""
    return (
        f"You need the right “{label_of(permission)}” for this. An administrator of your workspace can give it to you."
    )
