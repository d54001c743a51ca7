"""Reads problems: the list, one with its history. Every question takes the kinds that the person sees."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, Text, and_, case, cast, func, literal, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.accounts.erased import ERASED_PERSON, was_erased
from app.accounts.models import User
from app.db.among import among
from app.db.rows import plain
from app.errors import NotFound
from app.problems.models import Problem, ProblemChange

# `unclosed` are all that are not closed: `open` those to do now, `snoozed` those that are put off.
State = Literal["open", "snoozed", "unclosed", "closed", "all"]
IS_OPEN = Problem.closed_at.is_(None)
# What is open and put off, and what is open and to do now; each in a form that its index serves.
IS_SNOOZED: ColumnElement[bool] = and_(IS_OPEN, Problem.snoozed_until.is_not(None), Problem.snoozed_until > func.now())
IS_TO_DO: ColumnElement[bool] = and_(IS_OPEN, or_(Problem.snoozed_until.is_(None), Problem.snoozed_until <= func.now()))
_IN: Mapping[State, ColumnElement[bool]] = {
    "open": IS_TO_DO,
    "snoozed": IS_SNOOZED,
    "unclosed": IS_OPEN,
    "closed": Problem.closed_at.is_not(None),
    "all": true(),
}


@dataclass(frozen=True, slots=True)
class ProblemFilter:
    """`kinds` are those that the person sees, or chose of them.
    `department` is its code, `terminal` a serial number."""

    kinds: Collection[str]
    state: State = "open"
    severities: Collection[str] = ()
    assigned_to: int | None = None
    department: str = ""
    terminal: str = ""
    updated_since: datetime | None = None


def condition(wanted: ProblemFilter) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [among(Problem.kind, wanted.kinds), _IN[wanted.state]]
    if wanted.severities:
        parts.append(among(Problem.severity, wanted.severities))
    if wanted.assigned_to is not None:
        parts.append(Problem.assigned_to == wanted.assigned_to)
    if wanted.department:
        parts.append(Problem.facts["department"].astext == wanted.department)
    if wanted.terminal:
        parts.append(Problem.facts["terminal"].astext == wanted.terminal)
    if wanted.updated_since is not None:
        parts.append(Problem.updated_at >= wanted.updated_since)
    return and_(*parts)


def problems(wanted: ProblemFilter) -> Select[Any]:
    """All columns of the problems of the filter, with `assignee`, in no order."""
    return (
        select(*Problem.__table__.c, shown_name(Problem.assigned_to).label("assignee"))
        .outerjoin(User, User.id == Problem.assigned_to)
        .where(condition(wanted))
    )


async def most_harm_first(db: AsyncSession, wanted: ProblemFilter) -> Sequence[Any]:
    """All rows of `problems`: critical kinds first, then the kinds that hold most, and in each what holds most."""
    of_kind = func.sum(Problem.held_punches).over(partition_by=Problem.kind)
    severe = case((Problem.severity == "critical", 0), (Problem.severity == "warning", 1), else_=2)
    order = (severe, of_kind.desc(), Problem.kind, Problem.held_punches.desc(), Problem.since, Problem.id)
    return await plain(db, problems(wanted).order_by(*order))


async def find(db: AsyncSession, problem_id: int, visible: Collection[str]) -> Any:
    """The row of `problems`. Raises NotFound, also for a kind that the person does not see."""
    asked = problems(ProblemFilter(visible, "all")).where(Problem.id == problem_id)
    row = (await db.execute(asked)).one_or_none()
    if row is None:
        raise NotFound("There is no such problem.")
    return row


async def history(db: AsyncSession, problem_id: int) -> Sequence[Any]:
    """`at`, `what`, `note` and `who`, oldest first. `who` is None for what happened by itself; the note of *assigned*
    is the name of the person who was given it, "" for no one."""
    given_to = aliased(User)
    is_theirs = and_(ProblemChange.what == "assigned", ProblemChange.note == cast(given_to.id, Text))
    name = case((was_erased(given_to.id), literal(ERASED_PERSON)), else_=func.coalesce(given_to.name, ""))
    lines = (
        select(
            ProblemChange.at,
            ProblemChange.what,
            case((ProblemChange.what == "assigned", name), else_=ProblemChange.note).label("note"),
            shown_name(ProblemChange.user_id).label("who"),
        )
        .outerjoin(User, User.id == ProblemChange.user_id)
        .outerjoin(given_to, is_theirs)
    )
    return await plain(db, lines.where(ProblemChange.problem_id == problem_id).order_by(ProblemChange.id))


def shown_name(user_id: Any) -> ColumnElement[Any]:
    """The name of a joined account; no name when the person was erased."""
    return case((was_erased(user_id), literal(ERASED_PERSON)), else_=User.name)
