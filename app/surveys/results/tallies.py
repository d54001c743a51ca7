"""Counts of responses, exact at any moment and fast at any size: the stored counts up to a mark, plus what comes after
it.

`count_up` moves the mark. A reader adds the few rows after it in the same statement, so it never counts a row twice or
misses one. Rows under a tombstone never count. A row of the whole response has the nil question and choice ''; a
question's row with choice '' counts the people who answered it at all, however many options they ticked.

The present standing counts: a withdrawal moves its response from the agreed ones of the day of the agreement to the
withdrawn ones, and agreeing again moves it back. So each change is counted once, when it comes.

People asked are those with a first impression (`survey_prompt_state`), stored under the outcome ASKED, and those who
responded without one (`unprompted`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Select,
    Text,
    and_,
    case,
    cast,
    column,
    delete,
    exists,
    func,
    join,
    literal_column,
    null,
    or_,
    select,
    true,
    tuple_,
    union_all,
    update,
    values,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.days import on_days
from app.surveys.models import (
    WHOLE,
    Answer,
    LedgerChange,
    LedgerHead,
    PromptState,
    Response,
    Survey,
    Tally,
    TallyMark,
    Tombstone,
)

ASKED = "asked"
# Every reader counts so many live, in some milliseconds.
LONGEST_TAIL = 2000
# Rows that one transaction counts, in about a second.
STEP = 50_000
# After so long, impressions of slow transactions, or of servers whose clock is behind, have arrived.
SETTLED = timedelta(minutes=10)
# Written out, not bound: otherwise PostgreSQL does not use the index on whole responses.
_WHOLE: ColumnElement[UUID] = literal_column(f"'{WHOLE}'::uuid")
_NO_CHOICE: ColumnElement[str] = literal_column("''", Text)
_ASKED: ColumnElement[str] = literal_column(f"'{ASKED}'", Text)
_NONE: ColumnElement[int] = literal_column("0")
_NO_DAY = cast(null(), Date).label("day")
_DAY = cast(func.timezone("UTC", Response.recorded_at), Date)
_SHOWN_DAY = cast(func.timezone("UTC", PromptState.first_shown_at), Date)
_COUNTS = ~exists().where(Tombstone.number == Response.number)
_MARK = select(TallyMark.number).scalar_subquery()
_CHANGES_MARK = select(TallyMark.changes_number).scalar_subquery()
_HEAD = select(LedgerHead.number).scalar_subquery()
_SHOWN_UNTIL = select(TallyMark.shown_until).scalar_subquery()
# With both ends. For an open range the planner expects a third of the table, and reads all of it.
_FRESH = and_(Response.number > _MARK, Response.number <= _HEAD)
_FRESH_CHANGES = and_(LedgerChange.number > _CHANGES_MARK, LedgerChange.number <= _HEAD)
# How a change counts for the two outcomes between which it moves a response: −1 where it leaves, +1 where it arrives.
_SIDE = values(column("outcome", Text), column("sign", Integer), name="side").data([("withdrawn", 1), ("agreed", -1)])
_SIGN = case((LedgerChange.kind == "withdrawn", _SIDE.c.sign), else_=-_SIDE.c.sign)
_undone = LedgerChange.__table__.alias("undone")
# A response that agreed, and whose last change withdrew it.
WITHDRAWN = exists().where(
    LedgerChange.response_number == Response.number,
    LedgerChange.kind == "withdrawn",
    ~exists().where(_undone.c.response_number == LedgerChange.response_number, _undone.c.turn == LedgerChange.turn + 1),
)
_LATE = and_(PromptState.first_shown_at >= _SHOWN_UNTIL, PromptState.first_shown_at < func.now() + timedelta(days=1))
_CURRENT = select(Survey.id, Survey.version).where(Survey.status == "published", Survey.deleted_at.is_(None))
COLUMNS = ("survey_id", "version", "day", "outcome", "question_key", "choice", "people", "unprompted")


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
        return and_(_COUNTS, self._survey(Response), on_days(Response.recorded_at, self.days), self._answered())

    def kept(self) -> ColumnElement[bool]:
        first, last = self.days
        outcome = Tally.outcome.in_(self.outcomes) if self.outcomes is not None else Tally.outcome != _ASKED
        return and_(
            self._survey(Tally), outcome, Tally.day >= first if first else true(), Tally.day <= last if last else true()
        )

    def shown_or_answered(self) -> ColumnElement[bool]:
        return self._survey(Tally)

    def asked(self) -> ColumnElement[bool]:
        """People with an impression of the survey and version; days and outcomes do not narrow whom a survey asked."""
        return and_(self._survey(Tally), Tally.outcome == _ASKED, Tally.question_key == _WHOLE)

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


def figures(scope: TallyScope, apart: Collection[UUID] = ()) -> Select[Any]:
    """The statement behind a survey's figures: rows of (day, outcome, question_key, choice, people, unprompted). It
    leaves out questions that are `apart`: `answers` counts them.

    Rows of questions and choices follow the scope and have no day. Rows of whole responses, and of first impressions
    under the outcome ASKED, are about the whole survey and version, day by day.
    """
    version = TallyScope(scope.survey_id, scope.version)
    fresh = [tail[0] for tail in _tails(version)]
    parts = [part for tail in _tails(scope) for part in tail[1:]]
    late = _shown(and_(_LATE, version.shown()))
    kept = _picked(Tally, Tally.day).where(version.shown_or_answered(), Tally.question_key == _WHOLE)
    answers = _picked(Tally, _NO_DAY).where(
        scope.kept(), Tally.question_key != _WHOLE, Tally.question_key.not_in(apart)
    )
    whole = (_picked(one.c, one.c.day) for one in (part.subquery() for part in (*fresh, late)))
    tails = (part.subquery() for part in parts)
    told = (_picked(one.c, _NO_DAY).where(one.c.question_key.not_in(apart)) for one in tails)
    every = union_all(kept, answers, *whole, *told).subquery()
    keys = (every.c.day, every.c.outcome, every.c.question_key, every.c.choice)
    return select(*keys, _sum(every.c.people), _sum(every.c.unprompted)).group_by(*keys)


def whole(scope: TallyScope) -> Select[Any]:
    """The statement behind totals of many surveys: rows of `COLUMNS` for whole responses and first impressions, not
    summed.

    Days and outcomes narrow only the responses.
    """
    # The values that the index lacks are known, so PostgreSQL reads only the index.
    known: dict[str, ColumnElement[Any]] = {"question_key": _WHOLE, "choice": _NO_CHOICE}
    columns = [known[name].label(name) if name in known else getattr(Tally, name) for name in COLUMNS]
    kept = select(*columns).where(scope.kept(), Tally.question_key == _WHOLE)
    shown = select(*columns).where(scope.asked())
    fresh = (tail[0] for tail in _tails(scope))
    late = _shown(and_(_LATE, scope.shown()))
    every = union_all(kept, shown, *fresh, late).subquery()
    return select(*(every.c[name] for name in COLUMNS))


def answers(scope: TallyScope, questions: Collection[UUID]) -> Select[Any]:
    """What people chose in some questions of a survey: rows of (version, question_key, choice, people), not summed."""
    kept = _chosen(Tally).where(scope.kept(), Tally.question_key.in_(questions), Tally.choice != _NO_CHOICE)
    fresh = (tail[-1].subquery().c for tail in _tails(scope))
    every = union_all(kept, *(_chosen(one).where(one.question_key.in_(questions)) for one in fresh)).subquery()
    return _chosen(every.c)


def by_version(survey_id: int, versions: Collection[int], apart: Collection[UUID] = ()) -> Select[Any]:
    """Answers of several versions of a survey: rows of (version, question_key, choice, people). Questions that are `apart` have none."""
    which = and_(Tally.survey_id == survey_id, Tally.version.in_(versions), Tally.question_key != _WHOLE)
    fresh = and_(_FRESH, TallyScope(survey_id).responses(), Response.version.in_(versions))
    kept = _chosen(Tally).where(which, Tally.outcome != _ASKED)
    _, questions, choices = (one.subquery() for one in _counted(fresh))
    every = union_all(kept, *(_chosen(one.c) for one in (questions, choices))).subquery()
    keys = (every.c.version, every.c.question_key, every.c.choice)
    return select(*keys, _sum(every.c.people)).where(every.c.question_key.not_in(apart)).group_by(*keys)


async def by_day(db: AsyncSession, scope: TallyScope) -> list[tuple[date, str, int]]:
    """Responses per UTC day and outcome as (day, outcome, people), newest day first, without empty days."""
    question, choice = scope.answer or (_WHOLE, "")
    # The choice of whole responses is always '', and their index has no choices.
    answered = and_(Tally.question_key == question, true() if question is _WHOLE else Tally.choice == choice)
    kept = select(Tally.day, Tally.outcome, Tally.people).where(scope.kept(), answered)
    fresh = [tail[0].subquery() for tail in _tails(scope)]
    every = union_all(kept, *(select(one.c.day, one.c.outcome, one.c.people) for one in fresh)).subquery()
    people = _sum(every.c.people)
    statement = select(every.c.day, every.c.outcome, people).group_by(every.c.day, every.c.outcome).having(people > 0)
    rows = await db.execute(statement.order_by(every.c.day.desc(), every.c.outcome))
    return [(day, outcome, int(count)) for day, outcome, count in rows]


async def is_due(db: AsyncSession) -> bool:
    """True when so much came after the mark that readers would notice."""
    settled = (
        select(PromptState.survey_id)
        .where(PromptState.first_shown_at >= _SHOWN_UNTIL, PromptState.first_shown_at < func.now() - SETTLED)
        .limit(LONGEST_TAIL + 1)
        .subquery()
    )
    impressions = select(func.count()).select_from(settled).scalar_subquery()
    tail = select(LedgerHead.number - _CHANGES_MARK).scalar_subquery()
    return bool(await db.scalar(select((tail > LONGEST_TAIL) | (impressions > LONGEST_TAIL))))


async def count_up(db: AsyncSession) -> int:
    """Moves the mark by up to STEP rows towards the head, and over the settled impressions. Returns how many rows.

    Two at once go one after the other. The ledger has no gaps and its head is written with the row, so every row up to
    the head that is read here is committed.
    """
    mark = await _locked(db)
    until = max(mark.shown_until, mark.now - SETTLED)
    head = await db.scalar(select(LedgerHead.number)) or 0
    number = min(head, mark.number + STEP)
    await _keep(
        db,
        and_(Response.number > mark.number, Response.number <= number),
        and_(LedgerChange.number > mark.changes_number, LedgerChange.number <= number),
        and_(PromptState.first_shown_at >= mark.shown_until, PromptState.first_shown_at < until),
    )
    await db.execute(update(TallyMark).values(number=number, changes_number=number, shown_until=until))
    return int(number - mark.number)


async def recount(db: AsyncSession, survey_ids: Collection[int]) -> None:
    """Counts surveys again up to the mark, in the transaction that put rows of theirs under a tombstone."""
    mark = await _locked(db)
    await db.execute(delete(Tally).where(Tally.survey_id.in_(survey_ids)))
    await _keep(
        db,
        and_(Response.survey_id.in_(survey_ids), Response.number <= mark.number),
        and_(Response.survey_id.in_(survey_ids), LedgerChange.number <= mark.changes_number),
        and_(PromptState.survey_id.in_(survey_ids), PromptState.first_shown_at < mark.shown_until),
    )


async def _locked(db: AsyncSession) -> Any:
    return (
        await db.execute(
            select(
                TallyMark.number, TallyMark.changes_number, TallyMark.shown_until, func.now().label("now")
            ).with_for_update()
        )
    ).one()


async def _keep(
    db: AsyncSession, responses: ColumnElement[bool], changes: ColumnElement[bool], impressions: ColumnElement[bool]
) -> None:
    for counted in (*_counted(and_(responses, _COUNTS)), *_moved(and_(changes, _COUNTS)), _shown(impressions)):
        statement = insert(Tally).from_select(COLUMNS, counted)
        added = {name: getattr(Tally, name) + statement.excluded[name] for name in ("people", "unprompted")}
        await db.execute(statement.on_conflict_do_update(index_elements=COLUMNS[:6], set_=added))


def _counted(which: ColumnElement[bool]) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Ledger rows counted as `COLUMNS`: whole responses, then people per question, then people per choice."""
    keys = (Response.survey_id, Response.version, _DAY, Response.outcome)
    labelled = (Response.survey_id, Response.version, _DAY.label("day"), Response.outcome)
    unprompted = func.count().filter(~Response.prompted).label("unprompted")
    responses = select(
        *labelled, _WHOLE.label("question_key"), _NO_CHOICE.label("choice"), func.count().label("people"), unprompted
    )
    everybody = func.count(Response.number.distinct()).label("people")
    questions = select(*labelled, Answer.question_key, _NO_CHOICE.label("choice"), everybody, _NONE.label("unprompted"))
    choices = select(
        *labelled, Answer.question_key, Answer.choice, func.count().label("people"), _NONE.label("unprompted")
    )
    answered = and_(Answer.number == Response.number, which)
    return (
        responses.where(which).group_by(*keys),
        questions.where(answered).group_by(*keys, Answer.question_key),
        choices.where(answered, Answer.choice != _NO_CHOICE).group_by(*keys, Answer.question_key, Answer.choice),
    )


