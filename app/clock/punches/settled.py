"""The mark that settles a punch: a person decided that it needs no more work, or a record made by hand holds it.
And what ends the mark.

A person's mark has `settled_by`; a record's has `covered_by_id`. It ends when the outcome changes: every statement that
writes another outcome also writes ENDED, or what `ended_where` returns.
"""

from app.clock.models import Punch

COLUMNS = ("settled_at_utc", "settled_by", "settled_note", "covered_by_id")
ENDED = dict.fromkeys(COLUMNS)
# For a mark of an earlier release, which did not say who.
SOMEBODY = "a person"
OPEN = Punch.settled_at_utc.is_(None)


def ended_where(condition: str, row: str) -> str:
    """Assignments of an UPDATE of `row` that end the mark where the SQL condition holds."""
    return ", ".join(f"{name} = CASE WHEN {condition} THEN NULL ELSE {row}.{name} END" for name in COLUMNS)
