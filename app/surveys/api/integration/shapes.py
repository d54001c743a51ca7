"""What the endpoints of this part share: who may read them, and the shapes of questions and choices. No route here."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, cast
from uuid import UUID

import msgspec

from app.api.envelope import Count, Instant
from app.api.tokens import TokenGuard
from app.surveys import decimals
from app.surveys.api.queue_rows import Options, QuestionKind
from app.surveys.results.breakdowns import Bar, Breakdown, Middle
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.promoters import PromoterScore
from app.surveys.words import LONGEST_LABEL, LONGEST_OPTION, LONGEST_TEXT, MOST_QUESTIONS
from app.texts import instant

PREFIX = "/api/v1/surveys"
SURVEYS_READ = TokenGuard("surveys:read", permissions=("surveys.view",), module="surveys")
# A number or a day may have a bar for each value; a choice has its options, and a range has two ends.
MOST_BARS = 1000

Label = Annotated[str, msgspec.Meta(max_length=LONGEST_LABEL)]
Percent = Annotated[
    float, msgspec.Meta(ge=0, le=100, description="To one place; null where there are no people to count.")
]
_Number = Annotated[float, msgspec.Meta(ge=-decimals.LARGEST, le=decimals.LARGEST)]
_Bar = Annotated[str, msgspec.Meta(max_length=LONGEST_OPTION + 100)]


class QuestionAsked(msgspec.Struct, kw_only=True):
    """`id` never changes: the answers to a question have it in all versions."""

    id: UUID
    label: Label
    type: QuestionKind
    required: bool
    options: Options
    rows: Options


class ChoiceCount(msgspec.Struct, kw_only=True):
    label: _Bar
    people: Count
    percent: Percent | None


class MiddleValue(msgspec.Struct, kw_only=True):
    """Mean and median of `people` who gave a number."""

    people: Count
    mean: _Number
    median: _Number
    lowest: _Number
    highest: _Number


class PromoterCount(msgspec.Struct, kw_only=True):
    """`score` is the percentage of promoters (9 and 10) minus that of detractors (0 to 6)."""

    score: Annotated[float, msgspec.Meta(ge=-100, le=100)]
    promoters: Count
    passives: Count
    detractors: Count


class RowCount(msgspec.Struct, kw_only=True):
    """A row of a matrix: how many people answered it, and what they chose."""

    label: _Bar
    people: Count
    choices: Annotated[list[ChoiceCount], msgspec.Meta(max_length=MOST_BARS)]
    middle: MiddleValue | None


class QuestionCount(msgspec.Struct, kw_only=True):
    """The result of a question: `people` answered it at all. `middle` is null when answers are not numbers, `promoters`
    when the question is not a net promoter score; a matrix has `rows` in place of `choices`.

    Very many different numbers are counted in the background: `counted_at` says when `middle` and `choices` were, for
    the whole version. Until then `middle` is null."""

    id: UUID
    label: Label
    type: QuestionKind
    people: Count
    choices: Annotated[list[ChoiceCount], msgspec.Meta(max_length=MOST_BARS)]
    middle: MiddleValue | None
    promoters: PromoterCount | None
    rows: Annotated[list[RowCount], msgspec.Meta(max_length=MOST_BARS)]
    counted_at: Instant | None


Questions = Annotated[list[QuestionAsked], msgspec.Meta(max_length=MOST_QUESTIONS)]
QuestionCounts = Annotated[list[QuestionCount], msgspec.Meta(max_length=MOST_QUESTIONS)]
WrittenText = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]


def asked(question: AskedQuestion) -> QuestionAsked:
    return QuestionAsked(
        id=question.key,
        label=question.label,
        type=cast("QuestionKind", question.type),
        required=question.required,
        options=list(question.options),
        rows=list(question.details.rows),
    )


def counted(found: Breakdown) -> QuestionCount:
    return QuestionCount(
        id=found.question.key,
        label=found.question.label,
        type=cast("QuestionKind", found.question.type),
        people=found.people,
        choices=_choices(found.bars),
        middle=_middle(found.middle),
        promoters=_promoters(found.promoters),
        rows=[
            RowCount(label=row.label, people=row.people, choices=_choices(row.bars), middle=_middle(row.middle))
            for row in found.rows
        ],
        counted_at=instant(found.counted_at),
    )


def percentage(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _choices(bars: Iterable[Bar]) -> list[ChoiceCount]:
    return [ChoiceCount(label=one.label, people=one.people, percent=percentage(one.percent)) for one in bars]


def _middle(found: Middle | None) -> MiddleValue | None:
    if found is None:
        return None
    numbers = {name: float(getattr(found, name)) for name in ("mean", "median", "lowest", "highest")}
    return MiddleValue(people=found.people, **numbers)


def _promoters(found: PromoterScore | None) -> PromoterCount | None:
    if found is None:
        return None
    return PromoterCount(
        score=float(found.score),
        promoters=found.promoters,
        passives=found.passives,
        detractors=found.detractors,
    )