def _tails(scope: TallyScope) -> tuple[tuple[Select[*tuple[Any, ...]], ...], ...]:
    """What comes after the marks: responses by their recorded outcome, and the changes of responses."""
    every = scope.recorded()
    outcomes, moved = (
        (true(), true())
        if scope.outcomes is None
        else (one.in_(scope.outcomes) for one in (Response.outcome, _SIDE.c.outcome))
    )
    return _counted(and_(_FRESH, every, outcomes)), _moved(and_(_FRESH_CHANGES, every, moved))


def _moved(which: ColumnElement[bool]) -> tuple[Select[*tuple[Any, ...]], ...]:
    """Changes of responses counted as `COLUMNS`, one less here and one more there: whole responses, then people per
    question, then people per choice."""
    keys = (Response.survey_id, Response.version, _DAY, _SIDE.c.outcome)
    labelled = (Response.survey_id, Response.version, _DAY.label("day"), _SIDE.c.outcome)
    people, unprompted = func.sum(_SIGN), func.coalesce(func.sum(_SIGN).filter(~Response.prompted), 0)
    asked = select(Answer.question_key).distinct().where(Answer.number == Response.number).lateral("asked")
    nothing = _NO_CHOICE.label("choice")
    whole = select(
        *labelled, _WHOLE.label("question_key"), nothing, people.label("people"), unprompted.label("unprompted")
    )
    questions = select(*labelled, asked.c.question_key, nothing, people.label("people"), _NONE.label("unprompted"))
    choices = select(*labelled, Answer.question_key, Answer.choice, people.label("people"), _NONE.label("unprompted"))
    chosen = and_(Answer.number == Response.number, Answer.choice != _NO_CHOICE)
    both = join(LedgerChange, Response, LedgerChange.response_number == Response.number).join(_SIDE, true())
    return (
        whole.select_from(both).where(which).group_by(*keys),
        questions.select_from(both.join(asked, true())).where(which).group_by(*keys, asked.c.question_key),
        choices.select_from(both.join(Answer, chosen)).where(which).group_by(*keys, Answer.question_key, Answer.choice),
    )


def _shown(which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """First impressions counted as `COLUMNS`."""
    return (
        select(
            PromptState.survey_id,
            PromptState.version,
            _SHOWN_DAY.label("day"),
            _ASKED.label("outcome"),
            _WHOLE.label("question_key"),
            _NO_CHOICE.label("choice"),
            func.count().label("people"),
            _NONE.label("unprompted"),
        )
        .where(which)
        .group_by(PromptState.survey_id, PromptState.version, _SHOWN_DAY)
    )


def _picked(source: Any, day: Any) -> Select[Any]:
    return select(day, source.outcome, source.question_key, source.choice, source.people, source.unprompted)


def _chosen(source: Any) -> Select[Any]:
    return select(source.version, source.question_key, source.choice, source.people)


def _sum(column: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.sum(column), Tally.people.type)
