"""The fixed words and numbers of the mirror, with their labels and meanings. Pure.

No rule that applies them lives here.
"""

from dataclasses import dataclass
from enum import StrEnum

PUNCH_LABELS = {
    0: "Check In",
    1: "Check Out",
    2: "Break Out",
    3: "Break In",
    4: "Overtime In",
    5: "Overtime Out",
}

# Code 4 is a second number for Card.
VERIFY_LABELS = {
    0: "Password",
    1: "Fingerprint",
    2: "Card",
    3: "Fingerprint + Password",
    4: "Card",
    15: "Face",
    20: "Palm",
}


def punch_label(code: int | None) -> str:
    """What a punch code is called; `Unknown (n)` outside 0-5; empty when the server sent none."""
    if code is None:
        return ""
    return PUNCH_LABELS.get(code, f"Unknown ({code})")


def verify_label(code: int | None) -> str:
    """What a verification code is called; outside the known set its raw number."""
    if code is None:
        return ""
    return VERIFY_LABELS.get(code, str(code))


class Direction(StrEnum):
    """How the taps of a terminal are read (docs/rules.md, "Direction and role")."""

    BY_CODE = "by_code"
    IN = "in"
    OUT = "out"
    UNDIRECTED = "undirected"


class RecordKind(StrEnum):
    """Kinds of attendance records; each pairs in a lane of its own."""

    REGULAR = "regular"
    OVERTIME = "overtime"


class Outcome(StrEnum):
    """What the import made of a punch, as stored and carried by the API (docs/rules.md, "Order of decisions").

    What else a new one needs: README.md, "To add an outcome". No table changes.
    """

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
    """What the Imported column shows. A punch the import has not come to yet waits like any other."""
    if code is None:
        return OUTCOMES[Outcome.AWAITING].label
    return OUTCOMES[Outcome(code)].label


class BindingState(StrEnum):
    """The nine states of a binding; a mirrored employee is in exactly one."""

    BOUND = "bound"
    AUTO_MATCHED = "auto_matched"
    SUGGESTED = "suggested"
    UNBOUND = "unbound"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    MISSING_REMOTE = "missing_remote"
    IGNORED = "ignored"
    DISABLED = "disabled"


# The states that carry a host employee; the table's CHECK constraint says the same.
LINKED_STATES = frozenset({BindingState.BOUND, BindingState.AUTO_MATCHED, BindingState.MISSING_REMOTE})


@dataclass(frozen=True, slots=True)
class StateWords:
    label: str
    meaning: str


BINDING_STATES: dict[BindingState, StateWords] = {
    BindingState.BOUND: StateWords("Bound", "A person set or accepted this link; no automatic pass changes it."),
    BindingState.AUTO_MATCHED: StateWords(
        "Auto-matched", "One match, applied automatically and not confirmed by a person; it can be reversed."
    ),
    BindingState.SUGGESTED: StateWords("Suggested", "A similar name was found; nothing is applied until accepted."),
    BindingState.UNBOUND: StateWords("Unbound", "Not attempted yet, or cleared by a person."),
    BindingState.NOT_FOUND: StateWords(
        "Not found", "No active employee has this ID number, and no free one has a similar name."
    ),
    BindingState.CONFLICT: StateWords(
        "Conflict", "Two or more host employees or codes claim each other; no automatic match is safe."
    ),
    BindingState.MISSING_REMOTE: StateWords(
        "Missing on the server", "Gone from the remote server; the link is kept so that old punches stay attributable."
    ),
    BindingState.IGNORED: StateWords("Ignored", "Left out on purpose: test cards, shared badges."),
    BindingState.DISABLED: StateWords("Disabled", "Disabled, or attendance switched off, on the remote server."),
}


class TcCode(StrEnum):
    """Why a call or a run failed; a sync run stores one of these."""

    NET = "TC-NET"
    POLICY = "TC-POLICY"
    AUTH = "TC-AUTH"
    TOKEN = "TC-TOKEN"  # noqa: S105 -- an error code
    SHAPE = "TC-SHAPE"
    REMOTE = "TC-REMOTE"
    RATE = "TC-RATE"
    CONFLICT = "TC-CONFLICT"
    LOCKED = "TC-LOCKED"
    TRUNCATED = "TC-TRUNCATED"
    IMPORT = "TC-IMPORT"


@dataclass(frozen=True, slots=True)
class TcWords:
    meaning: str
    cause: str


TC_CODES: dict[TcCode, TcWords] = {
    TcCode.NET: TcWords("Could not reach the server.", "DNS, firewall, timeout, TLS transport failure."),
    TcCode.POLICY: TcWords("Refused by host policy.", "Address resolves somewhere the host may not reach."),
    TcCode.AUTH: TcWords("Credentials rejected.", "Wrong password or disabled account."),
    TcCode.TOKEN: TcWords("Session expired and could not be renewed.", "Server restart or revoked session."),
    TcCode.SHAPE: TcWords("Response not in the expected shape.", "Server generation change or intercepting proxy."),
    TcCode.REMOTE: TcWords("The server reported an error.", "Server fault or vendor error code."),
    TcCode.RATE: TcWords("The server is rate-limiting the module.", "Large backfills; the next run resumes."),
    TcCode.CONFLICT: TcWords("A conflict inside the host.", "Duplicate ID number, competing binding."),
    TcCode.LOCKED: TcWords(
        "Connection locked after repeated credential failures.", "Wait, then retry with the correct password."
    ),
    TcCode.TRUNCATED: TcWords(
        "Work budget ran out with more to do.", "Not a failure; the next run resumes from the same place."
    ),
    TcCode.IMPORT: TcWords(
        "The attendance import failed repeatedly.",
        "A host-side fault, not the remote server; nothing further was written.",
    ),
}
