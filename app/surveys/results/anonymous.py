"""What an anonymous version came to, as its closing left it: one breakdown a question, groups, and what people wrote.

Nothing here knows a person. Before the closing there is nothing to read.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, Select, Uuid, and_, cast, func, literal, or_, select, true
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.anonymous.models import AnonymousResult
from app.surveys.ledger.chain import BETWEEN
from app.surveys.models import LedgerChange
from app.surveys.results import breakdowns, tallies
from app.surveys.results.breakdowns import Breakdown
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.splits import OTHERS, Split, split_by
from app.surveys.words import Names

NOT_KNOWN = "Not known"
EVERYBODY = "Everybody"
# Texts of one question that a survey's page shows.
MOST_TEXTS = 10
_JOINED = "+"
_COLUMNS = (
    AnonymousResult.question_key,
    AnonymousResult.grouped,
    AnonymousResult.joined,
    AnonymousResult.choice,
    AnonymousResult.people,
)


@dataclass(frozen=True, slots=True)
class AnonymousOutcome:
    """`closed_at` None: the version is still open. `ballots` is how many answered, `rows` have question_key, grouped, joined, choice and
    people, without what people wrote; `texts` are some of that by question, with how many wrote just that, in no order.
    `answers` counts the rows of `listed`."""

    closed_at: datetime | None = None
    ballots: int = 0
    rows: Sequence[Any] = field(default_factory=list)
    texts: Mapping[UUID, Sequence[tuple[str, int]]] = field(default_factory=dict)
    answers: int = 0

    @property
    def is_shown(self) -> bool:
        return bool(self.rows)

    def breakdowns(self, questions: Iterable[AskedQuestion]) -> tuple[Breakdown, ...]:
        """All groups together."""
        of: dict[UUID, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            of[row.question_key][row.choice] += row.people
        return tuple(breakdowns.breakdown(one, of[one.key]) for one in questions)

    def split(self) -> Split:
        """By the keys of `group_names`: a department may be called as the groups that stand together."""
        of: dict[tuple[str | None, UUID], dict[str, int]] = defaultdict(dict)
        sizes: Counter[str] = Counter()
        for row in self.rows:
            group = _key_of_group(row)
            of[group, row.question_key][row.choice] = row.people
            sizes[group] = max(sizes[group], row.people)
        return Split(sorted(sizes.items(), key=lambda one: (one[0] == _JOINED, -one[1], one[0])), of)

    def group_names(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """What a page calls the groups of `split`."""
        return {_key_of_group(row): group_name(row, names) for row in self.rows}


async def read(
    db: AsyncSession, survey_id: int, version: int, questions: Sequence[AskedQuestion], *, texts: int = MOST_TEXTS
) -> AnonymousOutcome:
    """Three statements. At most so many `texts` of each question."""
    written = [one.key for one in questions if one.type == "free_text"]
    answers = select(func.count()).where(*_answers(survey_id, version, [one.key for one in questions]))
    change = select(LedgerChange.recorded_at, LedgerChange.ballots, answers.scalar_subquery().label("answers")).where(
        LedgerChange.survey_id == survey_id, LedgerChange.version == version, LedgerChange.kind == "closed"
    )
    closed = (await db.execute(change)).one_or_none()
    if closed is None:
        return AnonymousOutcome()
    counted = select(*_COLUMNS).where(
        *_of(survey_id, version), or_(AnonymousResult.choice == "", AnonymousResult.question_key.not_in(written))
    )
    rows = (await db.execute(counted.order_by(AnonymousResult.id))).all()
    said: dict[UUID, list[tuple[str, int]]] = defaultdict(list)
    for key, text, people in await db.execute(_some_texts(survey_id, version, written, texts)):
        said[key].append((text, people))
    return AnonymousOutcome(closed.recorded_at, closed.ballots, rows, said, closed.answers)


def _some_texts(survey_id: int, version: int, written: Sequence[UUID], most: int) -> Select[Any]:
    asked = func.unnest(literal(written, ARRAY(Uuid))).column_valued("asked")
    some = select(AnonymousResult.id, AnonymousResult.choice, AnonymousResult.people).where(
        *_of(survey_id, version), AnonymousResult.choice != "", AnonymousResult.question_key == asked
    )
    first = some.order_by(AnonymousResult.id).limit(most).lateral("first")
    return select(asked, first.c.choice, first.c.people).join(first, true()).order_by(first.c.id)


def listed(survey_id: int, version: int, questions: Sequence[UUID]) -> Select[Any]:
    """Each answer, and as `answered` how many people answered that question in that group."""
    counts = select(
        AnonymousResult.question_key,
        AnonymousResult.joined,
        AnonymousResult.grouped.is_(None).label("whole"),
        func.coalesce(AnonymousResult.grouped, "").label("grouped"),
        AnonymousResult.people,
    )
    # Read once, whatever the planner believes of a version that was just closed; and equalities can be hashed.
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
    db: AsyncSession, survey: Any, versions: Collection[int], apart: Collection[UUID] = ()
) -> Sequence[Any]:
    """Answers of several versions of any survey, a row of `surveys`: rows of (version, question_key, choice, people), all groups together.
    Of a named one, questions that are `apart` have none."""
    if survey.anonymity != "anonymous":
        counted: Sequence[Any] = (await db.execute(tallies.by_version(survey.id, versions, apart))).all()
        return counted
    keys = (AnonymousResult.version, AnonymousResult.question_key, AnonymousResult.choice)
    summed = cast(func.sum(AnonymousResult.people), Integer)
    which = AnonymousResult.survey_id == survey.id, AnonymousResult.version.in_(versions)
    return (await db.execute(select(*keys, summed).where(*which).group_by(*keys))).all()


def group_name(row: Any, names: Mapping[str, str]) -> str:
    """What a page calls the group of a result."""
    if row.joined:
        return OTHERS
    if row.grouped is None:
        return EVERYBODY
    return names.get(row.grouped, row.grouped) or NOT_KNOWN


def _key_of_group(row: Any) -> str:
    """No name of a group can be the key of those that stand together."""
    return _JOINED if row.joined else f"={row.grouped or ''}"


def names_of(split: str | None, names: Names) -> Mapping[str, str]:
    """The names of the groups by what a result keeps of them."""
    return {"type": names.types, "tenant": names.workspaces}.get(split or "", {})


def told(choice: str) -> str:
    """An answer as a list shows it: a row of a matrix before what was chosen in it."""
    row, between, chosen = choice.partition(BETWEEN)
    return f"{row}: {chosen}" if between else choice


def is_split(questions: Sequence[AskedQuestion], split: str | None) -> bool:
    """True when there is a table by groups to show."""
    return split is not None and bool(split_by(questions))
