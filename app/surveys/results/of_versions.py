"""What people chose in several versions of a survey, to be set beside each other."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.surveys.results import anonymous, number_counts
from app.surveys.results.breakdowns import Breakdown, Spread, breakdown, spread_out
from app.surveys.results.figures import AskedQuestion
from app.surveys.results.tallies import TallyScope


@dataclass(frozen=True, slots=True)
class ChoicesByVersion:
    """By version and question: people by choice, and in place of these the spreads of very many different numbers."""

    choices: Mapping[tuple[int, UUID], Mapping[str, int]]
    spreads: Mapping[tuple[int, UUID], Spread]

    def breakdown(self, question: AskedQuestion, version: int) -> Breakdown:
        key = version, question.key
        spread = self.spreads.get(key)
        return spread_out(question, spread) if spread else breakdown(question, self.choices.get(key, {}))


async def read(
    db: AsyncSession, survey: Any, versions: Collection[int], questions: Sequence[AskedQuestion]
) -> ChoicesByVersion:
    """Of any survey, a row of `surveys`."""
    found: dict[tuple[int, UUID], dict[str, int]] = defaultdict(dict)
    numbers = number_counts.asked_for(questions) if survey.anonymity != "anonymous" else []
    for version, question, choice, people in await anonymous.choices_by_version(db, survey, versions, numbers):
        found[version, question][choice] = people
    counted = await number_counts.of_versions(db, TallyScope(survey.id), numbers, versions)
    choices: Mapping[tuple[int, UUID], Mapping[str, int]] = {
        **found,
        **{key: one.choices for key, one in counted.items() if one.choices},
    }
    return ChoicesByVersion(choices, {key: one.spread for key, one in counted.items() if not one.choices})
