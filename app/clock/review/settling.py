"""A person settles punches, and undoes it: their outcome stays, and they leave the counts of what needs a person.

*Keep the record* sets the same mark. What ends it by itself: punches/settled.py.
"""

from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit import Actor
from app.clock.models import Punch
from app.clock.outcomes import SETTLEABLE as SETTLEABLE_OUTCOMES
from app.clock.outcomes import Outcome
from app.clock.punches import settled
from app.clock.punches.daily_totals import mark_outcomes
from app.clock.punches.marks import in_order
from app.clock.review.decisions import Resolved, audit_marked, change_punches
from app.errors import Invalid
from app.problems import looking
from app.texts import is_readable_line, visible

# Gone from the server, with a record that a person has not looked at since.
GONE_WAITS = and_(
    Punch.gone_at_utc.is_not(None),
    or_(Punch.host_attendance_id.is_not(None), Punch.edited_record_id.is_not(None)),
    settled.OPEN,
)
KEEPABLE = or_((Punch.import_outcome == Outcome.ARRIVED_LATE) & settled.OPEN, GONE_WAITS)
# A punch of another outcome needs no person; one that is gone needs one as long as its record waits.
SETTLEABLE = or_(
    and_(Punch.import_outcome.in_(sorted(SETTLEABLE_OUTCOMES)), settled.OPEN, Punch.gone_at_utc.is_(None)), GONE_WAITS
)
UNSETTLEABLE = Punch.settled_by.is_not(None)
LONGEST_NOTE = 1000


def shows(outcome: str) -> ColumnElement[bool]:
    """True for punches with this outcome, "" for those that are not judged yet: what a page showed when a person
    decided."""
    return func.coalesce(Punch.import_outcome, "") == outcome


async def keep_record(db: AsyncSession, actor: Actor, which: ColumnElement[bool]) -> Resolved:
    """Settles punches that arrived late, or that are gone from the server: their records stay as they are."""
    return await _mark(db, actor, "clock.keep_record", and_(which, KEEPABLE), _mark_of(actor, None))


async def settle(db: AsyncSession, actor: Actor, which: ColumnElement[bool], note: str | None = None) -> Resolved:
    """Settles punches that need a person: their outcome stays, and they leave the counts.
    Raises Invalid for a note that can't be kept."""
    return await _mark(db, actor, "clock.settle", and_(which, SETTLEABLE), _mark_of(actor, checked_note(note)))


def checked_note(note: str | None) -> str | None:
    """Raises Invalid for one that can't be kept."""
    text = visible(note or "")
    if len(text) > LONGEST_NOTE:
        raise Invalid.at("note", f"A note has at most {LONGEST_NOTE:,} characters. This one has {len(text):,}.")
    if not is_readable_line(text):
        raise Invalid.at("note", "The note has characters that can't be stored.")
    return text or None


async def unsettle(db: AsyncSession, actor: Actor, which: ColumnElement[bool]) -> Resolved:
    """Undoes it: the punches need a person again."""
    still_covered = {"settled_at_utc": case((Punch.covered_by_id.is_(None), None), else_=Punch.settled_at_utc)}
    undone = still_covered | {"settled_by": None, "settled_note": None}
    return await _mark(db, actor, "clock.unsettle", and_(which, UNSETTLEABLE), undone)


def _mark_of(actor: Actor, note: str | None) -> dict[str, Any]:
    return {"settled_at_utc": func.now(), "settled_by": actor.name, "settled_note": note}


async def _mark(
    db: AsyncSession, actor: Actor, act: str, which: ColumnElement[bool], values: dict[str, Any]
) -> Resolved:
    change = update(Punch).where(in_order(which)).values(**values, updated_at=func.now())
    found = await change_punches(db, change)
    if found.ids:
        await mark_outcomes(db, found.days)
        await looking.look_soon(db)
        is_settled, note = values["settled_by"] is not None, values["settled_note"]
        told = {"settled": is_settled, "outcomes": found.outcomes, **({"note": note} if note else {})}
        await audit_marked(db, actor, act, found, before={"settled": not is_settled}, after=told)
    return Resolved(found.total, found.outcomes)
