"""What counts mean: rates, percentages, means, and what each question came to. Pure.

A percentage is of those who answered that question; None when there are none.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from app.counting import mean, percent
from app.surveys.question_details import NO_DETAILS, QuestionDetails
from app.surveys.words import MOST_STARS, OUTCOMES

RESPONDED = ("answered", "agreed", "declined", "withdrawn")
DECIDED = ("agreed", "declined", "withdrawn")
STARS = tuple(str(star) for star in range(MOST_STARS, 0, -1))


@dataclass(frozen=True, slots=True)
class Counters:
    """People by outcome, and how many of all who were asked. `impressed` are people with an impression, `unprompted` those of
    each outcome without one."""

    outcomes: Mapping[str, int] = field(default_factory=dict)
    impressed: int = 0
    unprompted: Mapping[str, int] = field(default_factory=dict)

    @property
    def responses(self) -> int:
        """Rows of the ledger, opt-outs too."""
        return sum(self.outcomes.values())

    @property
    def responded(self) -> int:
        return _responded(self.outcomes)

    @property
    def opted_out(self) -> int:
        return self.outcomes.get("opted_out", 0)

    @property
    def alone(self) -> int:
        """Who has a row of the ledger and no impression."""
        return sum(self.unprompted.values())

    @property
    def responded_alone(self) -> int:
        return _responded(self.unprompted)

    @property
    def opted_out_alone(self) -> int:
        return self.unprompted.get("opted_out", 0)

    @property
    def asked(self) -> int:
        return self.impressed + self.alone

    @property
    def decided(self) -> int:
        """Who agreed or declined, withdrawn agreements included."""
        return sum(self.outcomes.get(outcome, 0) for outcome in DECIDED)

    @property
    def withdrawn(self) -> int:
        return self.outcomes.get("withdrawn", 0)

    @property
    def response_rate(self) -> Decimal | None:
        return percent(self.responded, self.asked)

    @property
    def acceptance(self) -> Decimal | None:
        return percent(self.outcomes.get("agreed", 0), self.decided)


def _responded(people: Mapping[str, int]) -> int:
    return sum(people.get(outcome, 0) for outcome in RESPONDED)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question in the wording that a version had."""

    key: UUID
    label: str
    type: str
    options: tuple[str, ...] = ()
    required: bool = False
    details: QuestionDetails = NO_DETAILS


def outcomes_of(questions: Iterable[AskedQuestion], enforcement: str, counters: Counters) -> tuple[str, ...]:
    """The outcomes that a survey can have, and those that it has nevertheless; in the order of OUTCOMES."""
    asks_agreement = any(one.type == "agreement" for one in questions)
    possible = set(DECIDED) if asks_agreement else {"answered"}
    if enforcement == "optional":
        possible.add("opted_out")
    return tuple(one for one in OUTCOMES if one in possible or counters.outcomes.get(one))


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    people: int
    percent: Decimal | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What one question came to: `people` answered it at all. `mean` is of stars; agreements and free texts have no bars."""

    question: AskedQuestion
    people: int
    bars: tuple[Bar, ...] = ()
    mean: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """`counters` and `days` (oldest first, with people by outcome) are of the whole version; `narrowed` is how many of its
    responses lie in the days and outcomes that were asked for, and `questions` what those came to."""

    counters: Counters
    days: Mapping[date, Mapping[str, int]]
    narrowed: int
    questions: tuple[Breakdown, ...]


# Day (None for questions), outcome, question, choice, people, unprompted.
Figure = tuple[date | None, str, UUID, str, int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """How figures of app.surveys.results.tallies are to be read: its marks for whole responses and first impressions, and the scope's
    outcomes (None: any) and days (either open)."""

    whole: UUID
    asked: str
    outcomes: Collection[str] | None = None
    days: tuple[date | None, date | None] = (None, None)

    def holds(self, day: date, outcome: str) -> bool:
        first, last = self.days
        within = (first is None or day >= first) and (last is None or day <= last)
        return within and (self.outcomes is None or outcome in self.outcomes)


def results(figures: Iterable[Figure], questions: Sequence[AskedQuestion], reading: Reading) -> Results:
    """The figures of one version against its questions."""
    choices: dict[UUID, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    days: dict[date, dict[str, int]] = defaultdict(dict)
    totals = []
    for day, outcome, question, choice, people, alone in figures:
        if question != reading.whole or day is None:
            choices[question][choice] += people
            continue
        totals.append((outcome, people, alone))
        if outcome != reading.asked:
            days[day][outcome] = people
    narrowed = sum(
        n for day, outcomes in days.items() for outcome, n in outcomes.items() if reading.holds(day, outcome)
    )
    parts = tuple(breakdown(one, choices.get(one.key, {})) for one in questions)
    return Results(counters(totals, asked=reading.asked), dict(sorted(days.items())), narrowed, parts)


def breakdown(question: AskedQuestion, choices: Mapping[str, int]) -> Breakdown:
    """`choices` are people per choice; under '' those who answered at all."""
    people = choices.get("", 0)
    if question.type in ("agreement", "free_text"):
        return Breakdown(question, people)
    labels = STARS if question.type == "star_rating" else question.options
    # Options never change under answers; if one were gone, its people still are not.
    others = [choice for choice in choices if choice and choice not in labels]
    bars = tuple(_bar(label, choices.get(label, 0), people) for label in (*labels, *sorted(others)))
    if question.type != "star_rating":
        return Breakdown(question, people, bars)
    return Breakdown(question, people, bars, mean(sum(int(star) * choices.get(star, 0) for star in STARS), people))


def _bar(label: str, people: int, of: int) -> Bar:
    return Bar(label, people, percent(people, of))


def counters(rows: Iterable[tuple[str, int, int]], *, asked: str) -> Counters:
    """From rows of whole responses and first impressions: (outcome, people, unprompted)."""
    outcomes: dict[str, int] = defaultdict(int)
    unprompted: dict[str, int] = defaultdict(int)
    impressed = 0
    for outcome, people, alone in rows:
        if outcome == asked:
            impressed += people
        else:
            outcomes[outcome] += people
            unprompted[outcome] += alone
    return Counters(dict(outcomes), impressed, dict(unprompted))
