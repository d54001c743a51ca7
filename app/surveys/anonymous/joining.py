"""Makes results from opened ballots: counts answers question by question, joins small groups, shuffles the rows. Pure.

Nothing here knows a person, a time or an order: counting takes a ballot apart.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

import msgspec

from app.surveys.ledger import chain
from app.surveys.ledger.chain import LedgerAnswer

# The fewest answers of a version that has a result, and of a group that is shown.
FEWEST: Final = 5


class Ballot(msgspec.Struct, frozen=True):
    """What one person answered. `answers` include free texts. `group` is the key or name of the person's group, when
    the survey has a split: "" when it is unknown, None without a split."""

    answers: list[LedgerAnswer]
    group: str | None = None


# A question and a group.
_Place = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """How many people of a group gave this answer. With `choice` '' it counts the people who answered the question at
    all; the other fields are as in `models.AnonymousResult`."""

    question: UUID
    grouped: str | None
    joined: bool
    choice: str
    people: int


class Luck(Protocol):
    """Shuffles a list in place."""

    def shuffle(self, x: list[ResultRow], /) -> object: ...


class BallotCount:
    """Counts ballots while they are opened: how many there were, and people by question, group and answer. `texts` are
    the questions with free texts, which never have a group."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.ballots = 0
        self._texts = frozenset(texts)
        self._answers: dict[_Place, Counter[str]] = {}

    def add(self, ballot: Ballot) -> None:
        self.ballots += 1
        for one in ballot.answers:
            group = None if one.question in self._texts else ballot.group
            counted = self._answers.setdefault((one.question, group), Counter())
            counted.update({"", *_choices(one)})

    def rows(self, luck: Luck) -> list[ResultRow]:
        """The result of the version, in the random order of `luck`; empty for fewer than FEWEST ballots."""
        if self.ballots < FEWEST:
            return []
        found = [
            ResultRow(UUID(question), grouped, joined, choice, people)
            for question in {question for question, _ in self._answers}
            for (grouped, joined), counted in _joined(self._of(question)).items()
            for choice, people in counted.items()
        ]
        found.sort(key=sort_key)
        luck.shuffle(found)
        return found

    def _of(self, question: str) -> dict[str | None, Counter[str]]:
        return {group: counted for (asked, group), counted in self._answers.items() if asked == question}


def _choices(one: LedgerAnswer) -> set[str]:
    """As in `survey_answers`, but with the free texts themselves, because here they belong to no person."""
    return {choice for _, choice in chain.choices([one])}


def _joined(groups: Mapping[str | None, Counter[str]]) -> dict[tuple[str | None, bool], Counter[str]]:
    """The groups of one question by name, and whether each is a joined one. If all groups would be joined, the question
    has no groups."""
    together = others({group: counted[""] for group, counted in groups.items() if group is not None})
    if None in groups or len(together) == len(groups):
        return {(None, False): _sum(groups.values())}
    apart: dict[tuple[str | None, bool], Counter[str]] = {
        (group, False): counted for group, counted in groups.items() if group not in together
    }
    if together:
        apart[None, True] = _sum(groups[group] for group in together)
    return apart


def others(people: Mapping[str, int]) -> frozenset[str]:
    """Which groups are joined: those with fewer than FEWEST people, then the smallest others until FEWEST people are
    together. All groups when even that is not enough. Of groups of equal size, the first by name."""
    in_order = sorted(people, key=lambda group: (people[group], group))
    together = [group for group in in_order if people[group] < FEWEST]
    rest = in_order[len(together) :]
    while together and sum(people[group] for group in together) < FEWEST and rest:
        together.append(rest.pop(0))
    return frozenset(together)


def _sum(counted: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counted:
        total.update(one)
    return total


def sort_key(row: ResultRow) -> tuple[str, bool, str, bool, str]:
    """The order in which results are hashed."""
    return chain.result_order(as_told(row))


def as_told(row: ResultRow) -> chain.Result:
    return (str(row.question), row.grouped, row.joined, row.choice, row.people)


def results_hash(rows: Sequence[ResultRow]) -> str:
    """The hash of the results, in hex, as the closing row of the ledger holds it."""
    return chain.results_hash([as_told(one) for one in rows])
