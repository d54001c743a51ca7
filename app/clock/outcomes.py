"""What the import may make of a punch: the outcomes, their groups, and their words. Pure.

No rule that decides for one lives here: those are in pairing/. What else a new outcome needs: README.md, "To add an
outcome". No table changes.
"""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What the import made of a punch, as stored and carried by the API (docs/rules.md, "Order of decisions")."""

    FUTURE_TIMESTAMP = "future_timestamp"
    ACCESS_TERMINAL = "access_terminal"
    NOT_BOUND = "not_bound"
    EMPLOYEE_INACTIVE = "employee_inactive"
    NO_DIRECTION = "no_direction"
    REPEAT_TAP = "repeat_tap"
    DOUBLE_TAP = "double_tap"
    AWAITING = "awaiting"
    ONLY_ONE_PUNCH = "only_one_punch"
    OVER_24H = "over_24h"
    DATE_LOCKED = "date_locked"
    OVERLAPS = "overlaps"
    RECORD_DECIDED = "record_decided"
    RECORD_EDITED = "record_edited"
    ARRIVED_LATE = "arrived_late"
    ATTENDANCE_DELETED = "attendance_deleted"
    IMPORTED = "imported"


class OutcomeGroup(StrEnum):
    """How much an outcome asks of an operator."""

    GOOD = "good"
    WAITING = "waiting"
    NEEDS_PERSON = "needs_person"
    NOT_COUNTED = "not_counted"


GROUP_LABELS = {
    OutcomeGroup.GOOD: "Counted",
    OutcomeGroup.WAITING: "Waiting",
    OutcomeGroup.NEEDS_PERSON: "Needs a person",
    OutcomeGroup.NOT_COUNTED: "Not counted",
}


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """`label` is what the Imported column shows, `meaning` one line for a first-time reader."""

    label: str
    group: OutcomeGroup
    meaning: str


_GOOD, _WAITING = OutcomeGroup.GOOD, OutcomeGroup.WAITING
_PERSON, _NOT = OutcomeGroup.NEEDS_PERSON, OutcomeGroup.NOT_COUNTED

OUTCOMES: dict[Outcome, OutcomeWords] = {
    Outcome.IMPORTED: OutcomeWords("Imported", _GOOD, "The punch is part of an attendance record."),
    Outcome.REPEAT_TAP: OutcomeWords(
        "Repeat tap", _GOOD, "The reader fired twice within seconds; folded into the tap before it."
    ),
    Outcome.DOUBLE_TAP: OutcomeWords(
        "Double tap", _GOOD, "Badged again minutes later; folded into the tap before it by the double-tap auto-fix."
    ),
    Outcome.AWAITING: OutcomeWords("Awaiting", _WAITING, "The shift is not closed yet; it is judged again by itself."),
    Outcome.FUTURE_TIMESTAMP: OutcomeWords(
        "Future timestamp", _PERSON, "More than one day ahead of now: the terminal's clock is wrong."
    ),
    Outcome.NOT_BOUND: OutcomeWords("Not bound", _PERSON, "No host employee stands behind this code yet."),
    Outcome.NO_DIRECTION: OutcomeWords(
        "No direction", _PERSON, "The code does not say in or out, and the terminal's direction is by code."
    ),
    Outcome.ONLY_ONE_PUNCH: OutcomeWords(
        "Only one punch", _PERSON, "The shift lacks its clock-in or its clock-out; nothing was written."
    ),
    Outcome.OVER_24H: OutcomeWords(
        "Shift over 24 hours", _PERSON, "A wrong clock or a missed clock-out: from in to out is more than a day."
    ),
    Outcome.OVERLAPS: OutcomeWords(
        "Overlaps an existing record", _PERSON, "Another record of the same kind covers these hours or part of them."
    ),
    Outcome.ARRIVED_LATE: OutcomeWords(
        "Arrived after import",
        _PERSON,
        "It spans two records, the record has another owner, or the record reaches beyond this shift.",
    ),
    Outcome.DATE_LOCKED: OutcomeWords("Date locked", _NOT, "The day is closed for attendance edits."),
    Outcome.RECORD_DECIDED: OutcomeWords(
        "Record already decided", _NOT, "The record is approved, rejected or auto-closed; it is never rewritten."
    ),
    Outcome.RECORD_EDITED: OutcomeWords(
        "Record edited by hand", _NOT, "A person changed the record's times; the correction stands."
    ),
    Outcome.EMPLOYEE_INACTIVE: OutcomeWords(
        "Employee inactive", _NOT, "The bound host employee is deleted or deactivated."
    ),
    Outcome.ACCESS_TERMINAL: OutcomeWords(
        "Access terminal", _NOT, "The terminal is a door reader, or the server says that the punch only opened a door."
    ),
    Outcome.ATTENDANCE_DELETED: OutcomeWords(
        "Attendance deleted", _NOT, "Its record was deleted; it is made again only when a person retries."
    ),
}


# What a person may mark as settled: all that need a person, and two more that may need one.
SETTLEABLE = frozenset(one for one, words in OUTCOMES.items() if words.group is OutcomeGroup.NEEDS_PERSON) | {
    Outcome.EMPLOYEE_INACTIVE,
    Outcome.ATTENDANCE_DELETED,
}


def outcome_label(code: str | None) -> str:
    """What the Imported column shows. A punch that is not judged yet shows the same as one that waits."""
    if code is None:
        return OUTCOMES[Outcome.AWAITING].label
    return OUTCOMES[Outcome(code)].label
