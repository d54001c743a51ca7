"""The results of an anonymous version, as its closing left them: one breakdown for each question, groups, and what
people wrote.

Nothing here knows a person. Before the closing there is nothing to read.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.anonymous.models import AnonymousResult
from app.surveys.ledger.chain import BETWEEN
from app.surveys.models import LedgerChange
from app.surveys.results import breakdowns, number_counts
from app.surveys.results.breakdowns import MOST_BARS, Breakdown
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.group_counts import split_by
from app.surveys.results.number_counts import NumberCount
from app.surveys.results.splits import OTHERS, Split
from app.surveys.words import Names

NOT_KNOWN = "Not known"
EVERYBODY = "Everybody"
# So many texts of one question are on a survey's page.
MOST_TEXTS = 10
# One more than an Excel file takes: the page offers other files then.
MOST_COUNTED = 100_001
_JOINED = "+"
_GROUP_KEY: ColumnElement[str] = case(
    (AnonymousResult.joined, literal(_JOINED, Text)),
    else_=literal("=", Text) + func.coalesce(AnonymousResult.grouped, ""),
)
_COLUMNS = (
    AnonymousResult.question_key,
    AnonymousResult.grouped,
    AnonymousResult.joined,
    AnonymousResult.choice,
    AnonymousResult.people,
)


@dataclass(frozen=True, slots=True)
class AnonymousOutcome:
    """`closed_at` is None while the version is open. `ballots` is how many answered; `rows` have question_key, grouped,
    joined, choice and people, without what people wrote and without numbers. `numbers` are the numbers by question,
    `numbers_by_group` also by group; `texts` are some of what people wrote, by question, with how many wrote exactly
    that, in no order. `answers` counts the rows of `listed`, up to MOST_COUNTED."""

    closed_at: datetime | None = None
    ballots: int = 0
    rows: Sequence[Any] = field(default_factory=list)
    numbers: Mapping[UUID, NumberCount] = field(default_factory=dict)
    numbers_by_group: Mapping[tuple[str | None, UUID], NumberCount] = field(default_factory=dict)
    texts: Mapping[UUID, Sequence[tuple[str, int]]] = field(default_factory=dict)
    answers: int = 0

    @property
    def is_shown(self) -> bool:
        return bool(self.rows)

    def breakdowns(self, questions: Iterable[AskedQuestion]) -> tuple[Breakdown, ...]:
        """The results of all groups together."""
        of: dict[UUID, dict[str, int]] = defaultdict(Counter)
        for row in self.rows:
            of[row.question_key][row.choice] += row.people
        few, spreads = number_counts.told_apart(self.numbers)
        of |= few
        return tuple(
            breakdowns.spread_out(one, spreads[one.key])
            if one.key in spreads
            else breakdowns.breakdown(one, of[one.key])
            for one in questions
        )

    def split(self) -> Split:
        """By the keys of `group_names`, because a department may have the same name as the joined groups."""
        of: dict[tuple[str | None, UUID], dict[str, int]] = defaultdict(dict)
        sizes: Counter[str] = Counter()
        for row in self.rows:
            group = _key_of_group(row)
            of[group, row.question_key][row.choice] = row.people
            sizes[group] = max(sizes[group], row.people)
        few, spreads = number_counts.told_apart(self.numbers_by_group)
        of |= few
        groups = sorted(sizes.items(), key=lambda one: (one[0] == _JOINED, -one[1], one[0]))
        return Split(groups, of, spreads=spreads)

    def group_names(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """The names of `split`'s groups on a page."""
        return {_key_of_group(row): group_name(row, names) for row in self.rows}


async def read(
    db: AsyncSession, survey_id: int, version: int, questions: Sequence[AskedQuestion], *, texts: int = MOST_TEXTS
) -> AnonymousOutcome:
    """Three statements, and two more if there are numbers. `texts` limits how many texts of each question are read."""
    written = [one.key for one in questions if one.type == "free_text"]
    numbers = number_counts.asked_for(questions)
    every = select(AnonymousResult.id).where(*_answers(survey_id, version, [one.key for one in questions]))
    answers = select(func.count()).select_from(every.limit(MOST_COUNTED).subquery())
    change = select(LedgerChange.recorded_at, LedgerChange.ballots, answers.scalar_subquery().label("answers")).where(
        LedgerChange.survey_id == survey_id, LedgerChange.version == version, LedgerChange.kind == "closed"
    )
    closed = (await db.execute(change)).one_or_none()
    if closed is None:
        return AnonymousOutcome()
    counted = select(*_COLUMNS).where(
        *_of(survey_id, version),
        or_(AnonymousResult.choice == "", AnonymousResult.question_key.not_in([*written, *numbers])),
    )
    rows = (await db.execute(counted.order_by(AnonymousResult.id))).all()
    said: dict[UUID, list[tuple[str, int]]] = defaultdict(list)
    for key, text, people in await db.execute(_some_texts(survey_id, version, written, texts)):
        said[key].append((text, people))
    whole = await _numbers(db, _of(survey_id, version), literal("", Text), numbers)
    by_group = await _numbers(db, _of(survey_id, version), _GROUP_KEY, numbers)
    return AnonymousOutcome(
        closed.recorded_at,
        closed.ballots,
        rows,
        {key: one for (_, key), one in whole.items()},
        by_group,
        said,
        closed.answers,
    )


