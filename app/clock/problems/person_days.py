"""A person's day as the subject of a problem, and the kinds that are about one. Pure.

While a terminal is known to send one key only, one problem of the terminal stands for all its single punches, because
one act helps.
"""

from datetime import date

from app.clock.outcomes import Outcome

OUTCOMES = (
    Outcome.ONLY_ONE_PUNCH,
    Outcome.OVERLAPS,
    Outcome.ARRIVED_LATE,
    Outcome.OVER_24H,
    Outcome.FUTURE_TIMESTAMP,
    Outcome.EMPLOYEE_INACTIVE,
    Outcome.ATTENDANCE_DELETED,
)
AWAITING = "awaiting_too_long"
# In SQL, about a row of clock_transactions: no problem of a terminal stands for this punch.
IS_OF_NO_TERMINAL = f"""NOT (import_outcome = '{Outcome.ONLY_ONE_PUNCH.value}' AND coalesce(terminal_sn, '') IN (
        SELECT subject_id FROM problems WHERE kind = 'one_key' AND closed_at IS NULL))"""
KINDS = (*(one.value for one in OUTCOMES), AWAITING)


def day_of(subject_id: str) -> date:
    """The local day of a person's day: `e7/2026-11-22`, or `c1007/2026-11-22` where no employee stands behind the
    code."""
    return date.fromisoformat(subject_id.rpartition("/")[2])


def who_of(subject_id: str) -> tuple[str, int | str]:
    """`("employee", 7)` or `("code", "1007")`."""
    who = subject_id.rpartition("/")[0]
    return ("employee", int(who[1:])) if who.startswith("e") else ("code", who[1:])
