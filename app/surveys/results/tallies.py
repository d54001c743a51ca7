"""Counts of responses, exact at any moment and fast at any size:
the stored counts up to a mark, plus the rows after it.

tally_marks.py moves the mark. A reader adds the few rows after it in the same statement, so it never counts a row twice
or misses one. Rows under a tombstone never count. A row of the whole response has the nil question and choice ''; a
question's row with choice '' counts the people who answered it at all, however many options they ticked.

The present standing counts: a withdrawal moves its response from the agreed ones of the day of the agreement to the
withdrawn ones, and agreeing again moves it back. So each change is counted once, when it comes.

People asked are those with a first impression (`survey_prompt_state`), stored under the outcome ASKED of tally_rows.py,
and those who responded without one (`unprompted`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Date,
    Select,
    and_,
    cast,
    exists,
    func,
    null,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.days import on_days
from app.surveys.models import Answer, LedgerChange, PromptState, Response, Survey, Tally
from app.surveys.results.tally_marks import CHANGES_MARK, HEAD, MARK, SHOWN_UNTIL
from app.surveys.results.tally_rows import (
    ASKED_OUTCOME,
    COLUMNS,
    COUNTS,
    NO_CHOICE,
    SIDE,
    WHOLE_KEY,
    change_rows,
    impression_rows,
    response_rows,
)

_NO_DAY = cast(null(), Date).label("day")
# With both ends. For an open range the planner expects a third of the table, and reads all of it.
_FRESH = and_(Response.number > MARK, Response.number <= HEAD)
_FRESH_CHANGES = and_(LedgerChange.number > CHANGES_MARK, LedgerChange.number <= HEAD)
_undone = LedgerChange.__table__.alias("undone")
# A response that agreed, and whose last change withdrew it.
WITHDRAWN = exists().where(
    LedgerChange.response_number == Response.number,
    LedgerChange.kind == "withdrawn",
    ~exists().where(_undone.c.response_number == LedgerChange.response_number, _undone.c.turn == LedgerChange.turn + 1),
)
_LATE = and_(PromptState.first_shown_at >= SHOWN_UNTIL, PromptState.first_shown_at < func.now() + timedelta(days=1))
# A version and a question of a survey.
AskedIn = tuple[int, UUID]
_CURRENT = select(Survey.id, Survey.version).where(Survey.status == "published", Survey.deleted_at.is_(None))


@dataclass(frozen=True, slots=True)
class TallyScope:
    """What is counted; None means any. `days` are UTC days, both included, each may be open. `current` counts only the
    current versions of published surveys. `answer` is a question and one of its choices, or '' for every person who
    answered it; `figures` and `whole` ignore it."""

    survey_id: int | None = None
    version: int | None = None
    outcomes: tuple[str, ...] | None = None
    days: tuple[date | None, date | None] = (None, None)
    answer: tuple[UUID, str] | None = None
    current: bool = False

    def responses(self) -> ColumnElement[bool]:
        """The scope as a condition on the ledger, without rows under a tombstone."""
        return and_(self.recorded(), true() if self.outcomes is None else _stand_at(self.outcomes))

    def recorded(self) -> ColumnElement[bool]:
        """The same for any outcome."""
        return and_(COUNTS, self._survey(Response), on_days(Response.recorded_at, self.days), self._answered())

    def kept(self) -> ColumnElement[bool]:
        first, last = self.days
        outcome = Tally.outcome.in_(self.outcomes) if self.outcomes is not None else Tally.outcome != ASKED_OUTCOME
        return and_(
            self._survey(Tally), outcome, Tally.day >= first if first else true(), Tally.day <= last if last else true()
        )

    def shown_or_answered(self) -> ColumnElement[bool]:
        return self._survey(Tally)

    def asked(self) -> ColumnElement[bool]:
        """People with an impression of the survey and version; days and outcomes do not narrow whom a survey asked."""
        return and_(self._survey(Tally), Tally.outcome == ASKED_OUTCOME, Tally.question_key == WHOLE_KEY)

    def shown(self) -> ColumnElement[bool]:
        return self._survey(PromptState)

    def _answered(self) -> ColumnElement[bool]:
        if self.answer is None:
            return true()
        question, choice = self.answer
        given = select(Answer.number).where(Answer.number == Response.number, Answer.question_key == question)
        return exists(given.where(Answer.choice == choice) if choice else given)

    def _survey(self, table: type[Response | Tally | PromptState]) -> ColumnElement[bool]:
        return and_(
            table.survey_id == self.survey_id if self.survey_id is not None else true(),
            table.version == self.version if self.version is not None else true(),
            tuple_(table.survey_id, table.version).in_(_CURRENT) if self.current else true(),
        )


def _stand_at(outcomes: Collection[str]) -> ColumnElement[bool]:
    """Responses that stand at one of these outcomes. All withdrawn ones were recorded as agreed."""
    recorded = Response.outcome.in_([one for one in outcomes if one != "withdrawn"])
    if "withdrawn" not in outcomes:
        return and_(recorded, ~WITHDRAWN) if "agreed" in outcomes else recorded
    agreed = Response.outcome == "agreed"
    return or_(recorded, agreed) if "agreed" in outcomes else or_(recorded, and_(agreed, WITHDRAWN))


def figures(scope: TallyScope, only: Collection[UUID] | None = None) -> Select[Any]:
    """The statement behind a survey's figures: rows of (day, outcome, question_key, choice, people, unprompted). With
    `only`, choices are those of these questions, and other questions only say how many people answered them.

    Rows of questions and choices follow the scope and have no day. Rows of whole responses, and of first impressions
    under the outcome ASKED, are about the whole survey and version, day by day.
    """
    version = TallyScope(scope.survey_id, scope.version)
    fresh = [tail[0] for tail in _tails(version)]
    parts = [part for tail in _tails(scope) for part in tail[1:]]
    late = impression_rows(and_(_LATE, version.shown()))
    kept = _picked(Tally, Tally.day).where(version.shown_or_answered(), Tally.question_key == WHOLE_KEY)
    answers = (_picked(Tally, _NO_DAY).where(scope.kept(), one) for one in _of_questions(only))
    whole = (_picked(one.c, one.c.day) for one in (part.subquery() for part in (*fresh, late)))
    tails = (part.subquery() for part in parts)
    told = (_picked(one.c, _NO_DAY).where(_is_told(one.c, only)) for one in tails)
    every = union_all(kept, *answers, *whole, *told).subquery()
    keys = (every.c.day, every.c.outcome, every.c.question_key, every.c.choice)
    return select(*keys, _sum(every.c.people), _sum(every.c.unprompted)).group_by(*keys)


def whole(scope: TallyScope) -> Select[Any]:
    """The statement behind totals of many surveys: rows of `COLUMNS` for whole responses and first impressions, not
    summed.

    Days and outcomes narrow only the responses.
    """
    # The values that the index lacks are known, so PostgreSQL reads only the index.
    known: dict[str, ColumnElement[Any]] = {"question_key": WHOLE_KEY, "choice": NO_CHOICE}
    columns = [known[name].label(name) if name in known else getattr(Tally, name) for name in COLUMNS]
    kept = select(*columns).where(scope.kept(), Tally.question_key == WHOLE_KEY)
    shown = select(*columns).where(scope.asked())
    fresh = (tail[0] for tail in _tails(scope))
    late = impression_rows(and_(_LATE, scope.shown()))
    every = union_all(kept, shown, *fresh, late).subquery()
    return select(*(every.c[name] for name in COLUMNS))


def answers(scope: TallyScope, asked: Collection[AskedIn]) -> Select[Any]:
    """What people chose in some questions of versions of a survey: rows of (version, question_key, choice, people), not
    summed."""
    fresh = (tail[-1].subquery().c for tail in _tails(scope))
    late = (_chosen(one).where(_among(one, asked)) for one in fresh)
    return _chosen(union_all(kept_answers(scope, asked), *late).subquery().c)


def kept_answers(scope: TallyScope, asked: Collection[AskedIn]) -> Select[Any]:
    """The same up to the mark."""
    return _chosen(Tally).where(scope.kept(), _among(Tally, asked), Tally.choice != NO_CHOICE)


def kept_people(scope: TallyScope, asked: Collection[AskedIn]) -> Select[Any]:
    """How many people answered some questions up to the mark: rows of (version, question_key, people)."""
    rows = Tally.__table__.c
    which = and_(scope.kept(), _among(rows, asked), rows.choice == NO_CHOICE, rows.question_key != WHOLE_KEY)
    people = _sum(rows.people).label("people")
    return select(rows.version, rows.question_key, people).where(which).group_by(rows.version, rows.question_key)


def by_version(survey_id: int, versions: Collection[int], only: Collection[UUID] | None = None) -> Select[Any]:
    """Answers of several versions of a survey: rows of (version, question_key, choice, people);
    `only` as in `figures`."""
    which = and_(TallyScope(survey_id).kept(), Tally.version.in_(versions))
    fresh = and_(_FRESH, TallyScope(survey_id).responses(), Response.version.in_(versions))
    kept = (_chosen(Tally).where(which, one) for one in _of_questions(only))
    _, questions, choices = (one.subquery() for one in response_rows(fresh))
    late = (_chosen(one.c).where(_is_told(one.c, only)) for one in (questions, choices))
    every = union_all(*kept, *late).subquery()
    keys = (every.c.version, every.c.question_key, every.c.choice)
    return select(*keys, _sum(every.c.people)).group_by(*keys)


def _of_questions(only: Collection[UUID] | None) -> tuple[ColumnElement[bool], ...]:
    """Rows of questions, in parts for which there are indexes: a question may have very many different answers."""
    if only is None:
        return (Tally.question_key != WHOLE_KEY,)
    chosen = and_(Tally.question_key.in_(only), Tally.choice != NO_CHOICE)
    return chosen, and_(Tally.choice == NO_CHOICE, Tally.question_key != WHOLE_KEY)


def _is_told(source: Any, only: Collection[UUID] | None) -> ColumnElement[bool]:
    return true() if only is None else or_(source.choice == NO_CHOICE, source.question_key.in_(only))


def _among(source: Any, asked: Collection[AskedIn]) -> ColumnElement[bool]:
    return tuple_(source.version, source.question_key).in_(asked)


async def by_day(db: AsyncSession, scope: TallyScope) -> list[tuple[date, str, int]]:
    """Responses per UTC day and outcome as (day, outcome, people), newest day first, without empty days."""
    question, choice = scope.answer or (WHOLE_KEY, "")
    # The choice of whole responses is always '', and their index has no choices.
    answered = and_(Tally.question_key == question, true() if question is WHOLE_KEY else Tally.choice == choice)
    kept = select(Tally.day, Tally.outcome, Tally.people).where(scope.kept(), answered)
    fresh = [tail[0].subquery() for tail in _tails(scope)]
    every = union_all(kept, *(select(one.c.day, one.c.outcome, one.c.people) for one in fresh)).subquery()
    people = _sum(every.c.people)
    statement = select(every.c.day, every.c.outcome, people).group_by(every.c.day, every.c.outcome).having(people > 0)
    rows = await db.execute(statement.order_by(every.c.day.desc(), every.c.outcome))
    return [(day, outcome, int(count)) for day, outcome, count in rows]


def _tails(scope: TallyScope) -> tuple[tuple[Select[*tuple[Any, ...]], ...], ...]:
    """What comes after the marks: responses by their recorded outcome, and the changes of responses."""
    every = scope.recorded()
    outcomes, moved = (
        (true(), true())
        if scope.outcomes is None
        else (one.in_(scope.outcomes) for one in (Response.outcome, SIDE.c.outcome))
    )
    return response_rows(and_(_FRESH, every, outcomes)), change_rows(and_(_FRESH_CHANGES, every, moved))


def _picked(source: Any, day: Any) -> Select[Any]:
    return select(day, source.outcome, source.question_key, source.choice, source.people, source.unprompted)


def _chosen(source: Any) -> Select[Any]:
    return select(source.version, source.question_key, source.choice, source.people)


def _sum(column: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(column), Tally.people.type)