async def _numbers(
    db: AsyncSession, which: Sequence[ColumnElement[bool]], part: SQLColumnExpression[Any], questions: Sequence[UUID]
) -> Mapping[tuple[Any, UUID], NumberCount]:
    """By part and question. No statement where no question is asked for."""
    if not questions:
        return {}
    columns: tuple[Any, ...] = (
        part.label("part"),
        AnonymousResult.question_key,
        AnonymousResult.choice,
        AnonymousResult.people,
    )
    given = select(*columns).where(*which, AnonymousResult.question_key.in_(questions))
    return await number_counts.read(db, given, MOST_BARS)


def _some_texts(survey_id: int, version: int, written: Sequence[UUID], most: int) -> Select[Any]:
    asked = func.unnest(literal(written, ARRAY(Uuid))).column_valued("asked")
    some = select(AnonymousResult.id, AnonymousResult.choice, AnonymousResult.people).where(
        *_of(survey_id, version), AnonymousResult.choice != "", AnonymousResult.question_key == asked
    )
    first = some.order_by(AnonymousResult.id).limit(most).lateral("first")
    return select(asked, first.c.choice, first.c.people).join(first, true()).order_by(first.c.id)


def listed(survey_id: int, version: int, questions: Sequence[UUID]) -> Select[Any]:
    """Each answer, and as `answered` how many people of that group answered that question."""
    counts = select(
        AnonymousResult.question_key,
        AnonymousResult.joined,
        AnonymousResult.grouped.is_(None).label("whole"),
        func.coalesce(AnonymousResult.grouped, "").label("grouped"),
        AnonymousResult.people,
    )
    # Read once, whatever the planner estimates for a version that was just closed; and equalities can be hashed.
    of = counts.where(*_of(survey_id, version), AnonymousResult.choice == "").cte("counts").prefix_with("MATERIALIZED")
    same = and_(
        of.c.question_key == AnonymousResult.question_key,
        of.c.joined == AnonymousResult.joined,
        of.c.whole == AnonymousResult.grouped.is_(None),
        of.c.grouped == func.coalesce(AnonymousResult.grouped, ""),
    )
    rows = select(AnonymousResult.id, *_COLUMNS, of.c.people.label("answered")).select_from(AnonymousResult)
    return rows.outerjoin(of, same).where(*_answers(survey_id, version, questions))


def _answers(survey_id: int, version: int, questions: Sequence[UUID]) -> tuple[ColumnElement[bool], ...]:
    return *_of(survey_id, version), AnonymousResult.choice != "", AnonymousResult.question_key.in_(questions)


def _of(survey_id: int, version: int) -> tuple[ColumnElement[bool], ...]:
    return AnonymousResult.survey_id == survey_id, AnonymousResult.version == version


async def choices_by_version(
    db: AsyncSession, survey_id: int, versions: Collection[int], questions: Collection[UUID]
) -> Sequence[Any]:
    """Answers of several versions: rows of (version, question_key, choice, people), all groups together. For other
    questions than these, only how many people answered: there may be very many texts."""
    keys = (AnonymousResult.version, AnonymousResult.question_key, AnonymousResult.choice)
    summed = cast(func.sum(AnonymousResult.people), Integer)
    wanted = or_(AnonymousResult.choice == "", AnonymousResult.question_key.in_(questions))
    which = *_of_versions(survey_id, versions), wanted
    return (await db.execute(select(*keys, summed).where(*which).group_by(*keys))).all()


async def numbers_by_version(
    db: AsyncSession, survey_id: int, versions: Collection[int], questions: Sequence[UUID]
) -> Mapping[tuple[int, UUID], NumberCount]:
    """Answers to number questions by version and question, all groups together."""
    return await _numbers(db, _of_versions(survey_id, versions), AnonymousResult.version, questions)


def _of_versions(survey_id: int, versions: Collection[int]) -> tuple[ColumnElement[bool], ...]:
    return AnonymousResult.survey_id == survey_id, AnonymousResult.version.in_(versions)


def group_name(row: Any, names: Mapping[str, str]) -> str:
    """The name of a result's group on a page."""
    if row.joined:
        return OTHERS
    if row.grouped is None:
        return EVERYBODY
    return names.get(row.grouped, row.grouped) or NOT_KNOWN


def _key_of_group(row: Any) -> str:
    """No group's name can be the key of the joined groups. _GROUP_KEY says the same."""
    return _JOINED if row.joined else f"={row.grouped or ''}"


def names_of(split: str | None, names: Names) -> Mapping[str, str]:
    """The names of the groups, by the value that a result stores for each."""
    return {"type": names.types, "tenant": names.workspaces}.get(split or "", {})


def told(choice: str) -> str:
    """An answer as a list shows it: a row of a matrix before its choice."""
    row, between, chosen = choice.partition(BETWEEN)
    return f"{row}: {chosen}" if between else choice


def is_split(questions: Sequence[AskedQuestion], split: str | None) -> bool:
    """True when there is a table by groups to show."""
    return split is not None and bool(split_by(questions))
