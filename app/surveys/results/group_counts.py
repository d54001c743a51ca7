"""Counts the answers of some responses by groups of people, in one statement.
What is stored of it, and for how long: splits.py."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    SQLColumnExpression,
    Text,
    and_,
    case,
    cast,
    func,
    literal,
    select,
    true,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.models import Tenant, User
from app.surveys.models import WHOLE, Answer, LedgerPerson, PersonKey, Response
from app.surveys.results import table
from app.surveys.results.breakdowns import WITHOUT_BARS
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.queries import OUTCOME
from app.surveys.results.tallies import TallyScope

# These have no table: free texts and agreements have nothing to count, days and matrix cells too many values.
UNSPLIT = (*WITHOUT_BARS, "matrix", "date")
# An answer to one of these has several rows in `survey_answers`.
SEVERAL = "multiple_choice"
# Group (None: unknown), question (the nil one: outcomes), choice, people.
GroupFigure = tuple[str | None, str, str, int]
_GROUPS: Mapping[str, SQLColumnExpression[Any]] = {
    "type": User.type,
    "tenant": func.coalesce(Tenant.name, User.workspace),
    "department": table.STAFF.c.department,
    "language": Response.language,
}


@dataclass(frozen=True, slots=True)
class LedgerStretch:
    """Numbers of the ledger after `after`, up to `until`; None means either end of the ledger. `is_few`: few responses
    are counted."""

    after: int | None = None
    until: int | None = None
    is_few: bool = False

    def holds(self, number: SQLColumnExpression[int]) -> ColumnElement[bool]:
        first = number > self.after if self.after is not None else true()
        return and_(first, number <= self.until if self.until is not None else true())


async def count_groups(
    db: AsyncSession, scope: TallyScope, split: str, questions: Sequence[AskedQuestion], among: LedgerStretch
) -> list[GroupFigure]:
    """One statement, which finds the people and their groups once. `among` narrows the responses of the scope."""
    shown = split_by(questions)
    several = [one.key for one in shown if one.type == SEVERAL]
    people = people_of(scope, split, among)
    parts = [_outcomes(people), _choices(people, among, [one.key for one in shown])]
    if several:
        parts.append(_answered(people, among, several))
    figures = [(row[0], str(row[1]), row[2], int(row[3])) for row in await db.execute(union_all(*parts))]
    return [*figures, *_single(figures, {str(key) for key in several})]


def split_by(questions: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """The questions whose answers are counted by groups."""
    return [one for one in questions if one.type not in UNSPLIT]


def _single(figures: Sequence[GroupFigure], several: set[str]) -> list[GroupFigure]:
    """How many people answered, if each has one row."""
    people: Counter[tuple[str | None, str]] = Counter()
    for group, question, choice, number in figures:
        if question != str(WHOLE) and choice and question not in several:
            people[group, question] += number
    return [(group, question, "", number) for (group, question), number in people.items()]


def people_of(scope: TallyScope, split: str, among: LedgerStretch) -> CTE:
    """Each response with its group; the group of an erased person is unknown."""
    group = case((PersonKey.erased_at.is_(None), cast(_group(split, among), Text)))
    statement = select(Response.number, group.label("grouped"), OUTCOME).outerjoin(
        PersonKey, PersonKey.id == Response.key_id
    )
    if split != "language":
        statement = statement.outerjoin(LedgerPerson, LedgerPerson.number == Response.person)
        statement = statement.outerjoin(User, User.id == LedgerPerson.user_id)
    if split == "tenant":
        statement = statement.outerjoin(Tenant, Tenant.key == User.workspace)
    if split == "department" and not among.is_few:
        statement = statement.outerjoin(table.STAFF, table.STAFF.c.user_id == User.id)
    found = statement.where(scope.responses(), among.holds(Response.number)).cte("people")
    return found.prefix_with("MATERIALIZED")


def _group(split: str, among: LedgerStretch) -> SQLColumnExpression[Any]:
    """For few people the departments are looked up one by one; for many, reading all staff at once is faster."""
    return table.DEPARTMENT if split == "department" and among.is_few else _GROUPS[split]


def _outcomes(people: CTE) -> Select[Any]:
    keys = people.c.grouped, people.c.outcome
    return select(people.c.grouped, literal(str(WHOLE)), people.c.outcome, func.count()).group_by(*keys)


def _choices(people: CTE, among: LedgerStretch, questions: Sequence[UUID]) -> Select[Any]:
    keys = (people.c.grouped, Answer.question_key, Answer.choice)
    chosen = select(people.c.grouped, cast(Answer.question_key, Text), Answer.choice, func.count())
    return chosen.where(answers_of(people, among, questions), Answer.choice != "").group_by(*keys)


def _answered(people: CTE, among: LedgerStretch, questions: Sequence[UUID]) -> Select[Any]:
    keys = (people.c.grouped, Answer.question_key)
    number = func.count(Answer.number.distinct())
    found = select(people.c.grouped, cast(Answer.question_key, Text), literal(""), number)
    return found.where(answers_of(people, among, questions)).group_by(*keys)


def answers_of(people: CTE, among: LedgerStretch, questions: Sequence[UUID]) -> ColumnElement[bool]:
    """The stretch is repeated here. Otherwise a long table of answers would be read whole for a few of them."""
    return and_(Answer.number == people.c.number, among.holds(Answer.number), Answer.question_key.in_(questions))
