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
    TcCode.POLICY: TcWords(
        "Muster may not call this address.", "The address is not public, and no administrator allowed it."
    ),
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
