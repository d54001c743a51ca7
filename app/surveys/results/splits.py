"""The answers to one version by groups of people: their user type, tenant or department, all as they are today, or the
language in which they read it.

Up to MOST_LIVE responses are counted when somebody asks. Above that, a job counts the whole version. Later responses
are added when somebody asks, and the page says from when the groups are.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CTE,
    Text,
    and_,
    case,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app import jobs
from app.surveys.models import WHOLE, Answer, KeptSplit, LedgerChange, LedgerHead, Response
from app.surveys.results import breakdowns, number_counts
from app.surveys.results.breakdowns import Breakdown, Middle, Spread
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.group_counts import GroupFigure, LedgerStretch, answers_of, count_groups, people_of
from app.surveys.results.number_counts import NumberCount
from app.surveys.results.tallies import TallyScope

# Counting so many takes a tenth of a second or two.
MOST_LIVE = 3_000
# The largest groups; all others are joined.
MOST_GROUPS = 12
OTHERS = "Others"
# When a stored count is older, it is counted again as soon as somebody looks at it, because people move between groups.
# Sooner when later responses can't be added.
FRESH_FOR = timedelta(hours=1)
FRESH_WITHOUT_THE_REST_FOR = timedelta(minutes=10)
# Later rows of the ledger, of all surveys: at most so many are looked through.
LONGEST_REST = 5_000
# With more different numbers in all groups, only means and medians are stored.
MOST_VALUES = 500
_ALL_OF_FEW = LedgerStretch(is_few=True)


@dataclass(frozen=True, slots=True)
class Split:
    """`groups` are names, largest first (None: unknown), with their people; `of` finds the result of a question in a
    group. `counted_at` is None for a live count; `to_now`: a stored count includes later responses. `middles` are means
    and medians of numbers in a stored count, which does not store very many numbers one by one; `spreads` are those of
    very many numbers that were just counted."""

    groups: Sequence[tuple[str | None, int]]
    of: Mapping[tuple[str | None, UUID], Mapping[str, int]]
    counted_at: datetime | None = None
    to_now: bool = False
    middles: Mapping[tuple[str | None, UUID], Middle] = field(default_factory=dict)
    spreads: Mapping[tuple[str | None, UUID], Spread] = field(default_factory=dict)

    def breakdown(self, question: AskedQuestion, group: str | None) -> Breakdown:
        if spread := self.spreads.get((group, question.key)):
            return breakdowns.spread_out(question, spread)
        found = breakdowns.breakdown(question, self.of.get((group, question.key), {}))
        kept = self.middles.get((group, question.key))
        return replace(found, middle=kept) if kept else found

    def outcomes(self, group: str | None) -> Mapping[str, int]:
        return self.of.get((group, WHOLE), {})


async def read(
    db: AsyncSession,
    scope: TallyScope,
    split: str,
    questions: Sequence[AskedQuestion],
    *,
    responses: int,
    now: datetime,
) -> Split | None:
    """`responses` of the version decide if it is counted live. None while a job counts for the first time. A stored
    count is about the whole version, and so is what is added to it: outcomes and days of `scope` narrow only a live
    count."""
    if responses <= MOST_LIVE:
        return _split(await count_groups(db, scope, split, questions, _ALL_OF_FEW))
    kept = await _kept(db, scope, split)
    rest = await _rest(db, scope, kept.figures) if kept else None
    fresh_for = FRESH_WITHOUT_THE_REST_FOR if rest is None else FRESH_FOR
    if kept is None or kept.counted_at < now - fresh_for:
        about = {"survey_id": scope.survey_id, "version": scope.version, "split": split}
        await jobs.request(
            db, "surveys_split", key=f"surveys_split:{':'.join(map(str, about.values()))}", arguments=about
        )
    if kept is None or rest is None:
        return kept and _read(kept.figures, kept.counted_at)
    whole = TallyScope(scope.survey_id, scope.version)
    since = await count_groups(db, whole, split, questions, rest)
    return replace(_split(_added(kept.figures["people"], since), kept.counted_at), to_now=True)


async def keep(db: AsyncSession, survey_id: int, version: int, split: str, questions: Sequence[AskedQuestion]) -> None:
    """Counts the whole version up to the head of the ledger and stores it. What is stored and read is limited:
    MOST_GROUPS groups, and for many numbers their mean and median."""
    head = await db.scalar(select(LedgerHead.number)) or 0
    whole, among = TallyScope(survey_id, version), LedgerStretch(until=head)
    counted = _joined(await count_groups(db, whole, split, [one for one in questions if one.type != "number"], among))
    numbers = await _numbers(db, people_of(whole, split, among), among, questions, {group for group, *_ in counted})
    figures = {**_kept_of(counted, numbers), "head": head}
    values = {"survey_id": survey_id, "version": version, "split": split, "figures": figures, "counted_at": func.now()}
    statement = insert(KeptSplit).values(**values)
    changed = {name: statement.excluded[name] for name in ("figures", "counted_at")}
    await db.execute(statement.on_conflict_do_update(index_elements=["survey_id", "version", "split"], set_=changed))


async def _numbers(
    db: AsyncSession,
    people: CTE,
    among: LedgerStretch,
    questions: Sequence[AskedQuestion],
    groups: Collection[str | None],
) -> Mapping[tuple[str | None, UUID], NumberCount]:
    """By group and question; people in none of these groups are in OTHERS. No statement without a number question."""
    asked = number_counts.asked_for(questions)
    if not asked:
        return {}
    named = [one for one in groups if one is not None]
    stays = or_(people.c.grouped.is_(None), people.c.grouped.in_(named))
    group = case((stays, people.c.grouped), else_=literal(OTHERS, Text)).label("part")
    given = select(group, Answer.question_key, Answer.choice, literal_column("1").label("people"))
    return await number_counts.read(db, given.where(answers_of(people, among, asked)), MOST_VALUES)


async def _kept(db: AsyncSession, scope: TallyScope, split: str) -> Any:
    """None also for a count in the older form, a list with each number and day, so that it is counted again."""
    which = and_(
        KeptSplit.survey_id == scope.survey_id,
        KeptSplit.version == scope.version,
        KeptSplit.split == split,
        func.jsonb_typeof(KeptSplit.figures) == "object",
    )
    return (await db.execute(select(KeptSplit.figures, KeptSplit.counted_at).where(which))).one_or_none()


def _kept_of(counted: Sequence[GroupFigure], numbers: Mapping[tuple[str | None, UUID], NumberCount]) -> dict[str, Any]:
    """In the form that `_read` takes."""
    different: Counter[UUID] = Counter()
    for (_, question), one in numbers.items():
        different[question] += one.different
    people, middles = list(counted), []
    for (group, question), one in numbers.items():
        if different[question] <= MOST_VALUES:
            people += [(group, str(question), choice, number) for choice, number in one.choices.items()]
            continue
        people.append((group, str(question), "", one.people))
        of = one.spread.middle
        places = map(str, (of.mean, of.median, of.lowest, of.highest))
        middles.append((group, str(question), one.people, *places))
    return {"people": people, "middles": middles}


def _read(kept: Mapping[str, Any], counted_at: datetime) -> Split:
    middles = {
        (group, UUID(question)): Middle(people, *map(Decimal, places))
        for group, question, people, *places in kept["middles"]
    }
    return replace(_split([tuple(one) for one in kept["people"]], counted_at), middles=middles)


async def _rest(db: AsyncSession, scope: TallyScope, kept: Mapping[str, Any]) -> LedgerStretch | None:
    """The later responses. None when they can't be added: too many to look through, an agreement that changed, or a
    question with stored means and medians only."""
    counted = kept.get("head")
    if counted is None or kept["middles"]:
        return None
    changed = select(LedgerChange.number).join(Response, Response.number == LedgerChange.response_number)
    of_survey = exists(changed.where(LedgerChange.number > counted, Response.survey_id == scope.survey_id))
    head, moved = (await db.execute(select(LedgerHead.number, of_survey))).one()
    return None if moved or head > counted + LONGEST_REST else LedgerStretch(counted, head, is_few=True)


def _added(kept: Sequence[Sequence[Any]], since: Sequence[GroupFigure]) -> list[GroupFigure]:
    """Later people of a group that was joined with the others are added to the others."""
    named = {group for group, *_ in kept}
    small = OTHERS in named
    moved = [(OTHERS if small and one[0] is not None and one[0] not in named else one[0], *one[1:]) for one in since]
    return [*((group, question, choice, people) for group, question, choice, people in kept), *moved]


def _split(figures: Sequence[GroupFigure], counted_at: datetime | None = None) -> Split:
    joined = _joined(figures)
    of: dict[tuple[str | None, UUID], dict[str, int]] = defaultdict(dict)
    for group, question, choice, people in joined:
        of[group, UUID(question)][choice] = people
    return Split(_sizes(joined), of, counted_at)


def _sizes(figures: Sequence[GroupFigure]) -> list[tuple[str | None, int]]:
    sizes: Counter[str | None] = Counter()
    for group, question, _, people in figures:
        if question == str(WHOLE):
            sizes[group] += people
    return sorted(sizes.items(), key=lambda one: (one[0] in (None, OTHERS), -one[1], one[0] or ""))


def _joined(figures: Sequence[GroupFigure]) -> list[GroupFigure]:
    """The counts with the small groups joined."""
    named = [group for group, _ in _sizes(figures) if group is not None]
    small = set(named[MOST_GROUPS:]) if len(named) > MOST_GROUPS + 1 else set()
    sums: Counter[tuple[str | None, str, str]] = Counter()
    for group, question, choice, people in figures:
        sums[OTHERS if group in small else group, question, choice] += people
    return [(group, question, choice, people) for (group, question, choice), people in sums.items()]
