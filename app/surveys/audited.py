"""What the audit calls the fields of surveys: as the editor does."""

from app.registry import AuditedField
from app.surveys import words
from app.surveys.authoring.field_names import NAMES

FIELDS = {
    **{name: AuditedField(label) for name, label in NAMES.items()},
    "changes": AuditedField("Changes"),
    "comments": AuditedField("Comments on ratings"),
    "content_hash": AuditedField("Hash of the content"),
    "day": AuditedField("Day of the round"),
    "enforcement": AuditedField("Enforcement", words.ENFORCEMENTS),
    "evidence": AuditedField("Responses with evidence"),
    "head": AuditedField("Head of the chain"),
    "keys": AuditedField("Keys"),
    "people": AuditedField("People"),
    "ratings": AuditedField("Ratings"),
    "remind_days": AuditedField(NAMES["remind_days"], unit="days"),
    "responses": AuditedField("Responses"),
    "revision": AuditedField("Number of the change"),
    "snooze_hours": AuditedField(NAMES["snooze_hours"], unit="hours"),
    "cooldown_days": AuditedField(NAMES["cooldown_days"], unit="days"),
    "survey.status": AuditedField("Status", words.STATUSES),
    "survey.type": AuditedField("Type", words.TYPES),
    "surveys": AuditedField("Surveys"),
    "texts": AuditedField("Typed texts"),
    "version": AuditedField("Version"),
    "why": AuditedField("Reason"),
}
