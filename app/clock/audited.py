"""What the audit calls the fields of the clock: as its pages do."""

from app.clock.codes import BINDING_STATES
from app.clock.mirror import devices
from app.clock.outcomes import OUTCOMES
from app.clock.pages.connecting import FORM
from app.clock.pages.employee_list import METHODS
from app.clock.pages.setting_fields import DIRECTIONS
from app.clock.pages.setting_fields import FORM as SETTINGS
from app.clock.pages.sync.run_words import RESOURCE_LABELS
from app.clock.profiles import PROFILES
from app.registry import AuditedField

_OUTCOMES = {outcome.value: words.label for outcome, words in OUTCOMES.items()}
_VALUES = {"default_direction": DIRECTIONS}
FIELDS = {
    **{
        f"clock_settings.{name}": AuditedField(one.label, _VALUES.get(name, {}), getattr(one, "unit", ""))
        for name, one in SETTINGS.fields.items()
    },
    **{f"clock_connection.{name}": AuditedField(one.label) for name, one in FORM.fields.items()},
    "clock_connection.profile": AuditedField("Kind of server", {name: one.title for name, one in PROFILES.items()}),
    "clock_connection.ok": AuditedField("The test worked"),
    "clock_connection.code": AuditedField("Failure code"),
    "clock_connection.from": AuditedField("History from"),
    "clock_connection.status": AuditedField("Status"),
    "clock_binding.state": AuditedField("State", {one.value: words.label for one, words in BINDING_STATES.items()}),
    "accepted_by": AuditedField("Accepted by"),
    "came": AuditedField("Rows that came"),
    "emp_codes": AuditedField("Codes"),
    "from": AuditedField("From"),
    "host_employee_id": AuditedField("Person", id_of="employee"),
    "id_generation": AuditedField("Start of the mirror, number"),
    "judged_again": AuditedField("Punches judged again"),
    "kept": AuditedField("Kept"),
    "method": AuditedField("Decided by", METHODS),
    "missing": AuditedField("Gone from the server"),
    "outcome": AuditedField("Outcome", _OUTCOMES),
    "outcomes": AuditedField("Outcomes", _OUTCOMES),
    "password_changed": AuditedField("New password"),
    "punch": AuditedField("Punch"),
    "record": AuditedField("Record"),
    "released": AuditedField("Punches released"),
    "remarks": AuditedField("Remarks"),
    "request": AuditedField("What it reads", RESOURCE_LABELS),
    "retry": AuditedField("Retry"),
    "settled": AuditedField("Settled"),
    "terminal.direction": AuditedField("Direction", devices.DIRECTIONS),
    "terminal.kind": AuditedField("Kind", devices.KINDS),
    "terminal.kind_mark": AuditedField("Kind", devices.KINDS),
    "to": AuditedField("To"),
    "total": AuditedField("Rows on the server"),
}
