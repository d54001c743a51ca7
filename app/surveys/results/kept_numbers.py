"""Number questions of versions of a survey: counted when somebody asks, unless very many numbers differ. These are
counted by a job, which stores one small row for each question.

A stored count is about the whole version up to the mark of the tallies, whatever days and outcomes are asked for.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Uuid,
    and_,
    column,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.surveys.models import KeptNumbers, Tally
from app.surveys.results import breakdowns, number_counts, tallies, tally_marks
from app.surveys.results.breakdowns import Breakdown, Middle, Spread
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.number_counts import NumberCount
from app.surveys.results.tallies import AskedIn, TallyScope

JOB = "surveys_numbers"
# So many rows of the tallies are counted when somebody asks, for all questions and versions together. A number has a
# row for each day and outcome.
MOST_LIVE = 10_000
# Questions with at most so many different numbers are counted when somebody asks, however many rows they have.
FEW = 200
# So many rows of a question show if more numbers than FEW differ. Where later rows differ more, the question is counted
# when somebody asks: slower, and right.
_SAMPLE = 1_000
# When later answers came, an older count is made again as soon as somebody looks.
FRESH_FOR = timedelta(minutes=10)
_KEY = ("survey_id", "version", "question_key")
_ZERO = Decimal(0)
_NOTHING = NumberCount(0, {}, Spread(Middle(0, _ZERO, _ZERO, _ZERO, _ZERO), (0,) * breakdowns.RANGES, is_whole=True))


@dataclass(frozen=True, slots=True)
class KeptCount:
    """`choices` are people by number, when few numbers differ."""

    spread: Spread
    choices: Mapping[str, int]
    counted_at: datetime

    def breakdown(self, question: AskedQuestion) -> Breakdown:
        if self.choices:
            return breakdowns.breakdown(question, self.choices)
        return breakdowns.spread_out(question, self.spread)


@dataclass(frozen=True, slots=True)
class CountedNumbers:
    """By version and question: `live` were counted just now, `kept` by the job; `waiting` are not counted yet. The job
    should count the versions in `due`."""

    live: Mapping[AskedIn, NumberCount] = field(default_factory=dict)
    kept: Mapping[AskedIn, KeptCount] = field(default_factory=dict)
    waiting: frozenset[AskedIn] = frozenset()
    due: frozenset[int] = frozenset()

    def completed(self, version: int, found: Breakdown) -> Breakdown:
        """The result of a question, whose number of people is known, with what the job counted."""
        key = version, found.question.key
        if key in self.waiting:
            return replace(found, waits=True)
        one = self.kept.get(key)
        if one is None or not one.spread.middle.people:
            return found
        return replace(one.breakdown(found.question), people=found.people, counted_at=one.counted_at)


NO_NUMBERS: Final = CountedNumbers()


async def read(
    db: AsyncSession, scope: TallyScope, versions: Sequence[int], questions: Sequence[UUID]
) -> CountedNumbers:
    """No statement when no question is asked for."""
    asked = [(version, key) for version in versions for key in questions]
    if not asked:
        return NO_NUMBERS
    many = await _very_many(db, scope, asked)
    live = await number_counts.of_versions(db, scope, [one for one in asked if one not in many])
    if not many:
        return CountedNumbers(live)
    kept, due = await _kept(db, TallyScope(scope.survey_id), many)
    return CountedNumbers(live, kept, frozenset(many) - kept.keys(), due)


async def request(db: AsyncSession, survey_id: int, versions: Collection[int]) -> None:
    """Asks the job to count these versions."""
    for version in sorted(versions):
        about = {"survey_id": survey_id, "version": version}
        await jobs.request(db, JOB, key=f"{JOB}:{survey_id}:{version}", arguments=about)


async def keep(db: AsyncSession, survey_id: int, version: int, questions: Collection[UUID]) -> None:
    """Counts number questions of a version in the tallies, and stores what each came to, and which have no numbers.

    An erasure waits for it, or it for the erasure: otherwise it could store answers that were just erased.
    """
    await tally_marks.hold(db)
    scope, asked = TallyScope(survey_id, version), [(version, key) for key in sorted(questions)]
    found = await number_counts.up_to_the_mark(db, scope, asked)
    answered = {row.question_key: row.people for row in await db.execute(tallies.kept_people(scope, asked))}
    rows = [
        {
            "survey_id": survey_id,
            "version": version,
            "question_key": key,
            "answered": answered.get(key, 0),
            **_values(found.get((version, key), _NOTHING)),
        }
        for _, key in asked
    ]
    if rows:
        statement = insert(KeptNumbers).values(rows)
        changed = {name: statement.excluded[name] for name in rows[0] if name not in _KEY}
        await db.execute(statement.on_conflict_do_update(index_elements=_KEY, set_=changed))


async def _very_many(db: AsyncSession, scope: TallyScope, asked: Sequence[AskedIn]) -> list[AskedIn]:
    """Those with more rows of the tallies than their share of MOST_LIVE, and in which more numbers than FEW differ."""
    most = MOST_LIVE // len(asked)
    large = await _those(db, scope, asked, select(literal_column("1")).limit(most + 1), func.count() > most)
    differ = func.count(column("choice").distinct()) > FEW
    return await _those(db, scope, large, select(Tally.choice).limit(_SAMPLE), differ) if large else []


async def _those(
    db: AsyncSession, scope: TallyScope, asked: Sequence[AskedIn], sample: Select[Any], have: ColumnElement[bool]
) -> list[AskedIn]:
    """Those of which a sample of the tallies has this."""
    versions = literal([version for version, _ in asked], ARRAY(BigInteger))
    keys = literal([key for _, key in asked], ARRAY(Uuid))
    named = column("version", BigInteger), column("question_key", Uuid)
    pair = func.unnest(versions, keys).table_valued(*named, name="asked").render_derived().c
    same = and_(Tally.version == pair.version, Tally.question_key == pair.question_key)
    rows = sample.where(scope.kept(), same).lateral("stored")
    counted = select(pair.version, pair.question_key).join(rows, true()).group_by(pair.version, pair.question_key)
    return [(row.version, row.question_key) for row in await db.execute(counted.having(have))]


async def _kept(
    db: AsyncSession, scope: TallyScope, asked: Collection[AskedIn]
) -> tuple[dict[AskedIn, KeptCount], frozenset[int]]:
    """What is stored, and the versions of which nothing is, or to which answers came since."""
    now = tallies.kept_people(scope, asked).subquery("now")
    changed = and_(KeptNumbers.answered != now.c.people, KeptNumbers.counted_at < func.now() - FRESH_FOR)
    is_due = or_(KeptNumbers.counted_at.is_(None), changed).label("is_due")
    stored = KeptNumbers.__table__.c
    same = and_(
        stored.survey_id == scope.survey_id,
        stored.version == now.c.version,
        stored.question_key == now.c.question_key,
    )
    columns = (one for one in stored if one.name not in _KEY)
    statement = select(now.c.version, now.c.question_key, is_due, *columns).join_from(
        now, KeptNumbers.__table__, same, isouter=True
    )
    rows = (await db.execute(statement)).all()
    kept = {(row.version, row.question_key): _count_of(row) for row in rows if row.counted_at}
    return kept, frozenset(row.version for row in rows if row.is_due)


def _values(one: NumberCount) -> dict[str, Any]:
    of = one.spread.middle
    middle = {name: getattr(of, name) for name in ("people", "mean", "median", "lowest", "highest")}
    stored = {"ranges": list(one.spread.ranges), "is_whole": one.spread.is_whole, "choices": dict(one.choices)}
    return {**middle, **stored, "counted_at": func.now()}


def _count_of(row: Any) -> KeptCount:
    middle = Middle(row.people, row.mean, row.median, row.lowest, row.highest)
    return KeptCount(Spread(middle, tuple(row.ranges), is_whole=row.is_whole), row.choices, row.counted_at)
