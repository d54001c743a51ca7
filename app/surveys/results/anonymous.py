"""What an anonymous version came to, as its closing left it: one breakdown a question, groups, and what people wrote.

Nothing here knows a person. Before the closing there is nothing to read.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Integer, cast, func, select
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


@dataclass(frozen=True, slots=True)
class AnonymousOutcome:
    """`closed_at` None: the version is still open. `ballots` is how many answered, `rows` have question_key, grouped, joined, choice and people."""

    closed_at: datetime | None = None
    ballots: int = 0
    rows: Sequence[Any] = field(default_factory=list)

    @property
    def is_shown(self) -> bool:
        return bool(self.rows)

    def breakdowns(self, questions: Iterable[AskedQuestion]) -> tuple[Breakdown, ...]:
        """All groups together."""
        of: dict[UUID, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            of[row.question_key][row.choice] += row.people
        return tuple(breakdowns.breakdown(one, of[one.key]) for one in questions)

    def texts(self, question: AskedQuestion) -> list[tuple[str, int]]:
        """Some of what people wrote, and how many wrote just that, in no order."""
        said = [(row.choice, row.people) for row in self.rows if row.question_key == question.key and row.choice]
        return said[:MOST_TEXTS]

    def split(self, names: Mapping[str, str]) -> Split:
        """By the names of the groups."""
        of: dict[tuple[str | None, UUID], dict[str, int]] = defaultdict(dict)
        sizes: Counter[str] = Counter()
        for row in self.rows:
            group = group_name(row, names)
            of[group, row.question_key][row.choice] = row.people
            sizes[group] = max(sizes[group], row.people)
        return Split(sorted(sizes.items(), key=lambda one: (one[0] == OTHERS, -one[1], one[0])), of)


async def read(db: AsyncSession, survey_id: int, version: int) -> AnonymousOutcome:
    """Two statements."""
    change = select(LedgerChange.recorded_at, LedgerChange.ballots).where(
        LedgerChange.survey_id == survey_id, LedgerChange.version == version, LedgerChange.kind == "closed"
    )
    closed = (await db.execute(change)).one_or_none()
    if closed is None:
        return AnonymousOutcome()
    columns = (
        AnonymousResult.question_key,
        AnonymousResult.grouped,
        AnonymousResult.joined,
        AnonymousResult.choice,
        AnonymousResult.people,
    )
    rows = select(*columns).where(AnonymousResult.survey_id == survey_id, AnonymousResult.version == version)
    found = (await db.execute(rows.order_by(AnonymousResult.id))).all()
    return AnonymousOutcome(closed.recorded_at, closed.ballots, found)


async def choices_by_version(db: AsyncSession, survey: Any, versions: Collection[int]) -> Sequence[Any]:
    """Answers of several versions of any survey, a row of `surveys`: rows of (version, question_key, choice, people), all groups together."""
    if survey.anonymity != "anonymous":
        counted: Sequence[Any] = (await db.execute(tallies.by_version(survey.id, versions))).all()
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


def names_of(split: str | None, names: Names) -> Mapping[str, str]:
    """The names of the groups by what a result keeps of them."""
    return {"type": names.types, "tenant": names.workspaces}.get(split or "", {})


def told(choice: str) -> str:
    """An answer as a list shows it: a row of a matrix before what was chosen in it."""
    row, between, chosen = choice.partition(BETWEEN)
    return f"{row}: {chosen}" if between else choice


def is_split(questions: Sequence[AskedQuestion], split: str | None) -> bool:
    """Whether there is a table by groups to show."""
    return split is not None and bool(split_by(questions))
