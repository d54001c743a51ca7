"""Rates and percentages of counts, and which counts belong to which figure. Pure.

A percentage is a share of those who answered that question; None when there are none.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from app.counting import percent
from app.surveys.question_details import NO_DETAILS, QuestionDetails
from app.surveys.words import OUTCOMES

RESPONDED = ("answered", "agreed", "declined", "withdrawn")
DECIDED = ("agreed", "declined", "withdrawn")


@dataclass(frozen=True, slots=True)
class Counters:
    """People by outcome, and how many of all were asked. `impressed` are people with an impression, `unprompted` those
    of each outcome without one."""

    outcomes: Mapping[str, int] = field(default_factory=dict)
    impressed: int = 0
    unprompted: Mapping[str, int] = field(default_factory=dict)

    @property
    def responses(self) -> int:
        """Rows of the ledger, with opt-outs."""
        return sum(self.outcomes.values())

    @property
    def responded(self) -> int:
        return _responded(self.outcomes)

    @property
    def opted_out(self) -> int:
        return self.outcomes.get("opted_out", 0)

    @property
    def alone(self) -> int:
        """People with a row of the ledger and without an impression."""
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
        """People who agreed or declined, with withdrawn agreements."""
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
    """A question in the wording of a version."""

    key: UUID
    label: str
    type: str
    options: tuple[str, ...] = ()
    required: bool = False
    details: QuestionDetails = NO_DETAILS


def outcomes_of(questions: Iterable[AskedQuestion], enforcement: str, counters: Counters) -> tuple[str, ...]:
    """The outcomes that a survey can have, and others that it has nevertheless, in the order of OUTCOMES."""
    asks_agreement = any(one.type == "agreement" for one in questions)
    possible = set(DECIDED) if asks_agreement else {"answered"}
    if enforcement == "optional":
        possible.add("opted_out")
    return tuple(one for one in OUTCOMES if one in possible or counters.outcomes.get(one))


# Day (None for questions), outcome, question, choice, people, unprompted.
Figure = tuple[date | None, str, UUID, str, int, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read the figures of app.surveys.results.tallies: its marks for whole responses and first impressions, and
    the scope's outcomes (None: any) and days (each end may be open)."""

    whole: UUID
    asked: str
    outcomes: Collection[str] | None = None
    days: tuple[date | None, date | None] = (None, None)

    def holds(self, day: date, outcome: str) -> bool:
        first, last = self.days
        within = (first is None or day >= first) and (last is None or day <= last)
        return within and (self.outcomes is None or outcome in self.outcomes)


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
