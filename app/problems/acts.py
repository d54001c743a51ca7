"""What people do with problems: give them to somebody, put them off, dismiss them.
Each act is audited and noted in the history.

Every act takes the kinds that the person sees, and does not find problems of other kinds.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app import texts
from app.accounts import audit, holders
from app.accounts.audit import Actor, AuditedChange
from app.db.among import among
from app.errors import Conflict, Invalid, NotFound
from app.problems import counting, storing
from app.problems.events import ProblemsMoved, tell
from app.problems.kinds import kinds
from app.problems.models import Problem, ProblemChange
from app.problems.transitions import UNTIL_IT_CHANGES

SEE = "host.problems"
LONGEST_NOTE = 500
LONGEST_SNOOZE = timedelta(days=366)
GONE = "These problems are closed already. Reload the page."


async def assign(
    db: AsyncSession, actor: Actor, problem_ids: Iterable[int], visible: Collection[str], user_id: int | None
) -> list[int]:
    """Assigns problems to a person of the workspace who has SEE; None removes the person. Returns the ids of those that
    are open. Raises NotFound, Conflict, Invalid."""
    await _check_account(db, user_id)
    before = await _open(db, problem_ids, visible)
    meant = [row.id for row in before if row.assigned_to != user_id]
    if meant:
        await _write(db, meant, assigned_to=user_id)
        await _note(db, meant, "assigned", actor, "" if user_id is None else str(user_id))
        changes = [
            AuditedChange(row.id, {"assigned_to": row.assigned_to}, {"assigned_to": user_id})
            for row in before
            if row.id in set(meant)
        ]
        await audit.record_many(db, actor, "problem.assign", "problem", changes)
    return [row.id for row in before]


async def snooze(
    db: AsyncSession, actor: Actor, problem_ids: Iterable[int], visible: Collection[str], until: datetime | None
) -> list[int]:
    """Puts problems off until then. UNTIL_IT_CHANGES: until there is something new. None ends the snooze. Raises
    NotFound, Conflict, Invalid."""
    now = datetime.now(UTC)
    if until is not None and until != UNTIL_IT_CHANGES and not now < until < now + LONGEST_SNOOZE:
        raise Invalid.at("until", "Choose a time within the next year.")
    before = await _open(db, problem_ids, visible)
    meant = [row.id for row in before]
    await _write(db, meant, snoozed_until=until)
    await counting.count_again(db, {row.kind for row in before})
    told = "" if until is None else "until it changes" if until == UNTIL_IT_CHANGES else until.isoformat()
    await _note(db, meant, "snoozed", actor, told)
    after = {"snoozed_until": told or None}
    await audit.record_many(db, actor, "problem.snooze", "problem", [AuditedChange(one, None, after) for one in meant])
    return meant


async def dismiss(
    db: AsyncSession, actor: Actor, problem_ids: Iterable[int], visible: Collection[str], note: str
) -> list[int]:
    """Closes problems of kinds that can be dismissed. New evidence opens them again.
    Raises NotFound, Conflict, Invalid."""
    note = texts.visible(note)
    if not note or len(note) > LONGEST_NOTE or not texts.is_readable_line(note):
        raise Invalid.at("note", f"Say why in one line of at most {LONGEST_NOTE} characters.")
    meant = await _open(db, problem_ids, visible)
    if stuck := sorted({row.kind for row in meant if row.kind in kinds() and not kinds()[row.kind].dismissible}):
        labels = ", ".join(f"“{kinds()[one].label}”" for one in stuck)
        raise Conflict(f"{labels} can’t be dismissed: it closes once it is fixed.")
    closed = await storing.close(db, [row.id for row in meant], by="person", user_id=actor.id, note=note)
    await counting.count_again(db, {one.kind for one in closed})
    changes = [AuditedChange(one.id, {"problem": one.title}, {"note": note}) for one in closed]
    await audit.record_many(db, actor, "problem.dismiss", "problem", changes)
    await tell(db, ProblemsMoved([], closed))
    return [one.id for one in closed]


async def note_remedy(db: AsyncSession, actor: Actor, problem_ids: Iterable[int], label: str) -> None:
    """Notes that a person ran the remedy. The remedy's own room audits the act; the next look closes the problem."""
    await _note(db, list(problem_ids), "remedy", actor, label)


async def _check_account(db: AsyncSession, user_id: int | None) -> None:
    if user_id is not None and not await holders.has(db, user_id, SEE):
        raise Invalid.at("user_id", "Choose a person of this workspace who may see problems.")


async def _open(db: AsyncSession, problem_ids: Iterable[int], visible: Collection[str]) -> Sequence[Problem]:
    """Locked, in turn with looks: these lock many in an order of their own. Raises NotFound where none is there,
    Conflict where all are closed."""
    await storing.wait_for_turn(db)
    wanted: ColumnElement[bool] = and_(among(Problem.id, set(problem_ids)), among(Problem.kind, visible))
    found = (await db.scalars(select(Problem).where(wanted).order_by(Problem.id).with_for_update())).all()
    if not found:
        raise NotFound("There is no such problem.")
    there = [one for one in found if one.closed_at is None]
    if not there:
        raise Conflict(GONE)
    return there


async def _write(db: AsyncSession, problem_ids: Sequence[int], **values: object) -> None:
    which = update(Problem).where(among(Problem.id, problem_ids)).execution_options(synchronize_session=False)
    await db.execute(which.values(**values, updated_at=func.now()))


async def _note(db: AsyncSession, problem_ids: Sequence[int], what: str, actor: Actor, note: str) -> None:
    if problem_ids:
        rows = [{"problem_id": one, "what": what, "user_id": actor.id, "note": note} for one in problem_ids]
        await db.execute(insert(ProblemChange), rows)
