"""What the audit calls the fields of people, attendance, apps, accounts and tenants: as their pages do."""

from app.accounts import policies
from app.accounts.tenants import CEILINGS
from app.host.applications import application_words
from app.host.attendance.hours import KINDS
from app.host.pages.apps_forms import FORM as APP
from app.host.pages.attendance_list import STATUSES
from app.host.people.people import LABELS
from app.registry import AuditedField, PolicySwitch, modules
from app.web.fields import options
from app.webhooks.kinds import TYPES

ON_OR_OFF = {True: "on", False: "off"}


def _policy(one: PolicySwitch) -> AuditedField:
    """*on* and *off* are for switches alone: to Python, the number 1 is True."""
    one_of_it = {1: f"1 {one.unit.removesuffix('s')}"}
    return AuditedField(one.label, ON_OR_OFF if isinstance(one.default, bool) else one_of_it, one.unit)


_MAY = {one.name: one.label for module in modules() for group in module.permissions for one in group.permissions}
FIELDS = {
    **{name: AuditedField(label) for name, label in LABELS.items()},
    **{f"policy.{one.name}": _policy(one) for one in policies.POLICIES},
    "active": AuditedField("Active"),
    **{name: AuditedField(one.label) for name, one in APP.fields.items()},
    "application.platforms": AuditedField("Platforms", application_words.PLATFORMS),
    "application.status": AuditedField("Status", application_words.STATUSES),
    "api_tokens": AuditedField("With API tokens"),
    "attendance.kind": AuditedField("Kind", options(KINDS)),
    "attendance.status": AuditedField("Status", STATUSES),
    "assigned_to": AuditedField("Assigned to", id_of="user"),
    "breaks": AuditedField("Breaks"),
    "expected_hours": AuditedField("Expected every", unit="hours"),
    "ceiling": AuditedField("What its survey authors may do", CEILINGS),
    "clock_in": AuditedField("Clock-in"),
    "clock_out": AuditedField("Clock-out"),
    "code": AuditedField("Code"),
    "codes_left": AuditedField("Recovery codes left"),
    "days": AuditedField("Days"),
    "days.state": AuditedField("State"),
    "deleted": AuditedField("Deleted"),
    "employee_id": AuditedField("Person", id_of="employee"),
    "expires_at": AuditedField("Expires"),
    "job.name": AuditedField("Work"),
    "kiosk_codes": AuditedField("Kiosk codes"),
    "label": AuditedField("Name"),
    "list": AuditedField("List"),
    "note": AuditedField("Note"),
    "owner": AuditedField("Owner"),
    "passkey": AuditedField("Passkey"),
    "passkeys": AuditedField("Passkeys"),
    "permissions": AuditedField("Permissions", _MAY),
    "problem": AuditedField("Problem"),
    "query": AuditedField("Filters and columns"),
    "roles": AuditedField("Roles"),
    "rows": AuditedField("Rows"),
    "tenant.answers": AuditedField("Answers"),
    "tenant.ledger_head": AuditedField("Head of its ledger"),
    "tenant.ledger_rows": AuditedField("Rows of its ledger"),
    "tenant.people": AuditedField("People"),
    "tenant.punches": AuditedField("Punches"),
    "tenant.records": AuditedField("Attendance records"),
    "tenant.users": AuditedField("Users"),
    "scopes": AuditedField("Scopes"),
    "sessions_ended": AuditedField("Sessions ended"),
    "sha256": AuditedField("SHA-256 of the file"),
    "shared": AuditedField("Shared"),
    "snoozed_until": AuditedField("Put off until"),
    "type": AuditedField("Type"),
    "user_id": AuditedField("Account", id_of="user"),
    "types": AuditedField("Events", {one.name: one.label for one in TYPES.values()}),
    "reason": AuditedField("Reason"),
    "url": AuditedField("Address"),
    "workday": AuditedField("Workday"),
}
