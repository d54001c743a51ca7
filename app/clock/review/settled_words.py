"""Who settled a punch, and what it means to settle it, as sentences. Pure."""

from typing import Any

from app.clock.outcomes import SETTLEABLE, Outcome

SETTLE = "Mark as settled: the outcome stays, and the punch no longer counts as one that needs a person."
UNSETTLE = "Not settled: the punch needs a person again."
NOTHING_TO_CHANGE = "Nothing has to change: a person settled this punch."


def settled(row: Any) -> str:
    """What a settled punch says: `Settled by Bob: “Forgot the card”`, or `Settled by record 7, made by hand`."""
    if row.settled_by is None:
        return f"Settled by record {row.covered_by_id}, made by hand"
    note = f": “{row.settled_note}”" if row.settled_note else ""
    return f"Settled by {row.settled_by}{note}"


def may_settle(row: Any) -> bool:
    """False for a punch that arrived late or is gone: there a person keeps the record instead."""
    needs_a_person = row.import_outcome in SETTLEABLE and row.import_outcome != Outcome.ARRIVED_LATE
    return needs_a_person and row.settled_at_utc is None and row.gone_at_utc is None
